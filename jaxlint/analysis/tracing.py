"""Makes tracers of values where tracing starts, and concrete values of tracers where it ends."""

from __future__ import annotations

from dataclasses import replace

from jaxlint.analysis import arrays
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.scope import Attributes
from jaxlint.analysis.values import (
    Array,
    Instance,
    Items,
    Key,
    Level,
    Many,
    Mapping,
    OneOf,
    Scalar,
    Trace,
    Unknown,
    Value,
    deep_trace,
    join_traces,
    one_of,
    with_trace,
)

STAGED = Trace(Level.TRACED, staged=True)
NUMBERS = frozenset({"bool", "int", "float", "complex"})


def to_tracer(value: Value, trace: Trace, *, auto_static: bool = False) -> Value:
    """The value as a traced function sees it. With `auto_static` only arrays become tracers (`eqx.filter_jit`)."""
    match value:
        case Scalar(kind=kind) if kind in NUMBERS and not auto_static:
            made = arrays.from_python(value) or Array(None, ())
            return replace(made, weak=True, host=False, python=kind, trace=join_traces(value.trace, trace))
        case Scalar(kind="str") if not auto_static:
            return replace(value, trace=trace)
        case Array():
            return replace(device(value), trace=join_traces(value.trace, trace))
        case Key():
            return with_trace(value, trace)
        case Items():
            return replace(value, items=tuple(to_tracer(v, trace, auto_static=auto_static) for v in value.items))
        case Many():
            return replace(value, element=to_tracer(value.element, trace, auto_static=auto_static))
        case Mapping():
            entries = tuple((k, to_tracer(v, trace, auto_static=auto_static)) for k, v in value.entries)
            return replace(value, entries=entries, default=to_tracer(value.default, trace, auto_static=auto_static))
        case OneOf():
            return one_of(to_tracer(v, trace, auto_static=auto_static) for v in value.options)
        case Unknown():
            return with_trace(value, replace(trace, sure=trace.sure and not auto_static))
        case Instance():
            return with_trace(value, replace(trace, sure=False))
    return value


def not_differentiated(value: Value) -> Value:
    """The value without its dependence on arguments of derivatives, as `stop_gradient` gives it."""
    match value:
        case Items():
            return replace(value, items=tuple(map(not_differentiated, value.items)))
        case Many():
            return replace(value, element=not_differentiated(value.element))
        case Mapping():
            return replace(value, entries=tuple((k, not_differentiated(v)) for k, v in value.entries))
    if value.trace is None:
        return value
    kept = frozenset(p for p in value.trace.parameters if p.site.kind not in DERIVATIVES)
    return replace(value, trace=replace(value.trace, parameters=kept))


DERIVATIVES = frozenset({"grad", "value_and_grad", "jacfwd", "jacrev", "hessian"})


def device(array: Array) -> Array:
    """A NumPy array as JAX takes it."""
    return (arrays.from_python(array) or array) if array.host else array


def outer_trace(arguments: Arguments) -> Trace | None:
    """The trace that a call's arguments bring along."""
    trace: Trace | None = None
    for value in arguments.all():
        trace = join_traces(trace, deep_trace(value))
    return trace


def untraced(f: Frame, value: Value, outer: Trace | None, *, arrays: bool = False) -> Value:
    """A result outside the transform: traced only as its arguments were, or because the caller is staged.

    With `arrays`, Python numbers come out as arrays, as they do from jit.
    """
    trace = join_traces(outer, STAGED) if f.staged else outer
    return _retraced(value, trace, arrays)


def _retraced(value: Value, trace: Trace | None, arrays_only: bool, depth: int = 4) -> Value:
    match value:
        case Instance(attributes=attributes) if depth:
            # JAX takes the object apart and builds another one.
            made = Attributes()
            unsure = replace(trace, sure=False) if trace is not None else None
            for name, held in attributes.names.items():
                made.names[name] = _retraced(held, unsure if isinstance(held, Unknown) else trace, False, depth - 1)
            made.rebound = attributes.rebound
            return replace(value, attributes=made, trace=None)
        case Scalar(kind=kind) if kind in NUMBERS and arrays_only:
            return replace(arrays.from_python(value) or Array(None, ()), trace=trace)
        case Array() | Key() | Unknown():
            return replace(value, trace=trace)
        case Items():
            return replace(value, items=tuple(_retraced(v, trace, arrays_only) for v in value.items), trace=None)
        case Many():
            return replace(value, element=_retraced(value.element, trace, arrays_only), trace=None)
        case Mapping():
            entries = tuple((k, _retraced(v, trace, arrays_only)) for k, v in value.entries)
            return replace(value, entries=entries, trace=None)
        case OneOf():
            return one_of(_retraced(v, trace, arrays_only) for v in value.options)
    return replace(value, trace=None) if value.trace is not None else value
