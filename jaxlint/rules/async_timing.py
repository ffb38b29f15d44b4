"""JAX430 async-timing: a clock is read before the computation that it should time has ended."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix, insert
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.values import Array, Value, leaves
from jaxlint.model import Fix, Safety, Severity, Span, Step
from jaxlint.program import nodes as n
from jaxlint.program.names import expressions, walk, walk_statements
from jaxlint.registry import Rule
from jaxlint.repair.hoist import enclosing, holds, inner_blocks
from jaxlint.repair.spelling import spell
from jaxlint.repair.text import insert_before

RULE = Rule("JAX430", "async-timing", "only the dispatch is timed", Severity.WARNING, fix=Safety.SAFE)

CLOCKS = frozenset({"time", "perf_counter", "monotonic", "process_time", "perf_counter_ns", "time_ns", "monotonic_ns"})
SYNCS = frozenset(
    {"block_until_ready", "item", "tolist", "device_get", "asarray", "array", "float", "int", "bool", "print", "str",
     "repr", "format", "effects_barrier", "synchronize", "result", "list", "save", "allclose", "assert_allclose"}
)  # fmt: skip


def check(event: TransformCalled, context: Context) -> Iterator[Report]:
    """A call of a compiled function between two readings of a clock."""
    frame = event.frame
    if event.call is None or event.value.site.kind != "jit" or frame.compiled or frame.mapped:
        return
    path = enclosing(context.module, event.span)
    for outer, statement in zip([None, *path], path, strict=False):
        block = _block_of(statement, outer, context)
        timed = _timed(block, statement)
        if timed is None:
            continue
        between, difference, last = timed
        if any(_waits(inner) for inner in between) or _waits(last, difference):
            return
        if any(_may_wait(inner, event.call, context) for inner in between):
            return
        message = "the clock is read before the result is there: JAX returns at once and computes on"
        because = (Step(frame.path, event.span.line, "this is not waited for"),)
        yield Report(difference, message, because, _waiting(event, statement, last, context))
        return


def _block_of(statement: n.Stmt, outer: n.Stmt | None, context: Context) -> tuple[n.Stmt, ...]:
    blocks = [context.module.body] if outer is None else list(inner_blocks(outer))
    return next((block for block in blocks if any(other is statement for other in block)), ())


def _timed(block: tuple[n.Stmt, ...], statement: n.Stmt) -> tuple[list[n.Stmt], Span, n.Stmt] | None:
    """The statements between two readings of a clock, the difference's place, and the statement that holds it."""
    position = next((i for i, other in enumerate(block) if other is statement), None)
    if position is None:
        return None
    started = {name: i for i in range(position) if (name := _started(block[i])) is not None}
    for i in range(position, len(block)):
        if i > position and _started(block[i]) in started:
            return None
        for node in _nodes(block[i]):
            name = _difference(node)
            if name in started and i > position:
                return list(block[position:i]), node.span, block[i]
    return None


def _started(statement: n.Stmt) -> str | None:
    """The name of `t0 = time.time()`."""
    if isinstance(statement, n.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], n.Name):
        return statement.targets[0].name if statement.value is not None and _is_clock(statement.value) else None
    return None


def _is_clock(node: n.Expr) -> bool:
    if not isinstance(node, n.Call) or node.arguments:
        return False
    function = node.function
    return isinstance(function, (n.Attribute, n.Name)) and function.name in CLOCKS


def _difference(node: n.Expr) -> str | None:
    """The `t0` of `time.time() - t0`."""
    is_difference = isinstance(node, n.Binary) and node.operator == "-" and isinstance(node.right, n.Name)
    if is_difference and isinstance(node, n.Binary) and isinstance(node.right, n.Name) and _is_clock(node.left):
        return node.right.name
    return None


def _nodes(statement: n.Stmt) -> Iterator[n.Expr]:
    stack = list(expressions(statement))
    while stack:
        for node in walk(stack.pop()):
            yield node
            if isinstance(node, n.Lambda):
                stack.extend(part for inner in node.function.body for part in expressions(inner))


def _waits(statement: n.Stmt, before: Span | None = None) -> bool:
    """Whether a statement (as far as it stands before a place) needs a value."""
    is_last = before is not None and isinstance(statement, n.Return)
    if isinstance(statement, (n.If, n.While, n.Assert, n.Return, n.Try, n.With)) and not is_last:
        return True
    for node in _nodes(statement):
        early = before is None or (node.span.line, node.span.column) < (before.line, before.column)
        is_outer = before is not None and holds(node.span, before)
        if isinstance(node, n.FormattedString) and early and not is_outer:
            return True
        function = node.function if isinstance(node, n.Call) else None
        is_sync = isinstance(function, (n.Attribute, n.Name)) and function.name in SYNCS
        if is_sync and early and not is_outer:
            return True
    return any(_waits(inner) for block in inner_blocks(statement) for inner in block)


def _may_wait(statement: n.Stmt, timed: n.Call, context: Context) -> bool:
    """Whether a statement calls something else that may wait: any function that is neither JAX's nor jitted here."""
    for node in _nodes(statement):
        if not isinstance(node, n.Call) or node is timed:
            continue
        root = node.function
        while isinstance(root, (n.Attribute, n.Subscript, n.Call)):
            root = root.function if isinstance(root, n.Call) else root.base
        name = root.name if isinstance(root, n.Name) else ""
        if name not in HARMLESS and not _is_jitted(name, context):
            return True
    return any(_may_wait(inner, timed, context) for block in inner_blocks(statement) for inner in block)


HARMLESS = frozenset({"jax", "jnp", "lax", "range", "len", "zip", "enumerate", "partial", "functools", "time", "tuple"})


def _is_jitted(name: str, context: Context) -> bool:
    for statement in walk_statements(context.module.body):
        if isinstance(statement, n.FunctionDefinition) and statement.function.name == name:
            return any("jit" in context.text.at(decorator.span) for decorator in statement.function.decorators)
        targets = statement.targets if isinstance(statement, n.Assign) else ()
        if any(isinstance(target, n.Name) and target.name == name for target in targets):
            assert isinstance(statement, n.Assign)
            return statement.value is not None and "jit(" in context.text.at(statement.value.span)
    return False


def _waiting(event: TransformCalled, statement: n.Stmt, last: n.Stmt, context: Context) -> Fix | None:
    """Waits for the result where it is bound, or before the clock is read again."""
    if isinstance(statement, n.Assign) and statement.value is event.call and _is_array(event.result):
        end = event.span
        edit = insert(end.end_line, end.end_column, ".block_until_ready()")
        return fix(Safety.SAFE, "wait for the result", edit)
    inner = enclosing(context.module, event.span)[-1]
    if not isinstance(inner, n.Assign) or inner.value is not event.call or len(inner.targets) != 1:
        return None
    target = context.text.at(inner.targets[0].span)
    wait = spell(context.module, "jax.block_until_ready", last.span)
    written = target if isinstance(inner.targets[0], n.Name) else f"({target})"
    before = insert_before(last.span, [f"{wait.text}({written})"], context)
    return fix(Safety.SAFE, "wait for the result", before, wait.edits) if before is not None else None


def _is_array(value: Value) -> bool:
    return all(isinstance(leaf, Array) for leaf in leaves(value)) and isinstance(value, Array)


CHECKS = {TransformCalled: check}
