"""JAX208 mapped-non-array: a map over something that has no axis, such as a list of records, or a text as output."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis import mapping
from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.differences import certain
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.values import Array, Instance, Items, Many, Mapping, Scalar, Value, leaves, parts
from jaxlint.model import Safety, Severity, Step
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.axes import stacked, unmapped
from jaxlint.rules._in_axes import described, is_map

RULE = Rule("JAX208", "mapped-non-array", "something without an axis is mapped", Severity.ERROR, fix=Safety.UNSAFE)

CONTAINERS = (Items, Many, Mapping, Instance)


def check(event: TransformCalled, context: Context) -> Iterator[Report]:
    """The leaves of mapped arguments, and the outputs."""
    if not is_map(event.value.site) or event.frame.in_test():
        return
    site = event.value.site
    because = (Step(site.path, site.span.line, f"`{described(event.value.function)}` is mapped here"),)
    count = len(event.arguments.positional)
    given = site.option("in_axes")
    if isinstance(given, Items) and len(given.items) != count:
        return  # in-axes-arity
    axes = mapping.axes(site, count)
    for position, (value, axis) in enumerate(zip(event.arguments.positional, axes, strict=True)):
        if not event.frame.known and not _is_written(event, position):
            continue
        found = next(_without_axis(value, axis), None)
        if found is not None:
            message = f"argument {position + 1} is mapped, but {_described(value, found)}{_advice(value)}"
            repair = unmapped(event, context) if value is found else stacked(event, position, context)
            yield Report(event.span, message, because, repair)
            return
    if event.frame.known and event.body is not None and any(_is_text(leaf) for leaf in leaves(certain(event.body))):
        message = f"`{described(event.value.function)}` returns a string, which `{site.transform}` cannot batch"
        yield Report(event.span, message, because)


def _is_written(event: TransformCalled, position: int) -> bool:
    """Whether the argument stands as a number or text in the call, whoever calls the function around."""
    nodes = event.arguments.nodes
    return position < len(nodes) and isinstance(nodes[position], n.Constant)


def _without_axis(value: Value, axis: Value) -> Iterator[Value]:
    """The Python numbers and texts, and in containers the arrays of rank 0, whose axis is to be mapped."""
    for leaf, leaf_axis in mapping.paired(certain(value), axis):
        if mapping.number(leaf_axis) is None:
            continue
        if isinstance(leaf, Scalar) and (leaf.kind in ("bool", "int", "float", "complex") or _is_text(leaf)):
            yield leaf
        elif isinstance(leaf, Instance) and value is not leaf and _is_record(leaf):
            yield from (part for part in leaf.attributes.names.values() if _is_number(part))


def _is_record(value: Instance) -> bool:
    """Whether the object is a pytree of its fields."""
    return any(getattr(base, "path", "") == "typing.NamedTuple" for base in value.cls.bases)


def _is_number(value: Value) -> bool:
    if isinstance(value, Array):
        return value.shape == ()
    return isinstance(value, Scalar) and value.kind in ("bool", "int", "float", "complex")


def _is_text(value: Value) -> bool:
    return isinstance(value, Scalar) and value.kind == "str"


def _described(value: Value, leaf: Value) -> str:
    kind = f"a Python {leaf.kind}" if isinstance(leaf, Scalar) else "a scalar"
    return f"holds {kind}, which has no axis" if isinstance(value, CONTAINERS) else f"is {kind}, which has no axis"


def _advice(value: Value) -> str:
    is_list = isinstance(value, (Items, Many)) and value.kind in ("list", "tuple") and any(True for _ in parts(value))
    return "; the axis is taken in each leaf of a list: stack its items first" if is_list else ""


CHECKS = {TransformCalled: check}
