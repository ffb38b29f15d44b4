"""Text of expressions with pieces exchanged, and the comments of a region."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable

from msgspec import Struct

from jaxlint.analysis.context import Context
from jaxlint.model import Edit, Span

WIDTH = 100
"""New code of one line that would end behind this column is spread over several."""


class Comment(Struct, frozen=True):
    """A comment with the place that it stands at."""

    line: int
    column: int
    text: str


def spliced(span: Span, edits: Iterable[Edit], context: Context) -> str:
    """What the span covers with the edits made; of several at one place the first given stands first."""
    text = context.text.at(span)
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offset(line: int, column: int) -> int:
        first = span.column if line == span.line else 1
        return starts[line - span.line] + column - first

    parts: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.span.line, edit.span.column)):
        start = offset(edit.span.line, edit.span.column)
        parts += (text[position:start], edit.content)
        position = offset(edit.span.end_line, edit.span.end_column)
    return "".join((*parts, text[position:]))


def between(first: Span, second: Span) -> Span:
    """From the end of one span to the start of another."""
    return Span(first.end_line, first.end_column, second.line, second.column)


def around(first: Span, last: Span) -> Span:
    """From the start of one span to the end of another."""
    return Span(first.line, first.column, last.end_line, last.end_column)


def comments(span: Span, context: Context) -> list[Comment] | None:
    """The comments inside a region of whole statements; None where it cannot be read by itself."""
    text = "\n".join(context.text.line(number) for number in range(span.line, span.end_line + 1))
    found: list[Comment] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text + "\n").readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start[0] + span.line - 1, token.start[1] + 1
                if (span.line, span.column) <= (line, column) < (span.end_line, span.end_column):
                    found.append(Comment(line, column, token.string))
    except (tokenize.TokenError, SyntaxError):
        return None
    return found


def call_text(function: str, arguments: Iterable[str], before: int, indentation: str) -> str:
    """A call on one line where it fits behind `before` characters, else with an argument to a line."""
    written = list(arguments)
    line = f"{function}({', '.join(written)})"
    if "\n" not in line and before + len(line) <= WIDTH:
        return line
    inner = "".join(f"{indentation}    {argument},\n" for argument in written)
    return f"{function}(\n{inner}{indentation})"
