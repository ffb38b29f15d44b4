"""A clock that gives both versions the same readings, so that measured times do not tell them apart."""

from __future__ import annotations

import functools
import os
import sys
import time
from typing import Any

_TICK = 1e-3
_START = 1_000_000_000.0


def freeze(folder: str) -> None:
    """Code of files under `folder` reads a clock that moves on by a millisecond at each reading; sleeping is skipped.

    Everybody else, JAX included, keeps the real clock. Loops that wait for a time to pass still end.
    """
    state = {"now": _START}
    root = os.path.realpath(folder) + os.sep

    def by_user() -> bool:
        file = os.path.realpath(sys._getframe(2).f_code.co_filename)
        return file.startswith(root) and "site-packages" not in file

    def reading(name: str, unit: float) -> None:
        real = getattr(time, name)

        @functools.wraps(real)  # who looks for it by its module and name finds it
        def read() -> Any:
            if not by_user():
                return real()
            state["now"] += _TICK
            return int(state["now"] * 1e9) if unit == 1e9 else state["now"]

        setattr(time, name, read)

    for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
        reading(name, 1.0)
        reading(name + "_ns", 1e9)
    sleep = time.sleep

    @functools.wraps(sleep)
    def skipped_sleep(seconds: float) -> None:
        if not by_user():
            sleep(seconds)
        state["now"] += seconds

    setattr(time, "sleep", skipped_sleep)  # noqa: B010
