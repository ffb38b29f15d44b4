"""PRNG keys: which values are the same key, and which operations consume one.

`fold_in(key, i)` equals `split(key, n)[i]` bit for bit and splits share prefixes (facts/keys.md, JAX 0.10.2), so
that splitting one parent twice, or splitting it and folding in, gives keys again that are already in use.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jaxlint.analysis.events import KeyMade, KeyReused
from jaxlint.analysis.frames import Arguments, Frame, Use
from jaxlint.analysis.iteration import row_token
from jaxlint.analysis.values import (
    Array,
    Items,
    Key,
    Scalar,
    Token,
    Trace,
    Unknown,
    Value,
    join_traces,
    parts,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def make(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """`jax.random.key(seed)`; the same literal seed gives the same key."""
    from jaxlint.analysis.expressions import staged

    seed = arguments.get(0, "seed")
    constant = isinstance(seed, Scalar) and seed.known
    m.emit(KeyMade(f, where, constant, "call", f.loops))
    trace: Trace | None = seed.trace if seed is not None else None
    return staged(f, Key(m.token("key", where), (), trace=trace), trace)


def token_of(value: Value | None) -> Token | None:
    """The identity of what may be a key."""
    if isinstance(value, Key):
        return value.token
    return value.token if isinstance(value, Unknown) else None


def sample(m: Machine, f: Frame, arguments: Arguments, where: Span) -> None:
    """A sampler draws with its key."""
    consume(m, f, arguments.get(0, "key"), "strong", where, arguments.node(0, "key"))


def split(m: Machine, f: Frame, arguments: Arguments, where: Span) -> Value:
    """`jax.random.split(key, num)` consumes the key and gives fresh ones."""
    key = arguments.get(0, "key")
    consume(m, f, key, "strong", where, arguments.node(0, "key"))
    number = arguments.get(1, "num")
    return Key(m.token(_name(key), where), _batch(number, key), trace=_trace(arguments))


def _batch(number: Value | None, key: Value | None) -> tuple[int | str | None, ...] | None:
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
    """`jax.random.fold_in(key, data)` reads the key: it conflicts with a split of the key and with an equal tag."""
    key, data = arguments.get(0, "key"), arguments.get(1, "data")
    node = arguments.node(1, "data")
    tag: object = ("tag", data.const) if isinstance(data, Scalar) and data.known else ("expression", where)
    token = token_of(key)
    if token is not None:
        _note(m, f, token, Use("strong", where, f.path, (), tag), arguments.node(0, "key"), key)
    del node
    batch = key.batch if isinstance(key, Key) else ()
    fresh = m.token(_name(key), where)
    return Key(fresh, batch, trace=_trace(arguments))


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
    part = part_of(index, e.index)
    batch = base.batch
    if isinstance(index, Scalar) and batch:
        return Key(row_token(base.token, part), batch[1:], trace=base.trace)
    if isinstance(index, Array):
        return Key(row_token(base.token, part), batch[1:] if batch else None, trace=base.trace)
    return Key(row_token(base.token, part), batch if batch else None, trace=base.trace)


def part_of(index: Value, node: n.Expr) -> object:
    """How a part is told from the others: a constant index, or where it is written."""
    from jaxlint.analysis.arrays.indexing import SliceValue

    if isinstance(index, Scalar) and index.known:
        return index.const
    if isinstance(index, SliceValue):
        bounds = (index.lower, index.upper)
        return ("slice", *(b.const if isinstance(b, Scalar) and b.known else (None if b is None else node.span) for b in bounds))
    return ("index", node.span)


def weak(m: Machine, f: Frame, value: Value, where: Span | None) -> None:
    """Something of unknown habits gets a value: a key in it may be consumed."""
    if isinstance(value, Key) and value.token is not None:
        _note(m, f, value.token, Use("weak", where or value.token.span, f.path, ()), None, value)
    for part in parts(value):
        if isinstance(part, Key):
            weak(m, f, part, where)


def consume(m: Machine, f: Frame, value: Value | None, how: str, where: Span, node: n.Expr | None) -> None:
    """Consumes a key and tells when it was consumed before on this path."""
    token = token_of(value)
    if token is not None and value is not None:
        _note(m, f, token, Use(how, where, f.path, ()), node, value)


def _note(m: Machine, f: Frame, token: Token, use: Use, node: n.Expr | None, value: Value | None) -> None:
    earlier = m.consumed.get(token.number, ())
    for other, old in earlier:
        if _overlap(other.part, token.part) and _conflict(old, use):
            kind = "loop" if old.span == use.span and old.path == use.path else "again"
            m.emit(KeyReused(f, use.span, token, kind, use.how, old.how, old.span, old.path, node))
            break
    entry = (token, use)
    if entry not in earlier:
        m.consumed[token.number] = (*earlier, entry)


def _conflict(old: Use, new: Use) -> bool:
    if old.fold is None and new.fold is None:
        return True
    if old.fold is not None and new.fold is not None:
        return False  # equal tags in a loop are told apart by the rule on what the tag depends on
    return False


def _overlap(left: Any, right: Any) -> bool:
    """Whether two parts of one batch may have a key in common; unknown indices are taken as different."""
    if left is None or right is None or left == right:
        return True
    if isinstance(left, tuple) and isinstance(right, tuple) and left[0] == right[0] == "slice":
        return False
    for one, other in ((left, right), (right, left)):
        if isinstance(one, tuple) and one and one[0] == "slice" and isinstance(other, int) and not isinstance(other, bool):
            return _in_slice(other, one)
    return False


def _in_slice(index: int, part: tuple[Any, ...]) -> bool:
    lower, upper = part[1], part[2]
    if index < 0 or not isinstance(lower, (int, type(None))) or not isinstance(upper, (int, type(None))):
        return False
    return (lower or 0) <= index and (upper is None or (upper >= 0 and index < upper))


