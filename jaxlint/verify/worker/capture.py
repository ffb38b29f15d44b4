"""Turns results into leaves that can be compared and sent: arrays, keys, numbers, texts."""

from __future__ import annotations

import contextlib
import dataclasses
import types
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint.verify.compare_values import Captured
from jaxlint.verify.jobs import Leaf

_MAX_DEPTH, _MAX_NUMBERS, _MAX_LEAVES = 16, 20_000_000, 200_000


class TooMuch(Exception):
    """The result holds more numbers than can be kept for comparison."""


def is_key(value: Any) -> bool:
    """Whether this is an array of typed PRNG keys."""
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def is_tracer(value: Any) -> bool:
    """Whether this is a tracer, not a value."""
    return isinstance(value, jax.core.Tracer)


def capture(value: Any) -> Captured:
    """The leaves of any value. TooMuch when there are more numbers than can be kept."""
    leaves, arrays, total = [], {}, 0
    for leaf, numbers in _walk(value, "", 0, set()):
        leaves.append(leaf)
        if len(leaves) > _MAX_LEAVES:
            raise TooMuch
        if numbers is not None:
            arrays[leaf.path] = numbers
            total += numbers.size
            if total > _MAX_NUMBERS:
                raise TooMuch
    return Captured(tuple(leaves), arrays)


def module_values(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The module globals that hold data: no modules, functions, classes, nor what was made of functions."""
    return {name: value for name, value in namespace.items() if not name.startswith("__") and not is_code(value)}


def is_code(value: Any) -> bool:
    """Whether this is a module, a class, a function or what was made of one; objects that can be called are data."""
    if isinstance(value, (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
        return True
    if is_array(value) or not callable(value):
        return False
    made = type(value).__module__.partition(".")[0] in ("jax", "jaxlib", "functools", "builtins")
    return made or callable(getattr(value, "__wrapped__", None))


def is_array(value: Any) -> bool:
    """Whether this is a JAX or NumPy array."""
    return isinstance(value, (jax.Array, np.ndarray, np.generic))


def _walk(value: Any, path: str, depth: int, seen: set[int]) -> Iterator[tuple[Leaf, np.ndarray | None]]:
    if is_tracer(value):
        yield Leaf(path, "other", text="a tracer"), None
    elif is_array(value):
        yield _array(value, path)
    elif isinstance(value, (bool, int, float, complex)):
        yield _number(value, path)
    elif isinstance(value, str) or value is None:
        yield Leaf(path, "text", text=repr(value)), None
    elif depth >= _MAX_DEPTH or id(value) in seen:
        yield Leaf(path, "other", text=type(value).__qualname__), None
    elif is_code(value) and not isinstance(value, (types.ModuleType, type)):  # jitted or plain, for a world has no jit
        yield Leaf(path, "other", text="a function"), None
    else:
        parts = list(children(value))
        yield Leaf(path + "()", "other", text=type(value).__qualname__), None
        for name, child in parts:
            yield from _walk(child, path + name, depth + 1, seen | {id(value)})


def children(value: Any) -> Iterator[tuple[str, Any]]:
    """What a value holds, each with the path that leads there."""
    if isinstance(value, Mapping):
        for key in value:
            yield f"[{key!r}]", value[key]
    elif isinstance(value, (list, tuple)):
        for number, child in enumerate(value):
            yield f"[{number}]", child
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield "." + field.name, getattr(value, field.name, None)
    elif not isinstance(value, (types.ModuleType, types.FunctionType, type)):
        for name, child in attributes(value).items():
            if not is_code(child):
                yield "." + name, child


def attributes(value: Any) -> dict[str, Any]:
    """What an object holds, in its `__dict__` and in slots."""
    found: dict[str, Any] = {}
    with contextlib.suppress(AttributeError, TypeError):
        found |= object.__getattribute__(value, "__dict__")  # its own, whatever it hands on
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for slot in [slots] if isinstance(slots, str) else slots:
            private = slot.startswith("__") and not slot.endswith("__")
            name = f"_{kind.__name__.lstrip('_')}{slot}" if private else slot
            if name not in ("__dict__", "__weakref__"):
                with contextlib.suppress(AttributeError):
                    found[name] = object.__getattribute__(value, name)
    return found


def _array(value: Any, path: str) -> tuple[Leaf, np.ndarray | None]:
    if getattr(value, "is_deleted", lambda: False)():
        return Leaf(path, "deleted"), None
    kind, weak, dtype, shape = "array", bool(getattr(value, "weak_type", False)), str(value.dtype), tuple(value.shape)
    if is_key(value):
        kind, value = "key", jax.random.key_data(value)
    return Leaf(path, kind, dtype, shape, weak), _wide(np.asarray(value))


def _number(value: Any, path: str) -> tuple[Leaf, np.ndarray | None]:
    if isinstance(value, int) and abs(value) >= 2**63:
        return Leaf(path, "text", text=repr(value)), None
    return Leaf(path, "number", type(value).__name__), _wide(np.asarray(value))


def _wide(values: np.ndarray) -> np.ndarray:
    """The same numbers in a type that any NumPy can store and subtract."""
    if values.dtype.kind in "biufcSU" and values.dtype.name not in ("float16", "float32", "complex64"):
        return values
    if values.dtype.kind == "c":
        return values.astype(np.complex128)
    if values.dtype.kind in "MmOV" and not jnp.issubdtype(values.dtype, np.generic):
        return np.frombuffer(repr(values.tolist()).encode(), np.uint8)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return np.frombuffer(repr(values.tolist()).encode(), np.uint8)
