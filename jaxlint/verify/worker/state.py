"""What a call leaves behind in the globals of its module."""

from __future__ import annotations

import copy
from typing import Any

import jax
import numpy as np

from jaxlint.verify.worker.capture import children, module_values

_CONTAINERS = (list, dict, set, np.ndarray)
_ATOMS = (bool, int, float, complex, str, bytes, type(None))
# What is nested deeper, or comes after so many parts of one global, is taken as unchanged.
_MAX_DEPTH, _MAX_PARTS = 16, 100_000


class State:
    """The data in a module's globals as it is now, to be asked later what has become of it."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._copies = {name: copy.copy(held) for name, held in namespace.items() if type(held) in _CONTAINERS}
        # The values are kept, so that no id is used again.
        self._base = {name: (value, _mark(value)) for name, value in module_values(namespace).items()}

    def changed(self) -> dict[str, Any]:
        """The globals that are no longer what they were."""
        now = module_values(self._namespace)
        return {name: value for name, value in now.items() if name not in self._base or self._is_other(name, value)}

    def restore(self) -> None:
        """Bind all globals as they were; lists, dictionaries, sets and NumPy arrays get back what they held."""
        for name, value in self.changed().items():
            if name not in self._base:
                del self._namespace[name]
                continue
            old, _ = self._base[name]
            self._namespace[name] = old
            if name in self._copies and type(value) is type(old):
                _refill(old, self._copies[name])

    def _is_other(self, name: str, value: Any) -> bool:
        old, mark = self._base[name]
        return (value is not old and not isinstance(old, _ATOMS)) or _mark(value) != mark


def _refill(value: Any, old: Any) -> None:
    if isinstance(value, np.ndarray):
        value[...] = old
    elif isinstance(value, list):
        value[:] = old
    else:
        value.clear()
        value.update(old)


def _mark(value: Any) -> Any:
    """Equal as long as nothing in the value changes."""
    return _mark_of(value, 0, {})


def _mark_of(value: Any, depth: int, numbers: dict[int, int]) -> Any:
    """`numbers` counts what was met before, which is not followed again: values may hold each other."""
    if isinstance(value, _ATOMS):
        return type(value), value if value == value else None
    if isinstance(value, jax.Array):
        return id(value)  # arrays of JAX do not change
    if id(value) in numbers:
        return numbers[id(value)]
    numbers[id(value)] = len(numbers)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.shape, str(value.dtype), hash(value.tobytes())
    if depth >= _MAX_DEPTH or len(numbers) > _MAX_PARTS:
        return type(value)
    if isinstance(value, (set, frozenset)):
        return frozenset(map(id, value))
    return type(value), tuple((name, _mark_of(part, depth + 1, numbers)) for name, part in children(value))
