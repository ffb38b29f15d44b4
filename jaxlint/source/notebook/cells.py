"""The code cells of a notebook, and where their texts stand in the JSON.

A notebook is changed in the characters of its JSON that say the changed lines, so that all others stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from msgspec import Struct

_SPACE = re.compile(r"[ \t\r\n]*")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)
_DECODER = json.JSONDecoder()


class NotebookError(Exception):
    """It is no notebook that can be read; the message says why."""


class Cell(Struct, frozen=True):
    """A code cell: its number among all cells (from 1), its text, and where the JSON has its source."""

    number: int
    text: str
    start: int
    end: int


class Cells(Struct, frozen=True):
    """The code cells of a notebook, in their order; `language` is that of its kernel."""

    cells: tuple[Cell, ...]
    language: str


def read(text: str) -> Cells:
    """The code cells in the JSON of a notebook. Raises `NotebookError`."""
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotebookError(f"is no notebook: its JSON cannot be read ({error})") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        old = isinstance(notebook, dict) and "worksheets" in notebook
        hint = "; it is of format 3: `jupyter nbconvert --to notebook` renews it" if old else ""
        raise NotebookError(f"is no notebook: its JSON has no list of cells{hint}")
    found = []
    for number, ((start, end), cell) in enumerate(zip(_sources(text), notebook["cells"], strict=True), 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            found.append(Cell(number, _joined(cell.get("source"), number), start, end))
    return Cells(tuple(found), _language(notebook))


def _joined(source: Any, number: int) -> str:
    if isinstance(source, str):
        return source
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    raise NotebookError(f"is no notebook: the source of cell {number} is neither a text nor a list of texts")


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        inner = metadata.get(table) if isinstance(metadata, dict) else None
        value = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(value, str):
            return value.lower()
    return "python"


# ---- where things stand in the JSON -------------------------------------------------------------------------------


def _sources(text: str) -> Iterator[tuple[int, int]]:
    """Where the source of each cell stands; (0, 0) for a cell without one. The JSON is valid."""
    cells = dict(_members(text, _after_space(text, 0)))["cells"]
    for start, _ in _elements(text, cells[0]):
        yield dict(_members(text, start)).get("source", (0, 0)) if text[start] == "{" else (0, 0)


def _members(text: str, start: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """The keys of the object that begins here, each with where its value stands."""
    position = _after_space(text, start + 1)
    while text[position] != "}":
        key, position = scanstring(text, position + 1)
        begin = _after_space(text, _after_space(text, position) + 1)
        end = _DECODER.raw_decode(text, begin)[1]
        yield key, (begin, end)
        position = _after_comma(text, end)


def _elements(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the elements of the list that begins here stand."""
    position = _after_space(text, start + 1)
    while text[position] != "]":
        end = _DECODER.raw_decode(text, position)[1]
        yield position, end
        position = _after_comma(text, end)


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _after_comma(text: str, position: int) -> int:
    position = _after_space(text, position)
    return _after_space(text, position + 1) if text[position] == "," else position


# ---- writing --------------------------------------------------------------------------------------------------------


def rewritten(text: str, cells: tuple[Cell, ...], new: dict[int, str]) -> str:
    """The JSON in which the cells of these numbers have these texts."""
    ascii_only = text.isascii() and re.search(r"\\u0*[89a-fA-F1-9]", text) is not None
    for cell in reversed(cells):
        if new.get(cell.number, cell.text) != cell.text:
            raw = text[cell.start : cell.end]
            written = _list if raw[0] == "[" else _string
            text = text[: cell.start] + written(raw, new[cell.number], ascii_only) + text[cell.end :]
    return text


def _string(raw: str, new: str, ascii_only: bool) -> str:
    """A source that is one text, with the raw form of the lines that stay."""
    old = list(_raw_lines(raw[1:-1]))
    lines = _LINES.findall(new)
    parts: list[str] = []
    for keep, a, b, c, d in _opcodes([line for line, _ in old], lines):
        made = (json.dumps(line, ensure_ascii=ascii_only)[1:-1] for line in lines[c:d])
        parts += [part for _, part in old[a:b]] if keep else made
    return f'"{"".join(parts)}"'


def _raw_lines(raw: str) -> Iterator[tuple[str, str]]:
    """Each line of a JSON string: what it says, and how it is written."""
    line = ""
    for unit in _UNIT.findall(raw):
        line += unit
        if unit == "\\n" or unit.lower() == "\\u000a":
            yield json.loads(f'"{line}"'), line
            line = ""
    if line:
        yield json.loads(f'"{line}"'), line


def _list(raw: str, new: str, ascii_only: bool) -> str:
    """A source that is a list, with the raw form of the elements that stay."""
    spans = list(_elements(raw, 0))
    old = [json.loads(raw[start:end]) for start, end in spans]
    lines = _LINES.findall(new)
    between = raw[spans[0][1] : spans[1][0]] if len(spans) > 1 else f",{raw[1 : spans[0][0]]}" if spans else ", "
    written: list[str] = []
    for keep, a, b, c, d in _opcodes(old, lines):
        kept = [raw[start:end] for start, end in spans[a:b]]
        written += kept if keep else [json.dumps(line, ensure_ascii=ascii_only) for line in lines[c:d]]
    first, last = (spans[0][0], spans[-1][1]) if spans else (1, 1)
    return raw[:first] + between.join(written) + raw[last:]


def _opcodes(old: list[str], new: list[str]) -> Iterator[tuple[bool, int, int, int, int]]:
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        yield tag == "equal", a, b, c, d
