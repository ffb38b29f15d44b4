"""Judges changes: decides what is to be run, has it run in child processes, and asks `judge` for the verdict."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jaxlint.model import Verdict, Verification
from jaxlint.verify.case import Case
from jaxlint.verify.change import Change
from jaxlint.verify.jobs import Command, Declared, Factory, Limits
from jaxlint.verify.judging import Judging
from jaxlint.verify.memory import Memory
from jaxlint.verify.pool import Server, Unavailable

_LIMIT = 1.5
"""How much longer all runs for one change may take than a single one."""


class Verifier(Judging):
    """Judges changes on this machine; it owns the processes in which the user's code runs.

    `device` is cpu, gpu or tpu; `timeout_s` and `memory_mb` bound every single run, 1.5 times
    `timeout_s` all runs for one change; `jobs` changes are judged at once;
    `python` is the interpreter whose JAX is to be used. `factories` name, by `module:name` of a callable, the
    `module:name` of a function that makes arguments for it, found in the folder `root`; `command` is run for the
    arguments with which it calls what has changed.
    """

    def __init__(
        self,
        *,
        device: str = "cpu",
        timeout_s: float = 120,
        jobs: int = 1,
        memory_mb: int = 8192,
        python: str | None = None,
        factories: Mapping[str, str] | None = None,
        root: str | os.PathLike[str] = ".",
        command: Command | None = None,
    ) -> None:
        limits = Limits(wall_s=timeout_s, memory_mb=memory_mb)
        self._servers = [
            Server(device=device, limits=limits, python=python or sys.executable) for _ in range(max(jobs, 1))
        ]
        self._free: queue.SimpleQueue[Memory] = queue.SimpleQueue()
        for server in self._servers:
            self._free.put(Memory(server))
        self._device = device
        self._limit_s = _LIMIT * timeout_s
        made = tuple(Factory(name, source) for name, source in (factories or {}).items())
        self._declared = Declared((), made, os.path.abspath(root), command, command_s=timeout_s / 2)
        self._closed = threading.Event()

    def close(self) -> None:
        """End all processes and remove what they left. May be called at any time, also from another thread."""
        self._closed.set()
        for server in self._servers:
            server.close()

    def rest(self) -> None:
        """End the processes that are not at work; they start again when they are needed."""
        idle = []
        with contextlib.suppress(queue.Empty):
            while True:
                idle.append(self._free.get_nowait())
        for server in idle:
            server.rest()
            self._free.put(server)

    def check(self) -> None:
        """Start what runs the changes. Raises `Unavailable` where JAX or the device is missing, with what to do."""
        server = self._free.get()
        try:
            server.start()
        finally:
            self._free.put(server)

    def verify(self, change: Change) -> Verification:
        """Judge one change. Whatever the user's code does, the answer is a verdict; nothing of its is raised."""
        if self._closed.is_set():
            raise RuntimeError("the verifier is closed")
        server = self._free.get()
        try:
            return Case(server, resolved(change), self._device, self._declared, self._limit_s).judge()
        except Unavailable as error:
            return Verification(Verdict.UNVERIFIED, str(error))
        finally:
            self._free.put(server)

    def iterate(self, changes: Sequence[Change]) -> Iterator[Verification]:
        """The verdicts in the order of the changes, as they come in; several are judged at once when `jobs` says so."""
        if len(self._servers) == 1:
            yield from map(self.verify, changes)
            return
        with ThreadPoolExecutor(len(self._servers)) as threads:
            try:
                yield from threads.map(self.verify, changes)
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                self.close()  # ends the running jobs, so that their threads end
                raise


def resolved(change: Change) -> Change:
    """The same change with an absolute path."""
    path = "stdin.py" if change.path in ("<stdin>", "-") else change.path
    return Change(os.path.abspath(path), change.before, change.after, change.rule, change.lines)


def compare(
    before_path: str | os.PathLike[str],
    after_path: str | os.PathLike[str],
    *,
    device: str = "cpu",
    timeout_s: float = 120,
) -> Verification:
    """Judge any two versions of a file: both are run under the name and from the folder of the first.

    OSError when a file cannot be read, UnicodeDecodeError or SyntaxError when it is no Python text.
    """
    before, after = (_read(path) for path in (before_path, after_path))
    with Verifier(device=device, timeout_s=timeout_s) as verifier:
        return verifier.verify(Change(os.fspath(before_path), before, after))


def _read(path: str | os.PathLike[str]) -> str:
    import io
    import tokenize

    data = Path(path).read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding)
