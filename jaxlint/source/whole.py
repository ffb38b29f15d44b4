"""Files that are replaced whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole(target: Path) -> Iterator[tuple[BinaryIO, str]]:
    """A new file and its name for the time being; it takes the place of `target` when nothing has gone wrong.

    Raises:
        OSError: it cannot be written; `target` is as it was, and nothing else is left.
    """
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".jaxlint")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, name
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
