"""JAX000: the file is not Python that can be read. The engine reports it, for nothing else can be said then."""

from __future__ import annotations

from jaxlint.model import Severity
from jaxlint.registry import Rule

RULE = Rule(
    code="JAX000",
    name="syntax-error",
    summary="The file cannot be read, decoded or parsed",
    severity=Severity.ERROR,
)
