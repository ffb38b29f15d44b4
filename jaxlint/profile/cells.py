"""Notebooks as programs: their cells, each to be compiled under a name that says which it is."""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec import Struct

from jaxlint.engine import fault_of
from jaxlint.source.files import shown
from jaxlint.source.notebook.runnable import runnable
from jaxlint.source.text import SourceError, SourceFile

_CELL = re.compile(r"(?P<path>.*\.ipynb):cell (?P<number>\d+)", re.DOTALL)


class NoProgram(Exception):
    """The notebook is none that can be run; the message says why."""


class Cell(Struct, frozen=True):
    """A code cell: its name, its text, and the same line for line as Python without IPython can run it."""

    name: str
    text: str
    runnable: str


def cells(path: str) -> list[Cell]:
    """The code cells of a notebook. Raises `NoProgram`."""
    if not os.path.exists(path):
        raise NoProgram(f"{path} does not exist")
    try:
        source = SourceFile.read(shown(Path(path)), file=Path(path))
    except SourceError as error:
        raise NoProgram(f"{path}: the file {error.message}") from None
    program = source.program
    if program is None or not program.cells:
        raise NoProgram(f"{path} has no cells of Python")
    for fault in program.faults:
        own = program.cells[fault.index]
        found = fault_of(name(path, own.number), own.text, fault.error)
        raise NoProgram(f"{found.path}:{found.span.line}: {found.message}")
    texts = program.split(runnable(program, source.text, past_magics=True))
    pairs = zip(program.cells, texts, strict=True)
    return [Cell(name(os.path.abspath(path), one.number), one.text, text) for one, text in pairs]


def name(path: str, number: int) -> str:
    """What a cell is called in the place of a file; `split` reads it."""
    return f"{path}:cell {number}"


def split(file: str) -> tuple[str, int | None]:
    """The path of a file, and of a cell of a notebook the number of the cell."""
    match = _CELL.fullmatch(file)
    return (match["path"], int(match["number"])) if match else (file, None)
