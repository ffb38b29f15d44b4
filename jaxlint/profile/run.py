"""Runs a program under the recorder, in a process of its own that has this one's terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, structs

from jaxlint.profile.cells import NoProgram, cells
from jaxlint.profile.command import Command
from jaxlint.profile.records import Recording, read

_BOOT = """\
import importlib.util as util, sys
spec = util.spec_from_file_location("_jaxlint_profile", {init!r}, submodule_search_locations=[{folder!r}])
sys.modules["_jaxlint_profile"] = util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["_jaxlint_profile"])
from _jaxlint_profile.boot import main
main({records!r}, *sys.argv[1:3], sys.argv[3:])
"""


class NotRun(Exception):
    """The program was not run; the message says why."""


class Run(Struct, frozen=True):
    """How the program ended, as a shell would say it, after how many seconds, and what was recorded."""

    status: int
    seconds: float
    recording: Recording


def run(command: Command) -> Run:
    """Runs the program to its end. Raises `NotRun`."""
    folder = Path(__file__).parent / "child"
    with tempfile.TemporaryDirectory(prefix="jaxlint-profile-") as temporary:
        records = Path(temporary) / "records.jsonl"
        boot = _BOOT.format(init=str(folder / "__init__.py"), folder=str(folder), records=str(records))
        target = _with_cells(command.target, Path(temporary)) if command.kind == "notebook" else command.target
        words = [command.python, *command.flags, "-c", boot, command.kind, target, *command.args]
        began = time.monotonic()
        status = _wait(words)
        seconds = time.monotonic() - began
        recording = read(records.read_bytes()) if records.exists() else Recording()
    if recording.refused:
        raise NotRun(recording.refused)
    if not recording.ready:
        raise NotRun(f"{command.python} did not get as far as the program; is it Python 3.10 or newer?")
    return Run(status if status >= 0 else 128 - status, seconds, recording)


def _with_cells(path: str, folder: Path) -> str:
    """A file that names a notebook and holds its cells, for an interpreter that has no jaxlint. Raises `NotRun`."""
    try:
        found = [structs.astuple(cell) for cell in cells(path)]
    except NoProgram as error:
        raise NotRun(str(error)) from None
    file = folder / "cells.json"
    file.write_text(json.dumps({"path": os.path.abspath(path), "cells": found}), "utf-8")
    return str(file)


def _wait(words: list[str]) -> int:
    try:
        with subprocess.Popen(words) as process, _passed_on(process):
            return process.wait()
    except OSError as error:
        raise NotRun(f"{words[0]} cannot be run: {error.strerror}") from None


@contextmanager
def _passed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """An interrupt reaches the program from the terminal; what is sent to this process alone is passed on."""

    def terminate(number: int, _: object) -> None:
        process.send_signal(number)

    former = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
