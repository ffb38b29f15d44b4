"""Uses of PRNG keys: which operations consume one, and who is to blame where two meet on one key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.analysis.events import KeyReused
from jaxlint.analysis.frames import Arguments, Consumed, Frame, Place, Use
from jaxlint.analysis.key_parts import covers, overlap, written
from jaxlint.analysis.values import (
    Array,
    Key,
    OneOf,
    Scalar,
    Token,
    Unknown,
    Value,
    leaves,
    parts,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def token_of(value: Value | None) -> Token | None:
    """The identity of what may be a key; what may also be None is a key where it is used as one."""
    if isinstance(value, (Key, Unknown, Array)):
        return value.token
    if not isinstance(value, OneOf):
        return None
    found = [token_of(option) for option in value.options if not is_none(option)]
    return found[0] if len(found) == 1 else None


def is_none(value: Value) -> bool:
    """Whether a value is None, which is no key."""
    return isinstance(value, Scalar) and value.kind == "none"


def sample(m: Machine, f: Frame, arguments: Arguments, where: Span) -> None:
    """A sampler draws with its key."""
    consume(m, f, arguments.get(0, "key"), Use("strong", "draw", places(f, where)), arguments.node(0, "key"))


def weak(m: Machine, f: Frame, value: Value, where: Span) -> None:
    """Something of unknown habits gets a value: a key in it may be consumed."""
    if isinstance(value, (Key, Unknown)) and value.token is not None:
        consume(m, f, value, Use("weak", "pass", places(f, where)), None)
    for part in parts(value):
        weak(m, f, part, where)


def places(f: Frame, where: Span) -> tuple[Place, ...]:
    """Where the calls in progress stand, innermost first; transforms and control flow are part of their caller."""
    found = [Place(_function_frame(f), where)]
    for frame in f.chain():
        caller = frame.caller
        if caller is not None and frame.call_span is not None and caller.number != frame.number:
            found.append(Place(_function_frame(caller), frame.call_span))
    return tuple(found)


def _function_frame(frame: Frame) -> Frame:
    """The call that a transform's or control-flow function's frame belongs to."""
    while frame.function is None and frame.caller is not None and frame.caller.number == frame.number:
        frame = frame.caller
    return frame


def consume(m: Machine, f: Frame, value: Value | None, use: Use, node: n.Expr | None) -> None:
    """Notes a use and tells when it meets an earlier one on this path."""
    token = token_of(value)
    if token is None:
        return
    earlier = m.consumed.get(token.number, ())
    found = [old for other, old in earlier if overlap(other.part, token.part) and _conflict(old, use)]
    if found:
        strong = [old for old in found if old.how == "strong"]
        _tell(m, token, (strong or found)[0], use, node)
    if (token, use) not in earlier:
        m.consumed[token.number] = (*earlier, (token, use))


def _conflict(old: Use, new: Use) -> bool:
    """Whether two uses give equal numbers: folding in conflicts with a split that has a key of that number."""
    if "fold" not in (old.action, new.action):
        return True
    if old.action == new.action:
        return False  # equal tags give the same key, whose uses then conflict
    folded, other = (old, new) if old.action == "fold" else (new, old)
    if other.action != "split":
        return False
    if folded.number == other.number:
        return False  # one behind the last
    return not (isinstance(folded.number, int) and isinstance(other.number, int)) or 0 <= folded.number < other.number


def _tell(m: Machine, token: Token, old: Use, new: Use, node: n.Expr | None) -> None:
    """Tells of a reuse at the place that is to blame for it."""
    common = _common(old, new)
    if common is None:
        return
    handed = m.handed_on.get(token.number)
    if handed is not None and any(place.frame.number == token.born for place in old.places[: common[0]]):
        m.emit(_event(token, "handed on", Place(*handed), old, new, None))
        return
    place = new.places[0]
    for inner, outer in zip(new.places[: common[1]], new.places[1:], strict=False):
        if not any(_leads_to(value, token) for value in inner.frame.given):
            break
        place = outer
    kind = "loop" if old.places[common[0]].span == new.places[common[1]].span else "again"
    if place is new.places[common[1]]:
        shared = _shared(new.places[common[1] :], token)
        if shared is not None:
            place, kind = shared, "shared"
    m.emit(_event(token, kind, place, old, new, node if place is new.places[0] else None))


def _event(token: Token, kind: str, place: Place, old: Use, new: Use, node: n.Expr | None) -> KeyReused:
    earlier = old.places[0]
    return KeyReused(
        place.frame, place.span, token, kind, new.how, old.how, earlier.span, earlier.frame.path, node, (old, new)
    )  # fmt: skip


def _common(old: Use, new: Use) -> tuple[int, int] | None:
    """The innermost call that both uses are part of, as indices into their places."""
    numbers = [place.frame.number for place in old.places]
    for index, place in enumerate(new.places):
        if place.frame.number in numbers:
            return numbers.index(place.frame.number), index
    return None


def _leads_to(value: Value, token: Token) -> bool:
    return any(True for _ in _leading_to(value, token))


def _leading_to(value: Value, token: Token) -> Iterator[Token]:
    """The keys in an argument through which a function got at `token`."""
    for leaf in leaves(value):
        found = token_of(leaf)
        if found is not None and found.number == token.number and covers(found.part, token.part):
            yield found


def _shared(outer: tuple[Place, ...], token: Token) -> Place | None:
    """The call that gave one key under two names, if that is why the function uses it twice."""
    frame = outer[0].frame
    names = sum(1 for value in frame.given for _ in _leading_to(value, token))
    return outer[1] if names > 1 and len(outer) > 1 else None


# Names


def name_in(frame: Frame, token: Token) -> str:
    """What a call in progress calls the key: the name that holds it, or the batch that it is a part of."""
    found: list[tuple[int, str]] = []
    for name, value in frame.scope.names.items():
        held = token_of(value)
        if held is not None and held.number == token.number and covers(held.part, token.part):
            found.append((len(held.part), name + written(token.part[len(held.part) :])))
    longest = max((length for length, _ in found), default=0)
    names = [name for length, name in found if length == longest]
    return token.name if not names or token.name in names else names[0]


# Keys that leave a function


def hand_on(m: Machine, f: Frame, value: Value, statement: n.Return) -> None:
    """A function returns a value: of keys that were made in it, it is noted where."""
    if f.function is None:
        return
    for leaf in leaves(value):
        token = token_of(leaf) if isinstance(leaf, Key) else None
        if token is not None and token.born == f.number:
            m.handed_on[token.number] = (f, statement.span)


def consumed_in(m: Machine, value: Value, before: Consumed) -> Iterator[tuple[Token, Use]]:
    """The keys in a value that were surely consumed since `before`."""
    for leaf in leaves(value):
        token = token_of(leaf)
        if token is None:
            continue
        old = before.get(token.number, ())
        for entry in m.consumed.get(token.number, ()):
            other, use = entry
            if entry not in old and use.how == "strong" and use.action != "fold" and overlap(other.part, token.part):
                yield token, use
                break


def tell_carry(m: Machine, carry: Value, before: Consumed) -> None:
    """Tells of keys that one round of a compiled loop used and hands on to the next."""
    if m.last_return is None:
        return
    frame, statement = m.last_return
    for token, use in consumed_in(m, carry, before):
        m.emit(_event(token, "carry", Place(frame, statement.span), use, use, None))


def tell_mapped(m: Machine, f: Frame, value: Value, before: Consumed, where: Span) -> None:
    """Tells of keys in an unmapped argument that a mapped function drew with for all rows."""
    for token, use in consumed_in(m, value, before):
        m.emit(_event(token, "mapped", Place(f, where), use, use, None))
