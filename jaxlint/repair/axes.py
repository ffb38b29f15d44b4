"""How `in_axes` is written, and what is mapped that has no axis."""

from __future__ import annotations

from collections.abc import Collection

from jaxlint.analysis import mapping
from jaxlint.analysis.context import Context, fix
from jaxlint.analysis.differences import certain
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.values import Array, Instance, Items, Many, Mapping, Option, Scalar, Value, leaves
from jaxlint.model import Edit, Fix, Safety
from jaxlint.program import nodes as n
from jaxlint.repair.options import add_option
from jaxlint.repair.spelling import spell

NUMBERS = ("bool", "int", "float", "complex")


def axes_text(option: Option, numbers: list[int | None], context: Context) -> str:
    """The entries as the option is written: one for all where it was one and they are equal."""
    if not isinstance(option.value, Items) and len(set(numbers)) == 1:
        return str(numbers[0])
    inner = ", ".join(map(str, numbers)) + ("," if len(numbers) == 1 else "")
    text = context.text.at(option.span)
    if isinstance(option.value, Items) and text[:1] not in "([":
        return inner
    return f"[{inner}]" if text[:1] == "[" else f"({inner})"


def is_without_axis(value: Value) -> bool:
    """Whether a value is surely a number, or an array of rank 0."""
    is_number = isinstance(value, Scalar) and value.kind in NUMBERS
    return is_number or (isinstance(value, Array) and value.shape == ())


def unmapped(event: TransformCalled, context: Context) -> Fix | None:
    """Entries of None for the arguments that have no axis, where others have one."""
    site = event.value.site
    given = event.arguments.positional
    axes = mapping.axes(site, len(given))
    numbers = [mapping.number(axis) for axis in axes]
    if any(at is None and not mapping.is_unmapped(axis) for at, axis in zip(numbers, axes, strict=True)):
        return None
    bare = {i for i, value in enumerate(given) if is_without_axis(value) and numbers[i] is not None}
    wanted = [None if i in bare else at for i, at in enumerate(numbers)]
    if not bare or site.path != context.module.path or all(at is None for at in wanted):
        return None
    option = site.option_at("in_axes")
    if option is not None:
        edits: Collection[Edit] | None = [Edit(option.span, axes_text(option, wanted, context))]
    else:
        edits = add_option(site, f"in_axes=({', '.join(map(str, wanted))})", context)
    return fix(Safety.UNSAFE, "leave what has no axis unmapped", [*edits]) if edits is not None else None


def stacked(event: TransformCalled, position: int, context: Context) -> Fix | None:
    """A list of numbers as an array, a list of records as a record of arrays."""
    value, node = certain(event.arguments.positional[position]), event.arguments.node(position, "")
    if not isinstance(value, (Items, Many)) or value.kind != "list" or node is None:
        return None
    if event.frame.path != context.module.path or not isinstance(node, (n.Name, n.Sequence, n.Comprehension)):
        return None
    text = context.text.at(node.span)
    elements = list(value.items) if isinstance(value, Items) else [value.element]
    stack = spell(context.module, "jax.numpy.stack", node.span)
    if all(is_without_axis(element) for element in elements):
        return fix(Safety.UNSAFE, "stack the numbers", Edit(node.span, f"{stack.text}({text})"), stack.edits)
    kinds = {type(element) for element in elements}
    if kinds not in ({Instance}, {Mapping}) or any(_is_text(leaf) for element in elements for leaf in leaves(element)):
        return None
    tree_map = spell(context.module, "jax.tree.map", node.span)
    written = f"{tree_map.text}(lambda *leaves: {stack.text}(leaves), *{text})"
    return fix(Safety.UNSAFE, "stack the records", Edit(node.span, written), stack.edits, tree_map.edits)


def _is_text(value: Value) -> bool:
    return isinstance(value, Scalar) and value.kind == "str"
