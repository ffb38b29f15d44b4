"""Transforms that take what JAX refuses, each read in the one plain way that the rule's page gives.

An original that JAX refuses so becomes a reference: a derivative of integers is that of the equal floats, an argument
passed by name counts as if it stood at its place, a body that returns the carry alone has no outputs. Nothing here
looks at the fix, and derivatives are taken in forward mode, so that a wrong fix does not agree by construction.
"""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations, and each version another way to ask for 64 bits.

from __future__ import annotations

import dis
import functools
import inspect
import itertools
import re
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint.verify.worker import loops
from jaxlint.verify.worker.capture import is_tracer
from jaxlint.verify.worker.eager import Patches, eager_jit, to_arrays

_MAX_ELEMENTS, _MAX_READINGS = 512, 16
_UNBOUND = re.compile(r"unbound axis name: (\w+)")
_UPDATES = ("set", "add", "subtract", "multiply", "mul", "divide", "power", "min", "max", "apply")
_real_vmap = jax.vmap


def functions() -> Patches:
    """What to put in the place of which function."""
    from jax import lax

    plain: Patches = {
        (jax, "jit"): jit,
        (jax, "vmap"): vmap,
        (jax, "grad"): grad,
        (jax, "value_and_grad"): value_and_grad,
        (lax, "scan"): scan,
        (lax, "map"): lambda f, xs, **_: scan(lambda carry, x: (carry, f(x)), (), xs)[1],
        (lax, "cond"): cond,
        (lax, "while_loop"): while_loop,
        (lax, "fori_loop"): fori_loop,
    }
    plain |= _stores()
    reference = type(jnp.zeros(1).at[0])
    updates = {n: getattr(reference, n) for n in _UPDATES if hasattr(reference, n)}
    return plain | {(reference, name): _in_place(method) for name, method in updates.items()}


# Derivatives


def grad(fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, **_: Any) -> Any:
    """The gradient; of a pair, that of its first part, and the second part is auxiliary."""

    @functools.wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        _, aux, slopes = _derived(fun, argnums, has_aux, args, kwargs)
        return (slopes, *aux) if aux else slopes

    return run


def value_and_grad(fun: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, **_: Any) -> Any:
    """The same with the value; `((value, aux), slopes)` may be unpacked into three names as well."""

    @functools.wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        value, aux, slopes = _derived(fun, argnums, has_aux, args, kwargs)
        return _Nested(((value, *aux), slopes)) if aux else (value, slopes)

    return run


class _Nested(tuple):  # type: ignore[type-arg]
    """`((a, b), c)`, which is also `(a, b, c)` where it is unpacked into three names."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        code, place = (frame := sys._getframe(1)).f_code.co_code, frame.f_lasti
        is_three = dis.opname[code[place]] == "UNPACK_SEQUENCE" and code[place + 1] == 3
        return iter((*self[0], self[1])) if is_three else super().__iter__()


jax.tree_util.register_pytree_node(_Nested, lambda pair: ((pair[0], pair[1]), None), lambda _, parts: _Nested(parts))


def _derived(
    fun: Callable[..., Any], argnums: Any, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], Any]:
    """Value, auxiliary output (if any) and gradient, by one forward derivative for each number."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    args, kwargs = _by_position(fun, args, kwargs)
    leaves, tree = jax.tree_util.tree_flatten(tuple(jax.tree_util.tree_map(_as_float, args[n]) for n in numbers))
    if sum(np.size(leaf) for leaf in leaves) > _MAX_ELEMENTS:
        raise NotImplementedError("too many numbers for a derivative by each of them")

    def run(*flat: Any) -> tuple[Any, tuple[Any, ...]]:
        filled = list(args)
        for number, part in zip(numbers, jax.tree_util.tree_unflatten(tree, flat), strict=True):
            filled[number] = part
        out = fun(*filled, **kwargs)
        is_pair = has_aux or (isinstance(out, tuple) and len(out) == 2)
        return (out[0], (out[1],)) if is_pair else (out, ())

    value, aux = run(*leaves)
    if jnp.shape(value):
        raise NotImplementedError("a gradient of more than one number")
    slopes = [_slope(lambda *flat: jnp.asarray(run(*flat)[0]), leaves, place) for place in range(len(leaves))]
    whole = jax.tree_util.tree_unflatten(tree, slopes)
    return value, aux, whole[0] if isinstance(argnums, int) else whole


def _slope(value: Callable[..., Any], leaves: Sequence[Any], place: int) -> Any:
    wanted = leaves[place]
    slopes = []
    for index in range(wanted.size):
        one = jnp.zeros(wanted.size, wanted.dtype).at[index].set(1).reshape(wanted.shape)
        tangents = [one if other == place else jnp.zeros_like(leaf) for other, leaf in enumerate(leaves)]
        slopes.append(jax.jvp(value, tuple(leaves), tuple(tangents))[1])
    return jnp.stack(slopes).reshape(wanted.shape).astype(wanted.dtype) if slopes else jnp.zeros_like(wanted)


def _as_float(leaf: Any) -> Any:
    if isinstance(leaf, (bool, int)):
        return jnp.asarray(float(leaf))
    array = jnp.asarray(leaf)
    return array if jnp.issubdtype(array.dtype, jnp.inexact) else array.astype(float)


def _by_position(
    fun: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What was passed by name stands at its place, as far as that can be."""
    if not kwargs:
        return args, kwargs
    try:
        bound = inspect.signature(fun).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return args, kwargs
    return bound.args, bound.kwargs


# Mapping


def vmap(
    fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None, axis_size: Any = None, **_: Any
) -> Any:
    """One call per example; the axes are read leniently, and an axis name that is used is bound here."""

    @functools.wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        placed, named, axes = _placed(fun, in_axes, args, kwargs)
        axes = tuple(map(_readable, axes, placed)) if isinstance(axes, tuple) else axes
        out = _fitting(fun, axes, out_axes, placed, named)
        try:
            if axis_name is None:
                return loops.vmap(owning(fun), axes, out, axis_size=axis_size)(*placed, **named)
            return _real_vmap(fun, axes, out, axis_name=axis_name, axis_size=axis_size)(*placed, **named)
        except NameError as error:
            used = _UNBOUND.search(str(error))
            if used is None or axis_name is not None:
                raise
            return _real_vmap(fun, axes, out, axis_name=used[1], axis_size=axis_size)(*placed, **named)

    return run


def _placed(
    fun: Callable[..., Any], in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Arguments passed by name with the entry for their place; those that have none are not mapped.

    Entries without an argument do not count. NotImplementedError when there are too few for what is passed by place.
    """
    if in_axes is None or isinstance(in_axes, (int, dict)):
        return args, kwargs, (in_axes,) * len(args) if isinstance(in_axes, int) else in_axes
    if len(in_axes) < len(args):
        raise NotImplementedError("which axes the other arguments have is not said")
    placed, named = _by_position(fun, args, kwargs)
    missing = len(placed) - len(in_axes)
    return placed, named, (*in_axes, *[None] * missing)[: len(placed)]


def _readable(axes: Any, argument: Any) -> Any:
    """False is "not mapped", True the first axis; a vector has one axis alone."""
    if isinstance(axes, bool):
        return 0 if axes else None
    if isinstance(axes, int):
        shapes = {jnp.ndim(leaf) for leaf in jax.tree_util.tree_leaves(argument)}
        return 0 if shapes == {1} else axes
    if isinstance(axes, (list, tuple)) and isinstance(argument, (list, tuple)) and len(axes) == len(argument):
        return type(axes)(map(_readable, axes, argument))
    return axes


def _fitting(fun: Callable[..., Any], axes: Any, out_axes: Any, args: Any, kwargs: Any) -> Any:
    """`out_axes` with 0 for those None whose output does depend on the example."""
    open_, tree = jax.tree_util.tree_flatten(out_axes, is_leaf=lambda axis: axis is None)
    choices = [(None, 0) if axis is None else (axis,) for axis in open_]
    readings = sorted(itertools.product(*choices), key=lambda reading: reading.count(0))
    for reading in readings[:_MAX_READINGS] if None in open_ else ():
        wanted = jax.tree_util.tree_unflatten(tree, reading)
        try:
            jax.eval_shape(functools.partial(_real_vmap(fun, axes, wanted), **kwargs), *args)
        except Exception as error:
            if "output was batched" in str(error):
                continue
        return wanted
    return out_axes


# Control flow


def scan(f: Callable[..., Any], init: Any, xs: Any = None, *args: Any, **options: Any) -> Any:
    """A body that returns a new carry alone has no outputs."""
    form: Any = jax.tree_util.tree_structure(init)

    def body(carry: Any, x: Any) -> Any:
        out = owning(f)(carry, x)
        return (out, None) if jax.tree_util.tree_structure(out) == form else out

    return loops.scan(body, init, xs, *args, **options)


def cond(pred: Any, true_fun: Any, false_fun: Any, *operands: Any, **options: Any) -> Any:
    """Values in the place of functions are the results."""
    if callable(true_fun) or callable(false_fun):
        return loops.cond(pred, owning(true_fun), owning(false_fun), *operands, **options)
    return to_arrays(true_fun if pred else false_fun)


def while_loop(cond_fun: Any, body_fun: Any, init_val: Any) -> Any:
    """A Python `while`, whose body has its own carry."""
    return loops.while_loop(cond_fun, owning(body_fun), init_val)


def fori_loop(lower: Any, upper: Any, body_fun: Any, init_val: Any, **options: Any) -> Any:
    """A Python `for`, whose body has its own carry."""
    return loops.fori_loop(lower, upper, owning(body_fun), init_val, **options)


# Updates


def jit(fun: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Without compiling."""
    return functools.partial(jit, **options) if fun is None else eager_jit(owning(fun), **options)


def owning(fun: Any) -> Any:
    """What a function under a transform changes in place are its own tracers, not its caller's arrays."""
    if not callable(fun):
        return fun

    @functools.wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        return fun(*_copied(args), **_copied(kwargs))

    return run


def is_owned(leaf: Any) -> bool:
    """Whether an array was made for a function under a transform."""
    return getattr(leaf, "_jaxlint_owned", False) is True


def _copied(tree: Any) -> Any:
    return jax.tree_util.tree_map(lambda leaf: _copy(leaf) if isinstance(leaf, jax.Array) else leaf, tree)


def _copy(array: jax.Array) -> Any:
    copy: Any = jnp.copy(array)
    if not is_tracer(copy):
        copy._jaxlint_owned = True
    return copy


def _in_place(method: Callable[..., Any]) -> Callable[..., Any]:
    """`x.at[i].set(v)` as a statement changes x itself."""

    @functools.wraps(method)
    def update(self: Any, *args: Any, **kwargs: Any) -> Any:
        result, caller = method(self, *args, **kwargs), sys._getframe(1)
        if _next(caller.f_code, caller.f_lasti) == "POP_TOP":
            _replace(self.array, result)
        return result

    return update


def _stores() -> Patches:
    """`x[i] = v` changes x itself, as in NumPy; not where NumPy would change what x is a view of as well."""
    array = type(jnp.zeros(1))
    methods = {name: _viewing(getattr(array, name)) for name in ("__getitem__", "reshape", "ravel", "transpose")}
    properties = {name: property(_viewing(getattr(array, name).fget)) for name in ("T", "mT")}
    return {(array, name): new for name, new in {"__setitem__": _set_item, **methods, **properties}.items()}


def _viewing(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, whose result remembers the array that it is a view of in NumPy."""

    @functools.wraps(method)
    def view(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        if not any(isinstance(index, (jax.Array, np.ndarray)) for index in jax.tree_util.tree_leaves(args)):
            result._jaxlint_base = weakref.ref(self)
        return result

    return view


def _set_item(self: Any, index: Any, value: Any) -> None:
    base = getattr(self, "_jaxlint_base", lambda: None)()
    if base is not None and base is not self:
        raise TypeError("NumPy would change the array that this one is a part of, and JAX does not")
    _replace(self, self.at[index].set(value))


def _replace(array: Any, new: Any) -> None:
    """An update of no elements is the array itself, which must not be put in its own place: that breaks its memory."""
    if not hasattr(array, "_replace_with"):  # as in JAX 0.4.30
        raise NotImplementedError("this JAX has no arrays that can be changed in place")
    if new is not array:
        array._replace_with(new)


def _next(code: types.CodeType, place: int) -> str:
    """The name of the next instruction behind a call, which tells whether its result is dropped."""
    return next((step.opname for step in _steps(code) if step.offset > place), "")


@functools.lru_cache(maxsize=64)
def _steps(code: types.CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))
