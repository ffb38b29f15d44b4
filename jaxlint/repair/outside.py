"""Splits a jitted function that keeps tracers outside: the compiled part returns them, a wrapper keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jaxlint.analysis.context import Context, fix, insert
from jaxlint.analysis.frames import Frame
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_by, walk_statements
from jaxlint.repair.contents import expressions_inside, expressions_of
from jaxlint.repair.hoist import enclosing, function_names
from jaxlint.repair.parameters import last_of_header
from jaxlint.repair.spelling import fresh_name
from jaxlint.repair.text import is_line_start

METHODS = ("append", "add")


@dataclass(frozen=True, slots=True)
class Kept:
    """A statement that keeps a value outside: `{}` in `outside` stands for the value."""

    statement: n.Stmt
    value: n.Expr
    outside: str

    @property
    def is_target(self) -> bool:
        """Whether it is an assignment, whose target may stand in another one."""
        return self.outside.endswith(" = {}")


def kept_by_wrapper(frame: Frame, context: Context) -> Fix | None:
    """The fix for a function that is jitted by its only decorator and has its effects at the top of its body."""
    function = frame.function
    site = frame.caller.site if frame.caller is not None else None
    if function is None or site is None or site.kind != "jit" or site.path != context.module.path:
        return None
    kept = list(_kept(function, context))
    if len(function.decorators) != 1 or not kept or not _is_simple(function, kept, context):
        return None
    locals_ = _locals(function, kept, context)
    name = fresh_name(context.module, f"_{function.name.lstrip('_')}")
    wrapper = _wrapper(function, kept, locals_, name, context)
    if wrapper is None or any(name == node.name for node in expressions_of(context.module, n.Attribute)):
        return None
    pairs = list(zip(kept, locals_, strict=True))
    inner = [_binding(one, local, context) for one, local in pairs]
    inner += [Edit(node.span, local) for one, local in pairs for node in _reads_later(one, function, context)]
    message = f"return what is kept from `{name}`, and keep it in `{function.name}`"
    returned = _returned(function, locals_, context)
    edits = [wrapper, Edit(function.name_span, name), *(edit for edit in inner if edit is not None), *returned]
    return fix(Safety.UNSAFE, message, edits)


def _kept(function: n.Function, context: Context) -> Iterator[Kept]:
    for statement in function.body:
        match statement:
            case n.Assign(targets=(n.Attribute() as target,), value=value, annotation=None) if value is not None:
                yield Kept(statement, value, f"{context.text.at(target.span)} = {{}}")
            case n.ExpressionStatement(value=n.Call(function=n.Attribute(name=name) as method, arguments=(given,))):
                if name in METHODS and not given.star and given.keyword is None and _is_outer(method.base, function):
                    yield Kept(statement, given.value, f"{context.text.at(method.span)}({{}})")


def _is_outer(node: n.Expr, function: n.Function) -> bool:
    """Whether the root of an attribute chain is the object of a method, or not the function's own."""
    while isinstance(node, n.Attribute):
        node = node.base
    itself = function.parameters[0].name if function.parameters else None
    return isinstance(node, n.Name) and (node.name == itself or node.name not in function.bound)


def _is_simple(function: n.Function, kept: Sequence[Kept], context: Context) -> bool:
    """Whether the only return is the last statement, and each effect has its line and is not read later."""
    returns = [s for s in walk_statements(function.body) if isinstance(s, n.Return)]
    ends_well = not returns or (len(returns) == 1 and returns[0] is function.body[-1] and returns[0].value is not None)
    if not ends_well or function.is_async or function.is_generator or function.outer:
        return False
    if any(p.kind.startswith("*") for p in function.parameters):
        return False
    own = [context.text.line(one.statement.span.line)[: one.statement.span.column - 1].strip() for one in kept]
    starts = {one.outside: one.statement.span for one in kept}
    read_before = any(node.span < starts[one.outside] for one in kept for node in _reads(one, function, context))
    return not any(own) and len(starts) == len(kept) and not read_before and _has_own_lines(function, context)


def _reads(one: Kept, function: n.Function, context: Context) -> tuple[n.Expr, ...]:
    """Where the function reads the attribute that it assigns, itself and in functions that it defines."""
    target = one.outside.partition(" = ")[0]
    found = expressions_inside(context.module, function.span)
    inside = (node for node in found if isinstance(node, n.Attribute))
    return tuple(
        node
        for node in inside
        if one.is_target and context.text.at(node.span) == target and not _is_target(one.statement, node)
    )


def _is_target(statement: n.Stmt, node: n.Expr) -> bool:
    return isinstance(statement, n.Assign) and any(target.span == node.span for target in statement.targets)


def _reads_later(one: Kept, function: n.Function, context: Context) -> tuple[n.Expr, ...]:
    return tuple(node for node in _reads(one, function, context) if node.span > one.statement.span)


def _has_own_lines(function: n.Function, context: Context) -> bool:
    """Whether the header is one line, with the body below it."""
    last = last_of_header(function, context)
    line = function.name_span.line
    first = function.body[0].span
    below = first.line > line and is_line_start(context.text, first.line, first.column)
    return last is not None and last[0] == line and below


def _locals(function: n.Function, kept: Sequence[Kept], context: Context) -> list[str]:
    """What each kept value is called in the compiled part: its own name where it is one that is bound once."""
    found: list[str] = []
    for one in kept:
        if isinstance(one.value, n.Name) and _is_bound_once(one.value.name, function):
            found.append(one.value.name)
        else:
            wanted = one.outside.partition(" = ")[0].rpartition(".")[2] if one.is_target else "value"
            found.append(_fresh(wanted, function, found, context))
    return found


def _fresh(wanted: str, function: n.Function, taken: Sequence[str], context: Context) -> str:
    used = function.bound | function_names(function) | {p.name for p in function.parameters} | set(taken)
    return wanted if wanted not in used else fresh_name(context.module, f"{wanted}_kept")


def _is_bound_once(name: str, function: n.Function) -> bool:
    times = sum(name in bound_by(statement) for statement in walk_statements(function.body))
    return times + any(p.name == name for p in function.parameters) == 1


def _binding(one: Kept, local: str, context: Context) -> Edit | None:
    """What stands in the compiled part in place of the effect: nothing where the value has a name."""
    span = one.statement.span
    if isinstance(one.value, n.Name) and one.value.name == local:
        rest = context.text.line(span.end_line)[span.end_column - 1 :].strip()
        if rest:  # a comment, which stays
            return Edit(Span(span.line, span.column, span.end_line, span.end_column + _blanks(span, context)), "")
        return Edit(Span(span.line, 1, span.end_line + 1, 1), "")
    return Edit(span, f"{local} = {context.text.at(one.value.span)}")


def _blanks(span: Span, context: Context) -> int:
    rest = context.text.line(span.end_line)[span.end_column - 1 :]
    return len(rest) - len(rest.lstrip())


def _returned(function: n.Function, locals_: Sequence[str], context: Context) -> list[Edit]:
    statement = function.body[-1]
    if isinstance(statement, n.Return) and statement.value is not None:
        start, end = statement.value.span, statement.span
        more = insert(end.end_line, end.end_column, f", {', '.join(locals_)}")
        is_bare = (start.end_line, start.end_column) == (end.end_line, end.end_column)
        if not isinstance(statement.value, n.Sequence) or statement.value.kind != "tuple" or not is_bare:
            return [more]
        return [insert(start.line, start.column, "("), Edit(more.span, f"){more.content}")]
    last = function.body[-1].span
    indentation = context.text.indentation(function.body[0].span.line)
    column = len(context.text.line(last.end_line)) + 1
    return [insert(last.end_line, column, f"\n{indentation}return {', '.join(locals_)}")]


def _wrapper(
    function: n.Function, kept: Sequence[Kept], locals_: Sequence[str], name: str, context: Context
) -> Edit | None:
    """The function under its old name, above the decorator."""
    path = enclosing(context.module, function.span)
    place = next((s for s in path if isinstance(s, n.FunctionDefinition) and s.function is function), None)
    if place is None or not context.text.line(place.span.line).strip().startswith("@"):
        return None
    is_method = len(path) > 1 and isinstance(path[path.index(place) - 1], n.ClassDefinition) and place is not path[0]
    parameters = list(function.parameters)
    called = f"{parameters.pop(0).name}.{name}" if is_method else name
    given = ", ".join(f"{p.name}={p.name}" if p.kind == "keyword-only" else p.name for p in parameters)
    has_result = isinstance(function.body[-1], n.Return)
    result = _fresh("result", function, locals_, context)
    targets = [result] if has_result else []
    pairs = list(zip(kept, locals_, strict=True))
    targets += [one.outside.partition(" = ")[0] if one.is_target else local for one, local in pairs]
    indentation = context.text.indentation(place.span.line)
    inner = context.text.indentation(function.body[0].span.line)
    header = context.text.line(function.name_span.line).strip()
    lines = [f"{indentation}{header}", f"{inner}{', '.join(targets)} = {called}({given})"]
    lines += [f"{inner}{one.outside.format(local)}" for one, local in pairs if not one.is_target]
    lines += [f"{inner}return {result}"] if has_result else []
    apart = [""] if indentation else ["", ""]
    content = "".join(f"{line}\n" for line in (*lines, *apart))
    return Edit(Span(place.span.line, 1, place.span.line, 1), content)
