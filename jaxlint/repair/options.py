"""Options of a transform application: one more, or one less, in the form that the application is written in."""

from __future__ import annotations

from jaxlint.analysis.context import Context, insert
from jaxlint.analysis.values import Site
from jaxlint.model import Edit, Span
from jaxlint.program import nodes as n
from jaxlint.repair.calls import add_argument, remove_argument
from jaxlint.repair.contents import expressions_inside, expressions_of
from jaxlint.repair.spelling import spell


def call_at(span: Span, context: Context) -> n.Call | None:
    """The call expression that stands exactly there."""
    found = expressions_inside(context.module, span)
    return next((node for node in found if isinstance(node, n.Call) and node.span == span), None)


def call_around(inner: Span, context: Context) -> n.Call | None:
    """The method call `inner.name(...)`."""
    calls = expressions_of(context.module, n.Call)
    found = (call for call in calls if isinstance(call.function, n.Attribute) and call.function.base.span == inner)
    return next(found, None)


def add_option(site: Site, text: str, context: Context) -> list[Edit] | None:
    """The edits that give an application one more keyword; None where it is written elsewhere or leaves no room."""
    if site.path != context.module.path or site.form == "alias":
        return None
    if site.form == "decorator":
        partial = spell(context.module, "functools.partial", site.span)
        return [Edit(site.span, f"{partial.text}({context.text.at(site.name_span)}, {text})"), *partial.edits]
    call = call_at(site.span, context)
    if call is not None and site.form == "call":
        return [add_argument(call, text, context)]
    end = site.last_argument
    return [insert(end.end_line, end.end_column, f", {text}")] if end is not None else None


def remove_option(site: Site, name: str, context: Context) -> list[Edit] | None:
    """The edits that take an option away; what is left of `partial(jax.jit)` or `jax.jit()` is `jax.jit`."""
    option = site.option_at(name)
    if option is None or site.path != context.module.path:
        return None
    call = _call_with(option.argument, context)
    if call is None:
        return None
    index = next(i for i, argument in enumerate(call.arguments) if argument.span == option.argument)
    functions = {"partial": 1, "factory": 0}.get(site.form)
    if functions is not None and len(call.arguments) == functions + 1:
        kept = call.function if functions == 0 else call.arguments[0].value
        return [Edit(call.span, context.text.at(kept.span))]
    return [remove_argument(call, index, context)]


def _call_with(argument: Span, context: Context) -> n.Call | None:
    calls = expressions_of(context.module, n.Call)
    return next((call for call in calls if any(given.span == argument for given in call.arguments)), None)
