"""What Python is given to run in the place of a notebook."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxlint.source.notebook.program import Places, Program


def runnable(program: Program, text: str) -> str:
    """The program's text (its own or a changed one), line for line, for Python without IPython.

    What stands last in a cell is printed, as a notebook shows it, and so is what is given to `display`. Magics do
    nothing. A text that does not parse is returned as it is.
    """
    text = re.sub(rf"get_ipython\(\)(?=  # {program.marker} \d)", "None         ", text)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    lines = text.split("\n")
    for line, start, end, new in sorted(_edits(program, text, tree), reverse=True):
        data = lines[line - 1].encode("utf-8", "surrogatepass")  # Python counts columns in bytes
        lines[line - 1] = (data[:start] + new.encode() + data[end:]).decode("utf-8", "surrogatepass")
    return "\n".join(lines)


_Edit = tuple[int, int, int, str]  # line, columns in bytes from and to, what stands there instead


def _edits(program: Program, text: str, tree: ast.Module) -> Iterator[_Edit]:
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "display"]
    if all(isinstance(node.ctx, ast.Load) for node in names):
        yield from ((one.lineno, one.col_offset, one.col_offset + len("display"), "print") for one in names)
    for statement in _shown(program, text, tree):
        yield statement.lineno, statement.col_offset, statement.col_offset, "print("
        line, column = statement.end_lineno or 0, statement.end_col_offset or 0
        yield line, column, column, ")"


def _shown(program: Program, text: str, tree: ast.Module) -> Iterator[ast.Expr]:
    """The expressions that stand last in their cells, without a semicolon behind."""
    places = Places(program, text)
    last: dict[int, ast.stmt] = {places.cell(statement.lineno)[0]: statement for statement in tree.body}
    lines = text.split("\n")
    for statement in last.values():
        if isinstance(statement, ast.Expr) and not _tells(statement.value):
            rest = lines[(statement.end_lineno or 1) - 1].encode("utf-8", "surrogatepass")[statement.end_col_offset :]
            if not rest.strip().startswith(b";"):
                yield statement


def _tells(value: ast.expr) -> bool:
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in ("print", "display")
