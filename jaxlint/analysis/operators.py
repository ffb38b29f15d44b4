"""Operators and comparisons on abstract values; what is traced stays traced, what is staged becomes so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis import arrays
from jaxlint.analysis.branches import ask, is_none
from jaxlint.analysis.events import StaticWanted
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.values import (
    Api,
    Array,
    Closure,
    Instance,
    Items,
    Key,
    Level,
    Many,
    Mapping,
    Method,
    OneOf,
    Scalar,
    Trace,
    Unknown,
    Value,
    element_of,
    is_traced,
    join_traces,
    known,
    one_of,
    options,
    with_trace,
)
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine

STAGED = Trace(Level.TRACED, staged=True)


def staged(f: Frame, value: Value, trace: Trace | None) -> Value:
    """A value that a jnp operation made: traced with its operands, and in staged code in any case."""
    if f.staged and isinstance(value, (Array, Key)) and not (isinstance(value, Array) and value.host):
        trace = (
            trace if trace is not None and trace.sure and trace.level >= Level.TRACED else join_traces(trace, STAGED)
        )
    return with_trace(value, trace)


def binary(f: Frame, operator: str, left: Value, right: Value) -> Value:
    """`left operator right` for what is not decided by objects of the project."""
    if isinstance(left, OneOf) or isinstance(right, OneOf):
        return one_of(binary(f, operator, a, b) for a in options(left) for b in options(right))
    if isinstance(left, (Items, Many)):
        found = _of_container(operator, left, right)
        if found is not None:
            return found
    if isinstance(left, Scalar) and left.kind == "str" and operator in ("%", "+"):
        return Scalar("str")
    return arithmetic(f, [left, right], lambda: arrays.binary(operator, left, right))


def _of_container(operator: str, left: Items | Many, right: Value) -> Value | None:
    """Sequences after each other or repeated, and the algebra of sets; None for what only arrays can do."""
    if isinstance(right, (Items, Many)) and operator == "+":
        return concatenated(left, right)
    if operator == "+" and not isinstance(right, (Array, OneOf)):  # an unknown array would be odd here
        rest = Unknown(trace=replace(right.trace, sure=False) if right.trace is not None else None)
        return Many(left.kind, one_of([element_of(left), rest]), trace=left.trace)
    if left.kind == "set" and operator in ("|", "&", "-", "^"):
        others = [element_of(right)] if isinstance(right, (Items, Many)) else []
        return Many("set", one_of([element_of(left), *others]), trace=left.trace)
    if isinstance(right, Scalar) and operator == "*":
        times = right.const if right.known and isinstance(right.const, int) else None
        if isinstance(left, Items) and times is not None and len(left.items) * times <= 64:
            return replace(left, items=left.items * times)
        return Many(left.kind, element_of(left), trace=left.trace)
    return None


def concatenated(left: Items | Many, right: Items | Many) -> Value:
    """Two containers after each other."""
    if isinstance(left, Items) and isinstance(right, Items) and len(left.items) + len(right.items) <= 64:
        return Items(left.kind, (*left.items, *right.items), trace=join_traces(left.trace, right.trace))
    return Many(left.kind, one_of([element_of(left), element_of(right)]), trace=join_traces(left.trace, right.trace))


NO_NUMBERS = (Instance, Method, Mapping, Closure, Api)
"""What may define operators of its own, or none: nothing is known of the result."""


def arithmetic(f: Frame, operands: list[Value], result: Callable[[], Value | None]) -> Value:
    """The result of an operator, traced as its operands are; a surely traced unknown in arithmetic is an array."""
    trace: Trace | None = None
    for operand in operands:
        trace = join_traces(trace, operand.trace)
    if any(isinstance(operand, NO_NUMBERS) for operand in operands):
        return Unknown(trace=replace(trace, sure=False) if trace is not None else None)
    if not any(isinstance(operand, Unknown) for operand in operands):
        value = result()
        if value is not None:
            return staged(f, value, trace)
        return Unknown(trace=trace)
    if trace is not None and trace.sure:
        return staged(f, result() or Array(), trace)
    if any(isinstance(operand, Array) for operand in operands):
        return staged(f, result() or Array(), trace)
    return Unknown(trace=trace)


def compare(m: Machine, f: Frame, operator: str, left: Value, right: Value, e: n.Compare) -> Value:
    """One comparison; identity and membership in containers are static."""
    if operator in ("is", "is not"):
        return _identity(operator, left, right)
    if operator in ("in", "not in"):
        return _membership(m, f, left, right, e)
    if _is_text(left) or _is_text(right):
        return _compare_text(m, f, operator, left, right, e)
    if isinstance(left, OneOf) or isinstance(right, OneOf):
        return one_of(compare(m, f, operator, a, b, e) for a in options(left) for b in options(right))
    if any(isinstance(side, Scalar) and side.kind == "none" for side in (left, right)):
        return Scalar("bool")
    if any(isinstance(side, (Items, Many, Mapping, Closure, Api)) for side in (left, right)):
        return Scalar("bool", trace=None)
    result = arithmetic(f, [left, right], lambda: arrays.binary(operator, left, right) or Scalar("bool"))
    both_unknown = isinstance(left, Unknown) and isinstance(right, Unknown)
    if both_unknown and operator in ("==", "!=") and result.trace is not None:
        return Unknown(trace=replace(result.trace, sure=False))
    return replace(result, dtype="bool") if isinstance(result, Array) and result.dtype is None else result


def _identity(operator: str, left: Value, right: Value) -> Value:
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Scalar) and side.kind == "none":
            answer = is_none(other)
            if answer is not None:
                return known(answer if operator == "is" else not answer)
    return Scalar("bool")


def _is_text(value: Value) -> bool:
    return isinstance(value, Scalar) and value.kind == "str"


def _compare_text(m: Machine, f: Frame, operator: str, left: Value, right: Value, e: n.Compare) -> Value:
    if isinstance(left, Scalar) and isinstance(right, Scalar) and left.known and right.known:
        return known((left.const == right.const) is (operator == "==")) if operator in ("==", "!=") else Scalar("bool")
    for side in (left, right):
        if side.trace is not None and side.trace.sure and side.trace.parameters:
            m.emit(StaticWanted(f, e.span, side, "compared with a string"))
    return Scalar("bool")


def _membership(m: Machine, f: Frame, left: Value, right: Value, e: n.Compare) -> Value:
    if _is_text(left) or isinstance(right, (Mapping, Unknown, Api)) or _is_text(right):
        return Scalar("bool")
    if isinstance(right, Array) and is_traced(right):
        return Array("bool", (), trace=right.trace)
    strings = isinstance(right, Items) and right.items and all(_is_text(item) for item in right.items)
    if strings and isinstance(left, Unknown) and is_traced(left) and left.trace is not None and left.trace.parameters:
        m.emit(StaticWanted(f, e.span, left, "compared with strings"))
        return Scalar("bool")
    numbers = isinstance(right, Items) and right.items and all(isinstance(i, (Scalar, Array)) for i in right.items)
    if numbers and isinstance(left, (Array, Unknown)) and left.trace is not None:
        asked = left if isinstance(left, Array) else Array(trace=left.trace)
        ask(m, f, asked, "in", e, e)
    return Scalar("bool")
