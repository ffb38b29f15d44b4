"""Subscripts of arrays: which axes an index drops, cuts, adds or replaces."""

from __future__ import annotations

from dataclasses import dataclass

from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.dtypes import kind
from jaxlint.analysis.arrays.shapes import broadcast
from jaxlint.analysis.values import Array, Dim, Items, Scalar, Shape, Value


@dataclass(frozen=True, slots=True)
class SliceValue(Value):
    """`lower:upper:step` in a subscript; None where a bound is left out."""

    lower: Value | None = None
    upper: Value | None = None
    step: Value | None = None


@dataclass(frozen=True, slots=True)
class _Gather:
    """Integers or an integer array that take the place of `consumed` axes."""

    shape: Shape | None
    consumed: int
    array: bool


_Entry = _Gather | SliceValue | str  # 'newaxis' or 'ellipsis'


def subscript(array: Array, index: Value | tuple[Value, ...]) -> Array:
    """The array that `array[index]` gives, its shape as far as it is known."""
    parts: tuple[Value, ...]
    if isinstance(index, tuple):
        parts = index
    else:
        parts = index.items if isinstance(index, Items) and index.kind == "tuple" else (index,)
    return Array(array.dtype, _shape(array.shape, parts, array.host), array.weak, array.host)


def _shape(shape: Shape | None, parts: tuple[Value, ...], host: bool) -> Shape | None:
    entries: list[_Entry] = []
    for part in parts:
        entry = _entry(part, host)
        if entry is None:
            return None
        entries.append(entry)
    return None if shape is None else _apply(shape, _expanded(entries, len(shape)))


def _entry(part: Value, host: bool) -> _Entry | None:
    """What one part of an index does; None where that is not known."""
    if isinstance(part, SliceValue):
        return part
    if isinstance(part, Scalar):
        if part.kind in ("none", "ellipsis"):
            return "newaxis" if part.kind == "none" else "ellipsis"
        return _Gather((), 1, False) if part.kind == "int" else None
    if not isinstance(part, (Array, Items)):
        return None
    found = as_array(part, host)
    if found.dtype == "bool":
        # A mask takes as many axes as it has and leaves one of unknown size.
        return _Gather((None,), len(found.shape), True) if found.shape else None
    return _Gather(found.shape, 1, True) if kind(found.dtype) in ("i", "u") or _is_empty(part) else None


def _is_empty(part: Value) -> bool:
    return isinstance(part, Items) and not part.items


def _expanded(entries: list[_Entry], ndim: int) -> list[_Entry] | None:
    """The entries with the ellipsis, or the end, filled up with full slices; None for too many."""
    used = sum(entry.consumed if isinstance(entry, _Gather) else isinstance(entry, SliceValue) for entry in entries)
    if used > ndim or entries.count("ellipsis") > 1:
        return None
    fill: list[_Entry] = [SliceValue()] * (ndim - used)
    if "ellipsis" not in entries:
        return entries + fill
    place = entries.index("ellipsis")
    return entries[:place] + fill + entries[place + 1 :]


def _apply(shape: Shape, entries: list[_Entry] | None) -> Shape | None:
    if entries is None:
        return None
    gathers = [entry for entry in entries if isinstance(entry, _Gather)]
    advanced = any(entry.array for entry in gathers)
    gathered = broadcast(*(entry.shape for entry in gathers)) if gathers else ()
    if gathered is None:
        return None
    result: list[Dim] = []
    at: int | None = None
    apart, last_was_gather, position = False, False, 0
    for entry in entries:
        if isinstance(entry, _Gather):
            apart |= at is not None and not last_was_gather
            at = len(result) if at is None else at
            position += entry.consumed
        elif isinstance(entry, SliceValue):
            result.append(_sliced(shape[position], entry))
            position += 1
        else:
            result.append(1)
        last_was_gather = isinstance(entry, _Gather)
    if advanced and at is not None:
        # Indices that are not next to each other put their axes first.
        at = 0 if apart else at
        result[at:at] = gathered
    return tuple(result)


def _sliced(dim: Dim, part: SliceValue) -> Dim:
    """The size that a slice leaves."""
    bounds: list[int | None] = []
    for bound in (part.lower, part.upper, part.step):
        if bound is None or (isinstance(bound, Scalar) and bound.kind == "none"):
            bounds.append(None)
        elif isinstance(bound, Scalar) and bound.known and isinstance(bound.const, int):
            bounds.append(int(bound.const))
        else:
            return None
    lower, upper, step = bounds
    if upper is None and lower in (None, 0) and step in (None, 1):
        return dim
    if lower is None and upper is None and step == -1:
        return dim
    if not isinstance(dim, int) or step == 0:
        return None
    return len(range(*slice(lower, upper, step).indices(dim)))
