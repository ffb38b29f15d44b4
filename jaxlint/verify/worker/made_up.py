"""Functions to be passed to functions. A fix that swaps, drops or reorders what they are given shows in their results.

Each depends on every number that it is given, on its place in its array, on which argument it is, and on the name of
the parameter that the function is made for, so that two of them are never the same function.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Function = Callable[..., Any]


def number(name: str) -> Function:
    """A function whose result is a number that can be differentiated."""

    def number(*args: Any, **kwargs: Any) -> Any:
        return _mixed(name, args, kwargs)

    return number


def like_the_first(name: str) -> Function:
    """A function whose result has the form of its first argument."""

    def like_the_first(*args: Any, **kwargs: Any) -> Any:
        return _like(args[0], _mixed(name, args[1:], kwargs), name) if args else _mixed(name, args, kwargs)

    return like_the_first


def like_the_last(name: str) -> Function:
    """A function whose result has the form of its last argument, as the body of a loop with a counter."""

    def like_the_last(*args: Any, **kwargs: Any) -> Any:
        return _like(args[-1], _mixed(name, args[:-1], kwargs), name) if args else _mixed(name, args, kwargs)

    return like_the_last


def carrying(name: str) -> Function:
    """A function that returns its first argument changed, and a number, as the body of a scan."""

    def carrying(*args: Any, **kwargs: Any) -> Any:
        return like_the_first(name)(*args, **kwargs), _mixed(name, args, kwargs)

    return carrying


def below(name: str) -> Function:
    """A function whose result is true or false, as the condition of a loop that ends where numbers grow."""

    def below(*args: Any, **kwargs: Any) -> Any:
        leaves = [jnp.sum(jnp.abs(number)) for _, number in _numbers(args, kwargs)]
        return sum(leaves, start=jnp.float32(_phase(name))) < 50.0

    return below


def _like(value: Any, more: Any, name: str) -> Any:
    """The numbers of a value changed; what is no number stays, and so do types, as loops want it."""
    shift = 0.3 + 0.2 * _phase(name)

    def changed(leaf: Any) -> Any:
        if not _is_number(leaf):
            return leaf
        array = jnp.asarray(leaf)
        if jnp.issubdtype(array.dtype, jnp.inexact):
            return (jnp.sin(array + more) + array * (1.0 + shift) + _weights(array, shift)).astype(array.dtype)
        return array + array.astype(bool) if array.dtype == bool else array + jnp.ones((), array.dtype)

    return jax.tree_util.tree_map(changed, value)


def _mixed(name: str, args: Any, kwargs: Any) -> Any:
    """One number of all that is given, of whose parts each changes the derivatives by the others."""
    total = jnp.float32(0.1 * _phase(name))
    for where, array in _numbers(args, kwargs):
        phase = _phase(f"{name} {where}")
        total += jnp.sum(jnp.sin(array * (0.7 + 0.5 * phase) + phase) * _weights(array, phase)) * (0.5 + phase)
    return total + jnp.sin(total)


def _numbers(args: Any, kwargs: Any) -> Iterator[tuple[str, Any]]:
    """All that is given as real numbers, each with the path that leads there."""
    leaves, _ = jax.tree_util.tree_flatten_with_path((args, kwargs), is_leaf=lambda leaf: leaf is None)
    for path, leaf in leaves:
        where = jax.tree_util.keystr(path)
        if not _is_number(leaf):
            yield where, jnp.float32(_phase(_text(leaf)))
            continue
        array = jnp.asarray(leaf)
        if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
            array = jax.random.key_data(array)
        if array.dtype == jnp.uint32:  # of keys, which are too large for the sine
            array = array.astype(jnp.float32) / 2.0**32
        yield where, jnp.real(array) + 0.7 * jnp.imag(array) if jnp.iscomplexobj(array) else array


def _weights(array: Any, phase: float) -> Any:
    """Another weight for each place, that no exchange of places or axes leaves as it was."""
    return np.asarray(1.0 + 0.4 * np.cos(1.7 * np.arange(array.size) + phase), np.float32).reshape(array.shape)


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, (int, float, complex)) or hasattr(leaf, "dtype")


def _text(leaf: Any) -> str:
    """What tells one object from another without its address."""
    return repr(leaf) if isinstance(leaf, (str, type(None))) else getattr(leaf, "__qualname__", type(leaf).__qualname__)


def _phase(text: str) -> float:
    """A number below 1 that stands for a text."""
    return math.modf(zlib.crc32(text.encode()) / 9973)[0]
