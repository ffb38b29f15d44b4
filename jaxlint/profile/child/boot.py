"""Runs the program as Python itself would, with the recorder listening."""

from __future__ import annotations
import __future__ as future

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import linecache
import os
import runpy
import sys
import traceback
import types
import zipfile
from collections.abc import Sequence
from typing import Any, NoReturn

from .recorder import Recorder

_MONITORING = "jax.monitoring"
REFUSED = 2
_FUTURE = sum({getattr(future, name).compiler_flag for name in future.all_feature_names})


class _Refused(Exception):
    """The program cannot be run; the message says why."""


def main(records: str, kind: str, target: str, args: Sequence[str]) -> None:
    """Run a program. `kind` is `script`, `notebook`, `module` or `code`; records go to a file."""
    recorder = Recorder(records)
    recorder.main = target if kind == "script" else ""
    try:
        program = _PREPARE[kind](target, [*args])
        if importlib.util.find_spec("jax") is None:
            raise _Refused(f"JAX is not installed for {sys.executable}; `--python` names another interpreter")
    except _Refused as refused:
        recorder.write({"type": "refused", "text": str(refused)})
        sys.exit(REFUSED)
    recorder.write({"type": "ready"})
    _listen(recorder)
    _clean()
    try:
        program(recorder)
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        _end(error)


def _script(path: str, args: list[str]) -> Any:
    if not os.path.exists(path):
        raise _Refused(f"{path} does not exist")
    sys.argv[:] = [path, *args]
    if os.path.isdir(path) or zipfile.is_zipfile(path):
        _first_path(path)
        return _main_module("__main__", alter=False)
    _first_path(os.path.dirname(os.path.realpath(path)))
    full = os.path.join(os.getcwd(), path)
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), full, "exec", dont_inherit=True)
    except OSError as error:
        raise _Refused(f"{path} cannot be read: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        place = f"{path}:{line}" if line else path
        raise _Refused(f"{place} is not Python: {getattr(error, 'msg', None) or error}") from None

    def run(_: Recorder) -> None:
        namespace = vars(sys.modules["__main__"])
        loader = importlib.machinery.SourceFileLoader("__main__", full)
        namespace.update(__file__=full, __cached__=None, __loader__=loader)
        exec(code, namespace)

    return run


def _notebook(file: str, args: list[str]) -> Any:
    """The cells of a notebook, which a file holds: one after the other, in the notebook's folder, as Jupyter does."""
    with open(file, encoding="utf-8") as opened:
        notebook = json.load(opened)
    path, codes, flags = notebook["path"], [], 0
    for name, text, runnable in notebook["cells"]:
        try:
            codes.append(compile(runnable, name, "exec", flags, dont_inherit=True))
        except (SyntaxError, ValueError) as error:
            place = f"{name}:{getattr(error, 'lineno', None) or 1}"
            raise _Refused(f"{place} is not Python: {getattr(error, 'msg', None) or error}") from None
        flags |= codes[-1].co_flags & _FUTURE  # an import from __future__ holds for the cells below
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    sys.argv[:] = [path, *args]
    os.chdir(os.path.dirname(path))
    _first_path(os.path.dirname(os.path.realpath(path)))
    # Before 3.13 Python itself looks for the lines of a traceback in files alone.
    sys.excepthook = traceback.print_exception

    def run(recorder: Recorder) -> None:
        recorder.main = path
        for code in codes:
            exec(code, vars(sys.modules["__main__"]))

    return run


def _module(name: str, args: list[str]) -> Any:
    sys.argv[:] = ["-m", *args]
    _first_path(os.getcwd())
    try:
        found = importlib.util.find_spec(name)
        if found and found.submodule_search_locations is not None:
            found = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, AttributeError, ValueError) as error:
        raise _Refused(f"there is no module {name} for {sys.executable}: {error}") from None
    if found is None:
        raise _Refused(f"there is no module {name} that can be run for {sys.executable}")
    run = _main_module(name, alter=True)

    def noted(recorder: Recorder) -> None:
        recorder.main = found.origin or ""
        run(recorder)

    return noted


def _main_module(name: str, alter: bool) -> Any:
    """What Python itself calls for `-m`."""
    return lambda _: runpy._run_module_as_main(name, alter)  # type: ignore[attr-defined]


def _code(text: str, args: list[str]) -> Any:
    sys.argv[:] = ["-c", *args]
    try:
        code = compile(text, "<string>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise _Refused(f"the text after `-c` is not Python: {error}") from None
    return lambda _: exec(code, vars(sys.modules["__main__"]))


_PREPARE = {"script": _script, "notebook": _notebook, "module": _module, "code": _code}


def _first_path(folder: str) -> None:
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def _clean() -> None:
    """Take away the names that starting this left behind."""
    namespace = vars(sys.modules["__main__"])
    for name in [name for name in namespace if not name.startswith("__")]:
        del namespace[name]


def _end(error: BaseException) -> NoReturn:
    """Report an exception as Python would, without the frames of this module."""
    trace: types.TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)
    if isinstance(error, KeyboardInterrupt):
        sys.exit(130)
    sys.exit(1)


def _listen(recorder: Recorder) -> None:
    """Listen as soon as the program has imported JAX: to import it earlier would read its settings too early."""
    if "jax" in sys.modules:  # by a `.pth` file or `sitecustomize`
        importlib.import_module(_MONITORING).register_event_duration_secs_listener(recorder.heard)
    else:
        sys.meta_path.insert(0, _Finder(recorder))


class _Finder(importlib.abc.MetaPathFinder):
    """Waits for `jax.monitoring` to be imported, registers the listener and goes."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != _MONITORING:
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._recorder)
        return spec


class _Loader(importlib.abc.Loader):
    """Another loader that registers the listener in what was loaded."""

    def __init__(self, loader: Any, recorder: Recorder) -> None:
        self._loader, self._recorder = loader, recorder

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        created: types.ModuleType | None = self._loader.create_module(spec)
        return created

    def exec_module(self, module: types.ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        module.register_event_duration_secs_listener(self._recorder.heard)
