"""Functions of `jax.lax` that have no namesake in `jax.numpy`."""

from __future__ import annotations

from collections.abc import Callable

from jaxlint.analysis.arrays.arguments import Call, Rule, axis, axis_list, dims, integer
from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.promotion import promote
from jaxlint.analysis.arrays.shapes import plus, replaced, same
from jaxlint.analysis.values import Array, Dim, Items, Scalar, Shape, Value


def _kept(call: Call, shape: Shape | None) -> Array:
    operand = call.first()
    return call.make(operand.dtype, shape, operand.weak)


def _along(call: Call, index: int, default: int | None, size: Dim) -> Shape | None:
    """The operand's shape with another size along the axis argument."""
    shape = call.first().shape
    if shape is None:
        return None
    where = call.get(index, "axis")
    place = axis(Scalar("int", default, default is not None) if where is None else where, len(shape))
    return (None,) * len(shape) if place is None else replaced(shape, place, size)


def dynamic_slice(call: Call) -> Value:
    """`dynamic_slice(operand, start_indices, slice_sizes)`."""
    return _kept(call, dims(call.get(2, "slice_sizes")))


def dynamic_slice_in_dim(call: Call) -> Value:
    """`dynamic_slice_in_dim(operand, start_index, slice_size, axis)`."""
    return _kept(call, _along(call, 3, 0, integer(call.get(2, "slice_size"))))


def index_in_dim(call: Call) -> Value:
    """`dynamic_index_in_dim(operand, index, axis, keepdims)` and `index_in_dim`."""
    keepdims = call.flag(3, "keepdims", True)
    shape = _along(call, 2, 0, 1)
    if shape is None or keepdims is None:
        return _kept(call, None)
    if not keepdims:
        where = call.get(2, "axis")
        place = 0 if where is None else axis(where, len(shape))
        shape = (None,) * (len(shape) - 1) if place is None else (*shape[:place], *shape[place + 1 :])
    return _kept(call, shape)


def update(call: Call) -> Value:
    """`dynamic_update_slice(operand, update, ...)` has the operand's shape and dtype."""
    operand = call.first()
    return call.make(operand.dtype, operand.shape, False if operand.weak is False else None)


def slice_(call: Call) -> Value:
    """`slice(operand, start_indices, limit_indices, strides)`."""
    bounds = [dims(call.get(i, name)) for i, name in ((1, "start_indices"), (2, "limit_indices"))]
    if bounds[0] is None or bounds[1] is None or call.given(3, "strides") is not None:
        shape = call.first().shape
        return _kept(call, None if shape is None else (None,) * len(shape))
    return _kept(call, tuple(_width(a, b) for a, b in zip(*bounds, strict=False)))


def _width(start: Dim, stop: Dim) -> Dim:
    return stop - start if isinstance(start, int) and isinstance(stop, int) and stop >= start else None


def slice_in_dim(call: Call) -> Value:
    """`slice_in_dim(operand, start_index, limit_index, stride, axis)`."""
    start, stop = integer(call.get(1, "start_index")), integer(call.get(2, "limit_index"))
    plain = call.given(3, "stride") is None and start is not None and stop is not None and 0 <= start <= stop
    return _kept(call, _along(call, 4, 0, _width(start, stop) if plain else None))


def select(call: Call) -> Value:
    """`select(pred, on_true, on_false)` of arrays of one shape and dtype."""
    operands = [call.array(1, "on_true"), call.array(2, "on_false")]
    dtype, weak = promote(*operands)
    return call.make(dtype, _agreed([operand.shape for operand in operands]), weak)


def _agreed(shapes: list[Shape | None]) -> Shape | None:
    known = [shape for shape in shapes if shape is not None]
    if not known or any(len(shape) != len(known[0]) for shape in known):
        return None
    result = known[0]
    for shape in known[1:]:
        result = tuple(map(same, result, shape))
    return result


def clamp(call: Call) -> Value:
    """`clamp(min, x, max)` has the shape of x."""
    operands = [call.array(0, "min"), call.array(1, "x"), call.array(2, "max")]
    dtype, weak = promote(*operands)
    return call.make(dtype, operands[1].shape, False if weak is False else None)


def broadcast(call: Call) -> Value:
    """`broadcast(operand, sizes)` adds dimensions in front."""
    operand, sizes = call.first(), dims(call.get(1, "sizes"))
    return _kept(call, None if operand.shape is None or sizes is None else (*sizes, *operand.shape))


def broadcast_in_dim(call: Call) -> Value:
    """`broadcast_in_dim(operand, shape, dimensions)`."""
    return _kept(call, dims(call.get(1, "shape")))


def pad(call: Call) -> Value:
    """`pad(operand, value, padding_config)` with (low, high, interior) for each axis."""
    shape, config = call.first().shape, call.get(2, "padding_config")
    if shape is None:
        return update(call)
    operand = call.first()
    grown: Shape = (None,) * len(shape)
    if isinstance(config, Items) and len(config.items) == len(shape):
        grown = tuple(_padded(dim, part) for dim, part in zip(shape, config.items, strict=True))
    return call.make(operand.dtype, grown, False if operand.weak is False else None)


def _padded(dim: Dim, part: Value) -> Dim:
    sizes = [integer(item) for item in part.items] if isinstance(part, Items) else []
    if len(sizes) != 3 or None in sizes or not isinstance(dim, int):
        return None
    low, high, interior = (int(size or 0) for size in sizes)
    return plus(dim, low + high + max(0, dim - 1) * interior)


def all_gather(call: Call) -> Value:
    """`all_gather(x, axis_name, axis=, tiled=)`: a new axis of unknown size, or a longer one."""
    operand = call.first()
    tiled = call.flag(-1, "tiled")
    if operand.shape is None or tiled is None:
        return _kept(call, None)
    where = call.get(-1, "axis")
    place = 0 if where is None else axis(where, len(operand.shape) + (not tiled))
    if place is None:
        return _kept(call, (None,) * (len(operand.shape) + (not tiled)))
    if tiled:
        return _kept(call, replaced(operand.shape, place, None))
    return _kept(call, (*operand.shape[:place], None, *operand.shape[place:]))


def dot_general(call: Call) -> Value:
    """`dot_general(lhs, rhs, ((lhs contract, rhs contract), (lhs batch, rhs batch)))`."""
    operands = [call.array(0, "lhs"), call.array(1, "rhs")]
    dtype, weak = promote(*operands)
    if call.given(-1, "preferred_element_type") is not None:
        dtype, weak = call.dtype(-1, None, "preferred_element_type"), None
    numbers = _dimension_numbers(call.get(2, "dimension_numbers"), operands)
    shape: Shape | None = None
    left, right = operands[0].shape, operands[1].shape
    if numbers is not None and left is not None and right is not None:
        (contract, batch), (other, other_batch) = numbers
        shape = (
            *(left[i] for i in batch),
            *(dim for i, dim in enumerate(left) if i not in (*contract, *batch)),
            *(dim for i, dim in enumerate(right) if i not in (*other, *other_batch)),
        )
    return call.make(dtype, shape, weak)


def _dimension_numbers(value: Value | None, operands: list[Array]) -> list[list[list[int]]] | None:
    """Contracting and batch axes of each operand."""
    if not isinstance(value, Items) or len(value.items) != 2:
        return None
    found: list[list[list[int]]] = [[], []]
    for part in value.items:
        if not isinstance(part, Items) or len(part.items) != 2:
            return None
        for number, side in enumerate(part.items):
            shape = operands[number].shape
            axes = None if shape is None else axis_list(side, len(shape))
            if axes is None:
                return None
            found[number].append(axes)
    return found


def convolution(call: Call) -> Value:
    """`conv_general_dilated(lhs, rhs, ...)`: the rank of its operands."""
    operands = [call.array(0, "lhs"), call.array(1, "rhs")]
    dtype, _ = promote(*operands)
    if call.given(-1, "preferred_element_type") is not None:
        dtype = call.dtype(-1, None, "preferred_element_type")
    shape = operands[0].shape or operands[1].shape
    return call.make(dtype, None if shape is None else (None,) * len(shape), None)


def mean_over_axis(call: Call) -> Value:
    """`pmean(x, axis_name)` of a pytree: integers become floats."""
    return _mapped(call.get(0, "x"), lambda array: _averaged(call, array)) or Array()


def _averaged(call: Call, array: Array) -> Array:
    from jaxlint.analysis.arrays.dtypes import averaged

    return call.make(averaged(array.dtype, False), array.shape, None)


def over_axis(call: Call) -> Value:
    """`psum(x, axis_name)` and its kin keep shapes; of a Python number `psum` gives a number."""
    value = call.get(0, "x")
    if isinstance(value, Scalar):
        return Scalar(value.kind)
    return (
        _mapped(value, lambda array: call.make(None if array.dtype == "bool" else array.dtype, array.shape, None))
        or Array()
    )


def kept_tree(call: Call) -> Value:
    """`stop_gradient(x)` and other identities of pytrees."""
    return _mapped(call.get(0, "x", "tree", "operand"), lambda array: array) or Array()


def _mapped(value: Value | None, change: Callable[[Array], Array]) -> Value | None:
    """A pytree of tuples and lists with its arrays changed; what is no array stays as it is."""
    if isinstance(value, Items):
        return Items(value.kind, tuple(_mapped(item, change) or item for item in value.items))
    if isinstance(value, Array):
        return change(as_array(value))
    if isinstance(value, Scalar) and value.kind in ("bool", "int", "float", "complex"):
        return change(as_array(value))
    return value


def axis_size(call: Call) -> Value:
    """`lax.axis_size(axis_name)`."""
    return Scalar("int")


_TABLE: list[tuple[Rule, str]] = [
    (dynamic_slice, "lax.dynamic_slice"),
    (dynamic_slice_in_dim, "lax.dynamic_slice_in_dim"),
    (index_in_dim, "lax.dynamic_index_in_dim lax.index_in_dim"),
    (update, "lax.dynamic_update_slice lax.dynamic_update_slice_in_dim lax.dynamic_update_index_in_dim"),
    (slice_, "lax.slice"),
    (slice_in_dim, "lax.slice_in_dim"),
    (select, "lax.select"),
    (clamp, "lax.clamp"),
    (broadcast, "lax.broadcast"),
    (broadcast_in_dim, "lax.broadcast_in_dim"),
    (pad, "lax.pad"),
    (all_gather, "lax.all_gather"),
    (dot_general, "lax.dot_general"),
    (convolution, "lax.conv_general_dilated lax.conv lax.conv_with_general_padding lax.conv_transpose"),
    (mean_over_axis, "lax.pmean"),
    (over_axis, "lax.psum lax.pmax lax.pmin"),
    (kept_tree, "lax.stop_gradient lax.ppermute lax.optimization_barrier lax.pcast lax.with_sharding_constraint"),
    (axis_size, "lax.axis_size"),
]


def table() -> dict[str, Rule]:
    """The functions by name without 'jax.'."""
    return {name: rule for rule, names in _TABLE for name in names.split()}
