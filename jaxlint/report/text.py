"""The findings for people: place, message, the line underlined, the reasons, the fix, the verdict."""

from __future__ import annotations

from collections.abc import Iterator

import click

from jaxlint.model import Finding, Fix, Safety, Severity, Span
from jaxlint.report.printable import columns, printable
from jaxlint.report.report import Lines, Report, has_fix
from jaxlint.report.verdicts import Paint, headline, plain, table

_WIDTH = 150
_SEVERITIES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def render(report: Report, *, color: bool = False) -> str:
    """All findings, those that were fixed under a verdict, a table of the verdicts, and a summary."""
    paint: Paint = click.style if color else plain
    lines = Lines(report)
    blocks = [_block(finding, lines, paint) for finding in report.findings]
    blocks += _fixed(report, paint)
    blocks += filter(None, [table((*report.findings, *report.fixed), paint)])
    return "".join(f"{block}\n\n" for block in blocks) + summary(report) + "\n"


def summary(report: Report) -> str:
    """How much was found, fixed and is left."""
    remaining, fixed = len(report.findings), len(report.fixed)
    if not report.files:
        return "No Python files were checked."
    if not remaining and not fixed:
        return f"No findings in {_count(report.files, 'file')}."
    text = f"Found {_count(remaining + fixed, 'finding')}"
    if fixed:
        done = "would be fixed" if report.would else "fixed"
        return f"{text} ({fixed} {done}, {remaining} remaining)."
    return f"{text}.{_offer(report)}"


def _offer(report: Report) -> str:
    safe = sum(has_fix(one) and one.fix is not None and one.fix.safety is Safety.SAFE for one in report.findings)
    unsafe = sum(map(has_fix, report.findings)) - safe
    if not safe and not unsafe:
        return ""
    if not safe:
        return f"\n{unsafe} fixable with `--fix --unsafe-fixes`."
    more = f" ({unsafe} more with `--unsafe-fixes`)" if unsafe else ""
    return f"\n{safe} fixable with `--fix`{more}."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _block(finding: Finding, lines: Lines, paint: Paint) -> str:
    color = _SEVERITIES[finding.severity]
    place = f"{finding.place}:{finding.span.line}:{finding.span.column}:"
    name = f"{paint(finding.code, fg=color, bold=True)} {finding.name}:"
    parts = [f"{paint(printable(place), bold=True)} {name} {printable(finding.message)}"]
    source = lines.line(finding.place, finding.span.line)
    margin = " " * len(str(finding.span.line))
    if source is not None and source.strip():
        parts += _excerpt(source, finding.span, margin, color, paint)
    notes = [f"because {step.place}:{step.line}: {step.message}" for step in finding.because]
    if finding.fix:
        notes.append(_fix_line(finding.fix))
    parts += [f"{margin} {paint('=', fg='blue')} {printable(note)}" for note in notes]
    if finding.verification:
        parts.append(f"{margin} {paint('=', fg='blue')} {headline(finding.verification, paint)}")
    return "\n".join(parts)


def _fix_line(fix: Fix) -> str:
    kind = "suggestion" if fix.safety is Safety.DISPLAY else f"{fix.safety.value} fix"
    return f"{kind}: {fix.message}"


def _fixed(report: Report, paint: Paint) -> Iterator[str]:
    """What was fixed and how it was proved; without verdicts the count in the summary is enough."""
    word = "Would fix" if report.would else "Fixed"
    for finding in report.fixed:
        if finding.verification and finding.fix:
            place = f"{finding.place}:{finding.span.line}:{finding.span.column}"
            what = f"{finding.code} {finding.name}: {printable(finding.message)}"
            head = f"{paint(f'{word} {printable(place)}', bold=True)}: {what}"
            lines = [_fix_line(finding.fix), headline(finding.verification, paint)]
            yield "\n".join([head, *(f"  {line}" for line in lines)])


def _excerpt(source: str, span: Span, margin: str, color: str, paint: Paint) -> list[str]:
    start = min(span.column - 1, len(source))
    end = min(span.end_column - 1, len(source)) if span.end_line == span.line else len(source.rstrip())
    first = max(0, min(start - _WIDTH // 3, len(source) - _WIDTH)) if len(source) > _WIDTH else 0
    last = min(len(source), first + _WIDTH)
    before, inside, after = source[first:start], source[start : min(end, last)], source[min(end, last) : last]
    more, rest = ("..." if first else ""), ("..." if last < len(source) else "")
    line = more + "".join(map(_shown, (before, inside, after))) + rest
    gap = " " * (len(more) + columns(_shown(before)))
    carets = paint("^" * max(1, columns(_shown(inside))), fg=color, bold=True)
    bar = paint("|", fg="blue")
    number = paint(str(span.line), fg="blue")
    return [f"{margin} {bar}", f"{number} {bar} {line.rstrip()}", f"{margin} {bar} {gap}{carets}"]


def _shown(text: str) -> str:
    return printable(text.replace("\t", "    "))
