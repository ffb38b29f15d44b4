"""What a rule may ask while it looks at an event, and how it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec import Struct

from jaxlint.config.targets import Target
from jaxlint.model import Edit, Fix, Safety, Span, Step
from jaxlint.program import nodes as n


class Report(Struct, frozen=True):
    """A rule's answer: something is wrong at `span`. The engine adds code, name, path and severity.

    `because` is put before the steps that the analysis itself knows (how tracing came here).
    `path` is set where the place is in another file than the event's. Reports of one file with the same `fault` are
    one fault in several places, and become one finding at the first.
    """

    span: Span
    message: str
    because: tuple[Step, ...] = ()
    fix: Fix | None = None
    path: str | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """The decoded text of a file, addressed by spans."""

    lines: tuple[str, ...]  # with their line ends

    def at(self, span: Span) -> str:
        """What the span covers, line ends as `\\n`."""
        if span.line == span.end_line:
            return self.lines[span.line - 1][span.column - 1 : span.end_column - 1]
        first = self.lines[span.line - 1][span.column - 1 :]
        last = self.lines[span.end_line - 1][: span.end_column - 1]
        whole = "".join((first, *self.lines[span.line : span.end_line - 1], last))
        return whole.replace("\r\n", "\n").replace("\r", "\n")

    def line(self, number: int) -> str:
        """A line without its end."""
        return self.lines[number - 1].rstrip("\r\n")

    def indentation(self, number: int) -> str:
        """The white space that a line starts with."""
        line = self.line(number)
        return line[: len(line) - len(line.lstrip())]


class Files(Protocol):
    """The other files of the project."""

    def context(self, path: str) -> Context:
        """What rules may ask of the file at `path`."""


@dataclass(frozen=True, slots=True)
class Context:
    """One file as a rule sees it: `module` and `text` of the file, the targeted JAX versions, the other files."""

    module: n.Module
    text: Text
    target: Target
    files: Files


def replace(span: Span, content: str) -> Edit:
    """The edit that replaces what `span` covers."""
    return Edit(span, content)


def insert(line: int, column: int, content: str) -> Edit:
    """The edit that inserts before a position."""
    return Edit(Span(line, column, line, column), content)


def fix(safety: Safety, message: str, *edits: Edit | Sequence[Edit]) -> Fix:
    """A fix of edits and groups of edits."""
    flat = [edit for item in edits for edit in ([item] if isinstance(item, Edit) else item)]
    return Fix(safety, message, tuple(flat))
