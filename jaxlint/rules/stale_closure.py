"""JAX405 stale-closure: a compiled function keeps what it read of its surroundings when it was traced."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import SiteSeen
from jaxlint.analysis.returned import behind
from jaxlint.analysis.values import Array, Closure, Instance, Scalar, Value, options
from jaxlint.model import Fix, Safety, Severity, Span, Step
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_by, expressions, walk, walk_statements
from jaxlint.registry import Rule
from jaxlint.repair.hoist import enclosing, function_names, holds
from jaxlint.repair.parameters import Captured, as_arguments, reads_in
from jaxlint.repair.spelling import fresh_name

RULE = Rule(
    "JAX405",
    "stale-closure",
    "a compiled function does not see a value that changes later",
    Severity.ERROR,
    fix=Safety.UNSAFE,
)

BOUND_ONCE = ("__init__", "__post_init__", "setup")


def check(event: SiteSeen, context: Context) -> Iterator[Report]:
    """The attributes of the object, and the globals, that a jitted function reads and the program changes."""
    closure = behind(event.value.function)
    if event.value.site.kind != "jit" or closure is None or event.frame.in_test():
        return
    owner = _object_of(event, closure)
    if owner is not None:
        yield from _attributes(event, closure, owner, context)
    if event.frame.function is None and closure.path == context.module.path:
        yield from _globals(event, closure, context)


def _object_of(event: SiteSeen, closure: Closure) -> Instance | None:
    """The object whose bound method is jitted once (methods that are jitted in the class are jit-of-method's)."""
    function = event.frame.function
    is_once = function is None or function.name in BOUND_ONCE
    return closure.owner if isinstance(closure.owner, Instance) and is_once else None


def _attributes(event: SiteSeen, closure: Closure, owner: Instance, context: Context) -> Iterator[Report]:
    itself = closure.function.parameters[0].name if closure.function.parameters else ""
    if any(name in owner.cls.scope.names for name in ("__hash__", "__eq__")) or not event.calls:
        return
    for node in _expressions(closure.function):
        is_read = isinstance(node, n.Attribute) and isinstance(node.base, n.Name) and node.base.name == itself
        if not is_read or not isinstance(node, n.Attribute) or node.name not in owner.attributes.rebound:
            continue
        if all(map(_is_data, options(owner.attributes.names.get(node.name, Scalar("none"))))):
            message = (
                f"`{itself}.{node.name}` is read once, when `{closure.function.name}` is traced; "
                "later values are not seen: pass it as an argument"
            )
            repair = _attribute_as_argument(event, closure, node, context)
            yield Report(node.span, message, _jitted(event, closure), repair, path=closure.path)
            return


def _attribute_as_argument(event: SiteSeen, closure: Closure, attribute: n.Attribute, context: Context) -> Fix | None:
    """`self.weight` is handed over at each call."""
    name = (
        attribute.name if attribute.name not in closure.function.bound else fresh_name(context.module, attribute.name)
    )
    assert isinstance(attribute.base, n.Name)
    itself = attribute.base.name

    def is_it(node: n.Expr) -> bool:
        is_same = isinstance(node, n.Attribute) and node.name == attribute.name
        return is_same and isinstance(node, n.Attribute) and isinstance(node.base, n.Name) and node.base.name == itself

    return as_arguments(event, [Captured(name, reads_in(closure.function, is_it))], context)


def _is_data(value: Value) -> bool:
    is_number = isinstance(value, Scalar) and value.kind in ("bool", "int", "float", "complex")
    return is_number or isinstance(value, Array)


def _jitted(event: SiteSeen, closure: Closure) -> tuple[Step, ...]:
    site = event.value.site
    return (Step(site.path, site.span.line, f"`{closure.function.name}` is jitted"),)


def _expressions(function: n.Function) -> Iterator[n.Expr]:
    for statement in walk_statements(function.body):
        for expression in expressions(statement):
            yield from walk(expression)


def _globals(event: SiteSeen, closure: Closure, context: Context) -> Iterator[Report]:
    """A global that is assigned between two calls of the function."""
    for name in sorted(function_names(closure.function)):
        scope = closure.scope.find(name)
        if scope is None or scope.parent is not None or not all(map(_is_data, options(scope.names[name]))):
            continue
        if name in closure.function.outer:
            continue  # it counts its own traces, say
        write = _write_between(name, event, closure, context)
        reads = (e for e in _expressions(closure.function) if isinstance(e, n.Name) and e.name == name)
        place = next(reads, None) if write is not None else None
        if write is not None and place is not None:
            message = (
                f"`{name}` is read once, when `{closure.function.name}` is traced; "
                f"the value of line {write.span.line} is not seen: pass it as an argument"
            )
            repair = as_arguments(event, [Captured(name, (place,))], context)
            yield Report(place.span, message, _jitted(event, closure), repair)


def _write_between(name: str, event: SiteSeen, closure: Closure, context: Context) -> n.Stmt | None:
    """The statement that surely changes a global after one call of the function and before another."""
    here = [(frame, call.span) for frame, call, _ in event.eager if frame.path == closure.path]
    calls = sorted(span for frame, span in here if frame.function is None)
    for statement in walk_statements(context.module.body):
        if _writes(statement, name) and _is_between(statement, calls, context):
            return statement
    writers = _writers(name, context.module)
    found = (_changed_around(span, name, writers, context) for _, span in here)
    return next((write for write in found if write is not None), None)


def _writes(statement: n.Stmt, name: str) -> bool:
    return isinstance(statement, (n.Assign, n.AugmentedAssign)) and name in bound_by(statement)


def _writers(name: str, module: n.Module) -> dict[str, n.Stmt]:
    """The functions of the module that assign the global always, with the statement."""
    functions = [s.function for s in module.body if isinstance(s, n.FunctionDefinition) and name in s.function.outer]
    return {f.name: statement for f in functions for statement in f.body if _writes(statement, name)}


def _changed_around(call: Span, name: str, writers: dict[str, n.Stmt], context: Context) -> n.Stmt | None:
    """What changes the global in a loop around a call: a statement there, or one in a function that is called there."""
    path = enclosing(context.module, call)
    functions = [s.function for s in path if isinstance(s, n.FunctionDefinition)]
    inside = functions[-1] if functions else None
    for loop in path:
        if not isinstance(loop, (n.For, n.While)) or (inside is not None and not holds(inside.span, loop.span)):
            continue
        for statement in loop.body:  # what stands in a branch may never run
            if _writes(statement, name) and (inside is None or name in inside.outer):
                return statement
            if isinstance(statement, n.ExpressionStatement) and isinstance(statement.value, n.Call):
                called = statement.value.function
                is_own = isinstance(called, n.Name) and (inside is None or called.name not in inside.bound)
                if isinstance(called, n.Name) and is_own and called.name in writers:
                    return writers[called.name]
    return None


def _is_between(statement: n.Stmt, calls: list[Span], context: Context) -> bool:
    """Whether calls with the same arguments' types surely come before and after a statement, or around it in a loop."""
    before = any((call.end_line, call.end_column) <= (statement.span.line, statement.span.column) for call in calls)
    after = any((call.line, call.column) >= (statement.span.end_line, statement.span.end_column) for call in calls)
    loops = [outer for outer in enclosing(context.module, statement.span) if isinstance(outer, (n.For, n.While))]
    return (before and after) or any(holds(loop.span, call) for loop in loops for call in calls)


CHECKS = {SiteSeen: check}
