"""Serves a changed text under a file's own name, so that the file on disk is never touched."""

from __future__ import annotations

import linecache
import os
from collections.abc import Mapping
from importlib.machinery import SourceFileLoader
from typing import Any


def serve(path: str, text: str) -> list[str]:
    """Every import of `path` gets `text` from now on. Returns a list that receives the path at each reading.

    Patching the loader's `get_data` also serves packages, namespace packages, editable installs and `python -m`. The
    loader must not see the file's date, or it would take byte code of the original from `__pycache__`.
    """
    real, read = os.path.realpath(path), []
    get_data, path_stats = SourceFileLoader.get_data, SourceFileLoader.path_stats

    def served_data(self: SourceFileLoader, wanted: str) -> bytes:
        if os.path.realpath(wanted) != real:
            return get_data(self, wanted)
        read.append(wanted)
        return text.encode("utf-8")

    def served_stats(self: SourceFileLoader, wanted: str) -> Mapping[str, Any]:
        if os.path.realpath(wanted) == real:
            raise OSError("served by the verifier")
        return path_stats(self, wanted)

    loader: Any = SourceFileLoader
    loader.get_data = served_data
    loader.path_stats = served_stats
    show_source(path, text)
    return read


def show_source(path: str, text: str) -> None:
    """Tracebacks and `inspect.getsource` read this text, not the file's."""
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
