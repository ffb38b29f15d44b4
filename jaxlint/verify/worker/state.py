"""What a call leaves behind in the globals of its module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from jaxlint.verify.worker.capture import children, module_values

_ATOMS = (bool, int, float, complex, str, bytes, type(None))
# What is nested deeper, or comes after so many parts of one global, is taken as unchanged.
_MAX_DEPTH, _MAX_PARTS = 16, 100_000


class State:
    """The data in a module's globals as it is now, to be asked later what has become of it."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace
        # The values are kept, so that no id is used again.
        self._base = {name: (value, _mark(value)) for name, value in module_values(namespace).items()}

    def changed(self) -> dict[str, Any]:
        """The globals that are no longer what they were."""
        now = module_values(self._namespace)
        return {name: value for name, value in now.items() if name not in self._base or self._is_other(name, value)}

    def _is_other(self, name: str, value: Any) -> bool:
        old, mark = self._base[name]
        return (value is not old and not isinstance(old, _ATOMS)) or _mark(value) != mark


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
