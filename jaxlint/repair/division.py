"""`a / b` becomes `a // b`, where the quotient stands or where its name is bound."""

from __future__ import annotations

from jaxlint.analysis.context import Context, fix
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import target_names
from jaxlint.repair.contents import count_reads
from jaxlint.repair.hoist import enclosing


def as_floor_division(node: n.Expr, context: Context) -> Fix | None:
    """The fix that makes a quotient whole; safe where nothing else reads it."""
    safety = Safety.SAFE
    if isinstance(node, n.Name):
        if count_reads(context.module, node.name) != 1:
            safety = Safety.UNSAFE
        bound = bound_to(node, context)
        if bound is None:
            return None
        node = bound
    edit = _divided(node, context) if isinstance(node, n.Binary) and node.operator == "/" else None
    return fix(safety, "divide without remainder", edit) if edit is not None else None


def bound_to(name: n.Name, context: Context) -> n.Expr | None:
    """What a name is bound to, where one plain assignment of its own function or module binds it."""
    path = enclosing(context.module, name.span)
    bodies = [context.module.body, *(s.function.body for s in path if isinstance(s, n.FunctionDefinition))]
    for body in reversed(bodies):
        found = [s for s in body if isinstance(s, n.Assign) and any(_names(target, name.name) for target in s.targets)]
        if found:
            targets = found[0].targets
            is_plain = len(found) == 1 and len(targets) == 1 and isinstance(targets[0], n.Name)
            return found[0].value if is_plain else None
    return None


def _names(target: n.Expr, name: str) -> bool:
    return name in target_names(target)


def _divided(node: n.Binary, context: Context) -> Edit | None:
    left, right = node.left.span, node.right.span
    between = Span(left.end_line, left.end_column, right.line, right.column)
    text = context.text.at(between)
    return Edit(between, text.replace("/", "//")) if text.count("/") == 1 and "#" not in text else None
