"""Writes the call of a jitted partial without the partial: what it binds becomes arguments of the calls."""

from __future__ import annotations

from dataclasses import replace

from jaxlint.analysis.context import Context, fix, insert
from jaxlint.analysis.events import SiteSeen
from jaxlint.analysis.values import Array, Bound, Closure, Key, Scalar, leaves
from jaxlint.model import Edit, Fix, Safety
from jaxlint.program import nodes as n
from jaxlint.repair.calls import add_argument
from jaxlint.repair.hoist import enclosing
from jaxlint.repair.options import call_at
from jaxlint.repair.parameters import calls_of_value

NUMBERS = ("bool", "int", "float", "complex")


def without_partial(event: SiteSeen, context: Context) -> Fix | None:
    """`jax.jit(partial(f, rate))(x)` becomes `jax.jit(f)(rate, x)`, which is compiled once for all rates."""
    bound, site = event.value.function, event.value.site
    if not isinstance(bound, Bound) or not isinstance(bound.function, Closure) or bound.span is None or site.options:
        return None
    partial = call_at(bound.span, context) if site.path == context.module.path else None
    if partial is None or isinstance(event.node, n.Function) or not _are_data(bound):
        return None
    path = enclosing(context.module, event.node.span)
    calls = calls_of_value(event.node, path, context)
    given = partial.arguments[1:]
    is_inside = len(event.node.arguments) == 1 if isinstance(event.node, n.Call) else False
    if not calls or not is_inside or any(argument.star for argument in given):
        return None
    if not isinstance(partial.arguments[0].value, n.Name) or not event.could_be(
        replace(event.value, function=bound.function)
    ):
        return None
    positional = [context.text.at(a.span) for a in given if a.keyword is None]
    keywords = [context.text.at(a.span) for a in given if a.keyword is not None]
    edits = [Edit(partial.span, context.text.at(partial.arguments[0].span))]
    for call in calls:
        edits += _at_call(call, positional, keywords, context)
    return fix(Safety.UNSAFE, "pass what the partial binds at each call", edits)


def _are_data(bound: Bound) -> bool:
    values = [*bound.arguments, *(value for _, value in bound.keywords)]
    return all(
        isinstance(leaf, (Array, Key)) or (isinstance(leaf, Scalar) and leaf.kind in NUMBERS)
        for value in values
        for leaf in leaves(value)
    )


def _at_call(call: n.Call, positional: list[str], keywords: list[str], context: Context) -> list[Edit]:
    """The bound arguments in front of the positional ones, and behind all."""
    if not call.arguments:
        return [add_argument(call, ", ".join([*positional, *keywords]), context)]
    first = call.arguments[0].span
    edits = [insert(first.line, first.column, "".join(f"{text}, " for text in positional))] if positional else []
    return [*edits, *([add_argument(call, ", ".join(keywords), context)] if keywords else [])]
