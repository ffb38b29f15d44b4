"""JAX506 reverse-mode-loop: a gradient through a loop whose number of rounds is not known when it is traced.

`lax.while_loop` has no reverse-mode derivative; `lax.fori_loop` becomes a scan only where its bounds are concrete
(JAX 0.10.2).
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import ControlFlowCall
from jaxlint.analysis.frames import steps
from jaxlint.analysis.values import Array, Scalar, Site, TracedParameter, Unknown, Value, is_traced, leaves
from jaxlint.model import Fix, Safety, Severity
from jaxlint.registry import Rule
from jaxlint.rules.traced_branch import static_fix, takes_statics

RULE = Rule(
    "JAX506", "reverse-mode-loop", "a gradient through a loop of unknown length", Severity.ERROR, fix=Safety.UNSAFE
)

REVERSE = ("grad", "value_and_grad", "jacrev", "hessian")


def check(event: ControlFlowCall, context: Context) -> Iterator[Report]:
    """A loop that a surrounding derivative goes through backwards."""
    if event.kind not in ("while_loop", "fori_loop") or event.frame.in_test():
        return
    if event.arguments.keyword("kind") is not None:  # Equinox's own loops, which have derivatives
        return
    bounds = [event.operands.get(name) for name in ("lower", "upper")]
    traced = [bound for bound in bounds if bound is not None and is_traced(bound)]
    if event.kind == "fori_loop" and not traced:
        return
    site = next(iter(_differentiating(event)), None)
    if site is None:
        return
    why = " with traced bounds" if event.kind == "fori_loop" else ""
    message = (
        f"`{site.transform}` goes backwards through `{event.path}`{why}, which has no reverse-mode derivative: "
        "use `lax.scan`, or `fori_loop` with static bounds"
    )
    yield Report(event.span, message, steps(event.frame), _static_bounds(traced, context))


def _differentiating(event: ControlFlowCall) -> Iterator[Site]:
    """The reverse-mode derivatives that the loop's float results depend on."""
    around = {frame.site for frame in event.frame.chain() if frame.site is not None}
    start = event.operands.get("init_val", Array())
    carries = list(leaves(event.first.get("body_fun", start)))
    started = list(leaves(start))
    for number, leaf in enumerate(carries):
        initial = started[number] if len(started) == len(carries) else leaf
        if leaf.trace is None or not isinstance(leaf, (Array, Unknown)) or not (_is_float(leaf) or _is_float(initial)):
            continue
        for parameter in sorted(leaf.trace.parameters, key=lambda one: one.site.span):
            if parameter.site.kind in REVERSE and parameter.site in around:
                yield parameter.site


def _is_float(value: Value) -> bool:
    """Whether a part of the carry is surely of a type that has derivatives; it keeps its type through the loop."""
    if isinstance(value, Scalar):
        return value.kind in ("float", "complex")
    return isinstance(value, Array) and value.dtype is not None and not value.dtype.startswith(("int", "uint", "bool"))


def _static_bounds(traced: list[Value], context: Context) -> Fix | None:
    """Makes the bounds static where they are arguments of a jitted function."""
    wanted: set[TracedParameter] = set()
    for bound in traced:
        assert bound.trace is not None
        if bound.trace.staged or not bound.trace.parameters:
            return None
        wanted |= bound.trace.parameters
    if not wanted or not all(takes_statics(parameter) for parameter in wanted):
        return None
    return static_fix(frozenset(wanted), context, Safety.UNSAFE)


CHECKS = {ControlFlowCall: check}
