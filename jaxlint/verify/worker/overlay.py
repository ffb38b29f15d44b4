"""Serves a changed text under a file's own name, so that the file on disk is never touched."""

from __future__ import annotations

import builtins
import contextlib
import io
import linecache
import os
import sys
import tokenize
import types
from collections.abc import Callable, Iterator, Mapping
from importlib.machinery import SourceFileLoader
from typing import Any

_GET_DATA, _PATH_STATS = SourceFileLoader.get_data, SourceFileLoader.path_stats
_OPEN, _OPEN_CODE = io.open, io.open_code
_WRITING = os.O_WRONLY | os.O_RDWR


def serve(path: str, text: str) -> None:
    """Every import of `path`, and whoever opens it to read it, gets `text` from now on.

    Patching the loader's `get_data` serves packages, namespace packages, editable installs and `python -m`, patching
    `open` other loaders, `runpy.run_path` and programs that execute their own text. The loader must not see the file's
    date, or it would take byte code of the original from `__pycache__`.
    """
    real, data = os.path.realpath(path), _encoded(text)

    def is_file(wanted: Any) -> bool:
        return isinstance(wanted, (str, os.PathLike)) and _is_same(os.fspath(wanted), real)

    def served_data(self: SourceFileLoader, wanted: str) -> bytes:
        return data if is_file(wanted) else _GET_DATA(self, wanted)

    def served_stats(self: SourceFileLoader, wanted: str) -> Mapping[str, Any]:
        if is_file(wanted):
            raise OSError("served by the verifier")
        return _PATH_STATS(self, wanted)

    def served_open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & set("wax+") or not is_file(file):
            return _OPEN(file, mode, *args, **kwargs)
        return _opened(data, file, mode, *args, **kwargs)

    def served_code(wanted: str) -> Any:
        return _Bytes(data, wanted) if is_file(wanted) else _OPEN_CODE(wanted)

    loader: Any = SourceFileLoader
    loader.get_data, loader.path_stats = served_data, served_stats
    for module, name in ((builtins, "open"), (io, "open"), (tokenize, "_builtin_open")):
        setattr(module, name, served_open)
    setattr(io, "open_code", served_code)  # noqa: B010
    show_source(path, text)


class Watch:
    """Notes whether the file on disk is read all the same: what runs then is not the version that is judged."""

    def __init__(self, path: str) -> None:
        self.problem = ""
        self._real = os.path.realpath(path)
        sys.addaudithook(self._hear)  # for good: hooks cannot be taken away

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event != "open" or not isinstance(args[0], str) or self.problem:
            return
        writes = isinstance(args[2], int) and args[2] & _WRITING
        looks_for_zip = sys._getframe(1).f_code.co_filename == "<frozen zipimport>"
        if not writes and not looks_for_zip and _is_same(args[0], self._real):
            name = os.path.basename(self._real)
            self.problem = f"{name} is read from disk in a way that cannot be served with the version that is judged"


class _Bytes(io.BytesIO):
    """An open file of these bytes."""

    def __init__(self, data: bytes, name: Any) -> None:
        super().__init__(data)
        self.name = name


def _opened(
    data: bytes, name: Any, mode: str, buffering: int = -1, encoding: str | None = None, errors: str | None = None,
    newline: str | None = None, *_: Any, **__: Any,
) -> Any:  # fmt: skip
    binary = _Bytes(data, name)
    return binary if "b" in mode else io.TextIOWrapper(binary, encoding, errors, newline)


def _encoded(text: str) -> bytes:
    """In the encoding that the text says it has."""
    plain = text.encode("utf-8", errors="surrogateescape")
    try:
        return text.encode(tokenize.detect_encoding(io.BytesIO(plain).readline)[0])
    except (SyntaxError, UnicodeEncodeError):
        return plain


def _is_same(path: str, real: str) -> bool:
    """Whether a path leads to the file, by whatever name."""
    return os.path.realpath(path) == real


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


@contextlib.contextmanager
def shown(path: str, text: str) -> Iterator[None]:
    """Whoever asks for the source of what stands in the file sees this version of it inside the block."""
    old = linecache.cache.get(path)
    show_source(path, text)
    try:
        yield
    finally:
        if old is None:
            linecache.cache.pop(path, None)
        else:
            linecache.cache[path] = old
