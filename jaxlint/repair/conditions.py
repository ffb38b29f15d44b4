"""Rewrites Python branches on arrays as array operations: `jnp.where`, `&`, `jnp.minimum`, `is None`."""

from __future__ import annotations

from jaxlint.analysis.context import Context
from jaxlint.analysis.events import Branch
from jaxlint.model import Fix
from jaxlint.program import nodes as n
from jaxlint.repair import comparisons, selection
from jaxlint.repair.numeric import Reader
from jaxlint.repair.parameters import reads_in


def as_array_operation(event: Branch, context: Context) -> Fix | None:
    """The rewrite of a branch that is mechanical, if there is one.

    Builtins that compare and connectives of booleans keep their meaning (safe). A branch becomes a choice between
    computed values (unsafe: both sides are then computed, and come out with one dtype).
    """
    if is_recursive(event.frame.function):
        return None  # with both sides computed, nothing ends the recursion
    reader = Reader(event.frame, context)
    match event.form, event.statement:
        case "if", n.If() as statement:
            return selection.of_if(statement, reader)
        case "conditional", n.Conditional() as e:
            return selection.of_conditional(e, reader)
        case ("min" | "max") as form, n.Call() as e:
            return comparisons.of_extreme(e, form, reader)
        case "sorted", n.Call() as e:
            return comparisons.of_sorted(e, reader)
        case "in", n.Compare() as e:
            return comparisons.of_membership(e, reader)
        case ("any" | "all") as form, n.Call() as e:
            return comparisons.of_quantifier(e, form, reader)
        case (("and" | "or" | "not" | "chained comparison"), (n.Boolean() | n.Unary() | n.Compare()) as e):
            found = comparisons.of_boolean(e, reader)
            return found or (comparisons.of_default(e, reader) if isinstance(e, n.Boolean) else None)
    return None


def is_recursive(function: n.Function | None) -> bool:
    """Whether a function calls itself by its name."""
    return function is not None and bool(reads_in(function, lambda node: _calls(node, function.name)))


def _calls(node: n.Expr, name: str) -> bool:
    called = node.function if isinstance(node, n.Call) else None
    return isinstance(called, (n.Name, n.Attribute)) and called.name == name
