"""JAX001: a suppression comment that silences nothing. The engine reports it, for it alone sees what was silenced."""

from __future__ import annotations

from jaxlint.model import Safety, Severity
from jaxlint.registry import Rule

RULE = Rule(
    code="JAX001",
    name="unused-suppression",
    summary="A suppression comment silences nothing",
    severity=Severity.INFO,
    fix=Safety.SAFE,
)
