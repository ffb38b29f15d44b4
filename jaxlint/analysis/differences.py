"""Where two values that must have one type as pytrees of arrays surely differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from jaxlint.analysis.tracing import device
from jaxlint.analysis.values import NONE, Array, Instance, Items, Many, Mapping, OneOf, Scalar, Unknown, Value

Path: TypeAlias = tuple[Any, ...]  # indices and keys from the root of a pytree to a leaf

DTYPES = {"bool": "bool", "int": "int32", "float": "float32", "complex": "complex64"}


@dataclass(frozen=True, slots=True)
class Difference:
    """`kind` is 'structure', 'shape' or 'dtype'; `left` and `right` are what stands at `path`."""

    kind: str
    path: Path
    left: Value
    right: Value


def difference(left: Value, right: Value, path: Path = ()) -> Difference | None:
    """The first place where two pytrees surely differ."""
    left, right = as_array(left), as_array(right)
    match left, right:
        case Array(), Array():
            return _leaves(left, right, path)
        case Items(), Items() if left.kind == right.kind and len(left.items) == len(right.items):
            pairs = zip(range(len(left.items)), left.items, right.items, strict=True)
            return _first([difference(a, b, (*path, i)) for i, a, b in pairs])
        case Mapping(), Mapping() if left.complete and right.complete:
            if {key for key, _ in left.entries} == {key for key, _ in right.entries}:
                return _first([difference(a, right.get(key) or a, (*path, key)) for key, a in left.entries])
    if _is_tree(left) and _is_tree(right) and (left != NONE or right != NONE):
        return Difference("structure", path, left, right)
    return None


def certain(value: Value) -> Value:
    """The pytree with nothing known where it may be one of several things (records of one class are one thing)."""
    match value:
        case OneOf(options=options):
            kinds = {option.cls if isinstance(option, Instance) else None for option in options}
            return options[0] if len(kinds) == 1 and None not in kinds else Unknown(trace=value.trace)
        case Items():
            return replace(value, items=tuple(map(certain, value.items)))
        case Many():
            return replace(value, element=certain(value.element))
        case Mapping():
            return replace(value, entries=tuple((key, certain(entry)) for key, entry in value.entries))
    return value


def _first(found: list[Difference | None]) -> Difference | None:
    return next((one for one in found if one is not None), None)


def as_array(value: Value) -> Value:
    """A Python number or NumPy array as JAX takes it."""
    if isinstance(value, Scalar) and value.kind in DTYPES:
        return Array(DTYPES[value.kind], (), value.kind != "bool")
    return device(value) if isinstance(value, Array) else value


def _is_tree(value: Value) -> bool:
    """Whether the outermost node of a pytree is known."""
    if isinstance(value, Array):
        return value.dtype is not None or value.shape is not None
    return isinstance(value, Items) or value == NONE or (isinstance(value, Mapping) and value.complete)


def _leaves(left: Array, right: Array, path: Path) -> Difference | None:
    if left.shape is not None and right.shape is not None:
        same_rank = len(left.shape) == len(right.shape)
        if not same_rank or any(_unequal(a, b) for a, b in zip(left.shape, right.shape, strict=True)):
            return Difference("shape", path, left, right)
    if left.dtype is not None and right.dtype is not None and _plain(left.dtype) != _plain(right.dtype):
        return Difference("dtype", path, left, right)
    return None


def _unequal(left: object, right: object) -> bool:
    return isinstance(left, int) and isinstance(right, int) and left != right


def _plain(dtype: str) -> str:
    """The dtype without what `jax_enable_x64` decides."""
    return dtype.replace("64", "32") if not dtype.startswith("complex") else "complex"


def described(value: Value) -> str:
    """A value's type as JAX writes it in messages."""
    if isinstance(value, Array):
        shape = "?" if value.shape is None else ",".join("?" if dim is None else str(dim) for dim in value.shape)
        return f"{value.dtype or '?'}[{shape}]"
    if isinstance(value, Items):
        return f"a {value.kind} of {len(value.items)}"
    return "None" if value == NONE else "a dict"
