"""Keeps the machine busy while something is measured."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator

_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(10_000))\n"


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """So many busy processes, which end with this one whatever happens."""
    processes = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
