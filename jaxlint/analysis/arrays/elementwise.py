"""Functions that work on arrays element by element: the result's shape is what the operands broadcast to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jaxlint.analysis.arrays import dtypes
from jaxlint.analysis.arrays.arguments import Call, Rule, is_none
from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.promotion import promote
from jaxlint.analysis.arrays.shapes import broadcast, half, replaced
from jaxlint.analysis.values import Array, Items, Shape, Value

DtypeRule = Callable[["str | None", bool], "str | None"]


def same(dtype: str | None, host: bool) -> str | None:
    """The promoted dtype itself."""
    return dtype


def real(dtype: str | None, host: bool) -> str | None:
    """The dtype of a magnitude or part."""
    return dtypes.real(dtype)


def real_inexact(dtype: str | None, host: bool) -> str | None:
    """The dtype of an angle."""
    return dtypes.real(dtypes.inexact(dtype, host))


def boolean(dtype: str | None, host: bool) -> str | None:
    """A predicate."""
    return "bool"


def rounded(dtype: str | None, host: bool) -> str | None:
    """Rounding keeps integers in JAX; NumPy's versions differ."""
    return None if host and dtypes.is_integer(dtype) else dtype


def nothing(dtype: str | None, host: bool) -> str | None:
    """No claim."""
    return None


@dataclass(frozen=True, slots=True)
class Ufunc:
    """How many operands a function takes and what becomes of their promoted dtype and weak type.

    `weak` is 'keep', 'drop' (a strong operand gives a strong result, no more is said), or 'unsure': the same for floats.
    """

    arity: int
    dtype: DtypeRule
    weak: str = "keep"

    def __call__(self, call: Call) -> Value:
        """The result of a call."""
        operands = call.arrays(self.arity)
        if self.arity > 1 and call.host and not all(_is_host(value) for value in call.positional):
            operands = [as_array(operand, True) for operand in operands]
        return self.apply(operands, call.host)

    def apply(self, operands: list[Array], host: bool) -> Array:
        """The result for operands that are arrays."""
        shape = operands[0].shape if self.arity == 1 else broadcast(*(operand.shape for operand in operands))
        dtype, weak = promote(*operands)
        result = self.dtype(dtype, host)
        if host:
            return Array(result, shape, False, True)
        return Array(dtypes.narrow(result), shape, self._weak(dtype, weak, result))

    def _weak(self, promoted: str | None, weak: bool | None, result: str | None) -> bool | None:
        if result is None or (self.weak == "unsure" and dtypes.is_integer(promoted)):
            return None
        if self.weak != "keep" or result == "bool":
            return False if weak is False else None
        return weak


def _is_host(value: Value) -> bool:
    return not isinstance(value, Array) or value.host


def clip(call: Call) -> Value:
    """`clip(x, min, max)`, where either bound may be missing."""
    values = [call.first()]
    for value in (call.given(1, "min", "a_min"), call.given(2, "max", "a_max")):
        if value is not None:
            values.append(as_array(value, call.host))
    return promoted(call, values)


def where(call: Call) -> Value:
    """`where(condition, x, y)`, or the indices of true elements."""
    condition = call.array(0, "condition")
    branches = [call.given(1, "x"), call.given(2, "y")]
    if branches[0] is None and branches[1] is None:
        return nonzero(call)
    values = [Array(host=call.host) if value is None else as_array(value, call.host) for value in branches]
    dtype, weak = promote(*values)
    return call.make(dtype, broadcast(condition.shape, *(value.shape for value in values)), weak)


def nonzero(call: Call) -> Value:
    """The indices of nonzero elements, one array per axis; `size=` makes their length known."""
    from jaxlint.analysis.arrays.arguments import integer

    shape = call.array(0, "a", "condition").shape
    if shape is None:
        return Array(host=call.host)
    size = integer(call.get(-1, "size"))
    row = call.make(dtypes.default_int(call.host), (size,))
    return Items("tuple", (row,) * len(shape))


def select(call: Call) -> Value:
    """`select(condlist, choicelist, default)`."""
    lists = (call.get(0, "condlist"), call.get(1, "choicelist"))
    if not isinstance(lists[0], Items) or not isinstance(lists[1], Items):
        return Array(host=call.host)
    choices = [as_array(value, call.host) for value in lists[1].items]
    default = call.get(2, "default")
    choices.append(as_array(default, call.host) if default is not None else call.make("int32", (), True))
    conditions = [as_array(value, call.host).shape for value in lists[0].items]
    dtype, weak = promote(*choices)
    return call.make(dtype, broadcast(*conditions, *(c.shape for c in choices)), None if call.host else weak)


def promoted(call: Call, values: list[Array]) -> Array:
    """The promoted dtype and broadcast shape of values."""
    dtype, weak = promote(*values)
    return call.make(dtype, broadcast(*(value.shape for value in values)), weak)


def pair(first: Ufunc, second: Ufunc) -> Rule:
    """A function with two results."""
    return lambda call: Items("tuple", (first(call), second(call)))


def scalar_bool(call: Call) -> Value:
    """One truth value of whole arrays; NumPy gives a Python bool, kept as a host scalar."""
    return call.make("bool", ())


def power(call: Call) -> Value:
    """`power(x, y)`."""
    return power_of(call.arrays(2), call.host)


def power_of(operands: list[Array], host: bool) -> Array:
    """JAX raises a float to an integer power without promoting the two."""
    result = Ufunc(2, dtypes.counted).apply(operands, host)
    if host or result.weak is False:
        return result
    base, exponent = operands
    if base.weak is False and dtypes.kind(exponent.dtype) not in ("f", "c"):
        # A strong base with an integer exponent stays strong, whatever the exponent says.
        return Array(result.dtype, result.shape, None if result.dtype != base.dtype else False)
    return Array(result.dtype, result.shape, None)


def floor_or_keep(call: Call) -> Value:
    """An elementwise function that keeps its operand's dtype and weak type."""
    operand = call.first()
    return call.make(operand.dtype, operand.shape, operand.weak)


def glu(call: Call) -> Value:
    """The gated linear unit halves one axis."""
    from jaxlint.analysis.arrays.arguments import axis

    operand = call.first()
    shape: Shape | None = None
    if operand.shape is not None:
        where_ = call.get(1, "axis")
        place = len(operand.shape) - 1 if where_ is None else axis(where_, len(operand.shape))
        if place is not None and place >= 0:
            shape = replaced(operand.shape, place, half(operand.shape[place]))
    return call.make(operand.dtype if not dtypes.is_integer(operand.dtype) else None, shape, None)


def round_(call: Call) -> Value:
    """`round(x, decimals)` keeps the dtype."""
    return floor_or_keep(call)


def is_missing(call: Call, index: int, name: str) -> bool:
    """Whether an argument is absent or None."""
    value = call.get(index, name)
    return value is None or is_none(value)
