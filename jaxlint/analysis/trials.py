"""Tells what one round of a counting loop did, and tries whether its body could be traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jaxlint.analysis import assignment
from jaxlint.analysis.events import Looped
from jaxlint.analysis.expressions import evaluate
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.tracing import to_tracer
from jaxlint.analysis.values import Level, Scalar, Trace, Unknown, Value
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine

TRACED = Trace(Level.TRACED)
Body = Callable[[], object]


def tell_round(m: Machine, f: Frame, statement: n.For, before: dict[str, Value], run: Body) -> None:
    """Tells that a loop over `range` went round once; `before` is what the names held then, `run` runs its body."""
    bounds = _bounds(m, f, statement.iterable)
    if bounds is not None:

        def can_be_traced(names: tuple[str, ...]) -> bool:
            return _can_be_traced(m, f, statement, before, run, names)

        after, f.scope.names = f.scope.names, dict(before)  # rules read the names as the loop finds them
        m.emit(Looped(f, statement.span, statement, bounds, before, dict(after), can_be_traced))
        f.scope.names = after


def _bounds(m: Machine, f: Frame, iterable: n.Expr) -> tuple[Value, ...] | None:
    """The arguments of `range(...)`."""
    if not isinstance(iterable, n.Call) or any(a.star or a.keyword for a in iterable.arguments):
        return None
    if not isinstance(iterable.function, n.Name) or iterable.function.name != "range" or f.scope.find("range"):
        return None
    with m.silence():
        return tuple(evaluate(m, f, argument.value) for argument in iterable.arguments)


def _can_be_traced(
    m: Machine, f: Frame, statement: n.For, before: dict[str, Value], run: Body, names: tuple[str, ...]
) -> bool:
    held, consumed = f.scope.names, m.consumed

    def trial() -> None:
        carried = {name: to_tracer(before.get(name, Unknown()), TRACED) for name in names}
        f.scope.names, m.consumed = {**before, **carried}, dict(consumed)
        assignment.assign(m, f, statement.target, to_tracer(Scalar("int"), TRACED), statement)
        run()

    try:
        return m.traces(f.path, trial)
    finally:
        f.scope.names, m.consumed = held, consumed
