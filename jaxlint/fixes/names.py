"""The names that fixes bind: two fixes of one pass may have chosen the same new name, for neither knows the other."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator


def bound_by_lines(content: str) -> frozenset[str]:
    """The names that inserted lines bind by assignment or definition; imports may bind one name twice."""
    try:
        statements = ast.parse(textwrap.dedent(content)).body
    except (SyntaxError, ValueError):
        return frozenset()
    return frozenset(name for statement in statements for name in _bound(statement))


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name


class Scopes:
    """The functions of a text, by their lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._spans: list[tuple[int, int]] | None = None

    def at(self, line: int) -> tuple[int, int]:
        """First and last line of the innermost function that holds a line, (0, 0) for the module's own scope."""
        if self._spans is None:
            self._spans = list(_functions(self._text))
        inside = [span for span in self._spans if span[0] < line <= span[1]]
        return max(inside, default=(0, 0))


def _functions(text: str) -> Iterator[tuple[int, int]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno or node.lineno
