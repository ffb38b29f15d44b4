"""Rewrites what asks arrays for their truth inside an expression: `and`, `or`, `not`, chained comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jaxlint.model import Edit, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import children
from jaxlint.repair.numeric import COMPARISONS, Reader, Sureness
from jaxlint.repair.source import between, spliced
from jaxlint.repair.spelling import Spelling, spell

OPERATORS = {"and": "&", "or": "|"}
TIGHT = (n.Name, n.Attribute, n.Call, n.Subscript, n.Constant, n.Sequence, n.Dictionary)


def as_arrays(e: n.Expr, reader: Reader, names: Mapping[str, str] | None = None) -> str | None:
    """The text of a pure expression in which no truth is asked.

    `not` becomes `~` for what always is an array: of a Python bool that would make -1 or -2. Elsewhere it becomes
    `jnp.logical_not`.

    Args:
        names: what to write instead of names, such as the values that a branch would have given them.

    Returns:
        None where an operand may be no boolean, or `jnp.logical_not` would have to be imported.
    """
    return _rendered(e, reader, names or {}) if all(_can_be_written(node, reader) for node in _asking(e)) else None


def uses_function(e: n.Expr, reader: Reader) -> bool:
    """Whether some `not` has to be written as `jnp.logical_not`."""
    return any(isinstance(node, n.Unary) and not reader.is_array(node.operand) for node in _asking(e))


def _asking(e: n.Expr) -> Iterator[n.Boolean | n.Unary | n.Compare]:
    match e:
        case n.Boolean() | n.Unary(operator="not"):
            yield e
        case n.Compare(rest=rest) if len(rest) > 1:
            yield e
    for child in children(e):
        yield from _asking(child)


def _can_be_written(e: n.Boolean | n.Unary | n.Compare, reader: Reader) -> bool:
    match e:
        case n.Boolean(left=left, right=right):
            return reader.is_boolean(left) and reader.is_boolean(right)
        case n.Unary(operand=operand):
            is_known = reader.is_array(operand) or not _logical_not(e, reader).edits
            return reader.is_boolean(operand) and is_known
    return _can_be_split(e, reader)


def _logical_not(e: n.Expr, reader: Reader) -> Spelling:
    return spell(reader.context.module, "jax.numpy.logical_not", e.span)


def _can_be_split(e: n.Compare, reader: Reader) -> bool:
    """Whether the operands between two comparisons may be written, and computed, twice."""
    is_plain = all(operator in COMPARISONS for operator, _ in e.rest)
    no_comments = "#" not in reader.context.text.at(e.span)
    return (
        is_plain
        and no_comments
        and all(reader.sureness(side) is not Sureness.NO for side in (e.left, *(s for _, s in e.rest)))
    )


def _rendered(e: n.Expr, reader: Reader, names: Mapping[str, str]) -> str:
    return spliced(e.span, _edits(e, reader, names), reader.context)


def _edits(e: n.Expr, reader: Reader, names: Mapping[str, str]) -> list[Edit]:
    """The edits inside an expression, those at one place in the order that they are to stand in."""
    match e:
        case n.Name(span=span, name=name):
            return [Edit(span, names[name])] if name in names else []
        case n.Boolean():
            return _of_boolean(e, reader, names)
        case n.Unary(operator="not"):
            return _of_not(e, reader, names)
        case n.Compare(rest=rest) if len(rest) > 1:
            return [Edit(e.span, _split(e, reader, names))]
    return [edit for child in children(e) for edit in _edits(child, reader, names)]


def _of_boolean(e: n.Boolean, reader: Reader, names: Mapping[str, str]) -> list[Edit]:
    gap = between(e.left.span, e.right.span)
    before, after = _around_word(reader.context.text.at(gap), e.operator)
    operator = _word_span(gap, before, e.operator)
    left = _operand(e.left, e, ")" in before, reader, names)
    right = _operand(e.right, e, "(" in after, reader, names)
    return [*left, Edit(operator, OPERATORS[e.operator]), *right]


def _operand(e: n.Expr, parent: n.Boolean, is_wrapped: bool, reader: Reader, names: Mapping[str, str]) -> list[Edit]:
    inner = _edits(e, reader, names)
    same = isinstance(e, n.Boolean) and e.operator == parent.operator
    is_not = isinstance(e, n.Unary) and e.operator in ("not", "~")
    if is_wrapped or same or is_not or isinstance(e, TIGHT):
        return inner
    if isinstance(e, n.Compare) and len(e.rest) > 1 and parent.operator == "and":
        return inner  # `(a < b) & (b < c)` joins another `&` as it is
    span = e.span
    return [_insertion(span.line, span.column, "("), *inner, _insertion(span.end_line, span.end_column, ")")]


def _of_not(e: n.Unary, reader: Reader, names: Mapping[str, str]) -> list[Edit]:
    start, operand = e.span, e.operand.span
    gap = Span(start.line, start.column, operand.line, operand.column)
    is_wrapped = "(" in _code(reader.context.text.at(gap))
    inner = _edits(e.operand, reader, names)
    is_array = reader.is_array(e.operand)
    sign = "~" if is_array else _logical_not(e, reader).text
    is_tight = isinstance(e.operand, TIGHT) or (isinstance(e.operand, n.Unary) and e.operand.operator in ("not", "~"))
    word = Span(start.line, start.column, start.line, start.column + len("not"))
    if start.line == operand.line and not is_wrapped:
        word = gap
    elif reader.context.text.line(start.line)[start.column + 2 : start.column + 3] == " ":
        word = Span(start.line, start.column, start.line, start.column + len("not "))
    if is_wrapped or (is_array and is_tight):
        return [Edit(word, sign), *inner]
    end = _insertion(operand.end_line, operand.end_column, ")")
    return [Edit(word, sign), _insertion(operand.line, operand.column, "("), *inner, end]


def _split(e: n.Compare, reader: Reader, names: Mapping[str, str]) -> str:
    """`a < b < c` as `(a < b) & (b < c)`."""
    sides = [_side(side, reader, names) for side in (e.left, *(side for _, side in e.rest))]
    pairs = zip(sides, (operator for operator, _ in e.rest), sides[1:], strict=False)
    return " & ".join(f"({left} {operator} {right})" for left, operator, right in pairs)


def _side(e: n.Expr, reader: Reader, names: Mapping[str, str]) -> str:
    text = _rendered(e, reader, names)
    return text if isinstance(e, (*TIGHT, n.Unary, n.Binary)) and not _is_not(e) else f"({text})"


def _is_not(e: n.Expr) -> bool:
    return isinstance(e, n.Unary) and e.operator == "not"


def _insertion(line: int, column: int, text: str) -> Edit:
    return Edit(Span(line, column, line, column), text)


def _around_word(text: str, word: str) -> tuple[str, str]:
    """What stands before and behind an operator written as a word; comments count as white space."""
    code = _code(text)
    position = code.index(word)
    return code[:position], code[position + len(word) :]


def _code(text: str) -> str:
    """The text with its comments blanked out."""
    lines = []
    for line in text.split("\n"):
        code, hash_, comment = line.partition("#")
        lines.append(code + " " * len(hash_ + comment))
    return "\n".join(lines)


def _word_span(gap: Span, before: str, word: str) -> Span:
    line = gap.line + before.count("\n")
    column = len(before) - before.rfind("\n") if "\n" in before else gap.column + len(before)
    return Span(line, column, line, column + len(word))
