"""Layers of neural networks: what Flax, Equinox and Haiku make of arrays, and how Flax Linen runs modules' methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis import arrays, calls, classes, keys
from jaxlint.analysis.frames import Arguments, Frame, Use
from jaxlint.analysis.operators import staged
from jaxlint.analysis.tracing import outer_trace
from jaxlint.analysis.values import (
    NONE,
    Api,
    Array,
    Bound,
    Closure,
    Instance,
    Items,
    Key,
    Layer,
    Scalar,
    Transformed,
    Unknown,
    Value,
    join_traces,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine

_LAYERS = {
    "flax.linen": "Dense DenseGeneral Conv ConvLocal ConvTranspose Embed LayerNorm RMSNorm BatchNorm GroupNorm"
    " InstanceNorm Dropout PReLU Einsum MultiHeadDotProductAttention MultiHeadAttention SelfAttention",
    "flax.nnx": "Linear LinearGeneral Conv ConvTranspose Embed BatchNorm LayerNorm RMSNorm GroupNorm Dropout PReLU"
    " Einsum MultiHeadAttention",
    "equinox.nn": "Linear MLP Conv Conv1d Conv2d Conv3d ConvTranspose ConvTranspose1d ConvTranspose2d LayerNorm RMSNorm"
    " GroupNorm Dropout Embedding MultiheadAttention AvgPool1d AvgPool2d MaxPool1d MaxPool2d PReLU WeightNorm",
    "haiku": "Linear Conv1D Conv2D Conv3D Conv2DTranspose LayerNorm RMSNorm GroupNorm InstanceNorm Embed"
    " MultiHeadAttention MaxPool AvgPool",
    "haiku.nets": "MLP",
}
LAYERS = frozenset(f"{package}.{name}" for package, names in _LAYERS.items() for name in names.split())
"""Classes whose objects, called with an array, give an array (documentation of Flax 0.12, Equinox 0.13, Haiku)."""


def make(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """An object of one of `LAYERS`; its parameters are drawn with the key that it is given."""
    _draw(m, f, arguments, where)
    trace = outer_trace(arguments)
    return Layer(trace=replace(trace, sure=False) if trace is not None else None)


def call(m: Machine, f: Frame, layer: Layer, arguments: Arguments, where: Span) -> Value:
    """Calls a layer: of an array it makes another one."""
    _draw(m, f, arguments, where)
    result = calls.call_unknown(m, f, layer, arguments, where)
    given = arguments.positional[0] if arguments.positional else Unknown()
    is_array = isinstance(given, Array) or (isinstance(given, Unknown) and given.trace is not None and given.trace.sure)
    return staged(f, Array(), join_traces(outer_trace(arguments), layer.trace)) if is_array else result


def _draw(m: Machine, f: Frame, arguments: Arguments, where: Span) -> None:
    key = arguments.keyword("key")
    if key is not None:
        node = arguments.node(len(arguments.positional), "key")
        keys.consume(m, f, key, Use("strong", "draw", keys.places(f, where)), node)


# Modules of Flax Linen

MODULE = "flax.linen.Module"
SET_UP = "setup()"  # no name of Python's: notes in an object's attributes that its `setup` was run


def is_linen(instance: Instance) -> bool:
    """Whether an object is a module of Flax Linen."""
    return any(isinstance(base, Api) and base.path == MODULE for base in classes.lineage(instance.cls))


def attribute(m: Machine, f: Frame, instance: Instance, name: str, where: Span) -> Value | None:
    """An attribute that a Linen module's class does not show: what `setup` sets, or a method of `Module`."""
    if not is_linen(instance):
        return None
    if SET_UP not in instance.attributes.names:
        instance.attributes.names[SET_UP] = NONE
        setup = classes.find(instance.cls, "setup")
        if isinstance(setup, Closure):
            calls.call(m, f, classes.bind(setup, instance), Arguments(), None, where)
        if name in instance.attributes.names:
            return instance.attributes.names[name]
    return Bound(Api(f"{MODULE}.{name}"), (instance,), (), f.number) if name in _METHODS else None


def _apply(m: Machine, f: Frame, arguments: Arguments, where: Span) -> Value:
    """`module.apply(variables, *args, method=..., mutable=...)` runs a method of the module."""
    result = _run(m, f, arguments, where)
    mutable = arguments.keyword("mutable")
    if mutable is None or (isinstance(mutable, Scalar) and mutable.known and mutable.const is False):
        return result
    is_sure = isinstance(mutable, (Items, Scalar))
    pair = Items("tuple", (result, Unknown(trace=outer_trace(arguments))))
    return pair if is_sure else Unknown(trace=outer_trace(arguments))


def _init(m: Machine, f: Frame, arguments: Arguments, where: Span) -> Value:
    """`module.init(key, *args)` runs the method, and gives the variables."""
    _run(m, f, arguments, where)
    trace = outer_trace(arguments)
    return Unknown(trace=replace(trace, sure=False) if trace is not None else None)


def _init_with_output(m: Machine, f: Frame, arguments: Arguments, where: Span) -> Value:
    result = _run(m, f, arguments, where)
    return Items("tuple", (result, Unknown(trace=outer_trace(arguments))))


def _run(m: Machine, f: Frame, arguments: Arguments, where: Span) -> Value:
    """Runs the method that is asked for with all but the variables or key, which come first.

    Where nothing is traced it is left to its own run: models are deep, and each root has its bounds.
    """
    instance, *given = arguments.positional
    assert isinstance(instance, Instance)
    if not f.staged and outer_trace(arguments) is None:
        return calls.call_unknown(m, f, Unknown(), arguments, where)
    own = {name: value for name, value in arguments.keywords if name in _OPTIONS}
    calls.call_unknown(m, f, Unknown(), Arguments((*given[:1], *own.values())), where)
    method = _method(m, f, instance, own.get("method"), where)
    inner = replace(
        arguments,
        positional=tuple(given[1:]),
        nodes=arguments.nodes[2:],
        keywords=tuple((name, value) for name, value in arguments.keywords if name not in _OPTIONS),
    )
    return calls.call(m, f, method, inner, None, where)


_OPTIONS = frozenset({"rngs", "method", "mutable", "capture_intermediates", "variables"})


def _method(m: Machine, f: Frame, instance: Instance, asked: Value | None, where: Span) -> Value:
    name = asked.const if isinstance(asked, Scalar) and asked.kind == "str" else None
    if asked is None or asked == NONE:
        name = "__call__"
    found = classes.find(instance.cls, str(name)) if name is not None else asked
    if isinstance(found, (Closure, Transformed)):
        is_bound = isinstance(found, Closure) and found.owner is not None
        return found if is_bound else classes.bind(found, instance)
    return Unknown()


def _param(m: Machine, f: Frame, arguments: Arguments, where: Span) -> Value:
    """`self.param(name, init, shape, ...)`: an array of the shape that is asked for."""
    shape = arguments.positional[3] if len(arguments.positional) > 3 else None
    made = arrays.call("jax.numpy.ones", (shape,), {}) if shape is not None else None
    if not isinstance(made, Array) or made.shape is None:
        return Unknown()
    return staged(f, replace(made, dtype=None, weak=None), None)


def _make_rng(m: Machine, f: Frame, arguments: Arguments, where: Span) -> Value:
    """`self.make_rng(name)`: another key each time."""
    return Key(m.token("key", where, f.number), ())


_METHODS: dict[str, Callable[[Machine, Frame, Arguments, Span], Value]] = {
    "apply": _apply, "init": _init, "init_with_output": _init_with_output, "param": _param, "make_rng": _make_rng,
}  # fmt: skip


def _handler(run: Callable[[Machine, Frame, Arguments, Span], Value]) -> Callable[..., Value]:
    def handle(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
        is_method = bool(arguments.positional) and isinstance(arguments.positional[0], Instance)
        return run(m, f, arguments, where) if is_method else calls.call_unknown(m, f, Unknown(), arguments, where)

    return handle


HANDLERS: dict[str, Callable[..., Value]] = {
    **dict.fromkeys(LAYERS, make),
    **{f"{MODULE}.{name}": _handler(run) for name, run in _METHODS.items()},
}
"""What makes layers, and the methods of Linen modules, in the form of `handlers.HANDLERS`."""
