"""What Python must allow while trees are read and programs run: deep recursion, and few collections."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

RECURSION = 12_000
COLLECTIONS = (100_000, 20, 20)


def make_room() -> None:
    """Room for deep expressions, and fewer collections while many small values are made; for the whole process."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION))
    gc.set_threshold(*COLLECTIONS)


@contextmanager
def room() -> Iterator[None]:
    """The same for as long as this lasts."""
    limit, thresholds = sys.getrecursionlimit(), gc.get_threshold()
    make_room()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        gc.set_threshold(*thresholds)
