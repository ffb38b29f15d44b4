"""Takes out imports that nothing reads any more once fixes are made."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from jaxlint.fixes.edits import apply_edits
from jaxlint.model import Edit, Span
from jaxlint.program import nodes as n
from jaxlint.repair.contents import count_reads, expressions_of
from jaxlint.source.notebook.program import Program
from jaxlint.source.text import LINE_END, SourceFile


def without_unused_imports(before: SourceFile, after: SourceFile) -> SourceFile:
    """The fixed file without top-level imports of names that `before` reads and `after` does not.

    Only imports of one name that have their lines for themselves, or lists of names on one line. Those of an
    `__init__.py`, of names that a string or a magic of a notebook spells, and all others that nothing read before, are
    left alone.
    """
    if after.text == before.text or before.path.endswith("__init__.py"):
        return after
    from jaxlint.program.lower import lower  # the parser, which linting from the store does without

    old, new = lower(before.text, before.path, ""), lower(after.text, after.path, "")
    lines = LINE_END.split(after.text)
    spelled = (*_strings(new), *(_words(after.program) if after.program else ()))
    edits = [edit for statement in new.body for edit in _removals(statement, old, new, spelled, lines)]
    return after.with_text(apply_edits(after.text, edits)) if edits else after


def _removals(
    statement: n.Stmt, old: n.Module, new: n.Module, spelled: Sequence[str], lines: list[str]
) -> Iterator[Edit]:
    if not isinstance(statement, n.Import) or statement.span.line != statement.span.end_line:
        return
    unused = [entry for entry in statement.names if _is_unused(entry, old, new, spelled)]
    line = lines[statement.span.line - 1]
    if not unused or line[: statement.span.column - 1].strip() or line[statement.span.end_column - 1 :].strip():
        return
    if len(unused) == len(statement.names):
        yield Edit(Span(statement.span.line, 1, _next_line(statement.span.line, lines), 1), "")
        return
    kept = [line[e.span.column - 1 : e.span.end_column - 1] for e in statement.names if e not in unused]
    first, last = statement.names[0].span, statement.names[-1].span
    yield Edit(Span(first.line, first.column, last.end_line, last.end_column), ", ".join(kept))


def _next_line(number: int, lines: list[str]) -> int:
    """The line behind one that goes, and behind the blank lines below where there are some above it too."""
    following = number + 1
    is_section = number == 1 or not lines[number - 2].strip()
    while is_section and following <= len(lines) and not lines[following - 1].strip():
        following += 1
    return following


def _is_unused(entry: n.ImportedName, old: n.Module, new: n.Module, spelled: Sequence[str]) -> bool:
    name = entry.bound
    is_read = count_reads(new, name) > 0 or any(_names(text, name) for text in spelled)
    return name != "*" and not is_read and count_reads(old, name) > 0


def _strings(module: n.Module) -> Iterator[str]:
    for node in expressions_of(module, n.Constant):
        if isinstance(node.value, str):
            yield node.value


def _words(program: Program) -> list[str]:
    """What the magics of a notebook say; names stand there in many ways, as in `!ls {folder}`, `%lprun -f f f(x)`."""
    return [word for line in program.hidden for word in re.findall(r"\w+", line)]


def _names(text: str, name: str) -> bool:
    """Whether a string reads the name, as annotations in quotes and `__all__` do."""
    if name not in text:
        return False
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
