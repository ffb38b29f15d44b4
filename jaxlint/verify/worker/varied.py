"""The arrays that the program makes itself come out other, so that its own data cannot hide a difference.

Each array of floats that the user's code makes, by `jnp.zeros`, `np.linspace` or a random draw, is changed by
a function of nothing but its shape, its value and the name that the statement binds. Two versions that do the same for
all data still do the same, and equal arrays under two names (two draws from one key) are equal no longer. The changes
cost one rounding, which is the same with and without jit.
"""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations.

from __future__ import annotations

import ast
import functools
import itertools
import os
import sys
import types
import zlib
from collections.abc import Callable, Iterator
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

_CONVERTERS = {"array", "asarray", "full", "full_like"}
"""What these are given may be an array, which is changed already, or numbers of the program that are no arrays."""

Change = Callable[[Any, str], Any]


class Varied:
    """Makes the replacements, and counts how many arrays they changed.

    `path` and `text` are those of the file that runs, `folder` is where the user's other files lie.
    """

    def __init__(self, data: Data, folder: str, path: str, text: str) -> None:
        self.count = 0
        self._change = _CHANGES[data]
        self._root = os.path.realpath(folder) + os.sep
        self._path = path
        tree = ast.parse(text)
        self._names = dict(_bound_by_line(tree))
        self._converting = dict(_number_by_place(tree))

    def functions(self) -> Patches:
        """What to put where: around the functions that are in place now."""
        made = [(owner, name) for owner in (jnp, np) for name in _MAKERS if hasattr(owner, name)]
        drawn = [(jax.random, name) for name in samplers()]
        return {(owner, name): self._changed(getattr(owner, name)) for owner, name in (*made, *drawn)}

    def _changed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def make(*args: Any, **kwargs: Any) -> Any:
            made, caller = function(*args, **kwargs), sys._getframe(1)
            file = caller.f_code.co_filename
            if not self._is_users(file) or (
                function.__name__ in _CONVERTERS and not self._is_new(caller, args, kwargs)
            ):
                return made
            return self._other(made, self._names.get(caller.f_lineno, "") if file == self._path else "")

        return make

    def _is_new(self, caller: types.FrameType, args: Any, kwargs: Any) -> bool:
        """Whether a conversion makes data: what it is given is no array, and the call itself holds a number."""
        if _holds_arrays(args, kwargs):
            return False
        if caller.f_code.co_filename != self._path:
            return True
        place = next(itertools.islice(caller.f_code.co_positions(), caller.f_lasti // 2, None), None)
        return place is None or self._converting.get(place, True)

    def _is_users(self, file: str) -> bool:
        return file.startswith(self._root) and "site-packages" not in file

    def _other(self, made: Any, name: str) -> Any:
        if not hasattr(made, "dtype") or not jnp.issubdtype(made.dtype, np.inexact):
            return made
        self.count += 1
        return self._change(made, name)


def _bound_by_line(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line → the first name that the assignment there binds."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            name = min(names, key=lambda part: (part.lineno, part.col_offset)).id if names else ""
            yield from ((line, name) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _number_by_place(tree: ast.Module) -> Iterator[tuple[tuple[int | None, ...], bool]]:
    """Where each call stands (first and last line, first and last column), and whether a number is written in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg != "dtype")]
            constants = (n.value for arg in given for n in ast.walk(arg) if isinstance(n, ast.Constant))
            holds = any(isinstance(value, (int, float)) for value in constants)
            yield (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset), holds


def _holds_arrays(args: Any, kwargs: Any) -> bool:
    return any(
        hasattr(leaf, "dtype") for leaf in jax.tree_util.tree_leaves((args, kwargs)) if not isinstance(leaf, type)
    )


def _pattern(like: Any, name: str) -> Any:
    """Numbers between -0.3 and 0.3, all different; a plain number for a scalar, which keeps weak types weak."""
    phase = zlib.crc32(name.encode()) % 1000 / 1000 if name else 0.0
    numbers = 0.3 * np.cos(1.7 * (1 + np.arange(like.size)) + phase)
    return float(numbers[0]) if like.ndim == 0 else numbers.reshape(like.shape).astype(like.dtype)


_CHANGES: dict[Data, Change] = {
    Data.SHIFTED: lambda made, name: made + _pattern(made, name),
    Data.SCALED: lambda made, name: made * (1 + _pattern(made, name)),
}
