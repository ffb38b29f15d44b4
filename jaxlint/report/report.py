"""What a run hands to the reporters."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, structs

from jaxlint.model import Finding, Safety
from jaxlint.source.text import LineMap, SourceFile


class Change(Struct, frozen=True):
    """The text that a finding speaks of, and the same with its fix alone; the same text where it has none."""

    before: str
    after: str


class Report(Struct, frozen=True):
    """The findings that remain, those that were fixed, and the texts that they speak of.

    `texts` are those that the findings that remain speak of, by their places. `would` says that the fixes were shown,
    not made. `changes` has one for each finding, where the report is to show them.
    """

    findings: tuple[Finding, ...]
    fixed: tuple[Finding, ...] = ()
    texts: dict[str, str] = {}
    files: int = 0
    would: bool = False
    changes: Mapping[Finding, Change] = {}


def texts(sources: tuple[SourceFile, ...], findings: tuple[Finding, ...]) -> dict[str, str]:
    """The texts of the files that findings are in."""
    wanted = {finding.path for finding in findings}
    return {source.path: source.text for source in sources if source.path in wanted}


def by_cell(report: Report, sources: tuple[SourceFile, ...], origins: Mapping[Finding, str]) -> Report:
    """The report in which what is in notebooks is told by cell; the texts are then those of cells, by place.

    `origins` has the texts that the findings that were fixed speak of.
    """
    if not any(source.program for source in sources):
        return report
    from jaxlint.source.notebook.findings import ByCell

    cells = ByCell(sources, origins)
    places = {
        f"{source.path}:cell {cell.number}": cell.text
        for source in sources
        if source.program and source.path in report.texts
        for cell in source.program.cells
    }
    return structs.replace(
        report,
        findings=tuple(map(cells.told, report.findings)),
        fixed=tuple(map(cells.told, report.fixed)),
        texts=report.texts | places,
        changes={cells.told(finding): change for finding, change in report.changes.items()},
    )


class Lines:
    """The lines of the texts of a report, found when asked for."""

    def __init__(self, report: Report) -> None:
        self._texts = report.texts
        self._maps: dict[str, LineMap] = {}

    def line(self, path: str, number: int) -> str | None:
        """One line without its end; None where the text is not known or has no such line."""
        if path not in self._texts:
            return None
        if path not in self._maps:
            self._maps[path] = LineMap(self._texts[path])
        lines = self._maps[path]
        return lines.line(number) if number <= len(lines) else None


def has_fix(finding: Finding) -> bool:
    """Whether there is a fix that can be applied."""
    return finding.fix is not None and finding.fix.safety is not Safety.DISPLAY and bool(finding.fix.edits)
