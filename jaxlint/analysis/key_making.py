"""What makes PRNG keys, and which values are the same key.

`fold_in(key, i)` equals `split(key, n)[i]` bit for bit and splits share prefixes (facts/keys.md, JAX 0.10.2), so
that splitting one parent twice, or splitting it and folding in, gives keys again that are already in use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis.events import DefaultKeySeen, KeyMade
from jaxlint.analysis.frames import Arguments, Frame, Use
from jaxlint.analysis.key_parts import part_token
from jaxlint.analysis.operators import staged
from jaxlint.analysis.values import (
    Array,
    Items,
    Key,
    Many,
    Mapping,
    Scalar,
    Shape,
    Trace,
    Unknown,
    Value,
    join_traces,
)
from jaxlint.model import Span
from jaxlint.once import Same
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine
from jaxlint.analysis.keys import consume, places, token_of


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
    consume(m, f, key, Use("strong", "split", places(f, where), count), arguments.node(0, "key"))
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
    consume(m, f, key, use, arguments.node(0, "key"))
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
