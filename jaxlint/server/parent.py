"""A server whose editor has died ends too, even where its input stays open."""

from __future__ import annotations

import os
import sys
import threading
import time

EVERY = 5.0


def watch(process: int | None) -> None:
    """Ends this process soon after another one, the editor, has ended."""
    if process is None or sys.platform == "win32":  # where the question would end it
        return
    threading.Thread(target=_wait, args=(process,), name="parent", daemon=True).start()


def _wait(process: int) -> None:
    while _lives(process):
        time.sleep(EVERY)
    os._exit(1)  # the main thread waits for input


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
