"""Takes a compiled function out of a loop: what it reads of the loop's names becomes arguments of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs

from jaxlint.analysis.context import Context, fix
from jaxlint.analysis.events import SiteSeen
from jaxlint.analysis.returned import rewritten
from jaxlint.analysis.values import Array, Key, Scalar, leaves
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_by, bound_names, walk
from jaxlint.repair.hoist import (
    blank_above,
    dedented,
    enclosing,
    function_names,
    holds,
    is_taken,
    reads_module_only,
    removed_lines,
)
from jaxlint.repair.parameters import (
    Captured,
    call_edit,
    calls_of,
    directly,
    header_edit,
    means_the_same,
    reads_of,
    with_parameters,
)
from jaxlint.repair.source import spliced
from jaxlint.repair.spelling import fresh_name
from jaxlint.repair.text import is_line_start


@dataclass(frozen=True, slots=True)
class Move:
    """Where a definition in `block` goes: before `target`, where the names `local` are not bound."""

    target: n.Stmt
    block: tuple[n.Stmt, ...]
    local: frozenset[str]

    def holds(self, span: Span) -> bool:
        """Whether a place is in the loop or function that the definition leaves."""
        return holds(self.target.span, span)


def out_of_loop_with_arguments(event: SiteSeen, wanted: str, context: Context) -> Fix | None:
    """Defines and compiles a function of the loop's body once, before the loop.

    Args:
        event: a jit, perhaps of a derivative, of a lambda or function that the loop's body defines.
        wanted: what to call the compiled function.
    """
    path = enclosing(context.module, event.value.site.span)
    loop = next((s for s in reversed(path) if isinstance(s, (n.For, n.While))), None)
    if loop is None or not is_line_start(context.text, loop.span.line, loop.span.column):
        return None
    return _moved_out(event, Move(loop, loop.body, bound_names((loop,))), wanted, "before the loop", context)


def to_module_with_arguments(event: SiteSeen, wanted: str, context: Context) -> Fix | None:
    """The same at module level for a function that is defined in a function."""
    whole = enclosing(context.module, event.value.site.span)
    path = [statement for statement in whole if getattr(statement, "function", None) is not event.node]
    outer = [statement.function for statement in path if isinstance(statement, n.FunctionDefinition)]
    closure = directly(event.value)
    if not outer or closure is None:
        return None
    local = {name for function in outer for name in (*function.bound, *(p.name for p in function.parameters))}
    own = closure.function
    rest = (function_names(own) | _names_of_application(event.node)) - local - {own.name}
    is_free = own.is_lambda or not is_taken(own.name, path, context.module)
    if not is_free or not reads_module_only(frozenset(rest), path, context.module):
        return None
    move = Move(path[0], outer[-1].body, frozenset(local))
    return _moved_out(event, move, wanted, "at module level", context)


def _moved_out(event: SiteSeen, move: Move, wanted: str, where: str, context: Context) -> Fix | None:
    closure = directly(event.value)
    if closure is None or closure.path != context.module.path:
        return None
    calls = calls_of(event, closure, context)
    function, defaults = _without_defaults(closure.function, move)
    names = sorted((function_names(function) & move.local) - {function.name})
    header = header_edit(function, names, context) if names else None
    if not calls or (names and header is None) or not all(_is_data(n_, event) for n_ in (*names, *defaults.values())):
        return None
    if not _can_leave(event, function, move, [*names, *defaults.values()], calls, context):
        return None
    edits = [*_default_edits(closure.function, defaults), *([header] if header is not None else [])]
    moved = _moved(event, closure.function, move, wanted, edits, context)
    added = [_call_edit(closure.function, call, names, defaults, context) for call in calls]
    captured = [Captured(name, reads_of(function, name)) for name in names]
    if (
        moved is None
        or None in added
        or not event.could_be(rewritten(event.value, with_parameters(function, captured)))
    ):
        return None
    is_same = not names and not defaults and not isinstance(move.target, n.FunctionDefinition)
    safety = Safety.SAFE if is_same else Safety.UNSAFE
    return fix(safety, f"compile the function once, {where}", moved, [edit for edit in added if isinstance(edit, Edit)])


def _can_leave(
    event: SiteSeen, function: n.Function, move: Move, names: Sequence[str], calls: Sequence[n.Call], context: Context
) -> bool:
    """Whether nothing but the names is local, and all calls are where the names mean the same."""
    if _names_of_application(event.node) & move.local - {_own_name(function, move, context)}:
        return False
    if not all(move.holds(call.span) and not holds(function.span, call.span) for call in calls):
        return False
    return all(means_the_same(frozenset(names), function, call, context) for call in calls)


def _without_defaults(function: n.Function, move: Move) -> tuple[n.Function, dict[str, str]]:
    """The function whose defaults (`a=a`) are no local names any more, and what those parameters are given."""
    found = {
        p.name: p.default.name
        for p in function.parameters
        if isinstance(p.default, n.Name) and p.default.name in move.local
    }
    if not found or any(p.default is not None and p.name not in found for p in function.parameters):
        return function, {}
    bare = tuple(structs.replace(p, default=None) if p.name in found else p for p in function.parameters)
    return structs.replace(function, parameters=bare), found


def _default_edits(function: n.Function, defaults: dict[str, str]) -> list[Edit]:
    edits = []
    for parameter in function.parameters:
        if parameter.name in defaults and parameter.default is not None:
            start = parameter.annotation.span if parameter.annotation is not None else parameter.span
            end = parameter.default.span
            edits.append(Edit(Span(start.end_line, start.end_column, end.end_line, end.end_column), ""))
    return edits


def _call_edit(
    function: n.Function, call: n.Call, names: Sequence[str], defaults: dict[str, str], context: Context
) -> Edit | bool | None:
    """The arguments at a call; True where there are none to add, None where a call gives what has a default."""
    positions = {p.name: i for i, p in enumerate(function.parameters)}
    count = sum(argument.keyword is None for argument in call.arguments)
    if any(count > positions[name] or any(a.keyword == name for a in call.arguments) for name in defaults):
        return None
    if not names and not defaults:
        return True
    return call_edit(function, call, [*defaults, *names], [*defaults.values(), *names], context)


def _names_of_application(node: n.Expr | n.Function) -> set[str]:
    """The names that `jax.jit(...)` itself reads, its options and decorators included."""
    parts = node.decorators if isinstance(node, n.Function) else (node,)
    return {inner.name for part in parts for inner in walk(part) if isinstance(inner, n.Name)}


def _own_name(function: n.Function, move: Move, context: Context) -> str | None:
    statement = _statement_of(function, move, context)
    return next(bound_by(statement), None) if statement is not None else None


def _is_data(name: str, event: SiteSeen) -> bool:
    """Whether jit takes what the name holds as an argument."""
    scope = event.frame.scope.find(name)
    kinds = ("bool", "int", "float", "complex")
    return scope is not None and all(
        isinstance(leaf, (Array, Key)) or (isinstance(leaf, Scalar) and leaf.kind in kinds)
        for leaf in leaves(scope.names[name])
    )


def _starts_line(statement: n.Stmt, context: Context) -> bool:
    return is_line_start(context.text, statement.span.line, statement.span.column)


def _moved(
    event: SiteSeen, function: n.Function, move: Move, wanted: str, header: Sequence[Edit], context: Context
) -> list[Edit] | None:
    """The definition and the application, before the loop."""
    if isinstance(event.node, n.Function):
        return _definition(event.node, move, header, context)
    inner: list[Edit] = []
    own = _statement_of(function, move, context)
    if own is not None:
        found = _definition(function, move, header, context)
        if found is None:
            return None
        inner, header = found, ()
    elif not holds(event.node.span, function.span):
        return None
    text = spliced(event.node.span, header, context)
    if "\n" in text:
        return None
    path = enclosing(context.module, event.node.span)
    last = path[-1]
    if isinstance(last, n.Assign) and last.value == event.node and isinstance(last.targets[0], n.Name):
        name = last.targets[0].name
        text += context.text.line(last.span.end_line)[last.span.end_column - 1 :]  # its comment
        gone = removed_lines(last.span, context)
        rest = [gone] if gone is not None and _is_in(last, move) else None
    else:
        name = fresh_name(context.module, wanted)
        rest = [Edit(event.node.span, name)]
    if rest is None:
        return None
    apart = ["", ""] if isinstance(move.target, (n.FunctionDefinition, n.ClassDefinition)) else []
    return [*inner, _before(move, [f"{name} = {text}", *apart], context), *rest]


def _statement_of(function: n.Function, move: Move, context: Context) -> n.Stmt | None:
    """The statement in the loop that defines the function: a plain `def`, or `name = lambda`."""
    path = enclosing(context.module, function.span)
    last = path[-1] if move.holds(function.span) else None
    if isinstance(last, n.FunctionDefinition) and last.function is function:
        return last
    is_named = isinstance(last, n.Assign) and isinstance(last.value, n.Lambda) and last.value.function is function
    return last if is_named else None


def _definition(function: n.Function, move: Move, header: Sequence[Edit], context: Context) -> list[Edit] | None:
    statement = _statement_of(function, move, context)
    lines = dedented(statement.span, context, header) if statement is not None else None
    gone = removed_lines(statement.span, context) if statement is not None else None
    if statement is None or lines is None or gone is None or not _is_in(statement, move):
        return None
    if isinstance(statement, n.Assign):
        return [_before(move, lines, context), gone]
    start = move.target.span
    wanted = 1 if start.column > 1 else 2
    blank, above = blank_above(start.line, context)
    begins = not above or above.startswith("#") or above.endswith(":")
    before = [] if begins else [""] * max(0, wanted - blank)
    return [_before(move, [*before, *lines, *[""] * wanted], context), gone]


def _is_in(statement: n.Stmt, move: Move) -> bool:
    """Whether a statement stands in the block that it may leave (the calls stay there)."""
    return any(other is statement for other in move.block)


def _before(move: Move, lines: Sequence[str], context: Context) -> Edit:
    line = move.target.span.line
    indentation = context.text.indentation(line)
    content = "".join(f"{indentation}{text}\n" if text else "\n" for text in lines)
    return Edit(Span(line, 1, line, 1), content)
