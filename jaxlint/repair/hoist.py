"""Moves an expression out of a loop or function: binds it once, where all that it names is bound already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from jaxlint.analysis.bindings import BUILTINS
from jaxlint.analysis.context import Context
from jaxlint.model import Edit, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import (
    blocks,
    bound_by,
    bound_names,
    expressions,
    outer_names,
    target_names,
    walk,
    walk_statements,
)
from jaxlint.repair.contents import all_statements, expressions_inside
from jaxlint.repair.source import spliced
from jaxlint.repair.spelling import fresh_name
from jaxlint.repair.text import insert_before, is_line_start

Path = list[n.Stmt]


def enclosing(module: n.Module, span: Span) -> Path:
    """The statements that hold a place, outermost first, functions and classes included."""
    return list(_descend(module.body, span))


def _descend(body: tuple[n.Stmt, ...], span: Span) -> Iterator[n.Stmt]:
    for statement in body:
        if holds(statement.span, span):
            yield statement
            for block in inner_blocks(statement):
                yield from _descend(block, span)
            return


def inner_blocks(statement: n.Stmt) -> Iterator[tuple[n.Stmt, ...]]:
    """All bodies inside a statement, those of functions and classes too."""
    yield from blocks(statement)
    if isinstance(statement, n.FunctionDefinition):
        yield statement.function.body
    elif isinstance(statement, n.ClassDefinition):
        yield statement.definition.body


def holds(outer: Span, inner: Span) -> bool:
    """Whether one span lies within another."""
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def free_names(expression: n.Expr) -> frozenset[str]:
    """The names that an expression reads from its surroundings."""
    return frozenset(_free(expression))


def _free(expression: n.Expr) -> Iterator[str]:
    bound: set[str] = set()
    for node in walk(expression):
        if isinstance(node, n.Comprehension):
            bound.update(name for generator in node.generators for name in target_names(generator.target))
    for node in walk(expression):
        if isinstance(node, n.Name) and node.name not in bound:
            yield node.name
        elif isinstance(node, n.Lambda):
            yield from function_names(node.function)


def function_names(function: n.Function) -> frozenset[str]:
    """The names that a function reads from its surroundings."""
    own = function.bound | {p.name for p in function.parameters}
    read = {name for statement in function.body for name in names_read(statement)}
    defaults = {name for p in function.parameters if p.default is not None for name in free_names(p.default)}
    notes = {name for p in function.parameters if p.annotation is not None for name in free_names(p.annotation)}
    return frozenset((read - own) | defaults | notes)


def names_read(statement: n.Stmt) -> Iterator[str]:
    """The names that a statement and all inside it read."""
    for expression in expressions(statement):
        yield from _free(expression)
    for block in blocks(statement):
        for inner in block:
            yield from names_read(inner)
    if isinstance(statement, n.FunctionDefinition):
        yield from function_names(statement.function)
        for decorator in statement.function.decorators:
            yield from _free(decorator)
    elif isinstance(statement, n.ClassDefinition):
        for inner in statement.definition.body:
            yield from names_read(inner)


Wrap = Callable[[str], str]


def _as_it_is(text: str) -> str:
    return text


def out_of_loop(
    expression: n.Expr, wanted: str, context: Context, wrap: Wrap = _as_it_is
) -> tuple[str, list[Edit]] | None:
    """Binds an expression before the outermost loop of its function that binds nothing the expression reads.

    `wrap` writes what is bound from the text of the expression.
    """
    path = _within_function(enclosing(context.module, expression.span))
    names = free_names(expression)
    target: n.Stmt | None = None
    for statement in reversed(path):
        if isinstance(statement, (n.For, n.While)):
            if bound_names((statement,)) & names:
                break
            target = statement
    if target is None:
        return None
    scope = _scope(context.module, expression.span)
    moved = _moved_whole(target, path, expression, scope, context, wrap)
    return moved or _bound_before(target, expression, wanted, context, wrap)


def _scope(module: n.Module, span: Span) -> tuple[n.Stmt, ...]:
    """The body of the innermost function or class that holds a place, else the module's."""
    inner = [s for s in enclosing(module, span) if isinstance(s, (n.FunctionDefinition, n.ClassDefinition))]
    if not inner:
        return module.body
    return inner[-1].function.body if isinstance(inner[-1], n.FunctionDefinition) else inner[-1].definition.body


def _within_function(path: Path) -> Path:
    start = max((i for i, s in enumerate(path) if isinstance(s, (n.FunctionDefinition, n.ClassDefinition))), default=-1)
    return path[start + 1 :]


def to_module(
    expression: n.Expr, wanted: str, context: Context, wrap: Wrap = _as_it_is
) -> tuple[str, list[Edit]] | None:
    """Binds an expression at module level, before the statement that holds it; all its names must be bound there."""
    path = enclosing(context.module, expression.span)
    if not path or not reads_module_only(free_names(expression), path, context.module):
        return None
    scope = _scope(context.module, expression.span)
    whole = _moved_whole(path[0], path, expression, scope, context, wrap)
    if whole is not None and not is_taken(whole[0], path, context.module):
        return whole
    return _bound_before(path[0], expression, wanted, context, wrap)


def definition_to_module(function: n.Function, context: Context) -> list[Edit] | None:
    """Moves a nested `def` with its decorators to module level, where it reads nothing but module-level names."""
    path = enclosing(context.module, function.span)
    place = next((s for s in path if isinstance(s, n.FunctionDefinition) and s.function is function), None)
    if place is None or place is path[0] or is_taken(function.name, path[: path.index(place)], context.module):
        return None
    decorations = {name for decorator in function.decorators for name in free_names(decorator)}
    reads = (function_names(function) | decorations) - {function.name}
    text = dedented(place.span, context)
    if text is None or not reads_module_only(reads, path[: path.index(place)], context.module):
        return None
    before = _inserted(path[0], text, context)
    removed = Edit(Span(place.span.line, 1, _end_line(place.span, context), 1), "")
    return [before, removed] if before is not None else None


def dedented(span: Span, context: Context, edits: Sequence[Edit] = ()) -> list[str] | None:
    """Whole lines, with edits made, without their common indentation; None where a line has less."""
    indentation = context.text.indentation(span.line)
    whole = Span(span.line, 1, span.end_line, len(context.text.line(span.end_line)) + 1)
    lines = spliced(whole, edits, context).split("\n")
    if len(indentation) != span.column - 1 or _has_long_string(span, context):
        return None
    if any(line.strip() and not line.startswith(indentation) for line in lines):
        return None
    return [line[len(indentation) :] for line in lines]


def _has_long_string(span: Span, context: Context) -> bool:
    """Whether a string that is no docstring goes over lines: its content would change with the indentation."""
    inside = [s for s in all_statements(context.module) if holds(span, s.span)]
    docstrings = {s.value.span for s in inside if isinstance(s, n.ExpressionStatement)}
    found = expressions_inside(context.module, span)
    strings = (e for e in found if isinstance(e, (n.Constant, n.FormattedString)))
    over_lines = (e.span for e in strings if e.span.line < e.span.end_line)
    return any(one not in docstrings for one in over_lines)


def removed_lines(span: Span, context: Context) -> Edit | None:
    """Takes a statement out with its lines and the blank ones behind it, where it shares them with no other."""
    rest = context.text.line(span.end_line)[span.end_column - 1 :].strip()
    alone = is_line_start(context.text, span.line, span.column) and (not rest or rest.startswith("#"))
    is_last = span.end_line >= len(context.text.lines)
    blank, above = blank_above(span.line, context)
    start = span.line - blank if above.endswith(":") else span.line
    return Edit(Span(start, 1, _end_line(span, context), 1), "") if alone and not is_last else None


def blank_above(line: int, context: Context) -> tuple[int, str]:
    """How many blank lines stand above a line, and the text above them ('' at the top)."""
    above = line - 1
    while above > 0 and not context.text.line(above).strip():
        above -= 1
    return line - 1 - above, context.text.line(above).strip() if above > 0 else ""


def _end_line(span: Span, context: Context) -> int:
    """The line behind a statement and the blank lines that follow it."""
    line = span.end_line + 1
    while line < len(context.text.lines) and not context.text.line(line).strip():
        line += 1
    return line


def is_taken(name: str, path: Path, module: n.Module) -> bool:
    """Whether a local name means something else at module level or in the functions around its own."""
    outer = [s.function for s in path if isinstance(s, n.FunctionDefinition)][:-1]
    around = {name for function in outer for name in (*function.bound, *(p.name for p in function.parameters))}
    return name in around or name in bound_names(module.body) or name in BUILTINS


def reads_module_only(names: frozenset[str], path: Path, module: n.Module) -> bool:
    """Whether names mean module-level things bound before the outermost statement of `path`, here and there alike."""
    local: set[str] = set()
    for statement in path:
        if isinstance(statement, n.FunctionDefinition):
            function = statement.function
            local |= function.bound | {p.name for p in function.parameters}
    before = []
    for statement in module.body:
        if statement is path[0]:
            break
        before.append(statement)
    unbound_later = bound_names(module.body) - bound_names(tuple(before))
    return not names & local and not names & unbound_later


def _moved_whole(
    target: n.Stmt, path: Path, expression: n.Expr, scope: tuple[n.Stmt, ...], context: Context, wrap: Wrap
) -> tuple[str, list[Edit]] | None:
    """Moves `name = expression` as it stands, with its comment, where the name is bound only there."""
    statement = path[-1]
    if not isinstance(statement, n.Assign) or statement.value != expression or len(statement.targets) != 1:
        return None
    bound, span = statement.targets[0], statement.span
    block = next((b for b in inner_blocks(path[-2]) if statement in b), ()) if len(path) > 1 else ()
    if not isinstance(bound, n.Name) or len(block) < 2 or not _stands_alone(span, context):
        return None
    if bound.name in outer_names(scope) or sum(bound.name in bound_by(s) for s in walk_statements(scope)) > 1:
        return None
    behind = context.text.line(span.line)[expression.span.end_column - 1 :]
    head = context.text.line(span.line)[span.column - 1 : expression.span.column - 1]
    lines = [f"{head}{wrap(context.text.at(expression.span))}{behind}"]
    before = _inserted(target, lines, context)
    return (bound.name, [before, Edit(Span(span.line, 1, span.line + 1, 1), "")]) if before is not None else None


def _stands_alone(span: Span, context: Context) -> bool:
    """Whether a statement has one line for itself, which is not the last one."""
    rest = context.text.line(span.end_line)[span.end_column - 1 :].strip()
    has_line = is_line_start(context.text, span.line, span.column) and (not rest or rest.startswith("#"))
    return has_line and span.line == span.end_line < len(context.text.lines)


def _bound_before(
    statement: n.Stmt, expression: n.Expr, wanted: str, context: Context, wrap: Wrap
) -> tuple[str, list[Edit]] | None:
    name = fresh_name(context.module, wanted)
    written = context.text.at(expression.span)
    if "\n" in written:
        return None
    before = _inserted(statement, [f"{name} = {wrap(written)}"], context)
    return (name, [before, Edit(expression.span, name)]) if before is not None else None


def _inserted(statement: n.Stmt, lines: list[str], context: Context) -> Edit | None:
    defines = isinstance(statement, (n.FunctionDefinition, n.ClassDefinition))
    apart = defines and statement in context.module.body
    return insert_before(statement.span, [*lines, "", ""] if apart else lines, context)
