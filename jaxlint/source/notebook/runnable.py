"""What Python is given to run in the place of a notebook."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxlint.source.notebook.magics import is_idle
from jaxlint.source.notebook.program import Places, Program
from jaxlint.source.text import LineMap


def runnable(program: Program, text: str, *, past_magics: bool = False) -> str:
    """The program's text (its own or a changed one), line for line, for Python without IPython.

    What stands last in a cell is printed, as a notebook shows it, and so is what is given to `display`. Magics do
    nothing; where the rest may depend on one, the program ends, unless it is to go on `past_magics`. A text that does
    not parse is returned as it is.
    """
    text = _past_magics(program, text) if past_magics else _without_results(program, _without_magics(program, text))
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    lines = LineMap(text).whole()
    for line, start, end, new in sorted(_edits(program, text, tree), reverse=True):
        data = lines[line - 1].encode("utf-8", "surrogatepass")  # Python counts columns in bytes
        lines[line - 1] = (data[:start] + new.encode() + data[end:]).decode("utf-8", "surrogatepass")
    return "".join(lines)


def _past_magics(program: Program, text: str) -> str:
    return re.sub(rf"get_ipython\(\)(?=  # {program.marker} \d)", "None         ", text)


def _without_magics(program: Program, text: str) -> str:
    """The text that ends where a magic, or a cell of another language, does what the rest may depend on."""

    def written(match: re.Match[str]) -> str:
        line = program.hidden[int(match["number"])]
        begins = match["stand_in"] or line.lstrip().startswith("%%")
        return match[0] if is_idle(line) or not begins else f"{match['indent']}raise {_error(line)}{match['comment']}"

    stand_in = rf"^(?P<indent>[ \t]*)(?P<stand_in>pass)?(?P<comment>  # {program.marker} (?P<number>\d+))(?=[\r\n]|\Z)"
    return re.sub(stand_in, written, text, flags=re.MULTILINE)


def _without_results(program: Program, text: str) -> str:
    """The text in which what is assigned from a magic is None; it ends there where the names are used elsewhere."""

    def written(match: re.Match[str]) -> str:
        names = "|".join(set(re.findall(r"[^\W\d]\w*", match["names"])) - {"_"}) or "(?!)"
        is_used = re.search(rf"\b(?:{names})\b", text[: match.start()] + text[match.end() :])
        ends = f"(_ for _ in ()).throw({_error(program.hidden[int(match['number'])])})"
        return f"{match['names']}{ends if is_used else 'None'}{match['comment']}"

    stand_in = rf"^(?P<names>.*)get_ipython\(\)(?P<comment>  # {program.marker} (?P<number>\d+))(?=[\r\n]|\Z)"
    return re.sub(stand_in, written, text, flags=re.MULTILINE)


def _error(line: str) -> str:
    told = f"`{line.strip()}` is not run, and what follows may depend on it"
    return f"RuntimeError({told!r})"


_Edit = tuple[int, int, int, str]  # line, columns in bytes from and to, what stands there instead

_DISPLAY = "(lambda *shown, **_: print(*map(repr, shown), sep='\\n'))"


def _edits(program: Program, text: str, tree: ast.Module) -> Iterator[_Edit]:
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "display"]
    if all(isinstance(node.ctx, ast.Load) for node in names):
        yield from ((one.lineno, one.col_offset, one.col_offset + len("display"), _DISPLAY) for one in names)
    for statement in _shown(program, text, tree):
        yield statement.lineno, statement.col_offset, statement.col_offset, "print(repr("
        line, column = statement.end_lineno or 0, statement.end_col_offset or 0
        yield line, column, column, "))"


def _shown(program: Program, text: str, tree: ast.Module) -> Iterator[ast.Expr]:
    """The expressions that stand last in their cells, without a semicolon behind."""
    places = Places(program, text)
    last: dict[int, ast.stmt] = {places.cell(statement.lineno)[0]: statement for statement in tree.body}
    lines = LineMap(text)
    for statement in last.values():
        if isinstance(statement, ast.Expr) and not _tells(statement.value):
            line = lines.line(statement.end_lineno or 1)
            rest = line.encode("utf-8", "surrogatepass")[statement.end_col_offset :]
            if not rest.strip().startswith(b";"):
                yield statement


def _tells(value: ast.expr) -> bool:
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in ("print", "display")
