"""How long the stages of a run take, and how many files each has seen."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Meter:
    """Seconds by stage and counts by name. A stage inside another is counted for itself and not for the other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self._running: list[str] = []
        self._since = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """The time until the end belongs to this stage."""
        self._book()
        self._running.append(name)
        try:
            yield
        finally:
            self._book()
            self._running.pop()

    @property
    def current(self) -> str | None:
        """The innermost stage that runs now."""
        running = self._running[-1:]  # another thread may ask
        return running[0] if running else None

    def count(self, name: str, by: int = 1) -> None:
        """Counts something."""
        self.counts[name] = self.counts.get(name, 0) + by

    def lines(self) -> list[str]:
        """What was measured, a line each."""
        stages = [f"{seconds:8.3f} s  {name}" for name, seconds in self.seconds.items()]
        return stages + [f"{number:8}    {name}" for name, number in self.counts.items()]

    def _book(self) -> None:
        now = time.perf_counter()
        if self._running:
            name = self._running[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now
