"""Findings in notebooks, told by cell and line in the place of the line in the program that the cells make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import structs

from jaxlint.model import Edit, Finding, Fix, Span, Step, Verification
from jaxlint.source.notebook.program import Places
from jaxlint.source.text import SourceFile


class ByCell:
    """Turns findings that speak of these sources into such that speak of cells; in other files they stay as they are.

    `origins` has the texts of findings that speak of another text than the source's.
    """

    def __init__(self, sources: Iterable[SourceFile], origins: Mapping[Finding, str]) -> None:
        self._sources = {one.path: one for one in sources if one.program is not None}
        self._origins = origins
        self._known: dict[tuple[str, str], Places] = {}

    def told(self, finding: Finding) -> Finding:
        """The finding by cell; of steps and edits each in its own."""
        places = self._places(finding.path, self._origins.get(finding))
        steps = tuple(map(self._step, finding.because))
        if places is None:
            return structs.replace(finding, because=steps)
        cell, _ = places.cell(finding.span.line)
        return structs.replace(
            finding,
            cell=cell,
            span=_moved(finding.span, places),
            because=steps,
            fix=finding.fix and _fix(finding.fix, places),
            verification=finding.verification and _verdict(finding.verification, places),
        )

    def _places(self, path: str, text: str | None = None) -> Places | None:
        source = self._sources.get(path)
        if source is None or source.program is None:
            return None
        key = path, source.text if text is None else text
        if key not in self._known:
            self._known[key] = Places(source.program, key[1])
        return self._known[key]

    def _step(self, step: Step) -> Step:
        places = self._places(step.path)
        if places is None:
            return step
        cell, line = places.cell(step.line)
        return structs.replace(step, cell=cell, line=line)


def _moved(span: Span, places: Places) -> Span:
    _, line = places.cell(span.line)
    return Span(line, span.column, line + span.end_line - span.line, span.end_column)


def _fix(fix: Fix, places: Places) -> Fix:
    edits = (Edit(_moved(one.span, places), one.content, places.cell(one.span.line)[0]) for one in fix.edits)
    return structs.replace(fix, edits=tuple(edits))


def _verdict(verification: Verification, places: Places) -> Verification:
    """The verifier ran the program, and its reason speaks of the program's lines."""

    def told(match: re.Match[str]) -> str:
        cell, line = places.cell(int(match[1]))
        return f"cell {cell}, line {line}"

    return structs.replace(verification, reason=re.sub(r"\bline (\d+)", told, verification.reason))
