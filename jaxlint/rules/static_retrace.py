"""JAX113 static-retrace: a static argument that is new at every call compiles the function at every call."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.signature import constants
from jaxlint.analysis.values import Closure, Scalar, Site, Value
from jaxlint.model import Edit, Fix, Safety, Severity, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import target_names, walk
from jaxlint.registry import Rule
from jaxlint.repair.hoist import enclosing, out_of_loop
from jaxlint.repair.usage import is_only_arithmetic
from jaxlint.rules.static_unhashable import static_arguments

RULE = Rule(
    "JAX113", "static-retrace", "a static argument that changes at every call", Severity.WARNING, fix=Safety.SAFE
)  # fmt: skip


def check(event: TransformCalled, context: Context) -> Iterator[Report]:
    """Static arguments of a call in a loop that differ from round to round."""
    frame = event.frame
    if event.call is None or not frame.loops or frame.compiled or frame.in_test():
        return
    for name, value, node in static_arguments(event):
        if node is None:
            continue
        if isinstance(value, Closure) and isinstance(node, n.Lambda):
            message = (
                f"the lambda for static `{name}` is a new function in each round, "
                f"so `{_called(event)}` compiles each time"
            )
            yield Report(event.span, message, (), _named(node, str(name), context))
        elif is_renewed(node, value, event, context):
            message = (
                f"static `{name}` has another value in each round of the loop, "
                f"so `{_called(event)}` compiles again for each; leave it traced"
            )
            yield Report(event.span, message, (), _unstatic(event, str(name), context))


def _called(event: TransformCalled) -> str:
    function = event.value.function
    return function.function.name if isinstance(function, Closure) else "the function"


def is_renewed(node: n.Expr, value: Value, event: TransformCalled, context: Context) -> bool:
    """Whether a number depends on the loop's own counter, and the function needs it only as a number."""
    if not isinstance(value, Scalar) or value.kind not in ("int", "float") or value.known:
        return False
    counters = _counters(event, context)
    function = event.value.function
    depends = any(isinstance(part, n.Name) and part.name in counters for part in walk(node))
    return (
        depends
        and isinstance(function, Closure)
        and is_only_arithmetic(function.function, _parameter(function, node, event))
    )


def _parameter(function: Closure, node: n.Expr, event: TransformCalled) -> str:
    for position, other in enumerate(event.arguments.nodes):
        if other is node:
            return function.function.parameters[position].name if position < len(function.function.parameters) else ""
    return next((name for name, argument in event.arguments.keyword_nodes if argument.value is node), "")


def _counters(event: TransformCalled, context: Context) -> set[str]:
    """The names that the loops around bind by `range` or `enumerate`: surely another number in each round."""
    found: set[str] = set()
    for statement in enclosing(context.module, event.span):
        if isinstance(statement, n.For):
            found.update(_counter(statement.target, statement.iterable))
    return found


def _counter(target: n.Expr, iterable: n.Expr) -> Iterator[str]:
    if not isinstance(iterable, n.Call) or not isinstance(iterable.function, n.Name):
        return
    if iterable.function.name == "range":
        yield from target_names(target)
    elif iterable.function.name == "enumerate" and isinstance(target, n.Sequence):
        yield from target_names(target.elements[0])


def _named(node: n.Lambda, name: str, context: Context) -> Fix | None:
    moved = out_of_loop(node, name, context)
    return fix(Safety.SAFE, "make the function once, before the loop", moved[1]) if moved is not None else None


def _unstatic(event: TransformCalled, name: str, context: Context) -> Fix | None:
    """Takes the parameter out of the static ones, where the application is in this file."""
    site = event.value.site
    if site.path != context.module.path:
        return None
    edits = without_static(site, name, event, context)
    return fix(Safety.UNSAFE, f"leave `{name}` traced", edits) if edits else None


def without_static(site: Site, name: str, event: TransformCalled, context: Context) -> list[Edit] | None:
    """The edits that take one name or its number out of the options."""
    names = site.option_at("static_argnames")
    numbers = site.option_at("static_argnums")
    if names is not None and numbers is None:
        kept: list[str] = [f'"{text}"' for text in constants(names.value) or () if text != name]
        option = names
    elif numbers is not None and names is None:
        assert isinstance(event.value.function, Closure)
        positions = [p.name for p in event.value.function.function.parameters]
        kept = [
            str(number)
            for number in constants(numbers.value) or ()
            if isinstance(number, int) and positions[number] != name
        ]
        option = numbers
    else:
        return None
    if kept:
        comma = "," if len(kept) == 1 else ""
        inner = ", ".join(kept) + comma
        # The span of a tuple leaves its parentheses out, that of a list holds the brackets.
        return [Edit(option.span, f"[{inner}]" if context.text.at(option.span)[:1] == "[" else inner)]
    return _without_option(site, option.argument, context)


def _without_option(site: Site, span: Span, context: Context) -> list[Edit] | None:
    if site.form == "partial" and len(site.options) == 1 and site.last_argument is not None:
        return [Edit(site.span, context.text.at(site.name_span))]  # `@partial(jax.jit, ...)` becomes `@jax.jit`
    line = context.text.line(span.line)
    before = line[: span.column - 1]
    if before.rstrip().endswith(",") and site.form in ("call", "partial"):
        start = len(before.rstrip()) - 1
        return [Edit(Span(span.line, start + 1, span.end_line, span.end_column), "")]
    if site.form == "factory":
        return [Edit(site.span, context.text.at(site.name_span))]
    return None


CHECKS = {TransformCalled: check}
