"""Fresh copies of arguments, so that no call sees what an earlier one did to them."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint.verify.worker.capture import attributes, is_code, is_tracer
from jaxlint.verify.worker.closures import rebuilt

_ATOMS = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    type,
    types.BuiltinFunctionType,
    types.ModuleType,
    range,
    slice,
)
_MAX_DEPTH = 24

Change = Callable[[Any], Any]


class Uncopyable(Exception):
    """The value holds something that cannot be copied."""


class Cloner:
    """Copies values; what the module defines is replaced by what `target` defines under the same name.

    `source` and `target` are module globals. Objects of the original's classes so become objects of the fixed
    version's classes, and its functions the fixed version's functions.
    """

    def __init__(self, source: dict[str, Any], target: dict[str, Any]) -> None:
        self._twins = {id(value): target[name] for name, value in source.items() if name in target and _defined(value)}
        self._source, self._target = source, target
        self._translate = source is not target
        self._module = source.get("__name__")

    def __call__(self, value: Any, change: Change | None = None) -> Any:
        """A copy; `change` is applied to each array and number on the way. Uncopyable when that cannot be done."""
        return self._copy(value, change, 0, {})

    def _copy(self, value: Any, change: Change | None, depth: int, known: dict[int, Any]) -> Any:
        if id(value) in known:
            return known[id(value)]
        if depth > _MAX_DEPTH:
            raise Uncopyable("it is nested too deeply")
        if is_tracer(value):
            raise Uncopyable("it holds a tracer")
        if id(value) in self._twins:
            return self._twins[id(value)]
        if isinstance(value, (jax.Array, np.ndarray, np.generic, bool, int, float)):
            return _array(value if change is None else change(value))
        if isinstance(value, _ATOMS):
            return value
        return self._container(value, change, depth + 1, known)

    def _container(self, value: Any, change: Change | None, depth: int, known: dict[int, Any]) -> Any:
        def inner(part: Any) -> Any:
            return self._copy(part, change, depth, known)

        kind = type(value)
        if kind in (list, set, frozenset):
            return kind(inner(part) for part in value)
        if isinstance(value, tuple):
            parts = [inner(part) for part in value]
            twin = self._twins.get(id(kind), kind)
            return twin(*parts) if hasattr(value, "_fields") else tuple(parts)
        if kind is dict:
            return {key: inner(part) for key, part in value.items()}
        if isinstance(value, dict) and id(kind) not in self._twins:  # such as an OrderedDict
            made = copy.copy(value)
            made.update({key: inner(part) for key, part in value.items()})
            return made
        if isinstance(value, (types.FunctionType, types.MethodType)):
            return self._function(value, inner)
        return self._object(value, inner, known)

    def _function(self, value: Any, inner: Change) -> Any:
        if isinstance(value, types.MethodType):
            return getattr(inner(value.__self__), value.__name__)
        if self._translate and value.__module__ == self._module:
            made = rebuilt(value, self._source, self._target, inner)
            if made is not None:
                return made
            raise Uncopyable(f"it holds the function {value.__qualname__}, which the two versions do not share")
        return value

    def _object(self, value: Any, inner: Change, known: dict[int, Any]) -> Any:
        kind = self._twins.get(id(type(value)), type(value))
        if type(kind).__module__.startswith("jaxlint"):  # a recorder stands in its place
            kind = type(value)
        if callable(value) and type(value).__module__.startswith(("jax", "functools")):
            return value
        held = attributes(value)
        if not (held or hasattr(value, "__dict__")) or type(value).__module__.partition(".")[0] in ("jax", "jaxlib"):
            try:
                return copy.deepcopy(value)
            except Exception as error:
                raise Uncopyable(f"an object of {type(value).__qualname__} cannot be copied") from error
        fresh = object.__new__(kind)
        known[id(value)] = fresh
        for name, part in held.items():
            object.__setattr__(fresh, name, inner(part))
        return fresh


def _defined(value: Any) -> bool:
    """Functions, classes and what was made of functions; an object that can be called is copied like others."""
    return is_code(value) and not isinstance(value, (types.BuiltinFunctionType, types.ModuleType))


def _array(value: Any) -> Any:
    if isinstance(value, jax.Array):
        if value.is_deleted():
            raise Uncopyable("it holds an array that was donated before")
        return jnp.array(value, copy=True)  # keeps the weak type
    return value.copy() if isinstance(value, np.ndarray) else value
