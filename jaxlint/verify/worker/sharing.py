"""Which parts of a result are one object: whoever changes one of them in place changes the others as well."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jaxlint.verify.worker.capture import children, is_array

_MAX_DEPTH, _MAX_PARTS = 8, 10_000
_CONTAINERS = (list, dict, set)


def shared(result: Any, arguments: Any) -> frozenset[tuple[str, str]]:
    """Pairs of paths that lead to one NumPy array's memory or one container; arrays of JAX do not change."""
    first: dict[int, str] = {}
    pairs = set()
    for path, owner in _parts(arguments, "argument", 0):
        first.setdefault(id(owner), path)
    for count, (path, owner) in enumerate(_parts(result, "result", 0)):
        known = first.setdefault(id(owner), path)
        if known != path:
            pairs.add((known, path))
        if count > _MAX_PARTS:
            break
    return frozenset(pairs)


def _parts(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    """What can be changed in place in a value, with the path that leads there."""
    if isinstance(value, np.ndarray):
        yield path, _owner(value)
    if type(value) in _CONTAINERS:
        yield path, value
    if is_array(value) or depth > _MAX_DEPTH or not isinstance(value, (*_CONTAINERS, tuple)):
        return
    for name, part in children(value):
        yield from _parts(part, path + name, depth + 1)


def _owner(array: np.ndarray) -> Any:
    """The array whose memory it is."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
