"""Python values as arrays: what `jnp.asarray` and `numpy.asarray` make of them."""

from __future__ import annotations

from dataclasses import replace

from jaxlint.analysis.arrays.dtypes import PYTHON, narrow
from jaxlint.analysis.arrays.promotion import promote
from jaxlint.analysis.arrays.shapes import same
from jaxlint.analysis.values import Array, Dim, Items, Many, OneOf, Scalar, Shape, Value, join

_MAX_ITEMS = 256
_SEQUENCES = ("tuple", "list")


def as_array(value: Value, host: bool = False) -> Array:
    """A value as the operand of an array function: Python scalars are weak, unknown values unknown arrays."""
    match value:
        case Array():
            return _array(value, host)
        case Scalar():
            return scalar(value, host)
        case Items() | Many() if value.kind in _SEQUENCES:
            return replace(_nested(value, host), weak=False)
        case OneOf():
            return _join(value, host)
    return Array(host=host)


def _array(value: Array, host: bool) -> Array:
    if value.host == host and value.trace is None and value.python is None:
        return value
    dtype = value.dtype if host else narrow(value.dtype)
    return Array(dtype, value.shape, False if value.host or host else value.weak, host)


def _join(value: OneOf, host: bool) -> Array:
    joined: Value = as_array(value.options[0], host)
    for option in value.options[1:]:
        joined = join(joined, as_array(option, host))
    return joined if isinstance(joined, Array) else Array(host=host)


def scalar(value: Scalar, host: bool = False) -> Array:
    """A Python scalar as an operand; nothing is known of strings and None."""
    wide = PYTHON.get(value.kind)
    if wide is None:
        return Array(host=host)
    return Array(wide if host else narrow(wide), (), value.kind != "bool", host)


def from_python(value: Value) -> Array | None:
    """What `jnp.asarray(value)` gives; None where the value does not say that it can be an array."""
    match value:
        case Array():
            return replace(_array(value, False), trace=value.trace)
        case Scalar():
            return scalar(value) if value.kind in PYTHON else None
        case Items() | Many() if value.kind in _SEQUENCES:
            return as_array(value)
    return None


def _nested(value: Value, host: bool) -> Array:
    """Like `as_array`, with the weak type that the leaves of a sequence have together."""
    if isinstance(value, Many) and value.kind in _SEQUENCES:
        row = _nested(value.element, host)
        return replace(row, shape=None if row.shape is None else (None, *row.shape))
    if not isinstance(value, Items) or value.kind not in _SEQUENCES:
        return as_array(value, host)
    if not value.items:
        return Array("float64" if host else "float32", (0,), False, host)
    parts = [_nested(item, host) for item in dict.fromkeys(value.items[:_MAX_ITEMS])]
    if host:
        # np.array looks at all leaves as if they were strong.
        parts = [replace(part, weak=False) for part in parts]
    dtype, weak = promote(*parts) if len(value.items) <= _MAX_ITEMS else (None, None)
    return Array(dtype, _stacked(parts, len(value.items)), weak, host)


def _stacked(parts: list[Array], length: int) -> Shape | None:
    shapes = [part.shape for part in parts]
    inner = next((shape for shape in shapes if shape is not None), None)
    if inner is None or any(shape is not None and len(shape) != len(inner) for shape in shapes):
        return None
    rows = [shape for shape in shapes if shape is not None]
    dims: list[Dim] = [length]
    dims.extend(_agreed([row[i] for row in rows]) for i in range(len(inner)))
    return tuple(dims)


def _agreed(found: list[Dim]) -> Dim:
    """The size that all rows must have: a number that one of them tells, else a symbol."""
    result: Dim = None
    for dim in found:
        result = same(result, dim)
    return result
