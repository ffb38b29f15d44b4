"""What transforms see of a function that plain calls do not show: whether it can be traced, and its derivatives."""

# mypy: disable-error-code="no-untyped-call"
# JAX has functions without annotations.

from __future__ import annotations

import contextlib
import io
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint.verify.worker.record import Call
from jaxlint.verify.worker.side import Side

_SHARE = 1e-2  # of the largest slope; smaller differences may be roundings
_MAX_NUMBERS = 1_000_000


def told_apart(name: str, call: Call, before: Side, after: Side) -> str:
    """How tracing or differentiating a call that both versions take tells them apart; empty when it does not."""
    sides = (before, after)
    one, two = (_untraceable(side, name, call) for side in sides)
    if two and not one:
        return f"the fixed {name} can no longer be traced ({two})"
    if one or two:
        return ""
    was, now = (_slopes(side, name, call) for side in sides)
    if isinstance(was, str):
        return ""
    if isinstance(now, str):
        return f"the fixed {name} can no longer be differentiated ({now})"
    return f"derivatives of {name} differ" if _differ(was, now) else ""


def _untraceable(side: Side, name: str, call: Call) -> str:
    """What ends the call when its arrays are traced; empty for nothing."""
    with side.active(), contextlib.redirect_stdout(io.StringIO()):
        function, leaves, tree, places = _parts(side, name, call)
        try:
            jax.eval_shape(_of_leaves(function, leaves, tree, places), *[leaves[place] for place in places])
        except Exception as error:
            return type(error).__name__
    return ""


def _slopes(side: Side, name: str, call: Call) -> list[np.ndarray] | str:
    """The derivatives of a weighted sum of all floats of the result by all floats given, or what ended that."""
    with side.active(), contextlib.redirect_stdout(io.StringIO()):
        function, leaves, tree, places = _parts(side, name, call)
        places = [place for place in places if jnp.issubdtype(leaves[place].dtype, np.floating)]
        run = _of_leaves(function, leaves, tree, places)
        try:
            results, pull = jax.vjp(lambda *given: _floats(run(*given)), *[leaves[place] for place in places])
            slopes = pull([_weights(result) for result in results])
            return [np.asarray(slope).astype(np.float64) for slope in slopes]
        except Exception as error:
            return type(error).__name__


def _parts(side: Side, name: str, call: Call) -> tuple[Any, list[Any], Any, list[int]]:
    """The function, the leaves of its arguments, their tree, and the places of arrays among them."""
    leaves, tree = jax.tree_util.tree_flatten(side.fresh(call))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, jax.Array) and leaf.size <= _MAX_NUMBERS]
    return side.function(name), leaves, tree, places


def _of_leaves(function: Any, leaves: list[Any], tree: Any, places: list[int]) -> Any:
    """The call as a function of the arrays among the leaves."""

    def run(*arrays: Any) -> Any:
        given = list(leaves)
        for place, array in zip(places, arrays, strict=True):
            given[place] = array
        args, kwargs = jax.tree_util.tree_unflatten(tree, given)
        return [leaf for leaf in jax.tree_util.tree_leaves(function(*args, **kwargs)) if hasattr(leaf, "dtype")]

    return run


def _floats(leaves: list[Any]) -> list[Any]:
    return [jnp.asarray(leaf) for leaf in leaves if jnp.issubdtype(leaf.dtype, np.floating)]


def _weights(result: Any) -> Any:
    """Another weight for each number of a result, so that none cancels another."""
    numbers = 1.0 + 0.5 * np.cos(1.3 * np.arange(result.size))
    return jnp.asarray(numbers.reshape(result.shape), result.dtype)


def _differ(was: list[np.ndarray], now: list[np.ndarray]) -> bool:
    """Whether slopes differ by more than roundings; those that are no numbers in the original do not count."""
    largest = max((float(np.abs(one[np.isfinite(one)]).max(initial=0.0)) for one in was), default=0.0)
    pairs = ((one[np.isfinite(one)], two[np.isfinite(one)]) for one, two in zip(was, now, strict=True))
    return any(not bool((np.abs(one - two) <= _SHARE * largest + 1e-6).all()) for one, two in pairs)
