"""The findings as SARIF 2.1.0, with fixes and with the steps of each explanation as a code flow."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from msgspec import to_builtins

from jaxlint import __version__
from jaxlint.model import Edit, Finding, Fix, Severity, Span, Step
from jaxlint.registry import rules
from jaxlint.report.json import dump
from jaxlint.report.report import Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(report: Report) -> str:
    """One log with one run."""
    driver = {"name": "jaxlint", "version": __version__, "rules": _rules()}
    indices = {rule["id"]: index for index, rule in enumerate(driver["rules"])}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, indices) for finding in report.findings],
    }
    return dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rules() -> Any:
    return [
        {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": rule.summary},
            "defaultConfiguration": {"enabled": rule.on_by_default, "level": _LEVELS[rule.severity]},
        }
        for rule in rules()
    ]


def _result(finding: Finding, indices: dict[str, int]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message_in_file},
        "locations": [_location(finding.path, _region(finding.span_in_file))],
    }
    if finding.code in indices:
        result["ruleIndex"] = indices[finding.code]
    if finding.because:
        result["codeFlows"] = [{"threadFlows": [{"locations": [_step(step) for step in finding.because]}]}]
    if finding.fix and finding.fix.edits and finding.cell is None:  # edits of cells are none of the file
        result["fixes"] = [_fix(finding.path, finding.fix)]
    if finding.verification:
        figures = to_builtins(finding.verification)
        del figures["evidence"]  # hundreds of numbers, which viewers of SARIF cannot draw
        result["properties"] = {"verification": figures}
    return result


def _location(path: str, region: dict[str, int]) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}, "region": region}}


def _step(step: Step) -> dict[str, Any]:
    location = _location(step.path, {"startLine": step.line if step.cell is None else 1})
    cell = "" if step.cell is None else f"cell {step.cell}, line {step.line}: "
    return {"location": {**location, "message": {"text": f"{cell}{step.message}"}}}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _fix(path: str, fix: Fix) -> dict[str, Any]:
    change = {"artifactLocation": {"uri": _uri(path)}, "replacements": [_replacement(edit) for edit in fix.edits]}
    return {"description": {"text": f"{fix.message} ({fix.safety.value})"}, "artifactChanges": [change]}


def _replacement(edit: Edit) -> dict[str, Any]:
    return {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.content}}


def _uri(path: str) -> str:
    return ("file://" if path.startswith("/") else "") + quote(path.replace("\\", "/"))
