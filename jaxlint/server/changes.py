"""What differs between two texts, as few and small replacements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from jaxlint.source.text import LineMap


class Change(Struct, frozen=True):
    """The characters from `start` to `end` (offsets in the old text) become `content`."""

    start: int
    end: int
    content: str


def changes(before: str, after: str) -> Iterator[Change]:
    """The replacements that make one text of the other, in order. None begins or ends inside of CR LF."""
    old, new = LineMap(before).whole(), LineMap(after).whole()
    above = _common(old, new)
    below = _common(old[above:][::-1], new[above:][::-1])
    old_middle, new_middle = old[above : len(old) - below], new[above : len(new) - below]
    starts = _starts(old_middle, sum(map(len, old[:above])))
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old_middle, new_middle, autojunk=False).get_opcodes():
        if tag != "equal":
            yield _trimmed(starts[i], "".join(old_middle[i:i_end]), "".join(new_middle[j:j_end]))


def _starts(lines: list[str], start: int) -> list[int]:
    starts = [start]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts


def _trimmed(start: int, old: str, new: str) -> Change:
    """Without the characters that both begin and end with."""
    first = _outside_line_end(old, _common(old, new))
    rest_old, rest_new = old[first:], new[first:]
    same = _common(rest_old[::-1], rest_new[::-1])
    if same and _outside_line_end(old, len(old) - same) != len(old) - same:
        same -= 1
    return Change(start + first, start + len(old) - same, rest_new[: len(rest_new) - same])


def _outside_line_end(text: str, index: int) -> int:
    return index - 1 if text[max(index - 1, 0) : index + 1] == "\r\n" else index


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items two sequences both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
