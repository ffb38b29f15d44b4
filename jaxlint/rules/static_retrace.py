"""JAX113 static-retrace: a static argument that is new at every call compiles the function at every call."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.applying import is_fresh
from jaxlint.analysis.classes import find, is_dataclass, is_pytree
from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.values import Bound, Closure, Instance, Scalar, Transformed, Value
from jaxlint.model import Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.program.names import target_names, walk
from jaxlint.registry import Rule
from jaxlint.repair.hoist import enclosing, out_of_loop
from jaxlint.repair.statics import left_traced
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
        what = _fresh_function(value, event)
        if what is not None or _is_fresh_object(value, node):
            new = f"{what} for {_static(name)} is a new function" if what else f"{_static(name)} is a new object"
            message = f"the {new} in each round, so `{_called(event)}` compiles each time"
            yield Report(event.span, message, (), _named(node, name, context))
        elif is_renewed(node, value, event, context):
            message = (
                f"{_static(name)} has another value in each round of the loop, "
                f"so `{_called(event)}` compiles again for each; leave it traced"
            )
            yield Report(event.span, message, (), left_traced(event, str(name), context))


def _fresh_function(value: Value, event: TransformCalled) -> str | None:
    """What to call a function object of this round that equals no other, as bound methods may."""
    if not is_fresh(event.frame, value):
        return None
    match value:
        case Closure(owner=None, function=function):
            return "lambda" if function.is_lambda else "function"
        case Bound():
            return "partial"
        case Transformed(site=site) if site.transform.startswith("jax."):
            return f"result of `{site.transform}`"
    return None


def _is_fresh_object(value: Value, node: n.Expr) -> bool:
    """Whether an object of a plain class is made here, which equals no other."""
    if not isinstance(value, Instance) or not isinstance(node, n.Call) or not isinstance(node.function, n.Name):
        return False
    is_plain = not is_pytree(value.cls) and not is_dataclass(value.cls) and not value.cls.decorators
    return is_plain and node.function.name == value.cls.definition.name and find(value.cls, "__eq__") is None


def _static(name: str | int) -> str:
    return f"static `{name}`" if isinstance(name, str) else f"static argument {name}"


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
    """The names that the loops around count with: surely another number in each round."""
    found: set[str] = set()
    for statement in enclosing(context.module, event.span):
        if isinstance(statement, n.For):
            found.update(_counter(statement.target, statement.iterable))
        elif isinstance(statement, n.While):
            found.update(map(_counted, statement.body))
    return found - {""}


def _counted(statement: n.Stmt) -> str:
    """The name to which a statement of a loop adds a number."""
    if not isinstance(statement, n.AugmentedAssign) or not isinstance(statement.target, n.Name):
        return ""
    return statement.target.name if isinstance(statement.value, n.Constant) else ""


def _counter(target: n.Expr, iterable: n.Expr) -> Iterator[str]:
    if not isinstance(iterable, n.Call) or not isinstance(iterable.function, n.Name):
        return
    if iterable.function.name == "range":
        yield from target_names(target)
    elif iterable.function.name == "enumerate" and isinstance(target, n.Sequence):
        yield from target_names(target.elements[0])


def _named(node: n.Expr, name: str | int, context: Context) -> Fix | None:
    """What makes the function moves in front of the loop."""
    if not isinstance(node, (n.Lambda, n.Call)):
        return None
    moved = out_of_loop(node, name if isinstance(name, str) else "function", context)
    return fix(Safety.SAFE, "make the function once, before the loop", moved[1]) if moved is not None else None


CHECKS = {TransformCalled: check}
