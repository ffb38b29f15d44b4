"""Puts edits into a text: which of them can go together, and what the text is then."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from jaxlint.fixes.names import Scopes, bound_by_lines
from jaxlint.model import Edit, Fix
from jaxlint.source.text import LINE_END, LineMap


class Applied(Struct, frozen=True):
    """The new text, and the indices of the fixes that are in it."""

    text: str
    fixes: tuple[int, ...]


class _Change(Struct, frozen=True, order=True):
    """An edit in offsets; `content` has the line ends of its place."""

    start: int
    end: int
    content: str

    @property
    def inserts(self) -> bool:
        """Whether nothing is replaced."""
        return self.start == self.end

    @property
    def inserts_lines(self) -> bool:
        """Whether whole lines are inserted, such as an import, which may stand in any order with others."""
        return self.inserts and bool(self.content) and (self.content[0] in "\r\n" or self.content[-1] in "\r\n")


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with all of the edits. Raises `ValueError` where they overlap or lie outside the text."""
    applied = _apply(text, [edits])
    if edits and not applied.fixes:
        raise ValueError("the edits overlap or lie outside the text")
    return applied.text


def apply_fixes(text: str, fixes: Sequence[Fix]) -> Applied:
    """The text with as many of the fixes as go together, the first one first; of each fix all edits or none.

    Equal edits of two fixes, such as the import that both need, count once. What is outside the edits stays as it
    is; line ends inside take the form in use around them.
    """
    return _apply(text, [fix.edits for fix in fixes])


def _apply(text: str, groups: Sequence[Sequence[Edit]]) -> Applied:
    lines = LineMap(text)
    chosen: list[_Change] = []
    others: set[_Change] = set()
    placed: list[_Change] = []  # the same, in the order of the text, to be searched
    taken: list[int] = []
    scopes, names = Scopes(text), set[tuple[tuple[int, int], str]]()
    for index, edits in enumerate(groups):
        changes = _changes(lines, edits)
        if changes and not any(_clashes(placed, change) for change in changes):
            bound = set(_bound(lines, scopes, (change for change in changes if change not in others)))
            if bound & names:
                continue  # both chose one new name
            names |= bound
            known = {change for change in changes if change in others}
            others.update(changes)
            for change in changes:
                if change not in known:
                    chosen.append(change)
                    insort(placed, change)
            taken.append(index)
    return Applied(_splice(text, chosen), tuple(taken))


def _bound(lines: LineMap, scopes: Scopes, changes: Iterable[_Change]) -> Iterator[tuple[tuple[int, int], str]]:
    """The names that inserted lines bind, each with its scope."""
    for change in changes:
        if change.inserts_lines:
            for name in bound_by_lines(change.content):
                yield scopes.at(lines.position(change.start)[0]), name


def _changes(lines: LineMap, edits: Sequence[Edit]) -> list[_Change] | None:
    """The edits in offsets; None where one is outside the text or two of them are in each other's way."""
    changes: list[_Change] = []
    for edit in edits:
        span = edit.span
        try:
            start = lines.offset(span.line, span.column)
            end = lines.offset(span.end_line, span.end_column)
        except ValueError:
            return None
        if start > end:
            return None
        changes.append(_Change(start, end, LINE_END.sub(lines.ending(span.line), edit.content)))
    ordered = sorted(changes)
    if any(one.end > other.start for one, other in pairwise(ordered)):
        return None
    return changes


def _clashes(placed: list[_Change], new: _Change) -> bool:
    """Whether an edit is in the way of one that is already chosen; those do not overlap each other."""
    index = bisect_left(placed, new.start, key=_start)
    for after in range(index, len(placed)):
        if placed[after].start > new.end:
            break
        if _clash(new, placed[after]):
            return True
    for before in range(index - 1, -1, -1):
        if _clash(new, placed[before]):
            return True
        if placed[before].end < new.start:
            break
    return False


def _clash(one: _Change, other: _Change) -> bool:
    """Whether two edits of different fixes cannot both be made now; what cannot waits for the next pass.

    Equal edits are one edit, unless they insert into a line: two fixes that both open a bracket there mean two.
    """
    if one == other:
        return one.inserts and not one.inserts_lines
    if one.inserts and other.inserts:
        return one.start == other.start and not (one.inserts_lines and other.inserts_lines)
    if one.inserts_lines or other.inserts_lines:
        point, span = (one, other) if one.inserts else (other, one)
        return span.start < point.start < span.end
    # Edits that touch are taken one after the other: what one leaves behind may change what the other means.
    return one.start <= other.end and other.start <= one.end


def _start(change: _Change) -> int:
    return change.start


def _splice(text: str, changes: Iterable[_Change]) -> str:
    parts: list[str] = []
    position = 0
    # At one place what is inserted stands in front of what is replaced; insertions keep the order they came in.
    for change in sorted(changes, key=lambda change: (change.start, change.end)):
        parts += (text[position : change.start], change.content)
        position = change.end
    return "".join([*parts, text[position:]])
