"""JAX304 traced-shape: a tracer where a static size, shape, axis or index is needed."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import ShapeUse
from jaxlint.analysis.frames import steps
from jaxlint.analysis.values import is_traced
from jaxlint.model import Safety, Severity
from jaxlint.registry import Rule
from jaxlint.repair.indexing import as_array_choice, unwrapped
from jaxlint.rules.traced_branch import is_abstract, static_fix, to_make_static

RULE = Rule(
    "JAX304", "traced-shape", "a traced value stands where only a static one can", Severity.ERROR, fix=Safety.SAFE
)


def check(event: ShapeUse, context: Context) -> Iterator[Report]:
    """A tracer as shape, size, axis, slice bound or list index."""
    if not is_traced(event.value) or not is_abstract(event.frame):
        return
    wanted = to_make_static(event.value)
    safety = Safety.UNSAFE if event.what.startswith(("slice", "index")) else Safety.SAFE
    of = f" of `{event.function.removeprefix('method.')}`" if event.function else ""
    message = f"`{context.text.at(event.span)}` is traced, but the {event.what}{of} must be static"
    repair = as_array_choice(event, context) or (
        static_fix(wanted, context, safety) if wanted else unwrapped(event, context)
    )
    yield Report(event.span, message, steps(event.frame), repair)


CHECKS = {ShapeUse: check}
