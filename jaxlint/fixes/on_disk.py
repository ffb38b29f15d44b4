"""Findings of texts with fixes that are shown and not written, told as they stand in the files."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from msgspec import structs

from jaxlint.engine import Linted, Loaded
from jaxlint.fixes.loop import Fixed
from jaxlint.fixes.proved import changes
from jaxlint.model import Edit, Finding, Fix, Span, Step
from jaxlint.source.text import SourceFile


def on_disk(before: Loaded, fixed: Fixed) -> Fixed:
    """What was fixed, with the texts before it and the findings that remain where they stand in those.

    A finding that was there before any fix is told as it was then; what the fixes laid bare stands at the line that
    became its line.
    """
    lines = {old.path: Lines(old, new) for old, new in changes(before, fixed.loaded)}
    applied = {(one.path, one.code, one.span, one.message) for one in fixed.applied}
    waiting = [one for one in fixed.found if (one.path, one.code, one.span, one.message) not in applied]
    remaining: list[Finding] = []
    for finding in fixed.remaining.findings:
        same = _found_before(finding, waiting, lines.get(finding.path))
        if same is None:
            remaining.append(_moved(finding, lines))
        else:
            waiting.remove(same)
            remaining.append(structs.replace(same, verification=finding.verification))
    order = {path: number for number, path in enumerate(before.files)}
    remaining.sort(key=lambda one: (order.get(one.path, len(order)), one.span.line, one.span.column))
    return structs.replace(fixed, loaded=before, remaining=Linted(tuple(remaining), fixed.remaining.failures))


class Lines:
    """Which lines of a text became which lines of a later one."""

    def __init__(self, old: SourceFile, new: SourceFile) -> None:
        matcher = SequenceMatcher(_is_blank, new.text.split("\n"), old.text.split("\n"), autojunk=False)
        self._same: dict[int, int] = {}
        self._range: dict[int, range] = {}
        for kind, start, end, old_start, old_end in matcher.get_opcodes():
            for number in range(start, end):
                if kind == "equal":
                    self._same[number + 1] = number + 1 + old_start - start
                else:
                    self._range[number + 1] = range(old_start + 1, max(old_end, old_start + 1) + 1)

    def same(self, number: int) -> int | None:
        """The earlier number of a line that did not change."""
        return self._same.get(number)

    def before(self, number: int) -> range:
        """The earlier lines that a line was made from."""
        same = self._same.get(number)
        return range(same, same + 1) if same is not None else self._range.get(number, range(number, number + 1))


def _is_blank(line: str) -> bool:
    """Blank lines are all alike: they tell nothing of what was moved where."""
    return not line.strip()


def _found_before(finding: Finding, waiting: list[Finding], lines: Lines | None) -> Finding | None:
    """The finding of the earlier text that this one is, if it was found there too."""
    at = lines.before(finding.span.line) if lines is not None else range(finding.span.line, finding.span.line + 1)
    near = [one for one in waiting if (one.path, one.code) == (finding.path, finding.code) and one.span.line in at]
    same = (one for one in near if one.message == finding.message)
    return next(same, near[0] if near else None)


def _moved(finding: Finding, lines: dict[str, Lines]) -> Finding:
    steps = tuple(_step(step, lines) for step in finding.because)
    known = lines.get(finding.path)
    if known is None:
        return structs.replace(finding, because=steps)
    span = _span(finding.span, known)
    if span is None:
        line = known.before(finding.span.line)[0]
        span = Span(line, 1, line, 1)
    return structs.replace(finding, span=span, because=steps, fix=finding.fix and _fix(finding.fix, known))


def _span(span: Span, lines: Lines) -> Span | None:
    first, last = lines.same(span.line), lines.same(span.end_line)
    return Span(first, span.column, last, span.end_column) if first is not None and last is not None else None


def _step(step: Step, lines: dict[str, Lines]) -> Step:
    known = lines.get(step.path)
    return structs.replace(step, line=known.before(step.line)[0]) if known is not None else step


def _fix(fix: Fix, lines: Lines) -> Fix | None:
    """The fix for the earlier text; None where it speaks of lines that are not in it."""
    edits = tuple(_edits(fix, lines))
    return structs.replace(fix, edits=edits) if len(edits) == len(fix.edits) else None


def _edits(fix: Fix, lines: Lines) -> Iterator[Edit]:
    for edit in fix.edits:
        span = _span(edit.span, lines)
        if span is not None:
            yield structs.replace(edit, span=span)
