"""The arrays that the program makes itself come out other, so that its own data cannot hide a difference.

Each array of floats that the user's code makes, by `jnp.zeros`, `np.linspace` or a random draw, is changed by
a function of nothing but its shape and value. Two versions that do the same for all data still do the same. The
changes cost one rounding, which is the same with and without jit.
"""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations.

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint.verify.jobs import Data
from jaxlint.verify.worker.eager import Patches
from jaxlint.verify.worker.neutral import samplers

_MAKERS = (
    "arange", "array", "asarray", "empty", "eye", "full", "full_like", "geomspace", "identity", "linspace", "logspace",
    "ones", "ones_like", "tri", "zeros", "zeros_like",
)  # fmt: skip

_CONVERTERS = {
    "array",
    "asarray",
    "full",
    "full_like",
}  # what these are given may be an array, which is changed already

Change = Callable[[Any], Any]


class Varied:
    """Makes the replacements, and counts how many arrays they changed."""

    def __init__(self, data: Data, folder: str) -> None:
        self.count = 0
        self._change = _CHANGES[data]
        self._root = os.path.realpath(folder) + os.sep

    def functions(self) -> Patches:
        """What to put where: around the functions that are in place now."""
        made = [(owner, name) for owner in (jnp, np) for name in _MAKERS if hasattr(owner, name)]
        drawn = [(jax.random, name) for name in samplers()]
        return {(owner, name): self._changed(getattr(owner, name)) for owner, name in (*made, *drawn)}

    def _changed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def make(*args: Any, **kwargs: Any) -> Any:
            made, file = function(*args, **kwargs), sys._getframe(1).f_code.co_filename
            is_new = function.__name__ not in _CONVERTERS or not _holds_arrays(args, kwargs)
            return self._other(made) if is_new and self._is_users(file) else made

        return make

    def _is_users(self, file: str) -> bool:
        return file.startswith(self._root) and "site-packages" not in file

    def _other(self, made: Any) -> Any:
        if not hasattr(made, "dtype") or not jnp.issubdtype(made.dtype, np.inexact):
            return made
        self.count += 1
        return self._change(made)


def _holds_arrays(args: Any, kwargs: Any) -> bool:
    return any(
        hasattr(leaf, "dtype") for leaf in jax.tree_util.tree_leaves((args, kwargs)) if not isinstance(leaf, type)
    )


def _pattern(like: Any) -> Any:
    """Numbers between -0.3 and 0.3, all different; a plain number for a scalar, which keeps weak types weak."""
    numbers = 0.3 * np.cos(1.7 * (1 + np.arange(like.size)))
    return float(numbers[0]) if like.ndim == 0 else numbers.reshape(like.shape).astype(like.dtype)


_CHANGES: dict[Data, Change] = {
    Data.SHIFTED: lambda made: made + _pattern(made),
    Data.SCALED: lambda made: made * (1 + _pattern(made)),
}
