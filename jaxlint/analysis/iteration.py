"""What the rounds of a loop see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis import arrays
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.key_parts import part_token
from jaxlint.analysis.values import (
    Array,
    Items,
    Key,
    Many,
    Mapping,
    OneOf,
    Scalar,
    Unknown,
    Value,
    known,
    one_of,
    with_trace,
)
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def rounds(m: Machine, f: Frame, iterable: Value, expression: n.Expr | None = None) -> list[Value]:
    """The loop variable's values in the rounds that the analysis plays: two, or fewer for a shorter container."""
    if isinstance(iterable, Items):
        if len(iterable.items) <= 2:
            return [with_trace(item, iterable.trace) for item in iterable.items]
        both = one_of(iterable.items)
        return [with_trace(both, iterable.trace)] * 2
    if isinstance(iterable, Mapping):
        keys = [known(key) for key, _ in iterable.entries if isinstance(key, (str, int, float, bool))]
        return [one_of(keys)] * 2 if keys and iterable.complete else [Unknown()] * 2
    return [element(m, iterable, number) for number in (0, 1)]


def element(m: Machine, iterable: Value, number: int) -> Value:
    """One element of a container of unknown length; keys of different rounds are different keys."""
    if isinstance(iterable, Many):
        return with_trace(fresh_keys(m, iterable.element, number), iterable.trace)
    if isinstance(iterable, Key):
        batch = iterable.batch[1:] if iterable.batch else None
        return Key(part_token(iterable.token, ("row", number)), batch or (), trace=iterable.trace)
    if isinstance(iterable, Array):
        return with_trace(arrays.subscript(iterable, Scalar("int")), iterable.trace)
    if isinstance(iterable, OneOf):
        return one_of(element(m, option, number) for option in iterable.options)
    token = iterable.token if isinstance(iterable, Unknown) else None
    return Unknown(trace=iterable.trace, token=part_token(token, ("row", number)))


def fresh_keys(m: Machine, value: Value, number: int) -> Value:
    """The value with the keys in it told apart from those of other rounds."""
    if isinstance(value, (Key, Unknown)) and value.token is not None:
        return replace(value, token=part_token(value.token, ("round", number)))
    if isinstance(value, Items):
        return replace(value, items=tuple(fresh_keys(m, item, number) for item in value.items))
    return replace(value) if isinstance(value, Scalar) else value  # another number in each round
