"""Takes conversions to Python numbers away from tracers: `float(x)` and `x.item()` leave the array as it is."""

from __future__ import annotations

from jaxlint.analysis.context import Context, fix
from jaxlint.analysis.events import HostCall
from jaxlint.analysis.values import Array
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import children
from jaxlint.repair.hoist import enclosing, holds
from jaxlint.repair.spelling import spell
from jaxlint.repair.text import ATOMS
from jaxlint.repair.usage import is_only_arithmetic

KINDS = {"float()": ("float", "bfloat"), "int()": ("int", "uint")}


def kept_as_array(event: HostCall, context: Context) -> Fix | None:
    """The array in place of the number, where the number is only computed with."""
    value, call = event.value, event.call
    if not isinstance(value, Array) or value.shape not in (None, ()) or not _is_computed_with(event, context):
        return None
    if event.function == ".item()" and isinstance(call.function, n.Attribute) and not call.arguments:
        end = call.span
        gone = Span(end.end_line, end.end_column - len(".item()"), end.end_line, end.end_column)
        if context.text.at(gone) != ".item()":
            return None
        return fix(Safety.UNSAFE, "keep the array", Edit(gone, ""))
    plain = len(call.arguments) == 1 and not call.arguments[0].keyword and not call.arguments[0].star
    if event.function not in KINDS or not plain or not isinstance(call.function, n.Name):
        return None
    return _unconverted(event, value, call.function.name, context)


def _unconverted(event: HostCall, value: Array, kind: str, context: Context) -> Fix:
    given = event.call.arguments[0]
    text = context.text.at(given.span)
    if value.dtype is not None and value.dtype.startswith(KINDS[event.function]):
        kept = text if isinstance(given.value, ATOMS) else f"({text})"
        return fix(Safety.UNSAFE, "keep the array", Edit(event.call.span, kept))
    asarray = spell(context.module, "jax.numpy.asarray", event.span)
    written = f"{asarray.text}({text}, dtype={kind})"
    return fix(Safety.UNSAFE, "convert the array", Edit(event.call.span, written), asarray.edits)


def _is_computed_with(event: HostCall, context: Context) -> bool:
    """Whether the result is returned, used in arithmetic, or bound to a name that is used so."""
    path = enclosing(context.module, event.call.span)
    statement, function = (path[-1] if path else None), event.frame.function
    if not isinstance(statement, (n.Return, n.Assign)) or statement.value is None or function is None:
        return False
    if not _only_arithmetic_around(statement.value, event.call.span):
        return False
    if isinstance(statement, n.Return) or statement.value.span != event.call.span:
        return True
    target = statement.targets[0]
    return len(statement.targets) == 1 and isinstance(target, n.Name) and is_only_arithmetic(function, target.name)


def _only_arithmetic_around(top: n.Expr, inner: Span) -> bool:
    """Whether nothing but operators and displays stand between."""
    node = top
    while node.span != inner:
        if not isinstance(node, (n.Binary, n.Unary, n.Sequence)):
            return False
        found = next((child for child in children(node) if holds(child.span, inner)), None)
        if found is None:
            return False
        node = found
    return True
