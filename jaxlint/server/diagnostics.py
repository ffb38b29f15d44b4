"""Findings as diagnostics of the protocol."""

from __future__ import annotations

import os
from pathlib import Path

from lsprotocol import types as lsp

from jaxlint.model import Finding, Severity, Step
from jaxlint.pages import page_file
from jaxlint.server.check import Checked
from jaxlint.server.positions import Positions

SOURCE = "jaxlint"

_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.INFO: lsp.DiagnosticSeverity.Information,
}
_TAGS = {
    "deprecated-api": [lsp.DiagnosticTag.Deprecated],
    "removed-api": [lsp.DiagnosticTag.Deprecated],
    "unused-suppression": [lsp.DiagnosticTag.Unnecessary],
}


def positions_of(checked: Checked, encoding: str) -> Positions:
    """The positions of the text that was checked."""
    return Positions(checked.document.source.text, encoding, marked=checked.document.marked)


def diagnostics(checked: Checked, encoding: str) -> list[lsp.Diagnostic]:
    """One diagnostic for each finding, in their order."""
    positions = positions_of(checked, encoding)
    return [diagnostic(checked, finding, positions) for finding in checked.findings]


def diagnostic(checked: Checked, finding: Finding, positions: Positions) -> lsp.Diagnostic:
    """A finding with its link, its tags and the steps that lead there."""
    page = page_file(finding.name)
    related = [_related(checked, step, positions) for step in finding.because]
    return lsp.Diagnostic(
        range=positions.range(finding.span),
        message=f"{finding.name}: {finding.message}",
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=lsp.CodeDescription(page.resolve().as_uri()) if page else None,
        source=SOURCE,
        tags=_TAGS.get(finding.name),
        related_information=related or None,
    )


def _related(checked: Checked, step: Step, positions: Positions) -> lsp.DiagnosticRelatedInformation:
    start = lsp.Position(max(step.line - 1, 0), 0)
    if step.path == checked.document.source.path:
        uri, end = checked.document.uri, positions.position(step.line, 1 << 30)
    else:
        uri, end = Path(os.path.abspath(step.path)).as_uri(), start
    return lsp.DiagnosticRelatedInformation(lsp.Location(uri, lsp.Range(start, end)), step.message)
