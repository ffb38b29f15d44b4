"""Positions of the protocol: lines and units from 0, where a unit is what was agreed on with the client."""

from __future__ import annotations

from lsprotocol import types as lsp

from jaxlint.model import Span
from jaxlint.source.text import LineMap

BOM = "\ufeff"


def units(text: str, encoding: str) -> int:
    """How many units of an encoding (`utf-8`, `utf-16` or `utf-32`) a text has."""
    if encoding == "utf-32":
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


class Positions:
    """From the places of a text to the positions of the protocol and back.

    The text is what Python reads; `marked` says that the client's has a byte order mark in front of it.
    """

    def __init__(self, text: str, encoding: str, *, marked: bool = False) -> None:
        self._lines = LineMap(text)
        self._encoding = encoding
        self._mark = units(BOM, encoding) if marked else 0

    def position(self, line: int, column: int) -> lsp.Position:
        """The position of a line and column (from 1); outside the text, the nearest inside."""
        line = min(max(line, 1), len(self._lines))
        before = self._lines.line(line)[: max(column - 1, 0)]
        return lsp.Position(line - 1, units(before, self._encoding) + (self._mark if line == 1 else 0))

    def range(self, span: Span) -> lsp.Range:
        """The range of a span."""
        return lsp.Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def between(self, start: int, end: int) -> lsp.Range:
        """The range between two offsets in the text."""
        return lsp.Range(self.position(*self._lines.position(start)), self.position(*self._lines.position(end)))

    def place(self, position: lsp.Position) -> tuple[int, int]:
        """The line and column of a position; of one inside a character, that of the character."""
        if position.line >= len(self._lines):
            return len(self._lines), len(self._lines.line(len(self._lines))) + 1
        left = position.character - (self._mark if position.line == 0 else 0)
        text = self._lines.line(position.line + 1)
        for column, character in enumerate(text, 1):
            left -= units(character, self._encoding)
            if left < 0:
                return position.line + 1, column
        return position.line + 1, len(text) + 1
