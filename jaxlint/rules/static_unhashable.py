"""JAX312 static-unhashable and JAX313 static-array: what is passed for a static argument cannot be a cache key."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.signature import Signature, signature, static_parameters, unhashable
from jaxlint.analysis.values import Array, Items, Key, Value
from jaxlint.model import Edit, Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.statics import left_traced

UNHASHABLE = Rule(
    "JAX312",
    "static-unhashable",
    "a list, dict or set is passed for a static argument",
    Severity.ERROR,
    fix=Safety.SAFE,
)
ARRAY = Rule("JAX313", "static-array", "an array is passed for a static argument", Severity.ERROR, fix=Safety.UNSAFE)


def static_arguments(event: TransformCalled) -> Iterator[tuple[str | int, Value, n.Expr | None]]:
    """The static arguments of a call with their expressions."""
    known = signature(event.value.function)
    statics = static_parameters(event.value.site, known)
    if statics is None or event.value.site.kind not in ("jit", "pmap"):
        return
    given = event.arguments
    for position, value in enumerate(given.positional):
        name = known.name_at(position) if known is not None else None
        if statics.holds(position, name):
            yield name or position, value, given.nodes[position] if position < len(given.nodes) else None
    nodes = dict(given.keyword_nodes)
    for name, value in given.keywords:
        if statics.holds(None, name):
            yield name, value, nodes[name].value if name in nodes else None


def check_unhashable(event: TransformCalled, context: Context) -> Iterator[Report]:
    """A list, dict or set at a static argument."""
    for name, value, node in static_arguments(event):
        if isinstance(value, (Array, Key)) or unhashable(value) is None:
            continue
        where = node.span if node is not None else event.span
        message = f"`{name}` is static and must be hashable, but is given {unhashable(value)}"
        yield Report(where, message, (), _as_tuple(value, node, context))


def _as_tuple(value: Value, node: n.Expr | None, context: Context) -> Fix | None:
    if not isinstance(value, Items) or value.kind != "list" or not isinstance(node, n.Sequence):
        return None
    inner = context.text.at(node.span)[1:-1].rstrip().removesuffix(",")
    comma = "," if len(node.elements) == 1 else ""
    return fix(Safety.SAFE, "pass a tuple", Edit(node.span, f"({inner}{comma})"))


def check_array(event: TransformCalled, context: Context) -> Iterator[Report]:
    """An array at a static argument; numbers counted without `self` are the usual cause."""
    site = event.value.site
    known = signature(event.value.function)
    for name, value, node in static_arguments(event):
        if not isinstance(value, Array) or unhashable(value) is None:
            continue
        if _forgets_self(known, event) and site.path == context.module.path:
            message = (
                f"`static_argnums` makes the array `{name}` static, which is not hashable; "
                "on a method the numbers count `self` as 0"
            )
            yield Report(site.span, message, (), _shifted(event, context))
        else:
            where = node.span if node is not None and event.call is not None else event.span
            message = f"`{name}` is static and must be hashable, but is given an array"
            repair = None if event.needs_value(str(name)) else left_traced(event, str(name), context)
            yield Report(where, message, (), repair)


def _forgets_self(known: Signature | None, event: TransformCalled) -> bool:
    first = known.parameters[0].name if known is not None and known.parameters else ""
    return first == "self" and event.value.site.option("static_argnums") is not None


def _shifted(event: TransformCalled, context: Context) -> Fix | None:
    """Numbers behind 0 moved up by one, where they then still name parameters."""
    option = event.value.site.option_at("static_argnums")
    known = signature(event.value.function)
    if option is None or known is None or not isinstance(option.value, Items):
        return None
    numbers = [getattr(item, "const", None) for item in option.value.items]
    if not all(isinstance(number, int) and number >= 0 for number in numbers):
        return None
    moved = [number + 1 if number else 0 for number in numbers if isinstance(number, int)]
    if max(moved) >= len(known.positional()) or 0 not in moved:
        return None
    written = context.text.at(option.span)
    opening, closing = ("(", ")") if written[:1] == "(" else ("[", "]") if written[:1] == "[" else ("", "")
    return fix(
        Safety.UNSAFE, "count `self`", Edit(option.span, f"{opening}{', '.join(map(str, moved))}{closing}")
    )  # fmt: skip


RULES = ((UNHASHABLE, {TransformCalled: check_unhashable}), (ARRAY, {TransformCalled: check_array}))
