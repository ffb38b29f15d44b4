"""Python's operators on arrays, and constant folding on Python numbers."""

from __future__ import annotations

import operator as op
from collections.abc import Callable
from typing import Any

from jaxlint.analysis.arrays.arguments import Call
from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.dtypes import averaged, counted
from jaxlint.analysis.arrays.elementwise import Ufunc, boolean, power_of, real, same
from jaxlint.analysis.arrays.products import matmul
from jaxlint.analysis.values import Array, Items, Scalar, Unknown, Value, known

_UFUNCS: dict[str, Ufunc] = {
    **dict.fromkeys(("+", "-", "*", "&", "|", "^"), Ufunc(2, same)),
    **dict.fromkeys(("//", "%", "<<", ">>"), Ufunc(2, counted)),
    "/": Ufunc(2, averaged),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), Ufunc(2, boolean)),
}
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": op.add, "-": op.sub, "*": op.mul, "/": op.truediv, "//": op.floordiv, "%": op.mod, "**": op.pow,
    "&": op.and_, "|": op.or_, "^": op.xor, "<<": op.lshift, ">>": op.rshift,
    "==": op.eq, "!=": op.ne, "<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge,
}  # fmt: skip
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_NUMBERS = ("bool", "int", "float", "complex")
_UNARY: dict[str, Callable[[Any], Any]] = {"-": op.neg, "+": op.pos, "~": op.invert, "not": op.not_}
_LIMIT = 2**63


def binary(operator: str, left: Value, right: Value) -> Value | None:
    """The result of `left operator right`; None where it is no operation on arrays or numbers."""
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return _fold(operator, left, right)
    if not isinstance(left, Array) and not isinstance(right, Array):
        return Array() if operator in _UFUNCS or operator in ("@", "**") else None
    operands = _operands(left, right)
    if operands is None:
        return None
    if any(isinstance(side, Unknown) for side in (left, right)):
        return _with_unknown(operator, operands)
    host = all(operand.host for operand in operands)
    if operator == "@":
        return matmul(Call(operands, {}, host))
    if operator == "**":
        return power_of(operands, right, host)
    ufunc = _UFUNCS.get(operator)
    return None if ufunc is None else ufunc.apply(operands, host)


def _operands(left: Value, right: Value) -> list[Array] | None:
    """Both sides as arrays; Python numbers and lists take the side of the array."""
    host = all(side.host for side in (left, right) if isinstance(side, Array))
    result = []
    for side in (left, right):
        if isinstance(side, Scalar) and side.kind not in _NUMBERS:
            return None
        if isinstance(side, Items) and not host:
            return None
        if not isinstance(side, (Array, Scalar, Items, Unknown)):
            return None
        result.append(as_array(side, host))
    return result


def _with_unknown(operator: str, operands: list[Array]) -> Value:
    if all(operand.host for operand in operands):
        # The unknown side may be a device array, which decides.
        return Unknown()
    return Array("bool") if operator in _COMPARISONS else Array()


def unary(operator: str, operand: Value) -> Value | None:
    """The result of `operator operand`; None where it is no operation on an array or number."""
    if isinstance(operand, Array):
        ufunc = Ufunc(1, real if operator == "abs" else same)
        return ufunc.apply([as_array(operand, operand.host)], operand.host) if operator in _UNARY else None
    if isinstance(operand, Unknown):
        return Array()
    if not isinstance(operand, Scalar) or operand.kind not in _NUMBERS or operator not in _UNARY:
        return None
    if operator == "not":
        return known(not operand.const) if operand.known else Scalar("bool")
    if operator == "~" and operand.kind in ("float", "complex"):
        return None
    if operand.known:
        return known(_UNARY[operator](operand.const))
    return Scalar("int" if operand.kind == "bool" else operand.kind)


def _fold(operator: str, left: Scalar, right: Scalar) -> Scalar | None:
    """Arithmetic of Python numbers, worked out where it is small."""
    if left.kind not in _NUMBERS or right.kind not in _NUMBERS or operator not in _OPERATORS:
        return Scalar("bool") if operator in _COMPARISONS else None
    if left.known and right.known and _small(operator, left.const, right.const):
        try:
            result = _OPERATORS[operator](left.const, right.const)
        except (ArithmeticError, TypeError, ValueError):
            return None
        if isinstance(result, complex) or (isinstance(result, int) and abs(result) >= _LIMIT):
            return Scalar(type(result).__name__)
        return known(result)
    kind = _kind(operator, left, right)
    return None if kind is None else Scalar(kind)


def _small(operator: str, left: Any, right: Any) -> bool:
    if operator == "**":
        return isinstance(right, (int, float)) and abs(right) <= 64 and abs(left) < _LIMIT
    if operator == "<<":
        return isinstance(right, int) and 0 <= right < 64 and abs(left) < _LIMIT
    return True


def _kind(operator: str, left: Scalar, right: Scalar) -> str | None:
    """The type of a result whose value is not known."""
    if operator in _COMPARISONS:
        return "bool"
    kinds = {left.kind, right.kind}
    if operator in ("&", "|", "^"):
        return "bool" if kinds == {"bool"} else "int" if kinds <= {"bool", "int"} else None
    if operator in ("<<", ">>"):
        return "int" if kinds <= {"bool", "int"} else None
    widest = max(kinds, key=_NUMBERS.index)
    if widest == "bool":
        widest = "int"
    if operator == "/":
        return "float" if widest == "int" else widest
    if operator == "**":
        return _power_kind(widest, right)
    return widest


def _power_kind(widest: str, exponent: Scalar) -> str | None:
    """An integer power is an integer unless the exponent is negative; a float's may be complex."""
    if widest == "complex":
        return "complex"
    if exponent.known and isinstance(exponent.const, (int, float)) and float(exponent.const).is_integer():
        return widest if widest == "float" or exponent.const >= 0 else "float"
    return None
