"""The findings as workflow commands, which GitHub shows beside the changed lines."""

from __future__ import annotations

from jaxlint.model import Finding, Severity
from jaxlint.report.report import Report

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report) -> str:
    """One command a line."""
    return "".join(_command(finding) + "\n" for finding in report.findings)


def _command(finding: Finding) -> str:
    span = finding.span_in_file
    values = {
        "title": f"{finding.code} {finding.name}",
        "file": finding.path,
        "line": str(span.line),
        "col": str(span.column),
        "endLine": str(span.end_line),
        "endColumn": str(span.end_column),
    }
    if span.end_line != span.line:  # columns are only allowed within one line
        del values["col"], values["endColumn"]
    properties = ",".join(f"{name}={_property(value)}" for name, value in values.items())
    where = (
        f"{finding.place}:{finding.span.line}:{finding.span.column}: {finding.code} {finding.name}: {finding.message}"
    )
    return f"::{_LEVELS[finding.severity]} {properties}::{_data(where)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
