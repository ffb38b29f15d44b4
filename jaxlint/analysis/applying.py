"""Applies transforms to functions, in all the ways that a program may write it: what is made, and from what."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis import calls
from jaxlint.analysis.api import Transform
from jaxlint.analysis.events import PartialMade, TransformMade
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.signature import signature, unknown_statics
from jaxlint.analysis.values import (
    Api,
    Bound,
    Closure,
    Factory,
    Instance,
    Option,
    Site,
    Transformed,
    Unknown,
    Value,
    options,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def apply_expression(m: Machine, f: Frame, path: str, e: n.Call) -> Value:
    """`jax.jit(f, ...)` as written: the transformed function, or a factory where the function is missing."""
    arguments = calls.evaluate_arguments(m, f, e)
    return apply_value(m, f, path, arguments, e, e.span)


def apply_value(m: Machine, f: Frame, path: str, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """A transform called with evaluated arguments."""
    transform = m.transforms[path]
    name_span = e.function.span if e is not None else where
    options = _options(transform, arguments)
    function = arguments.get(0, transform.function) or arguments.keyword("f")
    if function is None:
        site = Site(path, transform.kind, f.path, where, name_span, "factory", None, options, _last(e))
        return Factory(site, f.number) if transform.factory else Unknown()
    target = arguments.node(0, transform.function)
    target_span = target.span if target else None
    site = Site(path, transform.kind, f.path, where, name_span, "call", target_span, options, _last(e))
    return make(m, f, site, function, e or n.Name(where, path))


def _last(e: n.Call | None) -> Span | None:
    return e.arguments[-1].span if e is not None and e.arguments else None


def _options(transform: Transform, arguments: Arguments) -> tuple[tuple[str, Option], ...]:
    found: list[tuple[str, Option]] = []
    spans = dict(arguments.keyword_nodes)
    for name, value in zip(transform.positional, arguments.positional[1:], strict=False):
        node = arguments.node(1 + transform.positional.index(name), name)
        if node is not None:
            found.append((name, Option(value, node.span, node.span)))
    for name, value in arguments.keywords:
        if name in spans and name not in (transform.function, "f"):
            found.append((name, Option(value, spans[name].value.span, spans[name].span)))
    return tuple(found)


def partial(m: Machine, f: Frame, arguments: Arguments, e: n.Call) -> Value:
    """`functools.partial(...)`: of a transform it is a factory, of anything else a function with bound arguments."""
    first = arguments.positional[0]
    if isinstance(first, Api) and first.path in m.transforms and len(arguments.positional) == 1:
        transform = m.transforms[first.path]
        site = Site(
            first.path, transform.kind, f.path, e.span, e.arguments[0].value.span, "partial", None,
            _options(transform, replace(arguments, positional=(first,))), _last(e),
        )  # fmt: skip
        return Factory(site, f.number)
    if isinstance(first, Factory):
        extra = _options(m.transforms[first.site.transform], replace(arguments, positional=(first,)))
        return Factory(replace(first.site, options=(*first.site.options, *extra)), f.number)
    value = Bound(first, arguments.positional[1:], arguments.keywords, f.number, e.span)
    m.emit(PartialMade(f, e.span, value, e))
    return value


def apply_factory(m: Machine, f: Frame, factory: Factory, arguments: Arguments, e: n.Call) -> Value:
    """`factory(f)`."""
    if not arguments.positional:
        return Unknown()
    target = arguments.node(0, "fun")
    extra = _options(m.transforms[factory.site.transform], replace(arguments, positional=arguments.positional[:1]))
    site = replace(
        factory.site, span=e.span, path=f.path, target_span=target.span if target else None,
        options=(*factory.site.options, *extra),
    )  # fmt: skip
    return make(m, f, site, arguments.positional[0], e)


def decorate(m: Machine, f: Frame, factory: Factory, decorator: n.Expr, value: Value, function: n.Function) -> Value:
    """`@factory` above a function."""
    site = replace(factory.site, span=decorator.span, path=f.path)
    if factory.site.span != decorator.span:  # `@fast`, configured elsewhere
        site = replace(site, form="alias", name_span=decorator.span)
    return make(m, f, site, value, function)


def decorate_plainly(m: Machine, f: Frame, path: str, decorator: n.Expr, value: Value, function: n.Function) -> Value:
    """`@jax.jit` above a function."""
    site = Site(path, m.transforms[path].kind, f.path, decorator.span, decorator.span, "decorator")
    return make(m, f, site, value, function)


def make(m: Machine, f: Frame, site: Site, function: Value, node: n.Expr | n.Function) -> Value:
    """The transformed function; it will also be run on its own, with what its signature tells of the arguments."""
    value = Transformed(site, function, f.number)
    m.note_site(value, f, node, fresh=is_fresh(f, function))
    m.emit(TransformMade(f, value, node, f.loops))
    _mark_executed(m, function)
    if unknown_statics(site, signature(function)):
        return Unknown()  # JAX raises here
    if not m.quiet and not f.in_test():  # what tests compile they also call
        m.entries.append((value, f))
    return value


def _mark_executed(m: Machine, function: Value) -> None:
    """A function that is transformed is run under its transform, not on its own."""
    for option in options(function):
        if isinstance(option, Closure):
            m.executed.add((option.path, option.function.span))
        elif isinstance(option, (Bound, Transformed)):
            _mark_executed(m, option.function)


def is_fresh(f: Frame, function: Value) -> bool:
    """Whether each run of the code makes another function object, so that no compilation is ever found again."""
    if isinstance(function, Closure):
        if isinstance(function.owner, Instance):
            return f.function is not None
        return _made_here(f, function.born, function.function.span)
    if isinstance(function, Transformed):
        return _made_here(f, function.born, function.site.span)
    if isinstance(function, Bound):
        return function.span is not None and _made_here(f, function.born, function.span)
    return False


def _made_here(f: Frame, born: int, span: Span) -> bool:
    """Whether a function comes from the same run of a function, and in a loop from the same round."""
    if born != f.number:
        return False
    if not f.loop_spans:
        return f.function is not None
    loop = f.loop_spans[-1]
    return (loop.line, loop.column) <= (span.line, span.column) and span.end_line <= loop.end_line
