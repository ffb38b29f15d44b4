"""Functions that join arrays into one or cut one into several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from jaxlint.analysis.arrays.arguments import Call, Rule, axis, integer, is_none, several
from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.promotion import promote
from jaxlint.analysis.arrays.shapes import replaced, same, times, total
from jaxlint.analysis.values import Array, Dim, Items, Many, Scalar, Shape, Value

_MAX_PARTS = 64


def _parts(call: Call) -> list[Array] | None:
    found = several(call.get(0, "arrays", "tup", "operands", "xs"))
    return None if found is None else [as_array(value, call.host) for value in found]


def _unknown_number(call: Call, grows: bool) -> Value:
    """Joining a sequence of unknown length: dtype and rank may still be known."""
    value = call.get(0, "arrays", "tup", "operands")
    if not isinstance(value, Many):
        return Array(host=call.host)
    part = as_array(value.element, call.host)
    rank = None if part.shape is None else len(part.shape) + grows
    return call.make(call.dtype(-1, part.dtype), None if rank is None else (None,) * rank, None)


def _agreed(shapes: Sequence[Shape | None]) -> Shape | None:
    """The sizes that all shapes must have, as far as one of them tells."""
    known = [shape for shape in shapes if shape is not None]
    if not known or any(len(shape) != len(known[0]) for shape in known):
        return None
    result = known[0]
    for shape in known[1:]:
        result = tuple(map(same, result, shape))
    return result


def _make(call: Call, parts: list[Array], shape: Shape | None) -> Array:
    if call.get(-1, "dtype") is not None and call.has_dtype(-1):
        return call.make(call.dtype(-1, None), shape, None)
    if call.host:
        parts = [replace(part, weak=False) for part in parts]
    dtype, weak = promote(*parts)
    return call.make(dtype, shape, weak)


def stack(call: Call) -> Value:
    """`stack(arrays, axis)`."""
    parts = _parts(call)
    if not parts:
        return _unknown_number(call, True)
    shape = _agreed([part.shape for part in parts])
    if shape is not None:
        where = call.get(1, "axis")
        place = 0 if where is None else axis(where, len(shape) + 1)
        shape = (None,) * (len(shape) + 1) if place is None else (*shape[:place], len(parts), *shape[place:])
    return _make(call, parts, shape)


def concatenate(call: Call) -> Value:
    """`concatenate(arrays, axis)`; an axis of None flattens."""
    parts = _parts(call)
    if not parts:
        return _unknown_number(call, False)
    where = call.get(1, "axis", "dimension")
    if is_none(where):
        return _make(call, parts, (total(None if p.shape is None else times(p.shape) for p in parts),))
    return _make(call, parts, _joined([part.shape for part in parts], where))


def _joined(shapes: Sequence[Shape | None], where: Value | None) -> Shape | None:
    shape = _agreed(shapes)
    if shape is None or not shape:
        return None
    place = 0 if where is None else axis(where, len(shape))
    if place is None:
        return (None,) * len(shape)
    return replaced(shape, place, total(None if s is None else s[place] for s in shapes))


def joined_along(place: int, rank: int, grow: str) -> Rule:
    """`hstack`, `vstack`, `dstack` and `column_stack`: the parts grow to a rank, then join."""

    def rule(call: Call) -> Value:
        parts = _parts(call)
        if not parts:
            return Array(host=call.host)
        shapes = [None if part.shape is None else _grown(part.shape, rank, grow) for part in parts]
        # hstack joins vectors along their only axis.
        target = 0 if any(shape is not None and len(shape) == 1 for shape in shapes) else place
        return _make(call, parts, _joined(shapes, Scalar("int", target, True)))

    return rule


def _grown(shape: Shape, rank: int, grow: str) -> Shape:
    if grow == "front":
        return (1,) * (rank - len(shape)) + shape
    if grow == "column":
        return shape if len(shape) >= 2 else (*((1,) * (1 - len(shape)) + shape), 1)
    padded = (1,) * (rank - 1 - len(shape)) + shape
    return (*padded, 1) if len(padded) < rank else padded


def append(call: Call) -> Value:
    """`append(x, values, axis)`: flattened where no axis is given."""
    parts = [call.array(0, "arr"), call.array(1, "values")]
    where = call.given(2, "axis")
    if where is None:
        return _make(call, parts, (total(None if p.shape is None else times(p.shape) for p in parts),))
    return _make(call, parts, _joined([part.shape for part in parts], where))


def split(default_axis: int | None) -> Rule:
    """`split(x, sections or indices, axis)`."""

    def rule(call: Call) -> Value:
        operand = call.first()
        where = call.get(2, "axis") if default_axis is None else Scalar("int", default_axis, True)
        sections = call.get(1, "indices_or_sections")
        sizes = _pieces(operand.shape, sections, where)
        if sizes is None:
            rank = None if operand.shape is None else (None,) * len(operand.shape)
            return Many("list", call.make(operand.dtype, rank, operand.weak))
        made = tuple(call.make(operand.dtype, shape, operand.weak) for shape in sizes)
        return Items("list", made)

    return rule


def _pieces(shape: Shape | None, sections: Value | None, where: Value | None) -> list[Shape | None] | None:
    place = None if shape is None else 0 if where is None else axis(where, len(shape))
    count = integer(sections)
    if count is not None:
        if not 0 < count <= _MAX_PARTS:
            return None
        if shape is None or place is None:
            return [None if shape is None else (None,) * len(shape)] * count
        dim = shape[place]
        return [replaced(shape, place, dim // count if isinstance(dim, int) else None)] * count
    if not isinstance(sections, Items) or len(sections.items) >= _MAX_PARTS:
        return None
    if shape is None or place is None:
        return [None if shape is None else (None,) * len(shape)] * (len(sections.items) + 1)
    size = shape[place]
    bounds = [0, *(_clamped(integer(item), size) for item in sections.items), size]
    return [replaced(shape, place, _width(a, b)) for a, b in pairwise(bounds)]


def _clamped(bound: int | None, size: Dim) -> int | None:
    """A bound as slicing takes it: no more than the size."""
    return min(bound, size) if bound is not None and isinstance(size, int) else None


def _width(start: Dim, stop: Dim) -> Dim:
    if isinstance(start, int) and isinstance(stop, int) and 0 <= start <= stop:
        return stop - start
    return None


def array_split(call: Call) -> Value:
    """`array_split(x, sections, axis)`: pieces of nearly one size."""
    operand = call.first()
    count = integer(call.get(1, "indices_or_sections"))
    place = (
        None
        if operand.shape is None
        else 0
        if call.get(2, "axis") is None
        else axis(call.get(2, "axis"), len(operand.shape))
    )
    if count is None or operand.shape is None or place is None or not 0 < count <= _MAX_PARTS:
        return Many("list", call.make(operand.dtype, operand.shape and (None,) * len(operand.shape), operand.weak))
    dim = operand.shape[place]
    sizes: list[Dim] = [None] * count
    if isinstance(dim, int):
        sizes = [dim // count + (i < dim % count) for i in range(count)]
    made = (call.make(operand.dtype, replaced(operand.shape, place, size), operand.weak) for size in sizes)
    return Items("list", tuple(made))


def unstack(call: Call) -> Value:
    """`unstack(x, axis=)`: a tuple of the rows."""
    operand = call.first()
    where = call.get(-1, "axis")
    place = None if operand.shape is None else 0 if where is None else axis(where, len(operand.shape))
    if operand.shape is None or place is None:
        return Many("tuple", call.make(operand.dtype, None, operand.weak))
    row = call.make(operand.dtype, (*operand.shape[:place], *operand.shape[place + 1 :]), operand.weak)
    size = operand.shape[place]
    return Items("tuple", (row,) * size) if isinstance(size, int) and size <= _MAX_PARTS else Many("tuple", row)


_TABLE: list[tuple[Rule, str]] = [
    (stack, "numpy.stack"),
    (concatenate, "numpy.concatenate numpy.concat lax.concatenate"),
    (joined_along(1, 1, "front"), "numpy.hstack"),
    (joined_along(0, 2, "front"), "numpy.vstack"),
    (joined_along(1, 2, "column"), "numpy.column_stack"),
    (joined_along(2, 3, "depth"), "numpy.dstack"),
    (append, "numpy.append"),
    (split(None), "numpy.split"),
    (split(0), "numpy.vsplit"),
    (split(2), "numpy.dsplit"),
    (array_split, "numpy.array_split"),
    (unstack, "numpy.unstack"),
]


def table() -> dict[str, Rule]:
    """The functions by name without 'jax.'."""
    return {name: rule for rule, names in _TABLE for name in names.split()}
