"""How long calls may be tried, and a trail of them that outlives a process that has to be killed.

What is tried is bounded by counts, so that equal files are judged by equal inputs whatever else the machine does. The
time here only guards against work without end: where it is up, the matter is open, and the reason says so.
"""

from __future__ import annotations

import os
import time

_SHARE = 0.7
"""Of the time after which the process is killed; what is begun then may still end."""

_now = time.monotonic  # taken before the user's code gets another clock


class CutShort(Exception):
    """The time was up before all was tried; the message says when and where."""


class Budget:
    """The time for all calls of one job. `trail` is the file that tells what was called last."""

    def __init__(self, wall_s: float, trail: str) -> None:
        self._seconds = wall_s * _SHARE
        self._end = _now() + self._seconds
        self._trail = os.open(trail, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)

    def check(self, doing: str) -> None:
        """Raises `CutShort` when the time is up."""
        if _now() > self._end:
            raise CutShort(f"the {self._seconds:.0f} s that calls may take were over while {doing}")

    def begin(self, which: str, what: str) -> None:
        """Note that a version is called now."""
        text = f"{which}\n{what}\n".encode("utf-8", "backslashreplace")
        os.pwrite(self._trail, text, 0)
        os.truncate(self._trail, len(text))
