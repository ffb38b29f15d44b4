"""JAX303 traced-loop-range: `range` of a tracer."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import RangeOver
from jaxlint.analysis.frames import steps
from jaxlint.analysis.values import is_traced
from jaxlint.model import Safety, Severity
from jaxlint.registry import Rule
from jaxlint.repair.loops import of_traced_range
from jaxlint.rules.traced_branch import is_abstract, static_fix, to_make_static

RULE = Rule("JAX303", "traced-loop-range", "`range` is given a traced value", Severity.ERROR, fix=Safety.SAFE)


def check(event: RangeOver, context: Context) -> Iterator[Report]:
    """`range(n)` with a tracer."""
    if not is_traced(event.value) or not is_abstract(event.frame):
        return
    wanted = to_make_static(event.value)
    names = ", ".join(sorted(f"`{p.name}`" for p in wanted))
    advice = f"make {names} static or use `lax.fori_loop`" if wanted else "use `lax.fori_loop`"
    message = f"`range` is given `{context.text.at(event.span)}`, which is traced; {advice}"
    repair = static_fix(wanted, context) if wanted else None
    yield Report(event.span, message, steps(event.frame), repair or of_traced_range(event, context))


CHECKS = {RangeOver: check}
