"""A change of a file as a unified diff, as `patch` and `git apply` read it."""

from __future__ import annotations

import difflib


def unified(path: str, before: str, after: str) -> str:
    """The diff between two texts of a file, empty where they are equal. Line ends of the file are kept."""
    lines = difflib.unified_diff(_lines(before), _lines(after), path, path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines as diff tools count them: a lone CR or a form feed does not end one."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
