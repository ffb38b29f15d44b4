"""Verdicts for terminals: one by itself, and a table with the figures of all of them side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

import click

from jaxlint.model import Finding, Verdict, Verification
from jaxlint.report.figures import compilations, figures, run_on
from jaxlint.report.printable import printable

_COLORS = {Verdict.CONFIRMED: "green", Verdict.SAME: "green", Verdict.DIFFERENT: "red", Verdict.UNVERIFIED: "yellow"}

Paint = Callable[..., str]
_Judged = tuple[Finding, Verification]


def plain(text: str, **_: object) -> str:
    """The text as it is: a `Paint` without colours."""
    return text


def headline(verification: Verification, paint: Paint) -> str:
    """The verdict with its reason."""
    head = f"verdict: {_painted(verification.verdict, paint)}"
    return f"{head}, {printable(verification.reason)}" if verification.reason else head


def by_itself(verification: Verification, *, color: bool = False) -> str:
    """One verdict with its reason and a line for each figure, as `compare` prints it."""
    values = figures(verification) | {"compilations": compilations(verification), "run on": run_on(verification)}
    lines = [f"  {name:<14}{printable(value)}" for name, value in values.items() if value]
    return "\n".join([headline(verification, click.style if color else plain), *lines])


def table(findings: Sequence[Finding], paint: Paint) -> str:
    """A line for each verdict, by file; empty where nothing was verified. What none has a value for has no column."""
    judged = [(finding, finding.verification) for finding in findings if finding.verification]
    judged.sort(key=lambda pair: (pair[0].path, pair[0].cell or 0, pair[0].span))
    if not judged:
        return ""
    places = ", ".join(dict.fromkeys(place for _, found in judged if (place := run_on(found))))
    title = f"Verdicts ({printable(places)})" if places else "Verdicts"
    rows = [_cells(one) for one in judged]
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    widths = {name: max(len(name.strip()), *(len(row[name]) for row in rows)) for name in names}
    lines = [paint(title, bold=True), "  " + _line({name: name.strip() for name in names}, widths)]
    for path, group in groupby(zip(judged, rows, strict=True), key=lambda pair: pair[0][0].place):
        lines.append(printable(path))
        lines += ["  " + _line(row, widths, found.verdict, paint) for (_, found), row in group]
    return "\n".join(lines)


def _cells(judged: _Judged) -> dict[str, str]:
    """What stands in each column; columns whose name is blank have no head."""
    finding, found = judged
    place = f"{finding.span.line}:{finding.span.column}"
    values = {name: printable(value) for name, value in figures(found).items()}
    return {" ": place, "  ": finding.code, "verdict": found.verdict.value, **values}


def _line(cells: dict[str, str], widths: dict[str, int], verdict: Verdict | None = None, paint: Paint = plain) -> str:
    padded = {name: cells[name].ljust(width) for name, width in widths.items()}
    if verdict is not None:
        gap = " " * (widths["verdict"] - len(verdict.value))
        padded["verdict"] = _painted(verdict, paint) + gap
    return "  ".join(padded.values()).rstrip()


def _painted(verdict: Verdict, paint: Paint) -> str:
    return paint(verdict.value, fg=_COLORS[verdict], bold=True)
