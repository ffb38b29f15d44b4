"""JAX118 fresh-control-flow-body: an eager loop whose body is a new function at every call compiles at every call."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.applying import is_fresh
from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import ControlFlowCall
from jaxlint.analysis.values import Items, Value, options
from jaxlint.model import Fix, Safety, Severity, Step
from jaxlint.registry import Rule
from jaxlint.repair.compiled import can_be_decorated, jitted

RULE = Rule(
    "JAX118", "fresh-control-flow-body", "an eager loop compiles at each call, for its body is a new function",
    Severity.WARNING, fix=Safety.UNSAFE,
)  # fmt: skip

FUNCTIONS = {
    "scan": ("f",), "fori_loop": ("body_fun",), "while_loop": ("cond_fun", "body_fun"), "map": ("f",),
    "cond": ("true_fun", "false_fun"), "switch": ("branches",),
}  # fmt: skip


def check(event: ControlFlowCall, context: Context) -> Iterator[Report]:
    """A control-flow call outside any jit, in a function that runs again and again."""
    frame = event.frame
    if frame.compiled or frame.mapped or not frame.known or frame.in_test() or frame.function is None:
        return
    repeated = next((caller for caller in frame.chain() if caller.loops), None)
    if repeated is None or (repeated is frame and _made_once(event)):
        return
    if not any(is_fresh(frame, option) for value in _functions(event) for option in options(value)):
        return
    name = frame.function.name
    message = (
        f"`{event.path}` outside of jit compiles at each call of `{name}`, for its body is a new function each time; "
        f"jit `{name}`"
    )
    because = (Step(repeated.path, repeated.loop_spans[-1].line, f"`{name}` runs again and again in this loop"),)
    yield Report(event.span, message, because, _jitted(event, context))


def _made_once(event: ControlFlowCall) -> bool:
    """Whether the loop is the function's own, and the body was made before it."""
    return not any(is_fresh(event.frame, option) for value in _functions(event) for option in options(value))


def _functions(event: ControlFlowCall) -> Iterator[Value]:
    for name in FUNCTIONS.get(event.kind, ()):
        value = event.operands.get(name)
        if isinstance(value, Items):
            yield from value.items
        elif value is not None:
            yield value


def _jitted(event: ControlFlowCall, context: Context) -> Fix | None:
    """Jits the function that makes the call, where it is a plain one and could be traced."""
    function = event.frame.function
    assert function is not None
    return jitted(function, context) if can_be_decorated(function, context) and event.runs_under_jit() else None


CHECKS = {ControlFlowCall: check}
