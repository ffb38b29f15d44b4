"""The findings as a GitLab code quality report."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from jaxlint.model import Finding, Severity
from jaxlint.report.json import dump
from jaxlint.report.report import Lines, Report

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report) -> str:
    """A list with one object for each finding.

    GitLab tells old findings from new ones by the fingerprint, so it must not change with the line number: it is
    made of the path, the rule and the text of the line, and a count where these repeat.
    """
    lines = Lines(report)
    seen: Counter[str] = Counter()
    entries: list[dict[str, Any]] = []
    for finding in report.findings:
        line = lines.line(finding.place, finding.span.line) or ""
        key = "\0".join((finding.place, finding.code, line.strip()))
        entries.append(_entry(finding, f"{key}\0{seen[key]}"))
        seen[key] += 1
    return dump(entries)


def _entry(finding: Finding, key: str) -> dict[str, Any]:
    span = finding.span_in_file
    return {
        "description": f"{finding.code} {finding.name}: {finding.message_in_file}",
        "check_name": finding.code,
        "fingerprint": hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest(),
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": finding.path,
            "positions": {
                "begin": {"line": span.line, "column": span.column},
                "end": {"line": span.end_line, "column": span.end_column},
            },
        },
    }
