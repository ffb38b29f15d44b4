"""Lowers many texts in processes of their own."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from jaxlint.program.lower import statements
from jaxlint.program.room import make_room
from jaxlint.store.store import encoded


def lowered(texts: Sequence[str], jobs: int) -> Iterator[tuple[str, bytes]]:
    """The texts with their statements in the stored form; those are left out that could not be lowered.

    Where this system has no processes to give, or one of them dies, what is left is left out too.
    """
    try:
        with ProcessPoolExecutor(min(jobs, len(texts)), initializer=_begin) as pool:
            for text, body in zip(texts, pool.map(_lower, texts, chunksize=4), strict=True):
                if body is not None:
                    yield text, body
    except (BrokenProcessPool, OSError, ImportError, NotImplementedError):
        return


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who began the run ends it
    make_room()


def _lower(text: str) -> bytes | None:
    try:
        return encoded(statements(text))
    except Exception:
        return None
