"""Fresh copies of arguments, so that no call sees what an earlier one did to them."""

from __future__ import annotations

import copy
import enum
import functools
import inspect
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
    types.BuiltinFunctionType,
    types.ModuleType,
    range,
    slice,
)
_MAX_DEPTH = 24

Change = Callable[[Any], Any]


class Uncopyable(Exception):
    """The value holds something that cannot be copied."""


Twins = tuple[dict[str, Any], dict[str, Any]]
"""The globals of a module, and those of the same module in another version."""


class Cloner:
    """Copies values; what a module defines is replaced by what the same module of another version has under that name.

    Objects of the original's classes so become objects of the fixed version's classes, and its functions the fixed
    version's functions. Without `twins` values are copied within one version.
    """

    def __init__(self, *twins: Twins) -> None:
        self._modules = {source.get("__name__"): (source, target) for source, target in reversed(twins)}
        self._twins = {
            id(value): target[name]
            for source, target in reversed(twins)
            for name, value in source.items()
            if name in target and _defined(value)
        }

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
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.ModuleType) and value.__name__ in self._modules:
            raise Uncopyable(f"it holds the module {value.__name__}")
        if isinstance(value, _ATOMS):
            return value
        return self._container(value, change, depth + 1, known)

    def _container(self, value: Any, change: Change | None, depth: int, known: dict[int, Any]) -> Any:
        def inner(part: Any) -> Any:
            return self._copy(part, change, depth, known)

        kind = type(value)
        if isinstance(value, enum.Enum):
            return self._class(type(value))[value.name]
        if kind in (list, set, frozenset):
            return kind(inner(part) for part in value)
        if isinstance(value, tuple):
            parts = [inner(part) for part in value]
            return self._class(type(value))(*parts) if hasattr(value, "_fields") else tuple(parts)
        if kind is dict:
            return {key: inner(part) for key, part in value.items()}
        if isinstance(value, dict) and id(kind) not in self._twins:  # such as an OrderedDict
            made = copy.copy(value)
            made.update({key: inner(part) for key, part in value.items()})
            return made
        if isinstance(value, (types.FunctionType, types.MethodType)):
            return self._function(value, inner)
        if isinstance(value, functools.partial):
            return kind(inner(value.func), *inner(value.args), **inner(value.keywords))
        return self._object(value, inner, known)

    def _function(self, value: Any, inner: Change) -> Any:
        if isinstance(value, types.MethodType):
            return getattr(inner(value.__self__), value.__name__)
        if value.__module__ in self._modules:
            made = rebuilt(value, *self._modules[value.__module__], inner)
            if made is not None:
                return made
            raise Uncopyable(f"it holds the function {value.__qualname__}, which the two versions do not share")
        return value

    def _made_of_a_function(self, value: Any) -> Any:
        """What JAX has made of a function by `jit` and the like, which cannot be made again of another."""
        function = inspect.unwrap(value)
        if getattr(function, "__module__", None) in self._modules:
            raise Uncopyable(f"it holds what `{type(value).__name__}` has made of {function.__qualname__}")
        return value

    def _object(self, value: Any, inner: Change, known: dict[int, Any]) -> Any:
        kind = self._class(type(value))
        if type(kind).__module__.startswith("jaxlint"):  # a recorder stands in its place
            kind = type(value)
        if callable(value) and type(value).__module__.startswith(("jax", "functools")):
            return self._made_of_a_function(value)
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

    def _class(self, kind: Any) -> Any:
        """The class of this name in the other version."""
        if id(kind) in self._twins or kind.__module__ not in self._modules:
            return self._twins.get(id(kind), kind)
        found: Any = self._modules[kind.__module__][1]
        for name in kind.__qualname__.split("."):
            found = (found if isinstance(found, dict) else vars(found)).get(name)
            if not isinstance(found, type):
                raise Uncopyable(f"it holds the class {kind.__qualname__}, which the two versions do not share")
        return found


def _defined(value: Any) -> bool:
    """Functions, classes and what was made of functions; an object that can be called is copied like others."""
    return is_code(value) and not isinstance(value, (types.BuiltinFunctionType, types.ModuleType))


def _array(value: Any) -> Any:
    if isinstance(value, jax.Array):
        if value.is_deleted():
            raise Uncopyable("it holds an array that was donated before")
        return jnp.array(value, copy=True)  # keeps the weak type
    return value.copy() if isinstance(value, np.ndarray) else value
