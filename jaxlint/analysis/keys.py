"""PRNG keys: which values are the same key, and which operations consume one.

`fold_in(key, i)` equals `split(key, n)[i]` bit for bit and splits share prefixes (facts/keys.md, JAX 0.10.2), so
that splitting one parent twice, or splitting it and folding in, gives keys again that are already in use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from jaxlint.analysis.events import DefaultKeySeen, KeyMade, KeyReused
from jaxlint.analysis.frames import Arguments, Consumed, Frame, Place, Use
from jaxlint.analysis.key_parts import covers, overlap, part_token, written
from jaxlint.analysis.operators import staged
from jaxlint.analysis.values import (
    Array,
    Items,
    Key,
    Many,
    Mapping,
    OneOf,
    Scalar,
    Shape,
    Token,
    Trace,
    Unknown,
    Value,
    join_traces,
    leaves,
    one_of,
    parts,
)
from jaxlint.model import Span
from jaxlint.once import Same
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


# What makes keys


def make(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """`jax.random.key(seed)`."""
    seed = arguments.get(0, "seed")
    node = arguments.node(0, "seed")
    constant = isinstance(seed, Scalar) and seed.known and _is_literal(node)
    made = KeyMade(f, where, constant, m.key_place, f.loops)
    if m.key_place == "default":
        m.default_keys.setdefault((f.path, where), DefaultKeySeen(made))
    else:
        m.emit(made)
    trace: Trace | None = seed.trace if seed is not None else None
    # That a default is used again and again is its own fault, not that of the uses.
    token = m.token("key", where, f.number) if m.key_place == "call" else None
    return staged(f, Key(token, (), trace=trace), trace)


def placed(m: Machine, place: str, run: Callable[[], Value]) -> Value:
    """Evaluates something whose keys are defaults."""
    outer, m.key_place = m.key_place, place
    try:
        return run()
    finally:
        m.key_place = outer


def note_default(m: Machine, inner: Frame, parameter: n.Parameter) -> None:
    """Notes that the call that `inner` runs leaves a parameter to its default, where that is a key."""
    caller = inner.caller
    seen = m.default_keys.get((inner.path, parameter.default.span)) if parameter.default is not None else None
    if seen is None or caller is None or inner.call_span is None or caller.in_test():
        return
    seen.calls.add((caller.path, inner.call_span))
    seen.repeated |= any(frame.loops for frame in caller.chain())


def _is_literal(node: n.Expr | None) -> bool:
    """Whether a seed is written where the key is made, and not a name that somebody may set."""
    return isinstance(node, n.Constant)


def split(m: Machine, f: Frame, arguments: Arguments, where: Span) -> Value:
    """`jax.random.split(key, num)` consumes the key and gives fresh ones."""
    key = arguments.get(0, "key")
    number = arguments.get(1, "num")
    batch = _batch(number, key)
    count = 2 if number is None else _written_number(number, arguments.node(1, "num"))
    _consume(m, f, key, Use("strong", "split", places(f, where), count), arguments.node(0, "key"))
    return Key(m.token(_name(key), where, f.number), batch, trace=_trace(arguments))


def _batch(number: Value | None, key: Value | None) -> Shape | None:
    if isinstance(key, Key) and key.batch != ():
        return None
    if number is None:
        return (2,)
    if isinstance(number, Scalar):
        return (number.const if number.known and isinstance(number.const, int) else None,)
    if isinstance(number, Items):
        return tuple(v.const if isinstance(v, Scalar) and isinstance(v.const, int) else None for v in number.items)
    return (None,) if not isinstance(number, Unknown) else None


def fold(m: Machine, f: Frame, arguments: Arguments, where: Span) -> Value:
    """`jax.random.fold_in(key, data)` reads the key; equal data give equal keys, and those of a split too."""
    key, data = arguments.get(0, "key"), arguments.get(1, "data")
    how = "strong" if _is_number(data) else "weak"
    use = Use(how, "fold", places(f, where), _written_number(data, arguments.node(1, "data")))
    _consume(m, f, key, use, arguments.node(0, "key"))
    batch = key.batch if isinstance(key, Key) else ()
    token = part_token(token_of(key), ("fold", identity(data)))
    return Key(token if token is not None else m.token("key", where, f.number), batch, trace=_trace(arguments))


def _is_number(value: Value | None) -> bool:
    """Whether what is folded in is as small as an index may be, and not a hash."""
    if isinstance(value, Unknown):
        return value.token is not None
    return isinstance(value, (Array, Scalar))


def _written_number(value: Value | None, node: n.Expr | None) -> object:
    """A number to compare a split's count with what is folded in: its value, or how it is written."""
    if isinstance(value, Scalar) and value.known:
        return value.const
    names: list[str] = []
    while isinstance(node, n.Attribute):
        names.append(node.name)
        node = node.base
    return (node.name, *names) if isinstance(node, n.Name) else identity(value)


def identity(value: Value | None) -> object:
    """What tells one index or tag from others: its value, or the binding that holds it, until that is bound anew."""
    if isinstance(value, Scalar) and value.known:
        return value.const
    if isinstance(value, (Unknown, Array)) and value.token is not None:
        return value.token
    return Same(value if value is not None else Unknown())


def _name(key: Value | None) -> str:
    token = token_of(key)
    return token.name if token is not None else "key"


def _trace(arguments: Arguments) -> Trace | None:
    trace: Trace | None = None
    for value in arguments.all():
        trace = join_traces(trace, value.trace)
    return trace


def item(base: Key, index: Value, e: n.Subscript) -> Value:
    """`keys[i]` and `keys[a:b]`: a part of a batch of keys."""
    from jaxlint.analysis.arrays.indexing import SliceValue

    batch = base.batch
    token = part_token(base.token, part_of(index, e.index, batch))
    if isinstance(index, SliceValue):
        return Key(token, (None, *batch[1:]) if batch else None, trace=base.trace)
    if isinstance(index, (Scalar, Array)):
        return Key(token, batch[1:] if batch else None, trace=base.trace)
    return Key(token, None, trace=base.trace)


def part_of(index: Value, node: n.Expr, batch: Shape | None = None) -> object:
    """How a part is told from the others."""
    from jaxlint.analysis.arrays.indexing import SliceValue

    if isinstance(index, Scalar) and index.known and isinstance(index.const, int):
        size = batch[0] if batch else None
        return index.const + size if index.const < 0 and isinstance(size, int) else index.const
    if isinstance(index, SliceValue):
        bounds = (index.lower, index.upper)
        return ("slice", *(b if b is None else identity(b) for b in bounds))
    return identity(index)


# What consumes keys


def token_of(value: Value | None) -> Token | None:
    """The identity of what may be a key; what may also be None is a key where it is used as one."""
    if isinstance(value, (Key, Unknown, Array)):
        return value.token
    if not isinstance(value, OneOf):
        return None
    found = [token_of(option) for option in value.options if not _is_none(option)]
    return found[0] if len(found) == 1 else None


def _is_none(value: Value) -> bool:
    return isinstance(value, Scalar) and value.kind == "none"


def sample(m: Machine, f: Frame, arguments: Arguments, where: Span) -> None:
    """A sampler draws with its key."""
    _consume(m, f, arguments.get(0, "key"), Use("strong", "draw", places(f, where)), arguments.node(0, "key"))


def weak(m: Machine, f: Frame, value: Value, where: Span) -> None:
    """Something of unknown habits gets a value: a key in it may be consumed."""
    if isinstance(value, (Key, Unknown)) and value.token is not None:
        _consume(m, f, value, Use("weak", "pass", places(f, where)), None)
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


def _consume(m: Machine, f: Frame, value: Value | None, use: Use, node: n.Expr | None) -> None:
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


# Paths


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
    tokens = [token_of(way) for way, _ in ways if not _is_none(way)]
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


def renewed(m: Machine, value: Value) -> Value:
    """The value with fresh keys for those in it."""
    if isinstance(value, (Key, Unknown, Array)) and value.token is not None:
        token = value.token
        return replace(value, token=m.token(token.name, token.span))
    if isinstance(value, Items):
        return replace(value, items=tuple(renewed(m, part) for part in value.items))
    if isinstance(value, Mapping):
        return replace(value, entries=tuple((name, renewed(m, part)) for name, part in value.entries))
    if isinstance(value, Many):
        return replace(value, element=renewed(m, value.element))
    return value
