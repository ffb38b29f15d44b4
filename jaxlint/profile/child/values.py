"""Describes arguments by what JAX keys its caches on, without calling the program's own `__repr__`."""

from __future__ import annotations

import enum
import functools
import types
import weakref
import zlib
from typing import Any

_LENGTH, _ITEMS, _DEPTH = 60, 12, 3
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
_NARROW = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}
_SCALARS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


class Identities:
    """Numbers for objects: the same for the same object, or for an equal one where `equal` counts."""

    def __init__(self, equal: bool) -> None:
        self._equal = equal
        self._known: dict[int, list[tuple[Any, int]]] = {}
        self._count = 0

    def number(self, value: Any) -> int:
        """The number of an object. It is not kept alive where Python allows that."""
        key = id(value)
        if self._equal:
            try:
                key = hash(value)
            except Exception:
                key = id(value)
        known = self._known.setdefault(key, [])
        for reference, number in known:
            other = reference()
            if other is value or (self._equal and other is not None and _same(other, value)):
                return number
        known[:] = [entry for entry in known if entry[0]() is not None]
        self._count += 1
        known.append((_reference(value), self._count))
        return self._count


def _reference(value: Any) -> Any:
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


def _same(one: Any, other: Any) -> bool:
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:
        return False


class Describer:
    """Texts for static values and for the fixed parts of pytrees; `#3` in a text is the number of an object."""

    def __init__(self) -> None:
        self._objects = Identities(equal=True)
        self._arrays = Identities(equal=False)

    def static(self, value: Any, depth: int = 0) -> str:
        """A text that is the same for values that JAX takes for the same."""
        if isinstance(value, enum.Enum):
            return f"{type(value).__qualname__}.{value.name}"
        if type(value) in _PLAIN:
            return _cut(repr(value))
        if type(value) in (tuple, list, set, frozenset, dict) and depth < _DEPTH:
            return self._container(value, depth + 1)
        if isinstance(value, type):
            return value.__qualname__
        module = type(value).__module__.partition(".")[0]
        if hasattr(type(value), "dtype") and hasattr(type(value), "shape"):
            if module == "numpy" and not value.shape and type(value).__name__ != "ndarray":
                return f"{value.dtype}({value.item()!r})"
            return f"array {value.dtype}{list(value.shape)}#{self._arrays.number(value)}"
        number = f"#{self._objects.number(value)}"
        if isinstance(value, (types.FunctionType, types.MethodType)):
            return f"{value.__qualname__}{number}"
        if isinstance(value, functools.partial):
            return f"partial({self.static(value.func, depth + 1)}){number}"
        if module in ("numpy", "ml_dtypes", "jax", "jaxlib"):
            return _cut(repr(value))
        return f"{type(value).__qualname__}{self._attributes(value, depth)}{number}"

    def _container(self, value: Any, depth: int) -> str:
        if isinstance(value, dict):
            parts = [f"{self.static(key, depth)}: {self.static(item, depth)}" for key, item in value.items()]
        else:
            parts = [self.static(item, depth) for item in value]
        if isinstance(value, (set, frozenset)):
            parts.sort()
        inside = _cut(", ".join(parts[:_ITEMS]) + (f", … {len(parts)} items" if len(parts) > _ITEMS else ""), 400)
        return _bracketed(type(value), inside, len(parts))

    def _attributes(self, value: Any, depth: int) -> str:
        """The attributes that are plain values, since what changed may be among them."""
        try:
            attributes = vars(value)
        except TypeError:
            return ""
        plain = [f"{name}={_cut(repr(item), 30)}" for name, item in attributes.items() if type(item) in _PLAIN]
        return f"({', '.join(plain[:_ITEMS])})" if plain and depth < _DEPTH else ""

    def structure(self, treedef: Any) -> str:
        """A pytree with `*` for its leaves."""
        data = treedef.node_data()
        if data is None:
            return "*"
        kind, fixed = data
        children = [self.structure(child) for child in treedef.children()]
        if kind is type(None):
            return "None"
        if kind is dict:
            return "{" + ", ".join(f"{self.static(k)}: {c}" for k, c in _pairs(fixed, children)) + "}"
        if kind in (list, tuple):
            return _bracketed(kind, ", ".join(children), len(children))
        if hasattr(kind, "_fields"):
            return f"{kind.__qualname__}({', '.join(f'{n}={c}' for n, c in _pairs(kind._fields, children))})"
        told = "" if fixed in (None, ()) else f"[{self.static(fixed)}]"
        return f"{getattr(kind, '__qualname__', kind)}{told}({', '.join(children)})"


def _bracketed(kind: type, inside: str, count: int) -> str:
    if kind is tuple:
        return f"({inside},)" if count == 1 else f"({inside})"
    return f"[{inside}]" if kind is list else f"{{{inside}}}"


def _pairs(names: Any, children: list[str]) -> list[tuple[Any, str]]:
    return [(name, children[i]) for i, name in enumerate(names) if i < len(children)]


def _cut(text: str, length: int = _LENGTH) -> str:
    """Shortened, but still different for different texts."""
    if len(text) <= length:
        return text
    return f"{text[:length]}…{zlib.crc32(text.encode('utf-8', 'replace')):08x}"


def leaf(path: str, value: Any, wide: bool) -> dict[str, Any]:
    """What JAX sees of one leaf: shape, dtype, weak type, where it lies; and what Python or NumPy type it came as."""
    kind = _SCALARS.get(type(value))
    if kind:
        return _leaf(path, [], kind if wide else _NARROW.get(kind, kind), type(value) is not bool, type(value).__name__)
    aval = getattr(value, "aval", value)
    dtype = str(getattr(aval, "dtype", "")) or type(value).__qualname__
    module = type(value).__module__.partition(".")[0]
    source = "numpy" if module == "numpy" else ""
    if source and not wide:
        dtype = _NARROW.get(dtype, dtype)
    shape = [size if isinstance(size, int) else str(size) for size in getattr(aval, "shape", ())]
    return _leaf(path, shape, dtype, bool(getattr(aval, "weak_type", False)), source, _placement(value))


def _leaf(
    path: str, shape: list[Any], dtype: str, weak: bool, source: str, placement: str = ""
) -> dict[str, Any]:  # fmt: skip
    return {"path": path, "shape": shape, "dtype": dtype, "weak": weak, "source": source, "placement": placement}


def _placement(value: Any) -> str:
    """Where an array was put on purpose; empty for one that JAX may move."""
    if not getattr(value, "_committed", False):
        return ""
    try:
        return str(value.sharding)
    except Exception:
        return ""
