"""Methods and attributes of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jaxlint.analysis.arrays import dtypes
from jaxlint.analysis.arrays.arguments import Call
from jaxlint.analysis.arrays.shapes import times
from jaxlint.analysis.arrays.shaping import dim_value, shape_value
from jaxlint.analysis.values import NONE, Api, Array, Items, Many, Scalar, Unknown, Value

# Methods that are the function of the same name, or of the name given here.
_SAME_NAME = (
    "all any argmax argmin argpartition argsort astype clip conj conjugate copy cumprod cumsum diagonal dot "
    "max mean min nonzero prod ptp ravel repeat round searchsorted sort squeeze std sum swapaxes take trace var"
)
FUNCTIONS = {"flatten": "numpy.ravel", **{name: f"numpy.{name}" for name in _SAME_NAME.split()}}
_PYTHON = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


def item(array: Array) -> Value:
    """`x.item()`: a Python number of the dtype's kind."""
    kind = dtypes.kind(array.dtype)
    return Unknown() if kind is None else Scalar(_PYTHON[kind])


def tolist(array: Array) -> Value:
    """`x.tolist()`: nested lists of Python numbers."""
    if array.shape is None:
        return Unknown()
    result = item(array)
    for dim in reversed(array.shape):
        small = isinstance(dim, int) and dim <= 16
        result = Items("list", (result,) * int(dim or 0)) if small else Many("list", result)
    return result


def packed(arguments: Sequence[Value]) -> tuple[Value, ...]:
    """`x.reshape(2, 3)` as `x.reshape((2, 3))`; one argument stays as it is."""
    if len(arguments) <= 1:
        return tuple(arguments)
    return (Items("tuple", tuple(arguments)),)


def view(array: Array, dtype: Value | None) -> Value:
    """`x.view(dtype)`: the shape stays for a dtype of one size."""
    name = dtypes.named(dtype)
    if name is None:
        return Array(None, None, None, array.host)
    equal = dtypes.itemsize(name) == dtypes.itemsize(array.dtype)
    return Array(name if array.host else dtypes.narrow(name), array.shape if equal else None, False, array.host)


def special(array: Array, name: str, arguments: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
    """Methods that no function stands for."""
    match name:
        case "item":
            return item(array)
        case "tolist":
            return tolist(array)
        case "view" if arguments or "dtype" in keywords:
            return view(array, arguments[0] if arguments else keywords["dtype"])
        case "block_until_ready" | "__copy__" | "__deepcopy__" | "to_device":
            return array
        case "sort" | "fill" | "setflags" | "resize" if array.host:
            return NONE
        case "__len__":
            return dim_value(array.shape[0] if array.shape else None)
    return None


def attribute(array: Array, name: str) -> Value | None:
    """The value of an attribute; None where it is none that is known here."""
    rule = _ATTRIBUTES.get(name)
    return None if rule is None else rule(array)


def _dtype(array: Array) -> Value | None:
    return None if array.dtype is None else Api(f"{'numpy' if array.host else 'jax.numpy'}.{array.dtype}")


def _transposed(array: Array) -> Value:
    return Array(array.dtype, None if array.shape is None else array.shape[::-1], array.weak, array.host)


def _matrix_transposed(array: Array) -> Value:
    shape = array.shape
    turned = (*shape[:-2], shape[-1], shape[-2]) if shape is not None and len(shape) >= 2 else None
    return Array(array.dtype, turned, array.weak, array.host)


def _real(array: Array) -> Value:
    return Array(dtypes.real(array.dtype), array.shape, array.weak, array.host)


def _size(array: Array) -> Value:
    return dim_value(None if array.shape is None else times(array.shape))


def _itemsize(array: Array) -> Value:
    return dim_value(dtypes.itemsize(array.dtype))


def _nbytes(array: Array) -> Value:
    size = None if array.shape is None else times(array.shape)
    width = dtypes.itemsize(array.dtype)
    return dim_value(size * width if isinstance(size, int) and width is not None else None)


_ATTRIBUTES: dict[str, Callable[[Array], Value | None]] = {
    "shape": lambda array: shape_value(array.shape),
    "ndim": lambda array: dim_value(None if array.shape is None else len(array.shape)),
    "size": _size,
    "dtype": _dtype,
    "T": _transposed,
    "mT": _matrix_transposed,
    "real": _real,
    "imag": _real,
    "nbytes": _nbytes,
    "itemsize": _itemsize,
    "weak_type": lambda array: Scalar("bool", array.weak, array.weak is not None),
}


def as_call(
    array: Array, name: str, arguments: Sequence[Value], keywords: Mapping[str, Value]
) -> tuple[str, Call] | None:
    """The function that a method is, with the array as its first argument."""
    if name in ("reshape", "transpose"):
        order = [value for value in arguments if not (isinstance(value, Scalar) and value.kind == "str")]
        return f"numpy.{name}", Call((array, *packed(order)), keywords, array.host)
    function = FUNCTIONS.get(name)
    return None if function is None else (function, Call((array, *arguments), keywords, array.host))
