"""JAX407 at-result-discarded: `x.at[i].set(v)` gives a new array; as a statement it does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix, insert
from jaxlint.analysis.events import Dropped
from jaxlint.model import Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.registry import Rule

RULE = Rule(
    "JAX407", "at-result-discarded", "the result of an `.at` update is thrown away", Severity.ERROR, fix=Safety.UNSAFE
)

UPDATES = frozenset({"set", "add", "subtract", "multiply", "mul", "divide", "power", "min", "max", "apply"})


def check(event: Dropped, context: Context) -> Iterator[Report]:
    """A statement that is nothing but an update."""
    array = updated(event.statement.value)
    if array is None:
        return
    written = context.text.at(array.span)
    message = f"the update gives a new array, which is thrown away; `{written}` stays as it is"
    yield Report(event.span, message, (), _rebound(event, array, context))


def updated(node: n.Expr) -> n.Expr | None:
    """The `x` of `x.at[i].set(v)`."""
    if not isinstance(node, n.Call) or not isinstance(node.function, n.Attribute) or node.function.name not in UPDATES:
        return None
    place = node.function.base
    if isinstance(place, n.Subscript) and isinstance(place.base, n.Attribute) and place.base.name == "at":
        return place.base.base
    return None


def _rebound(event: Dropped, array: n.Expr, context: Context) -> Fix | None:
    """Binds the name anew, where it is the function's own."""
    function = event.frame.function
    if not isinstance(array, n.Name):
        return None
    if function is not None:
        own = function.bound | {parameter.name for parameter in function.parameters}
        if array.name not in own | function.outer:
            return None
    edit = insert(event.span.line, event.span.column, f"{array.name} = ")
    return fix(Safety.UNSAFE, f"bind `{array.name}` to the result", edit)


CHECKS = {Dropped: check}
