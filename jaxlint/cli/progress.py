"""Says on a terminal what a long run is at."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from jaxlint.meter import Meter

AFTER = 1.0
"""Seconds until the first word: most runs are over by then."""

EVERY = 0.2
CLEAR = "\r\x1b[K"


@contextmanager
def progress(meter: Meter, error: TextIO, output: TextIO, after: float = AFTER) -> Iterator[None]:
    """Shows the stage of a meter on a line of its own, which is cleared at the end.

    Nothing is shown where standard error or standard output is not a terminal: nobody waits there.
    """
    if not (error.isatty() and output.isatty()) or os.environ.get("TERM") == "dumb":
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_show, args=(meter, error, over, after), name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _show(meter: Meter, stream: TextIO, over: threading.Event, after: float) -> None:
    start, shown = time.monotonic(), False
    while not over.wait(EVERY if shown else after):
        stage = meter.current
        files = meter.counts.get("files read")
        many = f" {files} files" if files else ""
        if stage:  # else the verifier tells how far it is
            stream.write(f"{CLEAR}{stage}{many}, {time.monotonic() - start:.0f} s")
            stream.flush()
            shown = True
    if shown:
        stream.write(CLEAR)
        stream.flush()
