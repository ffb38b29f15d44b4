"""Functions that move, copy, join and cut axes; dtype and weak type stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from jaxlint.analysis.arrays import dtypes
from jaxlint.analysis.arrays.arguments import Call, Rule, axis, axis_list, dims, integer, is_none
from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.shapes import broadcast, move, permute, plus, replaced, reshape, times
from jaxlint.analysis.values import Array, Dim, Items, Many, Scalar, Shape, Value

ShapeRule = Callable[[Call, Shape], "Shape | None"]


def keeps(rule: ShapeRule) -> Rule:
    """A function that keeps dtype and weak type, with `rule` for its shape."""

    def apply(call: Call) -> Value:
        operand = call.first()
        shape = None if operand.shape is None else rule(call, operand.shape)
        return call.make(operand.dtype, shape, operand.weak)

    return apply


def unchanged(call: Call, shape: Shape) -> Shape | None:
    """The shape stays."""
    return shape


def reshape_(call: Call) -> Value:
    """`reshape(x, shape)`: the rank is known even where that of `x` is not."""
    operand = call.first()
    value = call.get(1, "shape", "newshape", "new_sizes")
    target = dims(value)
    return call.make(operand.dtype, None if target is None else reshape(operand.shape, target), operand.weak)


def ravel(call: Call) -> Value:
    """`ravel(x)`."""
    operand = call.first()
    return call.make(operand.dtype, (None if operand.shape is None else times(operand.shape),), operand.weak)


def transpose(call: Call, shape: Shape) -> Shape | None:
    """`transpose(x, axes)` reverses the axes where none are given."""
    order = call.given(1, "axes", "permutation")
    if order is None:
        return shape[::-1]
    found = axis_list(order, len(shape)) if isinstance(order, (Items, Scalar)) else None
    return (None,) * len(shape) if found is None else permute(shape, found)


def swapaxes(call: Call, shape: Shape) -> Shape | None:
    """`swapaxes(x, axis1, axis2)`."""
    first, second = (axis(call.get(i, f"axis{i}"), len(shape)) for i in (1, 2))
    if first is None or second is None:
        return (None,) * len(shape)
    order = list(range(len(shape)))
    order[first], order[second] = second, first
    return permute(shape, order)


def moveaxis(call: Call, shape: Shape) -> Shape | None:
    """`moveaxis(x, source, destination)`."""
    source = axis_list(call.get(1, "source"), len(shape))
    target = axis_list(call.get(2, "destination"), len(shape))
    order = None if source is None or target is None else move(len(shape), source, target)
    return (None,) * len(shape) if order is None else permute(shape, order)


def matrix_transpose(call: Call, shape: Shape) -> Shape | None:
    """The last two axes change places."""
    return (*shape[:-2], shape[-1], shape[-2]) if len(shape) >= 2 else None


def expand_dims(call: Call, shape: Shape) -> Shape | None:
    """`expand_dims(x, axis)`."""
    value = call.get(1, "axis", "dimensions")
    count = len(value.items) if isinstance(value, Items) else 1
    places = axis_list(value, len(shape) + count)
    if places is None:
        return (None,) * (len(shape) + 1) if isinstance(value, Scalar) and value.kind == "int" else None
    result = list(shape)
    for place in sorted(places):
        result.insert(place, 1)
    return tuple(result)


def squeeze(call: Call, shape: Shape) -> Shape | None:
    """`squeeze(x, axis)`; without an axis the sizes must all be known."""
    value = call.given(1, "axis", "dimensions")
    if value is None:
        return tuple(dim for dim in shape if dim != 1) if all(isinstance(dim, int) for dim in shape) else None
    places = axis_list(value, len(shape))
    if places is None or any(isinstance(shape[place], int) and shape[place] != 1 for place in places):
        return None
    return tuple(dim for i, dim in enumerate(shape) if i not in places)


def broadcast_to(call: Call) -> Value:
    """`broadcast_to(x, shape)`."""
    operand = call.first()
    return call.make(operand.dtype, dims(call.get(1, "shape")), operand.weak)


def tile(call: Call, shape: Shape) -> Shape | None:
    """`tile(x, reps)`."""
    reps = dims(call.get(1, "reps"))
    if reps is None:
        return None
    rank = max(len(reps), len(shape))
    pairs = zip((1,) * (rank - len(shape)) + shape, (1,) * (rank - len(reps)) + reps, strict=True)
    return tuple(_product(dim, count) for dim, count in pairs)


def _product(dim: Dim, count: Dim) -> Dim:
    return times([dim, count]) if dim is not None and count is not None else None


def repeat(call: Call) -> Value:
    """`repeat(x, repeats, axis, total_repeat_length=)`."""
    operand = call.first()
    count = integer(call.get(1, "repeats"))
    length = integer(call.get(-1, "total_repeat_length"))
    shape = operand.shape or (1,) if operand.shape is not None else None
    where = call.given(2, "axis")
    if where is None:
        whole: Dim = None if shape is None else times(shape)
        result: Shape | None = (length if length is not None else _product(whole, count),)
    else:
        place = None if shape is None else axis(where, len(shape))
        if shape is None or place is None:
            result = None if shape is None else (None,) * len(shape)
        else:
            result = replaced(shape, place, length if length is not None else _product(shape[place], count))
    return call.make(operand.dtype, result, operand.weak)


def pad(call: Call, shape: Shape) -> Shape | None:
    """`pad(x, pad_width)`: a number, a pair, or a pair for each axis."""
    width = call.get(1, "pad_width")
    pairs = _pad_pairs(width, len(shape))
    if pairs is None:
        return (None,) * len(shape)
    return tuple(plus(dim, amount) for dim, amount in zip(shape, pairs, strict=True))


def _pad_pairs(width: Value | None, ndim: int) -> list[int | None] | None:
    """How much each axis grows."""
    if isinstance(width, Scalar):
        size = integer(width)
        return [None if size is None else 2 * size] * ndim
    if not isinstance(width, Items) or not width.items:
        return None
    if all(isinstance(item, Scalar) for item in width.items):
        return [_both(width)] * ndim
    if len(width.items) == 1:
        return [_both(width.items[0])] * ndim
    return [_both(item) for item in width.items] if len(width.items) == ndim else None


def _both(pair: Value) -> int | None:
    if not isinstance(pair, Items) or not 1 <= len(pair.items) <= 2:
        return None
    sizes = [integer(item) for item in pair.items]
    if None in sizes:
        return None
    return sum(size for size in sizes if size is not None) * (2 if len(sizes) == 1 else 1)


def atleast(rank: int) -> Rule:
    """`atleast_1d(x)` and `atleast_2d(x)` of one array."""

    def rule(call: Call) -> Value:
        results = []
        for value in call.positional:
            operand = as_array(value, call.host)
            shape = operand.shape
            grown = None if shape is None else (1,) * (rank - len(shape)) + shape
            results.append(call.make(operand.dtype, grown, operand.weak))
        return results[0] if len(results) == 1 else Items("tuple" if call.host else "list", tuple(results))

    return rule


def diag(call: Call) -> Value:
    """`diag(v, k)`: a matrix of a vector, a vector of a matrix."""
    operand = call.first()
    shape = None if operand.shape is None else _diag_shape(call, operand.shape)
    return call.make(operand.dtype, shape, False if operand.weak is False else None)


def _diag_shape(call: Call, shape: Shape) -> Shape | None:
    offset = call.get(1, "k")
    k = 0 if offset is None else integer(offset)
    if len(shape) == 1:
        size = plus(shape[0], None if k is None else abs(k))
        return (size, size)
    return (_diagonal(shape, k),) if len(shape) == 2 else None


def _diagonal(shape: Shape, k: int | None) -> Dim:
    rows, columns = shape[-2:]
    if k == 0 and rows == columns:
        return rows
    if not isinstance(rows, int) or not isinstance(columns, int) or k is None:
        return None
    return max(0, min(rows + min(k, 0), columns - max(k, 0)))


def diagonal(call: Call, shape: Shape) -> Shape | None:
    """`diagonal(x, offset, axis1, axis2)` of the first two axes, which go to the end as one."""
    if call.given(2, "axis1") is not None or call.given(3, "axis2") is not None or len(shape) < 2:
        return (None,) * (len(shape) - 1) if len(shape) > 1 else None
    offset = call.get(1, "offset")
    return (*shape[2:], _diagonal(shape[:2], 0 if offset is None else integer(offset)))


def trace(call: Call) -> Value:
    """`trace(x)` of the first two axes."""
    operand = call.first()
    plain = call.given(2, "axis1") is None and call.given(3, "axis2") is None
    shape = None if operand.shape is None else operand.shape[2:] if plain else (None,) * (len(operand.shape) - 2)
    return call.make(call.dtype(4, dtypes.summed(operand.dtype, call.host)), shape)


def linalg_trace(call: Call) -> Value:
    """`linalg.trace(x)` of the last two axes."""
    operand = call.first()
    shape = None if operand.shape is None else operand.shape[:-2]
    return call.make(call.dtype(-1, dtypes.summed(operand.dtype, call.host)), shape)


def take(call: Call) -> Value:
    """`take(x, indices, axis)`: the indices' shape takes the place of the axis."""
    operand, indices = call.first(), call.array(1, "indices")
    where = call.given(2, "axis")
    shape: Shape | None = None
    if where is None:
        shape = indices.shape
    elif operand.shape is not None and indices.shape is not None:
        place = axis(where, len(operand.shape))
        if place is not None:
            shape = (*operand.shape[:place], *indices.shape, *operand.shape[place + 1 :])
    return call.make(operand.dtype, shape, operand.weak)


def take_along_axis(call: Call) -> Value:
    """`take_along_axis(x, indices, axis)`: the sizes of `indices` along the axis; the others broadcast."""
    operand, indices = call.first(), call.array(1, "indices")
    where = call.get(2, "axis")
    shape: Shape | None = None
    if operand.shape is not None and indices.shape is not None and len(operand.shape) == len(indices.shape):
        place = axis(where, len(operand.shape))
        if place is not None:
            sizes = list(_sides(operand.shape, indices.shape))
            sizes[place] = indices.shape[place]
            shape = tuple(sizes)
    return call.make(operand.dtype, shape, operand.weak)


def _sides(left: Shape, right: Shape) -> Shape:
    return tuple((broadcast((a,), (b,)) or (None,))[0] for a, b in zip(left, right, strict=True))


def astype(call: Call) -> Value:
    """`astype(x, dtype)`."""
    return call.make(call.dtype(1, None), call.first().shape)


def broadcast_arrays(call: Call) -> Value:
    """`broadcast_arrays(*arrays)`."""
    operands = [as_array(value, call.host) for value in call.positional]
    shape = broadcast(*(operand.shape for operand in operands))
    made = tuple(call.make(operand.dtype, shape, operand.weak) for operand in operands)
    return Items("tuple" if call.host else "list", made)


def rot90(call: Call, shape: Shape) -> Shape | None:
    """`rot90(x, k)` of the first two axes."""
    turns = call.get(1, "k")
    k = 1 if turns is None else integer(turns)
    if call.get(2, "axes") is not None or len(shape) < 2 or k is None:
        return (None,) * len(shape)
    return shape if k % 2 == 0 else (shape[1], shape[0], *shape[2:])


def shape_of(call: Call) -> Value:
    """`jnp.shape(x)`."""
    return shape_value(call.first().shape)


def shape_value(shape: Shape | None) -> Value:
    """A shape as a Python tuple of integers."""
    if shape is None:
        return Many("tuple", Scalar("int"))
    return Items("tuple", tuple(dim_value(dim) for dim in shape))


def dim_value(dim: Dim) -> Scalar:
    """A size as a Python integer."""
    return Scalar("int", dim, True) if isinstance(dim, int) else Scalar("int")


def ndim_of(call: Call) -> Value:
    """`jnp.ndim(x)`."""
    shape = call.first().shape
    return dim_value(None if shape is None else len(shape))


def size_of(call: Call) -> Value:
    """`jnp.size(x, axis)`."""
    shape = call.first().shape
    value = call.given(1, "axis")
    if shape is None:
        return Scalar("int")
    if value is None:
        return dim_value(times(shape))
    place = axis(value, len(shape))
    return dim_value(None if place is None else shape[place])


def host_copy(call: Call) -> Value | None:
    """`jax.device_get(x)` of one array."""
    value = call.get(0, "x")
    return replace(as_array(value, True), weak=False) if isinstance(value, Array) else None


def device_copy(call: Call) -> Value | None:
    """`jax.device_put(x)` of one array."""
    value = call.get(0, "x")
    return as_array(value) if isinstance(value, (Array, Scalar)) and not is_none(value) else None


_KEEPING: list[tuple[ShapeRule, str]] = [
    (
        unchanged,
        "numpy.flip numpy.fliplr numpy.flipud numpy.roll numpy.tril numpy.triu numpy.fft.fftshift numpy.fft.ifftshift ",
    ),
    (transpose, "numpy.transpose numpy.permute_dims lax.transpose"),
    (swapaxes, "numpy.swapaxes"),
    (moveaxis, "numpy.moveaxis"),
    (matrix_transpose, "numpy.matrix_transpose numpy.linalg.matrix_transpose"),
    (expand_dims, "numpy.expand_dims lax.expand_dims"),
    (squeeze, "numpy.squeeze lax.squeeze"),
    (tile, "numpy.tile lax.tile"),
    (pad, "numpy.pad"),
    (diagonal, "numpy.diagonal"),
    (rot90, "numpy.rot90"),
]
_OTHERS: list[tuple[Rule, str]] = [
    (reshape_, "numpy.reshape lax.reshape"),
    (ravel, "numpy.ravel"),
    (broadcast_to, "numpy.broadcast_to"),
    (repeat, "numpy.repeat"),
    (atleast(1), "numpy.atleast_1d"),
    (atleast(2), "numpy.atleast_2d"),
    (diag, "numpy.diag"),
    (trace, "numpy.trace"),
    (linalg_trace, "numpy.linalg.trace"),
    (take, "numpy.take"),
    (take_along_axis, "numpy.take_along_axis"),
    (astype, "numpy.astype lax.convert_element_type"),
    (broadcast_arrays, "numpy.broadcast_arrays"),
    (shape_of, "numpy.shape"),
    (ndim_of, "numpy.ndim"),
    (size_of, "numpy.size"),
    (host_copy, "device_get"),
    (device_copy, "device_put"),
]


def table() -> dict[str, Rule]:
    """The functions by name without 'jax.'."""
    found = {name: rule for rule, names in _OTHERS for name in names.split()}
    for shape_rule, names in _KEEPING:
        found.update(dict.fromkeys(names.split(), keeps(shape_rule)))
    return found
