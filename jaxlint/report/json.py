"""The findings as JSON, in the form that tools rely on (README, "JSON")."""

from __future__ import annotations

from typing import Any

import msgspec

from jaxlint.model import Edit, Finding, Fix, Step
from jaxlint.report.report import Report


def render(report: Report) -> str:
    """A list with one object for each finding."""
    return dump([as_object(finding) for finding in report.findings])


def dump(value: Any) -> str:
    """JSON text with an indent of two, ending in a line end."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def as_object(finding: Finding) -> dict[str, Any]:
    """The object of one finding; what there is none of is null."""
    span = finding.span
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "path": finding.path,
        "cell": finding.cell,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "message": finding.message,
        "because": [_step(step) for step in finding.because],
        "fix": _fix(finding.fix) if finding.fix else None,
        "verification": msgspec.to_builtins(finding.verification),
    }


def _step(step: Step) -> dict[str, Any]:
    cell = {} if step.cell is None else {"cell": step.cell}
    return {"path": step.path, **cell, "line": step.line, "message": step.message}


def _fix(fix: Fix) -> dict[str, Any]:
    return {"safety": fix.safety.value, "message": fix.message, "edits": [_edit(edit) for edit in fix.edits]}


def _edit(edit: Edit) -> dict[str, Any]:
    span = edit.span
    return {
        **({} if edit.cell is None else {"cell": edit.cell}),
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "content": edit.content,
    }
