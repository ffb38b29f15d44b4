"""PRNG keys where ways through the program meet: what was consumed on any of them, and which key a name holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from jaxlint.analysis.frames import Consumed, Frame, Use
from jaxlint.analysis.key_parts import covers, overlap
from jaxlint.analysis.values import (
    Key,
    OneOf,
    Token,
    Unknown,
    Value,
    one_of,
)
from jaxlint.model import Span

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine
from jaxlint.analysis.keys import is_none, token_of


def alternatives(m: Machine, ways: Sequence[Callable[[], Value]]) -> Value:
    """Runs ways of which one is taken, each from the same state, and joins their results and what they consumed."""
    before = m.consumed
    found: list[Value] = []
    ends: list[Consumed] = []
    for way in ways:
        m.consumed = dict(before)
        found.append(way())
        ends.append(m.consumed)
    m.consumed = merged(ends) if ends else before
    return join_keys(m, one_of(found), [(value, end) for value, end in zip(found, ends, strict=True)], m.consumed, {})


Joined: TypeAlias = dict[tuple[Token, ...], Token]


def join_names(
    m: Machine, names: dict[str, Value], consumed: Consumed, ends: Sequence[tuple[dict[str, Value], Consumed]]
) -> None:
    """Gives names that hold different keys on paths that meet one fresh key each."""
    known: Joined = {}
    for name, value in names.items():
        if isinstance(value, (Key, Unknown, OneOf)):
            found = [(end[name], uses) for end, uses in ends if name in end]
            names[name] = join_keys(m, value, found, consumed, known)


def join_keys(
    m: Machine, value: Value, ways: Sequence[tuple[Value, Consumed]], consumed: Consumed, known: Joined
) -> Value:
    """The join of values with an identity of its own: it was used where the one that it is on a path was used there."""
    if isinstance(value, OneOf) and any(isinstance(option, Key) for option in value.options):
        bare: Value = Key(None, None, trace=value.trace)
    else:
        bare = value
    if not isinstance(bare, (Key, Unknown)) or bare.token is not None:
        return value
    tokens = [token_of(way) for way, _ in ways if not is_none(way)]
    present = tuple(token for token in tokens if token is not None)
    if not present or len(present) < len(ways):
        return value
    if present not in known:
        fresh = known[present] = m.token(present[0].name, present[0].span)
        uses = [
            use
            for token, (_, end) in zip(present, ways, strict=True)
            for use in _uses_of(token, end)
            if use.action != "fold" or not any(_is_folded_into(other, token) for other in present)
        ]
        if uses:
            consumed[fresh.number] = tuple(dict.fromkeys((fresh, use) for use in uses))
    return replace(bare, token=known[present])


def _is_folded_into(token: Token, whole: Token) -> bool:
    """Whether a key is `whole` with something folded in: where one of the two is taken, the other is not used."""
    rest = token.part[len(whole.part) :]
    return token.number == whole.number and covers(whole.part, token.part) and bool(rest) and _is_fold(rest[0])


def _is_fold(selector: object) -> bool:
    return isinstance(selector, tuple) and selector[0] == "fold"


def _uses_of(token: Token, consumed: Consumed) -> Iterator[Use]:
    return (use for other, use in consumed.get(token.number, ()) if overlap(other.part, token.part))


def merged(ends: Sequence[Consumed]) -> Consumed:
    """What was consumed on any of the paths that meet."""
    result = dict(ends[0])
    for other in ends[1:]:
        for number, uses in other.items():
            mine = result.get(number, ())
            result[number] = mine if mine == uses else tuple(dict.fromkeys((*mine, *uses)))
    return result


def without(consumed: Consumed, before: Consumed, f: Frame, failed: Sequence[Span]) -> Consumed:
    """What was consumed where one of some statements of a call in progress raises: what it drew, nobody gets."""

    def is_lost(use: Use) -> bool:
        here = (place.span for place in use.places if place.frame.number == f.number)
        return any(_is_in(span, statement) for span in here for statement in failed)

    return {
        number: tuple(entry for entry in entries if entry in before.get(number, ()) or not is_lost(entry[1]))
        for number, entries in consumed.items()
    }


def _is_in(inner: Span, outer: Span) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
