"""A change of a file as a unified diff, as `patch` and `git apply` read it."""

from __future__ import annotations

import difflib

from jaxlint.source.text import SourceFile


def differences(before: SourceFile, after: SourceFile) -> str:
    """The diff between two contents of a file; of a notebook, one for each cell that differs."""
    if before.program is None or after.program is None:
        return unified(before.path, before.text, after.text)
    pairs = zip(before.program.cells, after.program.cells, strict=True)
    return "".join(unified(f"{before.path}:cell {old.number}", old.text, new.text) for old, new in pairs)


def unified(path: str, before: str, after: str) -> str:
    """The diff between two texts of a file, empty where they are equal. Line ends of the file are kept."""
    lines = difflib.unified_diff(_lines(before), _lines(after), path, path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines as diff tools count them: a lone CR or a form feed does not end one."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
