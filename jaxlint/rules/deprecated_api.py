"""JAX902: a name or parameter that still works in every allowed version of JAX, but warns and will go."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import ApiUse
from jaxlint.model import Safety, Severity
from jaxlint.registry import Rule
from jaxlint.rules._api_changes import name_reports, parameter_reports, partial_reports
from jaxlint.versions import DEPRECATED

RULE = Rule(
    code="JAX902",
    name="deprecated-api",
    summary="A name or parameter that JAX has deprecated and will remove",
    severity=Severity.WARNING,
    fix=Safety.SAFE,
)


def check(use: ApiUse, context: Context) -> Iterator[Report]:
    """What is deprecated at one use of an outside name."""
    if use.guarded:
        return
    if use.path == "functools.partial" and use.call is not None:
        yield from partial_reports(use, use.call, DEPRECATED, context)
    if not use.path.startswith("jax."):
        return
    yield from name_reports(use, DEPRECATED, context)
    if use.call is not None:
        yield from parameter_reports(use, use.call, DEPRECATED, context)


CHECKS = {ApiUse: check}
