"""Functions that make arrays from sizes and values."""

from __future__ import annotations

from math import ceil

from jaxlint.analysis.arrays import dtypes
from jaxlint.analysis.arrays.arguments import Call, Rule, dims, integer, is_none, number
from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.promotion import promote
from jaxlint.analysis.arrays.shapes import broadcast, times
from jaxlint.analysis.values import Array, Dim, Items, Key, Scalar, Shape, Value


def filled(call: Call) -> Value:
    """`zeros(shape, dtype)` and its kin."""
    return call.make(call.dtype(1, dtypes.default_float(call.host)), dims(call.get(0, "shape")))


def full(call: Call) -> Value:
    """`full(shape, fill_value, dtype)`: the dtype is that of the value where none is asked for."""
    value = call.array(1, "fill_value")
    shape = dims(call.get(0, "shape"))
    if call.has_dtype(2):
        return call.make(call.dtype(2, None), shape)
    return call.make(value.dtype, shape, value.weak)


def like(dtype_at: int) -> Rule:
    """`zeros_like(x, dtype, shape)` and its kin keep weak type where no dtype is asked for."""

    def rule(call: Call) -> Value:
        operand = call.first()
        given = call.given(-1, "shape") if call.host else call.given(dtype_at + 1, "shape")
        shape = operand.shape if given is None else dims(given)
        if call.has_dtype(dtype_at):
            return call.make(call.dtype(dtype_at, None), shape)
        return call.make(operand.dtype, shape, operand.weak)

    return rule


def asarray(dtype_at: int = 1) -> Rule:
    """`asarray(value, dtype)`; keys and texts are no arrays of numbers."""

    def rule(call: Call) -> Value | None:
        value = call.get(0, "a", "object", "x")
        if value is None or isinstance(value, Key) or is_none(value):
            return None
        found = as_array(value, call.host)
        dtype = call.dtype(dtype_at, found.dtype)
        weak = False if call.has_dtype(dtype_at) else found.weak
        ndmin = call.get(-1, "ndmin")
        shape = found.shape
        if ndmin is not None:
            least = integer(ndmin)
            shape = None if least is None or shape is None else ((1,) * (least - len(shape)) + shape)
        return call.make(dtype, shape, weak)

    return rule


def cast(name: str) -> Rule:
    """A dtype used as a function: `jnp.float32(x)`."""

    def rule(call: Call) -> Value:
        if not call.positional:
            return call.make(name, ())
        return call.make(name, as_array(call.positional[0], call.host).shape)

    return rule


def arange(call: Call) -> Value:
    """`arange(start, stop, step, dtype)`."""
    bounds = [call.get(i, name) for i, name in enumerate(("start", "stop", "step"))]
    if call.given(1, "stop") is None and not (bounds[1] is not None and bounds[0] is None):
        bounds = [None, bounds[0], bounds[2]]
    given = [bound for bound in bounds if bound is not None and not is_none(bound)]
    dtype, _ = promote(*(as_array(bound, call.host) for bound in given))
    if call.host:
        dtype = "int64" if all(isinstance(b, Scalar) and b.kind in ("int", "bool") for b in given) else dtype
    return call.make(call.dtype(3, dtype), (_count(bounds),))


def _count(bounds: list[Value | None]) -> Dim:
    start, stop, step = (
        default if bound is None or is_none(bound) else number(bound)
        for bound, default in zip(bounds, (0, None, 1), strict=True)
    )
    if start is None or stop is None or not step:
        return None
    try:
        return max(0, ceil((stop - start) / step))
    except (OverflowError, ValueError):  # infinite or not a number
        return None


def linspace(call: Call) -> Value:
    """`linspace(start, stop, num, endpoint, retstep, dtype, axis)`; the new axis comes first."""
    ends = [call.array(0, "start"), call.array(1, "stop")]
    num = call.get(2, "num")
    inner = broadcast(ends[0].shape, ends[1].shape)
    simple = call.given(6, "axis") is None or integer(call.get(6, "axis")) == 0
    shape: Shape | None = None
    if inner is not None and (simple or not inner):
        shape = (50 if num is None else integer(num), *inner)
    dtype = dtypes.averaged(promote(*ends)[0], call.host)
    result = call.make(call.dtype(5, dtype), shape)
    retstep = call.flag(4, "retstep")
    if retstep is None:
        return Array(host=call.host)
    return Items("tuple", (result, call.make(None, inner, None))) if retstep else result


def spaced(dtype_at: int) -> Rule:
    """`logspace` and `geomspace`."""

    def rule(call: Call) -> Value:
        ends = [call.array(0, "start"), call.array(1, "stop")]
        num = call.get(2, "num")
        inner = broadcast(ends[0].shape, ends[1].shape)
        plain = inner is not None and not inner
        dtype = dtypes.averaged(promote(*ends)[0], call.host)
        return call.make(call.dtype(dtype_at, dtype), (50 if num is None else integer(num),) if plain else None)

    return rule


def eye(dtype_at: int) -> Rule:
    """`eye(N, M, k, dtype)` and `tri`."""

    def rule(call: Call) -> Value:
        rows = integer(call.get(0, "N"))
        second = call.given(1, "M")
        columns = rows if second is None else integer(second)
        return call.make(call.dtype(dtype_at, dtypes.default_float(call.host)), (rows, columns))

    return rule


def identity(call: Call) -> Value:
    """`identity(n, dtype)`."""
    size = integer(call.get(0, "n"))
    return call.make(call.dtype(1, dtypes.default_float(call.host)), (size, size))


def meshgrid(call: Call) -> Value:
    """`meshgrid(*vectors, indexing=...)`."""
    vectors = [as_array(value, call.host) for value in call.positional]
    sizes: list[Dim] = [None if v.shape is None else times(v.shape) for v in vectors]
    indexing = call.get(-1, "indexing")
    order = "xy" if indexing is None else indexing.const if isinstance(indexing, Scalar) and indexing.known else None
    sparse = call.flag(-1, "sparse")
    if order == "xy":
        sizes[:2] = sizes[1::-1]
    shape: Shape | None = tuple(sizes) if order in ("xy", "ij") and sparse is False else None
    made = tuple(call.make(v.dtype, shape, v.weak) for v in vectors)
    return Items("tuple" if call.host else "list", made)


def one_hot(call: Call) -> Value:
    """`jax.nn.one_hot(x, num_classes, dtype=, axis=)`."""
    indices = call.array(0, "x")
    size = integer(call.get(1, "num_classes"))
    shape: Shape | None = None
    if indices.shape is not None:
        where = call.get(-1, "axis")
        place = -1 if where is None else integer(where)
        ndim = len(indices.shape) + 1
        if place is not None and -ndim <= place < ndim:
            place %= ndim
            shape = (*indices.shape[:place], size, *indices.shape[place:])
    return call.make(call.dtype(-1, "float32"), shape, None if call.dtype(-1, "float32") is None else False)


def iota(call: Call) -> Value:
    """`lax.iota(dtype, size)`."""
    return call.make(call.dtype(0, None), (integer(call.get(1, "size")),))


def broadcasted_iota(call: Call) -> Value:
    """`lax.broadcasted_iota(dtype, shape, dimension)`."""
    return call.make(call.dtype(0, None), dims(call.get(1, "shape")))


def window(call: Call) -> Value:
    """`hanning(M)` and other windows."""
    return call.make(dtypes.default_float(call.host), (integer(call.get(0, "M")),))


def frequencies(whole: bool) -> Rule:
    """`fft.fftfreq(n, d)` and `fft.rfftfreq`."""

    def rule(call: Call) -> Value:
        size = integer(call.get(0, "n"))
        found = size if whole or size is None else size // 2 + 1
        return call.make(call.dtype(-1, dtypes.default_float(call.host)), (found,), None)

    return rule


def axis_index(call: Call) -> Value:
    """`lax.axis_index(axis_name)`."""
    return call.make("int32", ())


def tril_indices(call: Call) -> Value:
    """`tril_indices(n)`: two index vectors of one length."""
    size = integer(call.get(0, "n"))
    plain = call.given(1, "k") is None and call.given(2, "m") is None and size is not None
    count = size * (size + 1) // 2 if plain and size is not None else None
    row = call.make(dtypes.default_int(call.host), (count,))
    return Items("tuple", (row, row))


def diag_indices(call: Call) -> Value:
    """`diag_indices(n, ndim)`."""
    second = call.get(1, "ndim")
    count = 2 if second is None else integer(second)
    if count is None or count > 16:
        return Array(host=call.host)
    return Items("tuple", (call.make(dtypes.default_int(call.host), (integer(call.get(0, "n")),)),) * count)


_TABLE: list[tuple[Rule, str]] = [
    (filled, "numpy.zeros numpy.ones numpy.empty lax.empty"),
    (full, "numpy.full lax.full"),
    (like(1), "numpy.zeros_like numpy.ones_like numpy.empty_like"),
    (like(2), "numpy.full_like lax.full_like"),
    (asarray(), "numpy.array numpy.asarray numpy.ascontiguousarray numpy.asanyarray"),
    (arange, "numpy.arange"),
    (linspace, "numpy.linspace"),
    (spaced(5), "numpy.logspace"),
    (spaced(4), "numpy.geomspace"),
    (eye(3), "numpy.eye numpy.tri"),
    (identity, "numpy.identity"),
    (meshgrid, "numpy.meshgrid"),
    (one_hot, "nn.one_hot"),
    (iota, "lax.iota"),
    (broadcasted_iota, "lax.broadcasted_iota"),
    (window, "numpy.hanning numpy.hamming numpy.blackman numpy.bartlett"),
    (frequencies(True), "numpy.fft.fftfreq"),
    (frequencies(False), "numpy.fft.rfftfreq"),
    (axis_index, "lax.axis_index"),
    (tril_indices, "numpy.tril_indices numpy.triu_indices"),
    (diag_indices, "numpy.diag_indices"),
]


def table() -> dict[str, Rule]:
    """The functions by name without 'jax.'; a dtype's name is a function that casts."""
    found = {name: rule for rule, names in _TABLE for name in names.split()}
    for name in (*dtypes.KINDS, "bool_", "float_", "int_", "double", "single", "half", "complex_", "uint"):
        found[f"numpy.{name}"] = cast(dtypes.class_name(f"numpy.{name}") or name)
    return found
