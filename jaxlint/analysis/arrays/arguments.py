"""The arguments of an array function, read as arrays, shapes, axes, dtypes and flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.dtypes import named, narrow
from jaxlint.analysis.values import Array, Items, Scalar, Shape, Value


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an array function; `host` says that it is NumPy's."""

    positional: Sequence[Value]
    keywords: Mapping[str, Value]
    host: bool = False

    def get(self, index: int, *names: str) -> Value | None:
        """An argument by its place or one of its names; None where it is not given."""
        if 0 <= index < len(self.positional):
            return self.positional[index]
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return None

    def given(self, index: int, *names: str) -> Value | None:
        """Like `get`, where a literal None counts as not given."""
        value = self.get(index, *names)
        return None if is_none(value) else value

    def array(self, index: int, *names: str) -> Array:
        """An argument as an array; one of which nothing is known where it is missing."""
        value = self.get(index, *names)
        return Array(host=self.host) if value is None else as_array(value, self.host)

    def first(self) -> Array:
        """The array that the function works on, whatever its parameter is called."""
        return self.array(0, "a", "x", "m", "arr", "array", "operand", "ary", "y", "v", "input")

    def arrays(self, count: int) -> list[Array]:
        """The first positional arguments, and the usual names of those that are missing."""
        names = (("x", "x1", "a"), ("y", "x2", "b"), ("z", "x3"))
        return [self.array(i, *names[i]) for i in range(count)]

    def dtype(self, index: int, default: str | None, name: str = "dtype") -> str | None:
        """The dtype asked for, else the default; None where it is not known."""
        value = self.given(index, name, "out_dtype") if name == "dtype" else self.given(index, name)
        if value is None:
            return default
        found = named(value)
        return found if self.host else narrow(found)

    def has_dtype(self, index: int, name: str = "dtype") -> bool:
        """Whether a dtype is asked for."""
        return self.given(index, name) is not None

    def flag(self, index: int, name: str, default: bool = False) -> bool | None:
        """A truth value; None where it is not known."""
        value = self.get(index, name)
        if value is None:
            return default
        return bool(value.const) if isinstance(value, Scalar) and value.known else None

    def make(self, dtype: str | None, shape: Shape | None, weak: bool | None = False) -> Array:
        """The result: a host array for NumPy's functions, else one on the device with 32-bit types."""
        if self.host:
            return Array(dtype, shape, False, True)
        return Array(narrow(dtype), shape, weak)


Rule: TypeAlias = Callable[[Call], "Value | None"]


def is_none(value: Value | None) -> bool:
    """Whether an argument is a literal None."""
    return isinstance(value, Scalar) and value.kind == "none"


def integer(value: Value | None) -> int | None:
    """The integer that a value is known to be."""
    if isinstance(value, Scalar) and value.known and isinstance(value.const, int):
        return int(value.const)
    return None


def number(value: Value | None) -> int | float | None:
    """The real number that a value is known to be."""
    if isinstance(value, Scalar) and value.known and isinstance(value.const, (int, float)):
        return value.const
    return None


def dims(value: Value | None) -> Shape | None:
    """A shape argument: an integer, or a list or tuple of integers."""
    if isinstance(value, Scalar):
        return (integer(value),) if value.kind in ("int", "bool") else None
    if isinstance(value, Items) and value.kind in ("tuple", "list"):
        return tuple(map(integer, value.items))
    if isinstance(value, Array) and value.shape is not None and len(value.shape) <= 1:
        size = value.shape[0] if value.shape else 1
        return (None,) * size if isinstance(size, int) else None
    return None


def axis(value: Value | None, ndim: int) -> int | None:
    """One axis, counted from the front; None where it is unknown or out of range."""
    found = integer(value)
    if found is None or not -ndim <= found < ndim:
        return None
    return found % ndim


def axes(value: Value | None, ndim: int) -> tuple[int, ...] | None:
    """Axes of a reduction: all where none are given; None where they are unknown."""
    if value is None or is_none(value):
        return tuple(range(ndim))
    found = axis_list(value, ndim)
    return None if found is None else tuple(found)


def axis_list(value: Value | None, ndim: int) -> list[int] | None:
    """Axes in the order given, from one integer or several."""
    values = value.items if isinstance(value, Items) else (value,)
    result: list[int] = []
    for part in values:
        found = axis(part, ndim)
        if found is None or found in result:
            return None
        result.append(found)
    return result


def several(value: Value | None) -> tuple[Value, ...] | None:
    """The arrays of a sequence argument; None where it is not known how many there are."""
    if isinstance(value, Items):
        return value.items
    if isinstance(value, Array) and value.shape and isinstance(value.shape[0], int) and value.shape[0] <= 64:
        row = Array(value.dtype, value.shape[1:], value.weak, value.host)
        return (row,) * value.shape[0]
    return None
