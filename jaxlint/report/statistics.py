"""How often each rule was broken, the most frequent first."""

from __future__ import annotations

from collections import Counter

from jaxlint.report.json import dump
from jaxlint.report.report import Report, has_fix


def render_text(report: Report) -> str:
    """One line a rule: count, code, whether all or some can be fixed, name."""
    rows = _rows(report)
    width = max((len(str(count)) for _, _, count, _ in rows), default=1)
    return "".join(
        f"{count:>{width}}  {code}  [{'*' if fixable == count else '-' if fixable else ' '}]  {name}\n"
        for code, name, count, fixable in rows
    )


def render_json(report: Report) -> str:
    """A list with one object a rule."""
    return dump(
        [
            {"code": code, "name": name, "count": count, "fixable": fixable}
            for code, name, count, fixable in _rows(report)
        ]
    )


def _rows(report: Report) -> list[tuple[str, str, int, int]]:
    counts = Counter((finding.code, finding.name) for finding in report.findings)
    fixable = Counter(finding.code for finding in report.findings if has_fix(finding))
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [(code, name, count, fixable[code]) for (code, name), count in ordered]
