"""Serves a changed text under a file's own name, so that the file on disk is never touched."""

from __future__ import annotations

import contextlib
import linecache
import os
import types
from collections.abc import Callable, Iterator, Mapping
from importlib.machinery import SourceFileLoader
from typing import Any

_GET_DATA, _PATH_STATS = SourceFileLoader.get_data, SourceFileLoader.path_stats


def serve(path: str, text: str) -> list[str]:
    """Every import of `path` gets `text` from now on. Returns a list that receives the path at each reading.

    Patching the loader's `get_data` also serves packages, namespace packages, editable installs and `python -m`. The
    loader must not see the file's date, or it would take byte code of the original from `__pycache__`.
    """
    real, read = os.path.realpath(path), []
    get_data, path_stats = _GET_DATA, _PATH_STATS

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


@contextlib.contextmanager
def executed_by(path: str, run: Callable[[types.ModuleType], None]) -> Iterator[None]:
    """Whenever the file is imported inside the block, `run` executes the module."""
    real, exec_module = os.path.realpath(path), SourceFileLoader.exec_module

    def exec_served(self: SourceFileLoader, module: types.ModuleType) -> None:
        if os.path.realpath(self.path) == real:
            run(module)
        else:
            exec_module(self, module)

    loader: Any = SourceFileLoader
    loader.exec_module = exec_served
    try:
        yield
    finally:
        loader.exec_module = exec_module


def show_source(path: str, text: str) -> None:
    """Tracebacks and `inspect.getsource` read this text, not the file's."""
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
