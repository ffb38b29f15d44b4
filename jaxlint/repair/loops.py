"""Writes Python loops that only carry values from round to round as `lax.while_loop` and `lax.fori_loop`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from jaxlint.analysis.context import Context, fix
from jaxlint.analysis.differences import difference
from jaxlint.analysis.events import Branch, Looped, RangeOver
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.values import Array, Scalar, Unknown, Value, options
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import expressions, walk
from jaxlint.repair.booleans import as_arrays
from jaxlint.repair.choices import leaf
from jaxlint.repair.hoist import enclosing, free_names, inner_blocks, names_read
from jaxlint.repair.numeric import Reader, Sureness
from jaxlint.repair.source import comments
from jaxlint.repair.spelling import fresh_name, spell
from jaxlint.repair.text import is_line_start


@dataclass(frozen=True, slots=True)
class Carried:
    """The names that a loop's rounds hand on, and its body as it stands in the file."""

    names: tuple[str, ...]
    body: tuple[str, ...]
    indentation: str

    @property
    def text(self) -> str:
        """How the values are handed over: one by itself, several as a tuple."""
        return self.names[0] if len(self.names) == 1 else f"({', '.join(self.names)})"

    @property
    def targets(self) -> str:
        """What the result is assigned to."""
        return ", ".join(self.names)

    def function(self, header: str, last: Sequence[str]) -> list[str]:
        """A function of the carried values; `header` has `{}` where its parameter stands."""
        inner = f"{self.indentation}    "
        parameter = self.names[0] if len(self.names) == 1 else "carry"
        unpacked = [] if len(self.names) == 1 else [f"{inner}{self.targets} = carry"]
        return [f"{self.indentation}def {header.format(parameter)}:", *unpacked, *last]


def as_while_loop(event: Branch, context: Context) -> Fix | None:
    """A `while` whose body only assigns names, as two functions and a call of `lax.while_loop`."""
    statement = event.statement
    if not isinstance(statement, n.While) or statement.otherwise:
        return None
    reader = Reader(event.frame, context)
    carried = _carried(statement, statement.body, reader, ())
    test = as_arrays(statement.test, reader)
    if carried is None or test is None or "\n" in test or not reader.is_condition(statement.test):
        return None
    if not free_names(statement.test) & set(carried.names):
        return None
    loop = spell(context.module, "jax.lax.while_loop", statement.span)
    going, step = fresh_name(context.module, "keep_going"), fresh_name(context.module, "step")
    inner = f"{carried.indentation}    "
    returned = f"{inner}return {carried.targets}"
    lines = [
        *carried.function(f"{going}({{}})", [f"{inner}return {test}"]),
        "",
        *carried.function(f"{step}({{}})", [*carried.body, returned]),
        "",
        f"{carried.indentation}{carried.targets} = {loop.text}({going}, {step}, {carried.text})",
    ]
    edit = _replaced(statement, lines, statement.test, context)
    return fix(Safety.UNSAFE, f"loop with `{loop.text}`", edit, loop.edits) if edit is not None else None


def of_traced_range(event: RangeOver, context: Context) -> Fix | None:
    """`for i in range(n)` of a tracer `n` as a call of `lax.fori_loop`."""
    path = enclosing(context.module, event.span)
    statement = path[-1] if path else None
    return _as_fori_loop(statement, event.frame, context) if isinstance(statement, n.For) else None


def of_unrolled(event: Looped, context: Context) -> Fix | None:
    """The same for a loop that Python runs, where its rounds surely keep the types of what they hand on."""

    loop = event.statement
    if isinstance(loop.target, n.Name) and _overflows(loop.body, loop.target.name):
        return None

    def can_be_carried(names: tuple[str, ...]) -> bool:
        fits = all(name in event.after and _keeps(event.before[name], event.after[name]) for name in names)
        return fits and event.can_be_traced(names)

    return _as_fori_loop(loop, event.frame, context, can_be_carried)


def _keeps(before: Value, after: Value) -> bool:
    """Whether a value has the type that JAX asks of the next round's: weak numbers may become arrays of rank 0."""
    if isinstance(before, Scalar):
        is_number = isinstance(after, Scalar) and before.kind == after.kind == "float"
        return is_number or (before.kind != "bool" and isinstance(after, Array) and after.shape == ())
    if isinstance(before, Array) and isinstance(after, Array):
        same_shape = before.shape is None or before.shape == after.shape
        is_float = (before.dtype or "").startswith(("float", "bfloat"))
        same_type = after.dtype == before.dtype or (after.dtype is None and is_float) or before.weak is True
        return same_shape and same_type and difference(before, after) is None
    return type(before) is type(after) is Unknown


def _overflows(body: Sequence[n.Stmt], name: str) -> bool:
    """Whether the loop's variable is in a power or shift of integers, which are as long as it takes in Python."""
    nodes = (node for statement in body for expression in expressions(statement) for node in walk(expression))
    powers = (node for node in nodes if isinstance(node, n.Binary) and node.operator in ("**", "<<"))
    return any(name in free_names(power) and not _is_float(power.left) for power in powers)


def _is_float(node: n.Expr) -> bool:
    return isinstance(node, n.Constant) and node.kind == "float"


def _as_fori_loop(
    statement: n.For,
    frame: Frame,
    context: Context,
    can_be_carried: Callable[[tuple[str, ...]], bool] = lambda names: True,
) -> Fix | None:
    """A loop whose body only assigns names, as a function and a call of `lax.fori_loop`."""
    if statement.otherwise or not isinstance(statement.target, n.Name):
        return None
    reader = Reader(frame, context)
    bounds = _bounds(statement.iterable, reader)
    name = statement.target.name
    counting = reader.knowing({name: Sureness.SURE})
    carried = _carried(statement, statement.body, counting, (name,))
    if bounds is None or carried is None or not can_be_carried(carried.names):
        return None
    loop = spell(context.module, "jax.lax.fori_loop", statement.span)
    step = fresh_name(context.module, "step")
    returned = f"{carried.indentation}    return {carried.targets}"
    lines = [
        *carried.function(f"{step}({name}, {{}})", [*carried.body, returned]),
        "",
        f"{carried.indentation}{carried.targets} = {loop.text}({bounds[0]}, {bounds[1]}, {step}, {carried.text})",
    ]
    edit = _replaced(statement, lines, statement.iterable, context)
    return fix(Safety.UNSAFE, f"loop with `{loop.text}`", edit, loop.edits) if edit is not None else None


def _bounds(iterable: n.Expr, reader: Reader) -> tuple[str, str] | None:
    """The first and the last bound of `range(n)` or `range(m, n)`."""
    if not isinstance(iterable, n.Call) or any(a.star or a.keyword for a in iterable.arguments):
        return None
    texts = [as_arrays(a.value, reader) for a in iterable.arguments if reader.sureness(a.value)]
    if len(texts) != len(iterable.arguments) or len(texts) not in (1, 2) or None in texts:
        return None
    first, last = ("0", *texts) if len(texts) == 1 else texts
    return str(first), str(last)


def _carried(
    statement: n.For | n.While, body: tuple[n.Stmt, ...], reader: Reader, given: tuple[str, ...]
) -> Carried | None:
    """What a loop hands on, where its body only assigns names and each value can be computed by a traced function."""
    text = reader.context.text
    first, last = body[0].span, body[-1].span
    starts_line = is_line_start(text, statement.span.line, statement.span.column) and is_line_start(
        text, first.line, first.column
    )
    if reader.frame.function is None or not starts_line or "\t" in text.indentation(first.line):
        return None
    made = _assigned(body, reader)
    if made is None or any(name in made for name in given):
        return None
    names = tuple(name for name in made if name in reader.frame.scope.names)
    others = {*given, *made} - set(names)
    if (
        not names
        or others & set(_read_elsewhere(statement, reader.context.module))
        or not all(_fits(n_, reader) for n_ in names)
    ):
        return None
    indentation = text.indentation(statement.span.line)
    if text.indentation(first.line) != f"{indentation}    ":
        return None
    lines = tuple(text.line(number) for number in range(statement.span.line + 1, last.end_line + 1))
    header_end = statement.test.span.end_line if isinstance(statement, n.While) else statement.iterable.span.end_line
    return Carried(names, lines, indentation) if header_end == statement.span.line else None


def _assigned(body: Sequence[n.Stmt], reader: Reader) -> dict[str, bool] | None:
    """The names that a body assigns, in order; None where it does anything else."""
    made: dict[str, bool] = {}
    for statement in body:
        known = reader.knowing(dict.fromkeys(made, Sureness.SURE))
        match statement:
            case n.Assign(targets=(target,), value=value, annotation=None) if value is not None:
                names = _names(target)
            case n.AugmentedAssign(target=n.Name(name=name), value=value):
                names = [name]
            case _:
                return None
        if not names or not known.is_computable(value) or leaf(value, known) is None:
            return None
        made |= dict.fromkeys(names, True)
    return made


def _names(target: n.Expr) -> list[str]:
    parts = target.elements if isinstance(target, n.Sequence) else (target,)
    names = [part.name for part in parts if isinstance(part, n.Name)]
    return names if len(names) == len(parts) else []


def _fits(name: str, reader: Reader) -> bool:
    """Whether a carried value may keep its type: an integer array would be refused once it becomes a float."""
    return all(map(_keeps_type, options(reader.frame.scope.names[name])))


def _keeps_type(value: Value) -> bool:
    if isinstance(value, Array):
        return value.dtype is None or value.weak is True or value.dtype.startswith(("float", "complex", "bfloat"))
    return not isinstance(value, Scalar) or value.kind in ("int", "float", "complex", "bool")


def _read_elsewhere(statement: n.Stmt, module: n.Module) -> Iterator[str]:
    """The names that the function around a loop reads outside of it."""
    path = enclosing(module, statement.span)
    outer = max((i for i, other in enumerate(path) if isinstance(other, n.FunctionDefinition)), default=0)
    yield from _outside(path[outer], statement)


def _outside(whole: n.Stmt, statement: n.Stmt) -> Iterator[str]:
    for block in inner_blocks(whole):
        for other in block:
            if other.span == statement.span:
                continue
            if any(True for _ in inner_blocks(other)) and _holds(other, statement):
                yield from _outside(other, statement)
            else:
                yield from names_read(other)


def _holds(whole: n.Stmt, statement: n.Stmt) -> bool:
    return any(s.span == statement.span or _holds(s, statement) for block in inner_blocks(whole) for s in block)


def _replaced(statement: n.For | n.While, lines: Sequence[str], head: n.Expr, context: Context) -> Edit | None:
    """The edit that puts lines in place of the loop; the comment behind its head stays behind the first line."""
    found = comments(statement.span, context)
    if found is None:
        return None
    start, text = statement.span, context.text
    last = text.line(start.end_line)
    if last[start.end_column - 1 :].strip():  # a comment, which the lines have already
        start = Span(start.line, start.column, start.end_line, len(last) + 1)
    behind = "".join(f"  {c.text}" for c in found if c.line == head.span.end_line)
    before = text.line(start.line - 1).strip() if start.line > 1 else ""
    indentation = text.indentation(start.line)
    whole = "\n".join((f"{lines[0][len(indentation) :]}{behind}", *lines[1:]))
    is_first = not before or before.startswith("#") or before.endswith(":")
    return (
        Edit(start, whole)
        if is_first
        else Edit(Span(start.line, 1, start.end_line, start.end_column), f"\n{indentation}{whole}")
    )
