"""The code cells of a notebook as one program: what Python does not understand stands in comments, line for line."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left

from msgspec import Struct

from jaxlint.source.notebook.cells import Cell, Cells
from jaxlint.source.notebook.magics import is_other_language, magics
from jaxlint.source.text import LINE_END


class Fault(Struct, frozen=True):
    """A cell that Python cannot parse: which of the code cells (from 0), and the error."""

    index: int
    error: SyntaxError | ValueError | RecursionError


class Program(Struct, frozen=True):
    """The text of all code cells.

    Between two cells stands a line of its own with `marker`. What Python does not understand is `hidden`, a piece of a
    line each: in its place stand the marker and a number. So do the lines of cells with a fault. The Python that a
    magic runs (`%time f(x)`) stays in its columns, behind `pass;` in the place of the magic.
    """

    text: str
    cells: tuple[Cell, ...]
    marker: str
    hidden: tuple[str, ...]
    faults: tuple[Fault, ...]

    def split(self, text: str) -> list[str]:
        """The parts of a text between the lines that stand between cells."""
        first, *others = re.split(rf"(?:\A|\n)# {self.marker}(?=\n|\Z)", text)
        return [first, *(part.removeprefix("\n") for part in others)]

    def texts(self, text: str) -> dict[int, str] | None:
        """What the cells say, by number, when the program says `text`; None where that can no longer be told."""
        parts = self.split(text)
        stood_in = _stood_in(self.marker)
        numbers = [int(match["number"]) for part in parts for match in stood_in.finditer(part)]
        if len(parts) != max(1, len(self.cells)) or numbers != list(range(len(self.hidden))):
            return None
        shown = (stood_in.sub(self._shown, part) for part in parts)
        texts = {cell.number: part for cell, part in zip(self.cells, shown, strict=False)}
        # `%%time` means the cell only where it stands first.
        kept = (_cell_magic(cell.text) == _cell_magic(texts[cell.number]) for cell in self.cells)
        return texts if all(kept) else None

    def ordered(self, text: str) -> str:
        """The text in which comments that were put behind markers stand in front of them, as if read anew."""
        return _stood_in(self.marker).sub(
            lambda match: f"{match['code']}{match['rest']}{match['comment']}" if match["rest"] else match[0], text
        )

    def _shown(self, match: re.Match[str]) -> str:
        code = re.sub(r"\Apass; +", "", match["code"] or "")
        return f"{self.hidden[int(match['number'])]}{code}{match['rest']}"


def _stood_in(marker: str) -> re.Pattern[str]:
    """What stands in for hidden pieces; behind the marker of such as run Python may stand another comment."""
    return re.compile(
        rf"(?:(?P<code>pass; +[^\r\n]*?)|(?:pass|get_ipython\(\))?)(?P<comment>  # {marker} (?P<number>\d+))"
        r"(?P<rest>(?(code)[^\r\n]*))(?=\r\n|\n|\r|$)"
    )


class Places:
    """Which cell each line of a program's text belongs to; `text` may be changed from the program's own."""

    def __init__(self, program: Program, text: str) -> None:
        self._cells = program.cells
        lines = LINE_END.split(text)
        self._marks = [number for number, line in enumerate(lines, 1) if line == f"# {program.marker}"]

    def first_line(self, index: int) -> int:
        """The program's line where the code cell of this index (from 0) begins."""
        return 1 if not index else self._marks[index - 1] + 1

    def cell(self, line: int) -> tuple[int, int]:
        """The number of the cell (among all cells, from 1) that a line is in, and the line in that cell."""
        index = bisect_left(self._marks, line)
        return self._cells[index].number, line - self.first_line(index) + 1


def program(cells: Cells) -> Program:
    """The program that the code cells make; an empty one where the kernel's language is not Python."""
    own = cells.cells if cells.language in ("python", "ipython", "python3") else ()
    marker = _marker(own)
    hidden: list[str] = []
    faults: list[Fault] = []
    parts = []
    for index, cell in enumerate(own):
        written, more = _all_hidden(cell.text, marker, len(hidden))
        if not is_other_language(cell.text):
            python, magic = _magics_hidden(cell.text, marker, len(hidden))
            error = _error(python)
            if error is None:
                written, more = python, magic
            else:
                faults.append(Fault(index, error))
        parts.append(written)
        hidden += more
    return Program(f"\n# {marker}\n".join(parts), own, marker, tuple(hidden), tuple(faults))


def _cell_magic(cell: str) -> str:
    start = cell.lstrip()
    return LINE_END.split(start, maxsplit=1)[0] if start.startswith("%%") else ""


def _marker(cells: tuple[Cell, ...]) -> str:
    """Words that no cell says."""
    number = 1
    while any(f"jaxlint cell {number}:" in cell.text for cell in cells):
        number += 1
    return f"jaxlint cell {number}:"


def _magics_hidden(cell: str, marker: str, first: int) -> tuple[str, list[str]]:
    parts: list[str] = []
    hidden: list[str] = []
    position = 0
    for magic in magics(cell):
        number = first + len(hidden)
        parts.append(cell[position : magic.start])
        start, code = magic.start, cell[magic.code : magic.end]
        if code and not LINE_END.search(code) and _error(code) is None:
            parts.append(f"{'pass;':{magic.code - start}}{code}  # {marker} {number}")
            hidden.append(cell[start : magic.code])
        else:
            written, more = _all_hidden(cell[start : magic.end], marker, number)
            parts += ["get_ipython()" if magic.assigned else "pass", written]
            hidden += more
        position = magic.end
    return "".join([*parts, cell[position:]]), hidden


def _all_hidden(text: str, marker: str, first: int) -> tuple[str, list[str]]:
    """The text with a comment in the place of each of its lines that is not empty, and those lines."""
    hidden: list[str] = []

    def comment(match: re.Match[str]) -> str:
        hidden.append(match[0])
        return f"  # {marker} {first + len(hidden) - 1}"

    return re.sub(r"[^\r\n]+", comment, text), hidden


def _error(text: str) -> SyntaxError | ValueError | RecursionError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        return error
    except MemoryError:
        return RecursionError()
    return None
