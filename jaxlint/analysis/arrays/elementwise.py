"""Functions that work on arrays element by element: the result's shape is what the operands broadcast to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from jaxlint.analysis.arrays import dtypes
from jaxlint.analysis.arrays.arguments import Call, Rule, axis, integer
from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.promotion import promote
from jaxlint.analysis.arrays.shapes import broadcast, half, replaced
from jaxlint.analysis.values import Array, Items, Many, Scalar, Shape, Unknown, Value

DtypeRule = Callable[["str | None", bool], "str | None"]


def same(dtype: str | None, host: bool) -> str | None:
    """The promoted dtype itself."""
    return dtype


def real(dtype: str | None, host: bool) -> str | None:
    """The dtype of a magnitude or part."""
    return dtypes.real(dtype)


def conjugated(dtype: str | None, host: bool) -> str | None:
    """The dtype of a conjugate: NumPy's function, but not its method, makes bool an integer."""
    return None if host and dtype == "bool" else dtype


def float_power(dtype: str | None, host: bool) -> str | None:
    """The dtype of `float_power`: NumPy computes in double precision."""
    if not host or dtype is None:
        return dtypes.averaged(dtype, host)
    return "complex128" if dtypes.kind(dtype) == "c" else "float64"


def decimals(dtype: str | None, host: bool) -> str | None:
    """The dtype of a number rounded to decimals."""
    return None if host and dtype == "bool" else dtype


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

    `weak` is 'keep', 'drop' (strong operands give a strong result, no more is said), or 'unsure' (so for floats alone).
    """

    arity: int
    dtype: DtypeRule
    weak: str = "keep"

    def __call__(self, call: Call) -> Value:
        """The result of a call."""
        operands = call.arrays(self.arity)
        return self.apply(operands, call.host)

    def apply(self, operands: list[Array], host: bool) -> Array:
        """The result for operands that are arrays."""
        shape = operands[0].shape if self.arity == 1 else broadcast(*(operand.shape for operand in operands))
        if host and self.arity == 2 and self.dtype is dtypes.inexact:
            # NumPy looks for the first loop of floats that takes each operand.
            operands = _loops(operands)
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


def _loops(operands: list[Array]) -> list[Array]:
    if any(operand.weak for operand in operands) and any(dtypes.is_integer(operand.dtype) for operand in operands):
        return [replace(operand, dtype=None) for operand in operands]
    return [replace(operand, dtype=dtypes.inexact(operand.dtype, True)) for operand in operands]


@dataclass(frozen=True, slots=True)
class Part:
    """A function that NumPy, given a Python number, answers with one."""

    ufunc: Ufunc

    def __call__(self, call: Call) -> Value:
        """The result of a call."""
        if call.host and call.positional and isinstance(call.positional[0], Scalar):
            return Scalar("bool") if self.ufunc.dtype is boolean else Unknown()
        return self.ufunc(call)


def angle(call: Call) -> Value:
    """`angle(x)`: half precision may be widened."""
    operand = call.first()
    found = dtypes.real(dtypes.averaged(operand.dtype, call.host))
    return call.make(found if found == "float32" and not call.host else None, operand.shape, None)


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
    shape = call.array(0, "a", "condition").shape
    row = call.make(dtypes.default_int(call.host), (integer(call.get(-1, "size")),))
    return Many("tuple", row) if shape is None else Items("tuple", (row,) * len(shape))


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
    return call.make(None if call.host else dtype, broadcast(*conditions, *(c.shape for c in choices)), weak)


def promoted(call: Call, values: list[Array]) -> Array:
    """The promoted dtype and broadcast shape of values."""
    dtype, weak = promote(*values)
    return call.make(dtype, broadcast(*(value.shape for value in values)), weak)


def pair(first: Ufunc, second: Ufunc) -> Rule:
    """A function with two results."""
    return lambda call: Items("tuple", (first(call), second(call)))


def scalar_bool(call: Call) -> Value:
    """One truth value of whole arrays; NumPy gives a Python bool."""
    if call.host:
        return Scalar("bool")
    return call.make("bool", ())


def power(call: Call) -> Value:
    """`power(x, y)`."""
    return power_of(call.arrays(2), call.get(1, "x2", "y"), call.host)


def power_of(operands: list[Array], exponent: Value | None, host: bool) -> Array:
    """`x ** y`: JAX does not promote a base and a concrete integer exponent, nor a float and any integer."""
    result = Ufunc(2, dtypes.counted).apply(operands, host)
    base = operands[0]
    if host:
        # NumPy squares by another function.
        return replace(result, dtype=None) if base.dtype == "bool" and isinstance(exponent, Scalar) else result
    if isinstance(exponent, Scalar) and exponent.kind == "int" and base.dtype != "bool":
        return replace(result, weak=base.weak)
    if isinstance(exponent, Array) and exponent.host and dtypes.is_integer(exponent.dtype) is not False:
        return _static_power(result, base, exponent)
    if result.weak is False:
        return result
    if base.weak is False and dtypes.kind(exponent.dtype if isinstance(exponent, Array) else None) in ("i", "u", "b"):
        return replace(result, weak=False if result.dtype == base.dtype else None)
    return replace(result, weak=None)


def _static_power(result: Array, base: Array, exponent: Array) -> Array:
    """The power for an exponent of NumPy: one number counts as a Python integer."""
    if exponent.shape == () and base.dtype != "bool" and exponent.dtype is not None:
        return Array(base.dtype, result.shape, None)
    sure = exponent.shape is not None and exponent.shape != () and exponent.dtype is not None
    return replace(result, weak=None) if sure else Array(None, result.shape)


def glu(call: Call) -> Value:
    """The gated linear unit halves one axis."""
    operand = call.first()
    shape: Shape | None = None
    if operand.shape is not None:
        given = call.get(1, "axis")
        place = len(operand.shape) - 1 if given is None else axis(given, len(operand.shape))
        if place is not None and place >= 0:
            shape = replaced(operand.shape, place, half(operand.shape[place]))
    return call.make(operand.dtype if not dtypes.is_integer(operand.dtype) else None, shape, None)
