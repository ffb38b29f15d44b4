"""What stored results depend on beside the text: the code of jaxlint, of the parser, and of Python."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from jaxlint import __version__

PACKAGE = Path(__file__).parent.parent


def edition() -> str:
    """The name of what this jaxlint works out, the same wherever the same code is installed."""
    digest = blake2b(digest_size=8)
    digest.update(repr((sys.version_info, sys.implementation.name, *_parser())).encode())
    for file in sorted(_files(str(PACKAGE))):
        digest.update(os.path.relpath(file, PACKAGE).encode())
        with open(file, "rb") as opened:
            digest.update(opened.read())
    return f"v{__version__}-{digest.hexdigest()}"


def _files(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _files(entry.path)
        elif entry.name.endswith((".py", ".csv")):
            yield entry.path


def _parser() -> list[str]:
    """The release of libcst, without importing it: the name of the folder that the installer put beside it."""
    found = importlib.util.find_spec("libcst")
    if found is None or found.origin is None:
        return []
    beside = os.path.dirname(os.path.dirname(found.origin))
    return sorted(name for name in os.listdir(beside) if name.startswith("libcst-"))
