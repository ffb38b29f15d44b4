"""vmap and the control-flow functions as Python loops over examples and steps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxlint.verify.worker.eager import Patches, to_arrays


def functions() -> Patches:
    """What to put in the place of which function."""
    from jax import lax

    return {
        (jax, "vmap"): vmap,
        (lax, "scan"): scan,
        (lax, "map"): lambda f, xs, **_: scan(lambda carry, x: (carry, f(x)), (), xs)[1],
        (lax, "while_loop"): while_loop,
        (lax, "fori_loop"): fori_loop,
        (lax, "cond"): cond,
        (lax, "switch"): switch,
    }


def vmap(
    fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None, axis_size: Any = None, **_: Any
) -> Any:
    """One call per example, results stacked."""
    if axis_name is not None:
        raise NotImplementedError("a named axis has no Python loop")

    @functools.wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        axes = (in_axes,) * len(args) if isinstance(in_axes, int) or in_axes is None else tuple(in_axes)
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        flat = _spread(axes, args) + [0] * len(jax.tree_util.tree_leaves(kwargs))
        sizes = {jnp.shape(leaf)[axis] for leaf, axis in zip(leaves, flat, strict=True) if axis is not None}
        (size,) = sizes or {axis_size}
        results = []
        for index in range(size):
            one = [_take(leaf, axis, index) for leaf, axis in zip(leaves, flat, strict=True)]
            some, named = jax.tree_util.tree_unflatten(tree, one)
            results.append(to_arrays(fun(*some, **named)))
        return _stack(results, out_axes)

    return run


def _spread(axes: Any, tree: Any) -> list[Any]:
    """One axis per leaf of `tree`; `axes` is a prefix of it."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(jax.tree_util.tree_leaves(tree))
    if isinstance(axes, (list, tuple)):
        return [axis for part, sub in zip(axes, tree, strict=True) for axis in _spread(part, sub)]
    if isinstance(axes, dict):
        return [axis for key in sorted(tree) for axis in _spread(axes[key], tree[key])]
    raise NotImplementedError(f"axes given by {type(axes).__name__}")


def _take(leaf: Any, axis: int | None, index: int) -> Any:
    if axis is None:
        return leaf
    return jnp.asarray(leaf)[(slice(None),) * (axis % jnp.ndim(leaf)) + (index,)]


def _stack(results: Sequence[Any], out_axes: Any) -> Any:
    axes = iter(_spread(out_axes, results[0]))
    return jax.tree_util.tree_map(lambda *parts: _join(parts, next(axes)), *results)


def _join(parts: Sequence[Any], axis: int | None) -> Any:
    return parts[0] if axis is None else jnp.stack(parts, axis)


def scan(
    f: Callable[..., Any], init: Any, xs: Any = None, length: int | None = None, reverse: bool = False, **_: Any
) -> Any:
    """One call per step; the outputs are stacked."""
    leaves = jax.tree_util.tree_leaves(xs)
    size = int(jnp.shape(leaves[0])[0] if leaves else length or 0)
    carry, outputs = to_arrays(init), []
    for step in reversed(range(size)) if reverse else range(size):
        carry, out = f(carry, jax.tree_util.tree_map(lambda leaf, i=step: jnp.asarray(leaf)[i], xs))
        carry = to_arrays(carry)
        outputs.append(to_arrays(out))
    if reverse:
        outputs.reverse()
    return carry, jax.tree_util.tree_map(lambda *parts: jnp.stack(parts), *outputs)


def while_loop(cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val: Any) -> Any:
    """A Python `while`."""
    value = to_arrays(init_val)
    while cond_fun(value):
        value = to_arrays(body_fun(value))
    return value


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any, **_: Any) -> Any:
    """A Python `for`."""
    value = to_arrays(init_val)
    for index in range(int(lower), int(upper)):
        value = to_arrays(body_fun(jnp.asarray(index), value))
    return value


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any, **_: Any) -> Any:
    """A Python `if`."""
    return to_arrays((true_fun if pred else false_fun)(*to_arrays(operands)))


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, **_: Any) -> Any:
    """One of the branches; the index is clamped, as `lax.switch` does."""
    return to_arrays(branches[min(max(int(index), 0), len(branches) - 1)](*to_arrays(operands)))
