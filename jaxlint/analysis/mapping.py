"""What `vmap` and `pmap` do to arguments and results: axes in, axes out, sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis import keys
from jaxlint.analysis.differences import certain
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.signature import signature, static_parameters
from jaxlint.analysis.tracing import device, to_tracer
from jaxlint.analysis.trees import tree_map
from jaxlint.analysis.values import (
    NONE,
    Array,
    Dim,
    Items,
    Key,
    Many,
    Mapping,
    Scalar,
    Shape,
    Site,
    Trace,
    Transformed,
    Unknown,
    Value,
    known,
    leaves,
)
from jaxlint.model import Span

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine

AXIS_0 = known(0)


def axes(site: Site, count: int) -> list[Value]:
    """The `in_axes` entry of each positional argument: None for static ones, Unknown where it cannot be read."""
    statics = static_parameters(site, None)
    if statics is None:
        return [Unknown()] * count
    positions = {p + count if p < 0 else p for p in statics.positions}
    return [NONE if i in positions else axis for i, axis in enumerate(_written_axes(site, count))]


def _written_axes(site: Site, count: int) -> list[Value]:
    given = site.option("in_axes")
    if given is None:
        return [AXIS_0 if site.transform.startswith("jax.") else Unknown()] * count
    if isinstance(given, Items):
        return [given.items[i] if i < len(given.items) else Unknown() for i in range(count)]
    return [given if isinstance(given, Scalar) else Unknown()] * count


def fits(value: Value) -> bool:
    """Whether a transformed function can be called: each map has an entry for each argument that is needed."""
    while isinstance(value, Transformed):
        given, known = value.site.option("in_axes"), signature(value.function)
        if isinstance(given, Items) and given.kind != "set" and known is not None and len(given.items) < known.required:
            return False
        value = value.function
    return True


def is_unmapped(axis: Value) -> bool:
    """Whether an axis entry says None."""
    return isinstance(axis, Scalar) and axis.kind == "none"


def number(axis: Value) -> int | None:
    """The axis that an entry names, None where it names none or is not known."""
    if isinstance(axis, Scalar) and axis.known and isinstance(axis.const, int) and axis.kind == "int":
        return axis.const
    return None


def map_in(value: Value, axis: Value, trace: Trace) -> Value:
    """What the mapped function sees of an argument."""
    if is_unmapped(axis):
        return value
    if isinstance(axis, Items) and isinstance(value, Items) and len(axis.items) == len(value.items):
        return replace(value, items=tuple(map_in(v, a, trace) for v, a in zip(value.items, axis.items, strict=True)))
    if isinstance(axis, Mapping) and isinstance(value, Mapping):
        return replace(value, entries=tuple((k, map_in(v, axis.get(k) or Unknown(), trace)) for k, v in value.entries))
    at = number(axis)
    if at is None:
        return _maybe(value, trace)
    return _row(value, at, trace)


def _maybe(value: Value, trace: Trace) -> Value:
    unsure = replace(trace, sure=False)
    return Unknown(trace=unsure) if not isinstance(value, (Items, Many, Mapping)) else to_tracer(value, unsure)


def _row(value: Value, at: int, trace: Trace) -> Value:
    return tree_map(lambda leaf: _row_of_leaf(leaf, at, trace), value)


def _row_of_leaf(value: Value, at: int, trace: Trace) -> Value:
    match value:
        case Array():
            made = to_tracer(value, trace)
            assert isinstance(made, Array)
            return replace(made, shape=_without(device(value).shape, at), weak=made.weak)
        case Key():
            return Key(value.token, value.batch[1:] if value.batch else (), trace=trace)
    return to_tracer(value, trace)


def _without(shape: Shape | None, at: int) -> Shape | None:
    if shape is None or not -len(shape) <= at < len(shape):
        return None
    at %= len(shape)
    return (*shape[:at], *shape[at + 1 :])


def sizes(arguments: Arguments, entries: list[Value]) -> Iterator[tuple[int, int, Dim]]:
    """For each mapped array or batch of keys of known rank: argument number, axis, and size of that axis."""
    for position, (value, axis) in enumerate(zip(arguments.positional, entries, strict=False)):
        for leaf, leaf_axis in paired(value, axis):
            at, shape = number(leaf_axis), _shape(leaf)
            if at is not None and shape is not None and -len(shape) <= at < len(shape):
                yield position, at, shape[at]


def _shape(leaf: Value) -> Shape | None:
    if isinstance(leaf, Key):
        return leaf.batch
    return leaf.shape if isinstance(leaf, Array) else None


def paired(value: Value, axis: Value) -> Iterator[tuple[Value, Value]]:
    """Leaves of an argument with their axis entries."""
    if isinstance(axis, Items) and isinstance(value, Items) and len(axis.items) == len(value.items):
        for v, a in zip(value.items, axis.items, strict=True):
            yield from paired(v, a)
    elif isinstance(axis, Mapping) and isinstance(value, Mapping):
        for key, v in value.entries:
            yield from paired(v, axis.get(key) or Unknown())
    else:
        for leaf in leaves(value):
            yield leaf, axis


def misfit(axis: Value, value: Value) -> tuple[Value, Value] | None:
    """The first part of a specification that is surely no prefix of the tree that it describes, with that tree's part.

    JAX wants the same type of container, the same length and the same keys (`flatten_axes`, JAX 0.10.2).
    """
    value = certain(value)
    match axis, value:
        case Items(), Items():
            if axis.kind != value.kind or len(axis.items) != len(value.items):
                return axis, value
            return _first_misfit(zip(axis.items, value.items, strict=True))
        case Mapping(complete=True), Mapping(complete=True):
            if {key for key, _ in axis.entries} != {key for key, _ in value.entries}:
                return axis, value
            return _first_misfit((entry, value.get(key) or Unknown()) for key, entry in axis.entries)
        case ((Items() | Mapping(complete=True)), (Items() | Mapping(complete=True) | Array())):
            return axis, value
    return None


def _first_misfit(pairs: Iterable[tuple[Value, Value]]) -> tuple[Value, Value] | None:
    return next((found for axis, value in pairs if (found := misfit(axis, value)) is not None), None)


def shown(value: Value) -> str:
    """A container of a specification or an argument for a message."""
    match value:
        case Items(kind=kind, items=items):
            return f"a {kind} of {len(items)}"
        case Mapping(entries=entries):
            return "a dict of " + (", ".join(repr(key) for key, _ in entries) or "nothing")
    return "an array"


def size(arguments: Arguments, entries: list[Value]) -> Dim:
    """The size of the mapped axis, where an argument tells it."""
    for _, _, found in sizes(arguments, entries):
        if found is not None:
            return found
    return None


def map_out(value: Value, site: Site, dim: Dim) -> Value:
    """A result with the mapped axis put back."""
    given = site.option("out_axes")
    at = number(given) if given is not None else 0
    return _with_axis(value, at, dim)


def _with_axis(value: Value, at: int | None, dim: Dim) -> Value:
    return tree_map(lambda leaf: _leaf_with_axis(leaf, at, dim), value)


def _leaf_with_axis(value: Value, at: int | None, dim: Dim) -> Value:
    match value:
        case Array(shape=shape):
            if shape is None or at is None or not -len(shape) - 1 <= at <= len(shape):
                return replace(value, shape=None)
            at = at + len(shape) + 1 if at < 0 else at
            return replace(value, shape=(*shape[:at], dim, *shape[at:]))
        case Key():
            return replace(value, token=None, batch=None)
        case Scalar(kind=kind) if kind in ("bool", "int", "float"):
            return Array(None, (dim,))
    return value


def watch_keys(
    m: Machine, f: Frame, site: Site, arguments: Arguments, entries: list[Value], where: Span, run: Callable[[], Value]
) -> Value:
    """Runs a mapped function and tells when it draws with one unmapped key for all rows."""
    before = dict(m.consumed)
    result = run()
    for value, axis in zip(arguments.positional, entries, strict=False):
        if not is_unmapped(axis) or not isinstance(value, Key) or value.token is None:
            continue
        if any(not is_unmapped(a) for a in entries):
            keys.tell_mapped(m, f, value, before, where)
    return result
