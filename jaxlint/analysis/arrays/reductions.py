"""Functions that reduce, accumulate or sort along axes."""

from __future__ import annotations

from dataclasses import dataclass

from jaxlint.analysis.arrays import dtypes
from jaxlint.analysis.arrays.arguments import Call, Rule, axes, axis, dims, integer, is_none, several
from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.elementwise import DtypeRule, boolean, same
from jaxlint.analysis.arrays.shapes import plus, reduce, replaced, times
from jaxlint.analysis.values import Array, Items, Scalar, Shape, Value


def index(dtype: str | None, host: bool) -> str | None:
    """The dtype of an index or count."""
    return dtypes.default_int(host)


def real_averaged(dtype: str | None, host: bool) -> str | None:
    """The dtype of a variance or norm."""
    return dtypes.real(dtypes.averaged(dtype, host))


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction: its dtype, and where `axis`, `dtype` and `keepdims` stand among the arguments."""

    dtype: DtypeRule
    axis: int = 1
    dtype_at: int = -1
    keepdims: int = -1
    weak: bool | None = False

    def __call__(self, call: Call) -> Value:
        """The result of a call."""
        operand = call.first()
        dtype = call.dtype(self.dtype_at, self.dtype(operand.dtype, call.host))
        keepdims = call.flag(self.keepdims, "keepdims")
        return call.make(dtype, reduced(operand.shape, call.get(self.axis, "axis"), keepdims), self.weak)


def reduced(shape: Shape | None, over: Value | None, keepdims: bool | None) -> Shape | None:
    """The shape of a reduction."""
    if keepdims is None:
        return None
    if shape is None:
        return () if not keepdims and (over is None or is_none(over)) else None
    found = axes(over, len(shape))
    if found is not None:
        return reduce(shape, found, keepdims)
    if isinstance(over, Scalar) and over.kind == "int" and not over.known and shape:
        # One axis, but not known which.
        return (None,) * (len(shape) if keepdims else len(shape) - 1)
    return None


@dataclass(frozen=True, slots=True)
class Quantile:
    """`quantile(x, q, axis)`: the shape of `q` comes first."""

    q: bool = True

    def __call__(self, call: Call) -> Value:
        """The result of a call."""
        operand, q = call.first(), call.array(1, "q")
        shape = reduced(operand.shape, call.get(2, "axis"), call.flag(6, "keepdims"))
        whole = None if shape is None or q.shape is None else (*q.shape, *shape)
        dtype = dtypes.averaged(operand.dtype, call.host) if not call.host else None
        return call.make(dtype if q.dtype in ("float32", None) and dtype == "float32" else None, whole)


@dataclass(frozen=True, slots=True)
class Cumulative:
    """A running reduction: the shape stays, flattened where no axis is given."""

    dtype: DtypeRule
    dtype_at: int = 2

    def __call__(self, call: Call) -> Value:
        """The result of a call."""
        operand = call.first()
        dtype = call.dtype(self.dtype_at, self.dtype(operand.dtype, call.host))
        shape = operand.shape
        if call.given(1, "axis") is None:
            shape = (None if shape is None else times(shape),)
        return call.make(dtype, (1,) if shape == () else shape)


def summed_if_host(dtype: str | None, host: bool) -> str | None:
    """The dtype of a cumulative sum: JAX widens only bool."""
    return dtypes.summed(dtype, host) if host else dtypes.counted(dtype, host)


@dataclass(frozen=True, slots=True)
class Sorting:
    """`sort` and its kin: the shape stays, flattened for an axis of None."""

    dtype: DtypeRule = same
    keeps_weak: bool = False
    axis: int = 1

    def __call__(self, call: Call) -> Value:
        """The result of a call."""
        operand = call.first()
        over = call.get(self.axis, "axis")
        shape = operand.shape
        if over is not None and is_none(over):
            shape = (None if shape is None else times(shape),)
        return call.make(self.dtype(operand.dtype, call.host), (1,) if shape == () else shape, self._weak(operand))

    def _weak(self, operand: Array) -> bool | None:
        return operand.weak if self.keeps_weak else False if operand.weak is False else None


def norm(call: Call) -> Value:
    """`linalg.norm(x, ord, axis, keepdims)`."""
    operand = call.first()
    shape = reduced(operand.shape, call.get(2, "axis"), call.flag(3, "keepdims"))
    return call.make(real_averaged(operand.dtype, call.host), shape)


def vector_norm(call: Call) -> Value:
    """`linalg.vector_norm(x, axis=..., keepdims=..., ord=...)`."""
    operand = call.first()
    shape = reduced(operand.shape, call.get(-1, "axis"), call.flag(-1, "keepdims"))
    return call.make(real_averaged(operand.dtype, call.host), shape)


def logsumexp(call: Call) -> Value:
    """`logsumexp(a, axis, b, keepdims, return_sign)`."""
    operand = call.first()
    shape = reduced(operand.shape, call.get(1, "axis"), call.flag(3, "keepdims"))
    known = call.get(2, "b", "where") is None
    result = call.make(dtypes.inexact(operand.dtype, call.host) if known else None, shape, False if known else None)
    sign = call.flag(4, "return_sign")
    if sign is None:
        return Array(host=call.host)
    return Items("tuple", (result, result)) if sign else result


def average(call: Call) -> Value:
    """`average(a, axis, weights, returned, keepdims)`."""
    operand = call.first()
    shape = reduced(operand.shape, call.get(1, "axis"), call.flag(4, "keepdims"))
    weighted = call.given(2, "weights") is not None
    result = call.make(
        None if weighted else dtypes.averaged(operand.dtype, call.host), shape, None if weighted else False
    )
    returned = call.flag(3, "returned")
    if returned is None:
        return Array(host=call.host)
    return Items("tuple", (result, call.make(None, shape, None))) if returned else result


def diff(call: Call) -> Value:
    """`diff(a, n, axis)` shortens one axis by n."""
    operand = call.first()
    order = call.get(1, "n")
    count = 1 if order is None else integer(order)
    shape: Shape | None = None
    if operand.shape is not None and call.given(3, "prepend") is None and call.given(4, "append") is None:
        over = call.get(2, "axis")
        place = len(operand.shape) - 1 if over is None else axis(over, len(operand.shape))
        if place is not None and place >= 0:
            shape = replaced(operand.shape, place, plus(operand.shape[place], None if count is None else -count))
    return call.make(operand.dtype, shape, False if operand.weak is False else None)


def trapezoid(call: Call) -> Value:
    """`trapezoid(y, x, dx, axis)` integrates one axis away."""
    operand = call.first()
    shape: Shape | None = None
    if operand.shape is not None and call.given(1, "x") is None:
        place = len(operand.shape) - 1 if call.get(3, "axis") is None else axis(call.get(3, "axis"), len(operand.shape))
        shape = None if place is None or place < 0 else reduce(operand.shape, (place,), False)
    plain = call.given(1, "x") is None
    return call.make(dtypes.averaged(operand.dtype, call.host) if plain else None, shape, False if plain else None)


def searchsorted(call: Call) -> Value:
    """`searchsorted(a, v)` gives an index for each element of `v`."""
    return call.make(dtypes.default_int(call.host), call.array(1, "v").shape)


def digitize(call: Call) -> Value:
    """`digitize(x, bins)` gives an index for each element of `x`."""
    return call.make(dtypes.default_int(call.host), call.first().shape)


def bincount(call: Call) -> Value:
    """`bincount(x, weights, minlength, length=)`."""
    plain = call.given(1, "weights") is None
    size = integer(call.get(-1, "length")) if not call.host else None
    return call.make(dtypes.default_int(call.host) if plain else None, (size,), False if plain else None)


def unique(call: Call) -> Value:
    """`unique(x, ..., size=)` without its optional results."""
    operand = call.first()
    asked = [call.flag(i, name) for i, name in ((1, "return_index"), (2, "return_inverse"), (3, "return_counts"))]
    if any(flag is not False for flag in asked):
        return Array(host=call.host) if None in asked else _unique_all(call, operand, sum(map(bool, asked)))
    if call.given(4, "axis") is not None:
        return call.make(operand.dtype, operand.shape and (None,) * len(operand.shape), None)
    return call.make(operand.dtype, (integer(call.get(-1, "size")),), None)


def _unique_all(call: Call, operand: Array, count: int) -> Value:
    plain = call.given(4, "axis") is None
    values = call.make(operand.dtype, (integer(call.get(-1, "size")),) if plain else None, None)
    return Items("tuple", (values, *[call.make(dtypes.default_int(call.host), None)] * count))


def lax_reduce(dtype_rule: DtypeRule) -> Rule:
    """`lax.reduce_sum(operand, axes)` and its kin."""
    return Reduction(dtype_rule, weak=None)


def lax_arg(call: Call) -> Value:
    """`lax.argmax(operand, axis, index_dtype)`."""
    operand = call.first()
    return call.make(call.dtype(2, None, "index_dtype"), reduced(operand.shape, call.get(1, "axis"), False))


def top_k(call: Call) -> Value:
    """`lax.top_k(operand, k)`: the values and their indices."""
    operand = call.first()
    shape = None if not operand.shape else replaced(operand.shape, len(operand.shape) - 1, integer(call.get(1, "k")))
    values = call.make(operand.dtype, shape, operand.weak)
    return Items("list", (values, call.make("int32", shape, None)))


def lax_sort(call: Call) -> Value:
    """`lax.sort(operand)`, of one array or a tuple of arrays."""
    operands = call.get(0, "operand")
    if isinstance(operands, Items):
        return Items("tuple", tuple(as_array(value) for value in several(operands) or ()))
    operand = call.first()
    return call.make(operand.dtype, operand.shape, operand.weak)


def histogram(call: Call) -> Value:
    """`histogram(a, bins)`: counts and edges."""
    bins = call.get(1, "bins")
    found = (10,) if bins is None else dims(bins)
    size = found[0] if found is not None and not isinstance(bins, (Items, Array)) else None
    edges = None if not isinstance(size, int) else size + 1
    return Items("tuple", (call.make(None, (size,), None), call.make(None, (edges,), None)))


_TABLE: list[tuple[Rule, str]] = [
    (Reduction(dtypes.summed, dtype_at=2, keepdims=4), "numpy.sum numpy.prod numpy.nansum numpy.nanprod"),
    (Reduction(same, keepdims=3), "numpy.max numpy.min numpy.amax numpy.amin numpy.nanmax numpy.nanmin numpy.ptp"),
    (Reduction(dtypes.averaged, dtype_at=2, keepdims=4), "numpy.mean numpy.nanmean"),
    (Reduction(real_averaged, dtype_at=2, keepdims=5), "numpy.std numpy.var numpy.nanstd numpy.nanvar"),
    (Reduction(dtypes.averaged, keepdims=4), "numpy.median numpy.nanmedian"),
    (Reduction(index, keepdims=3), "numpy.argmax numpy.argmin numpy.nanargmax numpy.nanargmin"),
    (Reduction(boolean, keepdims=3), "numpy.all numpy.any"),
    (Reduction(index, keepdims=2), "numpy.count_nonzero"),
    (Quantile(), "numpy.quantile numpy.percentile numpy.nanquantile numpy.nanpercentile"),
    (
        Cumulative(summed_if_host),
        "numpy.cumsum numpy.cumprod numpy.nancumsum numpy.nancumprod",
    ),
    (Sorting(keeps_weak=True), "numpy.sort"),
    (Sorting(index), "numpy.argsort"),
    (Sorting(index, axis=2), "numpy.argpartition"),
    (Sorting(axis=2), "numpy.partition"),
    (norm, "numpy.linalg.norm"),
    (vector_norm, "numpy.linalg.vector_norm"),
    (logsumexp, "nn.logsumexp scipy.special.logsumexp"),
    (average, "numpy.average"),
    (diff, "numpy.diff"),
    (trapezoid, "numpy.trapezoid numpy.trapz"),
    (searchsorted, "numpy.searchsorted"),
    (digitize, "numpy.digitize"),
    (bincount, "numpy.bincount"),
    (unique, "numpy.unique"),
    (histogram, "numpy.histogram"),
    (lax_reduce(same), "lax.reduce_sum lax.reduce_prod lax.reduce_max lax.reduce_min lax.reduce_and lax.reduce_or"),
    (lax_arg, "lax.argmax lax.argmin"),
    (top_k, "lax.top_k"),
    (lax_sort, "lax.sort"),
]


def table() -> dict[str, Rule]:
    """The functions by name without 'jax.'."""
    return {name: rule for rule, names in _TABLE for name in names.split()}
