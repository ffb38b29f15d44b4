"""Type promotion: JAX's lattice with weak types, and NumPy's rules, where Python scalars are weak too.

Sources: JAX documentation, "JAX type promotion semantics"; NumPy Enhancement Proposal 50.
"""

from __future__ import annotations

from functools import cache
from itertools import product

from jaxlint.analysis.arrays.dtypes import KINDS, narrow
from jaxlint.analysis.values import Array

_Typed = tuple[str, bool]  # a dtype and whether it is weak

_EDGES: dict[str, tuple[str, ...]] = {
    "bool": ("i*",),
    "i*": ("uint8", "int8"),
    "uint8": ("int16", "uint16"),
    "uint16": ("int32", "uint32"),
    "uint32": ("int64", "uint64"),
    "uint64": ("f*",),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": ("f*",),
    "f*": ("bfloat16", "float16", "c*"),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "c*": ("complex64",),
    "complex64": ("complex128",),
    "complex128": (),
}
_WEAK_NODES = {"i": "i*", "u": "i*", "f": "f*", "c": "c*", "b": "bool"}
_WEAK_DTYPES = {"i*": "int32", "f*": "float32", "c*": "complex64"}
_MAX_UNSURE = 3


def _above(node: str) -> frozenset[str]:
    found = {node}
    for parent in _EDGES[node]:
        found |= _above(parent)
    return frozenset(found)


_ABOVE = {node: _above(node) for node in _EDGES}


def _least(nodes: frozenset[str]) -> str:
    """The least upper bound: the common upper bound that all the others are above."""
    common = frozenset.intersection(*(_ABOVE[node] for node in nodes))
    return next(node for node in common if common <= _ABOVE[node])


@cache
def _promote_jax(typed: tuple[_Typed, ...]) -> tuple[str | None, bool | None]:
    names = {name for name, _ in typed}
    if len(typed) == 1:
        return typed[0]
    if len(names) == 1 and not all(weak for _, weak in typed):
        return typed[0][0], False
    if not names <= KINDS.keys():
        return None, None
    if all(weak for _, weak in typed):
        dtype = narrow(_least(frozenset(names)))
        return dtype, dtype != "bool"
    found = _least(frozenset(_WEAK_NODES[KINDS[name][0]] if weak else name for name, weak in typed))
    return _WEAK_DTYPES.get(found, narrow(found)), found in _WEAK_DTYPES


@cache
def _pair_numpy(left: _Typed, right: _Typed) -> _Typed | None:
    if left[1] and not right[1]:
        left, right = right, left
    (dtype, weak), (other, other_weak) = left, right
    if dtype == other:
        return dtype, weak and other_weak
    if not {dtype, other} <= KINDS.keys() or "bfloat16" in (dtype, other):
        return None
    if other_weak and not weak and "biufc".index(KINDS[other][0]) <= "biufc".index(KINDS[dtype][0]):
        return dtype, False
    if other_weak and not weak and KINDS[dtype][0] + KINDS[other][0] in ("ui", "iu"):
        return dtype, False
    if other_weak and not weak and KINDS[other][0] == "c" and KINDS[dtype][0] == "f":
        return ("complex128" if dtype == "float64" else "complex64"), False
    return _strong_numpy(dtype, other), weak and other_weak


def _strong_numpy(dtype: str, other: str) -> str:
    (kind, width), (other_kind, other_width) = sorted((KINDS[dtype], KINDS[other]), key=lambda k: "biufc".index(k[0]))
    if kind == other_kind:
        return max(dtype, other, key=lambda name: KINDS[name][1])
    if kind == "b":
        return dtype if KINDS[dtype][0] == other_kind else other
    if (kind, other_kind) == ("i", "u"):
        bits = width if width > other_width else 2 * other_width
        return f"int{bits}" if bits <= 64 else "float64"
    if kind in "iu":
        width = min(2 * width, 64)
    if other_kind == "f":
        return f"float{max(width, other_width)}"
    return f"complex{max(2 * width, other_width)}"


@cache
def _promote_numpy(typed: tuple[_Typed, ...]) -> tuple[str | None, bool | None]:
    if len({dtype for dtype, weak in typed if not weak}) > 2 and len({KINDS.get(d, "?")[0] for d, _ in typed}) > 2:
        # NumPy does not promote three kinds pair by pair.
        return None, None
    # Weak operands last: they yield to the strong ones together.
    ordered = sorted(typed, key=lambda pair: pair[1])
    result = ordered[0]
    for operand in ordered[1:]:
        found = _pair_numpy(result, operand)
        if found is None:
            return None, None
        result = found
    return result


def promote(*arrays: Array) -> tuple[str | None, bool | None]:
    """The dtype and weak type of an operation on arrays: NumPy's where all are host arrays, else JAX's."""
    host = all(array.host for array in arrays)
    typed: list[_Typed] = []
    unsure: list[int] = []
    for number, array in enumerate(arrays):
        if array.dtype is None:
            return None, None
        if array.weak is None:
            unsure.append(number)
        typed.append((array.dtype if host else str(narrow(array.dtype)), bool(array.weak)))
    if not typed:
        return None, None
    rule = _promote_numpy if host else _promote_jax
    if not unsure:
        return rule(tuple(typed))
    if len(unsure) > _MAX_UNSURE:
        return None, None
    found = set()
    for guesses in product((False, True), repeat=len(unsure)):
        for number, guess in zip(unsure, guesses, strict=True):
            typed[number] = typed[number][0], guess
        found.add(rule(tuple(typed)))
    dtypes, weaks = {dtype for dtype, _ in found}, {weak for _, weak in found}
    return (dtypes.pop() if len(dtypes) == 1 else None), (weaks.pop() if len(weaks) == 1 else None)
