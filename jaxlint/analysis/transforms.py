"""Calls transformed functions: what becomes a tracer, and what comes out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis import calls, donation, evidence, mapping
from jaxlint.analysis.api import Transform, is_dtype
from jaxlint.analysis.events import SiteSeen, TransformCalled
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.signature import Signature, signature, static_parameters, unhashable
from jaxlint.analysis.tracing import not_differentiated, outer_trace, to_tracer, untraced
from jaxlint.analysis.trees import tree_map
from jaxlint.analysis.values import (
    Api,
    Array,
    Items,
    OneOf,
    Scalar,
    Site,
    Trace,
    TracedParameter,
    Transformed,
    Unknown,
    Value,
    options,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def lookup(m: Machine, site: Site) -> Transform:
    """The table's entry for a site's transform."""
    return m.transforms[site.transform]


def call(m: Machine, f: Frame, value: Transformed, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """Calls a transformed function."""
    site = value.site
    _count(m, f, value, e, arguments)
    inside: list[Value] = []
    result = _CALLERS.get(site.kind, _call_plain)(m, f, value, arguments, where, inside)
    donation.mark(m, f, value, arguments, result, where)
    body = inside[0] if inside else None
    m.emit(
        TransformCalled(
            f, where, value, arguments, e, result,
            lambda: m.can_be_jitted(value, f, where), lambda name: m.needs_value(value, f, name), body,
        )
    )  # fmt: skip
    return result


def _count(m: Machine, f: Frame, value: Transformed, e: n.Call | None, arguments: Arguments) -> None:
    if m.quiet:
        return
    if value.site.kind == "jit" and not f.compiled:
        for site in f.mapped:
            outer = m.records.get((site.path, site.span))
            if outer is not None:
                outer.inner_by_place[value.site.path, value.site.span] = value
    record = m.record(value)
    if record is not None:
        record.calls += e is not None
        if e is not None:
            record.texts.update(_texts(value, arguments))
        if e is not None and f.known and not f.compiled:
            record.eager.append((f, e, arguments))
        count_call(f, record)
        if e is not None and e.function.span == value.site.span:
            record.immediate = True


def _texts(value: Transformed, arguments: Arguments) -> Iterator[tuple[str, Value]]:
    """The texts and dtypes among the arguments that are traced, by parameter."""
    known = signature(value.function)
    statics = static_parameters(value.site, known)
    for name, given in statics.traced(known, arguments) if known is not None and statics is not None else ():
        is_text = isinstance(given, Scalar) and given.kind == "str"
        if is_text or (isinstance(given, Api) and given.path.startswith("jax.numpy.") and is_dtype(given.path)):
            yield name, given


def count_call(f: Frame, record: SiteSeen) -> None:
    """Notes from where a transformed function is called; of guessed calls only what surrounds them counts."""
    if f.in_test():
        record.test_calls += 1
    elif f.compiled:
        record.staged_calls += 1
    elif f.mapped:
        record.mapped_calls += 1
    elif f.known:
        record.eager_calls += 1
    record.calls_in_loop += f.number == record.frame.number and f.loops > record.loops


def under(f: Frame, site: Site, transform: Transform) -> Frame:
    """The frame in which a transform runs its function."""
    compiled = f.compiled or (transform.staged and transform.kind != "checkpoint")
    maps = not compiled and transform.kind in MAPPING
    return Frame(
        f.path, f.scope, None, f, None, site, f.staged or transform.staged, compiled,
        (*f.mapped, site) if maps else f.mapped, f.number, known=f.known, loop_spans=list(f.loop_spans),
    )  # fmt: skip


MAPPING = frozenset(
    {"vmap", "grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "jvp", "vjp", "linearize", "vectorize"}
)


def _call_plain(
    m: Machine, f: Frame, value: Transformed, arguments: Arguments, where: Span, inside: list[Value]
) -> Value:
    return calls.call(m, under(f, value.site, lookup(m, value.site)), value.function, arguments, None, where)


def _call_staged(
    m: Machine, f: Frame, value: Transformed, arguments: Arguments, where: Span, inside: list[Value]
) -> Value:
    """jit, pmap's inside, checkpoint: what is not static becomes a tracer."""
    site, transform = value.site, lookup(m, value.site)
    known = signature(value.function)
    statics = static_parameters(site, known)
    if statics is None:
        return untraced(f, calls.call_unknown(m, f, Unknown(), arguments, where), outer_trace(arguments))
    record = m.record(value)
    if record is not None and any(unhashable(v) for _, v in statics.arguments(known, arguments)):
        record.broken = True  # the call raises before the function runs
        return Unknown()
    auto = transform.auto_static

    def traced(position: int | None, name: str | None, argument: Value) -> Value:
        if statics.holds(position, name):
            return argument
        return to_tracer(argument, entry_trace(m, site, known, position, name), auto_static=auto)

    inner = _each(arguments, known, traced)
    result = calls.call(m, under(f, site, transform), value.function, inner, None, where)
    return untraced(f, result, outer_trace(arguments), arrays=True)


def entry_trace(m: Machine, site: Site, known: Signature | None, position: int | None, name: str | None) -> Trace:
    """The trace of an argument that a transform turns into a tracer."""
    level = lookup(m, site).level
    parameter = known.parameter(position, name) if known is not None else None
    if known is None or parameter is None or known.function is None:
        return Trace(level)
    return Trace(level, parameters=frozenset({TracedParameter(site, known.function, parameter.name)}))


def _each(arguments: Arguments, known: Signature | None, change) -> Arguments:  # type: ignore[no-untyped-def]
    positional = tuple(
        change(i, known.name_at(i) if known is not None else None, value)
        for i, value in enumerate(arguments.positional)
    )
    keywords = tuple((name, change(None, name, value)) for name, value in arguments.keywords)
    return replace(arguments, positional=positional, keywords=keywords)


def _call_vmap(
    m: Machine, f: Frame, value: Transformed, arguments: Arguments, where: Span, inside: list[Value]
) -> Value:
    site, transform = value.site, lookup(m, value.site)
    known = signature(value.function)
    axes = mapping.axes(site, len(arguments.positional))

    def mapped(position: int | None, name: str | None, argument: Value) -> Value:
        axis = axes[position] if position is not None else mapping.AXIS_0
        return mapping.map_in(argument, axis, entry_trace(m, site, known, position, name))

    inner = _each(arguments, known, mapped)
    frame = under(f, site, transform)
    result = mapping.watch_keys(
        m, f, site, arguments, axes, where, lambda: calls.call(m, frame, value.function, inner, None, where)
    )
    inside.append(result)
    size = mapping.size(arguments, axes)
    return untraced(f, mapping.map_out(result, site, size), outer_trace(arguments))


def _call_derivative(
    m: Machine, f: Frame, value: Transformed, arguments: Arguments, where: Span, inside: list[Value]
) -> Value:
    site, transform = value.site, lookup(m, value.site)
    known = signature(value.function)
    argnums = _argnums(site)

    def differentiated(position: int | None, name: str | None, argument: Value) -> Value:
        if argnums is not None and position not in argnums:
            return argument
        trace = entry_trace(m, site, known, position, name)
        return to_tracer(
            argument, trace if argnums is not None else replace(trace, sure=False), auto_static=transform.auto_static
        )

    inner = _each(arguments, known, differentiated)
    result = calls.call(m, under(f, site, transform), value.function, inner, None, where)
    inside.append(result)
    outer = outer_trace(arguments)
    return _derivative_result(f, site, arguments, argnums, untraced(f, result, outer), outer)


def _derivative_result(
    f: Frame, site: Site, arguments: Arguments, argnums: tuple[int, ...] | None, result: Value, outer: Trace | None
) -> Value:
    single = isinstance(site.option("argnums"), Scalar) or site.option("argnums") is None
    wanted = [arguments.positional[i] for i in argnums or () if i < len(arguments.positional)]
    if not wanted or site.kind not in ("grad", "value_and_grad"):
        gradient: Value = Array(trace=outer) if site.kind in ("jacfwd", "jacrev", "hessian") else Unknown(trace=outer)
    elif single:
        gradient = untraced(f, _like(wanted[0]), outer)
    else:
        gradient = Items("tuple", tuple(untraced(f, _like(v), outer) for v in wanted))
    has_aux = isinstance(site.option("has_aux"), Scalar) and site.option("has_aux").const is True  # type: ignore[union-attr]
    if site.kind == "value_and_grad":
        return Items("tuple", (result, gradient))
    if has_aux:
        aux = result.items[1] if isinstance(result, Items) and len(result.items) == 2 else Unknown(trace=outer)
        return Items("tuple", (gradient, aux))
    return gradient


def _like(value: Value) -> Value:
    """A gradient with respect to `value`: the same structure, shapes and dtypes."""
    if isinstance(value, Scalar):
        return Array(None, ())
    return value


def _argnums(site: Site) -> tuple[int, ...] | None:
    """The differentiated positions, None where they are not known."""
    given = site.option("argnums")
    if given is None:
        return (0,)
    numbers = [option.const if isinstance(option, Scalar) and option.known else None for option in _flat(given)]
    if all(isinstance(number, int) for number in numbers):
        return tuple(number for number in numbers if isinstance(number, int))
    return None


def _flat(value: Value) -> Iterator[Value]:
    if isinstance(value, Items):
        yield from value.items
    else:
        yield value


def _call_custom(
    m: Machine, f: Frame, value: Transformed, arguments: Arguments, where: Span, inside: list[Value]
) -> Value:
    """custom_jvp and custom_vjp run the function as it is; derivatives go through the rule, not through it."""
    inner = _each(arguments, None, lambda position, name, argument: not_differentiated(argument))
    return calls.call(m, f, value.function, inner, None, where)


_CALLERS = {
    "jit": _call_staged, "checkpoint": _call_staged, "abstract": _call_staged, "pmap": _call_vmap, "vmap": _call_vmap,
    "grad": _call_derivative, "value_and_grad": _call_derivative, "jacfwd": _call_derivative,
    "jacrev": _call_derivative, "hessian": _call_derivative, "custom": _call_custom,
}  # fmt: skip


def run_generic(m: Machine, f: Frame, value: Transformed) -> None:
    """Runs a transformed function on arguments of which only the signature tells anything."""
    record = m.record(value)
    if record is None or record.broken or not mapping.fits(value):
        return
    if record.immediate:
        return
    calls_seen = record.eager_calls + record.staged_calls + record.mapped_calls > 0
    if calls_seen and value.site.kind not in ("jit", "pmap", "checkpoint"):
        return
    call_generic(m, f, value)


def call_generic(m: Machine, f: Frame, value: Transformed) -> None:
    """Calls a transformed function on arguments of which only the signature tells anything."""
    for function in options(value.function):
        known = signature(function)
        if known is None or known.function is None or known.closure is None:
            continue
        arguments = _generic_arguments(m, value.site, known)
        with m.doubt(isinstance(value.function, OneOf)):
            calls.call(m, f.guess(), replace(value, function=function), arguments, None, value.site.span)


def _generic_arguments(m: Machine, site: Site, known: Signature) -> Arguments:
    """A value for each parameter; where a function is jitted by a call, defaults stay what they are.

    Who decorates a function offers all its parameters to be traced; who jits it for a use of his own, only those
    that he passes.
    """
    assert known.closure is not None
    frame = Frame(known.closure.path, known.closure.scope)
    positional: list[Value] = []
    keywords: list[tuple[str, Value]] = []
    for parameter in known.parameters:
        if parameter.kind in ("*", "**") or (site.form == "call" and parameter.default is not None):
            continue
        value = evidence.parameter_value(m, frame, known.closure, parameter)
        if site.kind in ("vmap", "pmap"):
            value = tree_map(_of_unknown_shape, value)  # annotations tell of rows
        if parameter.kind == "keyword-only":
            keywords.append((parameter.name, value))
        else:
            positional.append(value)
    return Arguments(tuple(positional), tuple(keywords), (None,) * len(positional))


def _of_unknown_shape(value: Value) -> Value:
    return replace(value, shape=None) if isinstance(value, Array) else value
