"""Runs a command of the user in this process, with recorders in every module that is made of the file."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import runpy
import signal
import sys
import types
from collections.abc import Collection, Iterator
from typing import Any

from msgspec import structs

from jaxlint.verify.jobs import Command, Start
from jaxlint.verify.worker import execute, overlay
from jaxlint.verify.worker.clone import Cloner, Uncopyable
from jaxlint.verify.worker.family import Version, pairs
from jaxlint.verify.worker.place import Place
from jaxlint.verify.worker.record import Call, Recorder


class Commanded:
    """One run of the command, and what it called; `problem` says why nothing was recorded, when nothing was.

    `modules` are those of the user that it imports.
    """

    def __init__(self, command: Command, path: str, text: str, names: Collection[str], modules: Version) -> None:
        self._command, self._path, self._text, self._names = command, path, text, names
        self._modules = modules
        self._recorders: list[tuple[Recorder, dict[str, Any]]] = []
        self._ending = ""
        self.problem = ""

    def run(self, place: Place, seconds: float) -> None:
        """Run it, for so many seconds at most, or until enough has been recorded."""
        with contextlib.ExitStack() as stack:
            output = io.StringIO()
            stack.enter_context(contextlib.redirect_stdout(output))
            stack.enter_context(contextlib.redirect_stderr(output))
            stack.enter_context(overlay.executed_by(self._path, self._execute))
            stack.enter_context(_started(self._command, place))
            stack.enter_context(_interrupted_after(seconds))
            self._ending = self._run()
            execute.settle()
        for recorder, _ in self._recorders:
            recorder.active = False
        if not any(recorder.reached for recorder, _ in self._recorders):
            self.problem = self._why_nothing(output.getvalue())

    def moved_to(
        self, namespace: dict[str, Any], modules: Version
    ) -> tuple[dict[str, list[Call]], dict[str, list[Call]]]:
        """By name the calls with values, and those of which only shapes are known, as calls in another version."""
        calls: dict[str, list[Call]] = {name: [] for name in self._names}
        shapes: dict[str, list[Call]] = {name: [] for name in self._names}
        for recorder, own in self._recorders:
            move = Cloner((own, namespace), *pairs(self._modules, modules))
            for kept, found in ((calls, recorder.calls), (shapes, recorder.shapes)):
                for name, many in found.items():
                    kept[name] += [moved for call in many if (moved := _moved(call, move))]
        return calls, shapes

    def _execute(self, module: types.ModuleType) -> None:
        recorder = Recorder(self._names, vars(module), self._stop_when_full)
        self._recorders.append((recorder, vars(module)))
        execute.run(self._text, module, self._path, recorder.wrap_new)

    def _stop_when_full(self) -> None:
        if all(any(recorder.is_full(name) for recorder, _ in self._recorders) for name in self._names):
            raise KeyboardInterrupt

    # ---- starting -----------------------------------------------------------------------------------------------

    def _run(self) -> str:
        """How it ended, when that was not well."""
        try:
            status = self._start()
        except SystemExit as end:
            status = execute.status_of(end)
        except KeyboardInterrupt:
            return "was ended before it was done"
        except BaseException as error:
            return f"fails with {execute.fault_of(error, self._path)}"
        return f"ends with status {status}" if status else ""

    def _start(self) -> int:
        command = self._command
        if command.start is Start.MODULE and command.what == "pytest":
            return _pytest(command.args)
        if command.start is Start.MODULE:
            self._start_module(command.what)
        elif command.start is Start.SCRIPT and os.path.isfile(command.what):
            self._start_script(command.what)
        elif command.start is Start.SCRIPT:
            runpy.run_path(command.what, run_name="__main__")
        else:
            exec(compile(command.what, "<string>", "exec"), vars(_main()))
        return 0

    def _start_script(self, path: str) -> None:
        module = _main()
        module.__file__ = path
        if self._is_file(path):
            self._execute(module)
            return
        with open(path, "rb") as file:
            exec(compile(file.read(), path, "exec", dont_inherit=True), vars(module))

    def _start_module(self, name: str) -> None:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
        if spec is None or not spec.origin or not self._is_file(spec.origin):
            runpy.run_module(name, run_name="__main__", alter_sys=True)
            return
        module = _main()
        module.__file__, module.__spec__, module.__package__ = spec.origin, spec, spec.parent
        self._execute(module)

    def _is_file(self, path: str) -> bool:
        return os.path.realpath(path) == os.path.realpath(self._path)

    def _why_nothing(self, output: str) -> str:
        lines = [line.strip() for line in output.splitlines() if line.strip(" =-_")]
        told = f" ({lines[-1][:200]})" if self._ending and lines else ""
        ending = f", and {self._ending}{told}" if self._ending else ""
        file = os.path.basename(self._path)
        does = f"calls none of the functions that changed in {file}" if self._recorders else f"does not import {file}"
        return f"the command `{self._command.text}` {does}{ending}"


def _moved(call: Call, move: Cloner) -> Call | None:
    try:
        args, kwargs = move((call.args, call.kwargs))
        init = move((call.init.args, call.init.kwargs)) if call.init else None
    except Uncopyable:
        return None
    return structs.replace(call, args=args, kwargs=kwargs, init=Call(*init) if init else None)


def _main() -> types.ModuleType:
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    return module


def _pytest(args: Collection[str]) -> int:
    """Plain asserts, so that test files are imported like others; no workers, no coverage, nothing left behind."""
    import pytest

    own = ["-p", "no:cacheprovider", "--assert=plain"]
    own += ["-n0"] if importlib.util.find_spec("xdist") else []
    own += ["--no-cov"] if importlib.util.find_spec("pytest_cov") else []
    return int(pytest.main([*args, *own]))


@contextlib.contextmanager
def _started(command: Command, place: Place) -> Iterator[None]:
    """The folder, the arguments and the path for imports that the command would have."""
    script = command.start is Start.SCRIPT
    first = os.path.dirname(os.path.realpath(command.what)) if script else command.folder
    old = sys.argv, sys.path[:], os.getcwd()
    sys.argv = [command.what if script else "-m" if command.start is Start.MODULE else "-c", *command.args]
    with contextlib.suppress(ValueError):
        sys.path.remove(place.root)  # once, for it may have been there before: a source folder that is installed
    sys.path.insert(0, first)
    os.chdir(command.folder)
    main = sys.modules["__main__"]
    try:
        yield
    finally:
        os.chdir(old[2])
        sys.argv, sys.path[:] = old[0], [*old[1], *(entry for entry in sys.path if entry not in old[1])]
        sys.modules["__main__"] = main


@contextlib.contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    """KeyboardInterrupt, which test runners obey too, when the time is over; again, should it be caught."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds, 5.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
