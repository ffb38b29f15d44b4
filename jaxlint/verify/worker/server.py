"""The process that has imported JAX, started no backend, and forks a fresh child for every job.

It runs none of the user's code itself, so that no job can influence a later one. Forking from here costs a tenth of a
second where a new interpreter with JAX costs seconds; forking after a backend has started would hang. Requests come
as JSON lines, answers go back the same way; when the other end closes (the caller is done, or was killed), the running
job is killed and the folder of all jobs is removed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import sys
import time

import msgspec
from msgspec import structs

from jaxlint.verify.jobs import Ready, Reply, Request


def main(folder: str, device: str) -> None:
    """Serve requests for a device until the input ends. `folder` holds the folders of all jobs."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    ready = _with_device(_import_jax(), device)
    _send(sink, msgspec.json.encode(ready))
    _adopt_orphans()
    with contextlib.suppress(EOFError):
        lines = _Lines(source)
        while not ready.problem:
            request = msgspec.json.decode(lines.read(), type=Request)
            _send(sink, msgspec.json.encode(_serve(request, lines, [source, sink])))
    shutil.rmtree(folder, ignore_errors=True)


def _import_jax() -> Ready:
    try:
        import jax
        import jax.monitoring
        import jax.numpy

        import jaxlint.verify.worker.child  # noqa: F401
    except ImportError as error:
        return Ready(problem=f"JAX cannot be imported here ({error}): pip install 'flake8-jaxlint[verify]'")
    except Exception as error:
        return Ready(problem=f"importing JAX failed with {type(error).__name__}: {error}")
    return Ready(jax=jax.__version__)


def _with_device(ready: Ready, device: str) -> Ready:
    if ready.problem or device == "cpu":
        return ready
    from jaxlint.verify.worker.devices import probe

    found = probe(device)
    return structs.replace(ready, hardware=found.hardware, problem=found.problem)


class _Lines:
    """Lines read from a pipe, with a way to see that its other end was closed."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.buffer = b""

    def fill(self) -> None:
        """Read what is there; EOFError when the other end is closed."""
        chunk = os.read(self.handle, 1 << 16)
        if not chunk:
            raise EOFError
        self.buffer += chunk

    def read(self) -> bytes:
        """The next line."""
        while b"\n" not in self.buffer:
            self.fill()
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line


def _send(handle: int, data: bytes) -> None:
    data += b"\n"
    while data:
        data = data[os.write(handle, data) :]


def _serve(request: Request, lines: _Lines, private: list[int]) -> Reply:
    start = time.monotonic()
    pid = os.fork()
    if pid == 0:
        for handle in private:
            os.close(handle)
        from jaxlint.verify.worker.child import work

        work(request)
    try:
        status, timed_out = _wait(pid, start + request.limits.wall_s, lines)
    finally:
        _kill_family(pid)
    return Reply(status, timed_out, time.monotonic() - start)


def _wait(pid: int, deadline: float, lines: _Lines) -> tuple[int, bool]:
    """Wait for the child to end, the time to pass, or the caller to go away (EOFError)."""
    handle = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
    try:
        while True:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status), False
            left = deadline - time.monotonic()
            if left <= 0:
                return -signal.SIGKILL, True
            wanted = [lines.handle] if handle < 0 else [lines.handle, handle]
            readable, _, _ = select.select(wanted, [], [], min(left, 0.02 if handle < 0 else left))
            if lines.handle in readable:
                lines.fill()
    finally:
        if handle >= 0:
            os.close(handle)


def _kill_family(pid: int) -> None:
    """Kill the job's process group, then whatever else has been left to this process to look after."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
    while children := _children():
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


def _children() -> list[int]:
    """Processes whose parent is this one, as far as /proc tells."""
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                if name.isdigit():
                    with open(f"/proc/{name}/stat", "rb") as stat:
                        parent = int(stat.read().rpartition(b")")[2].split()[1])
                    if parent == os.getpid():
                        found.append(int(name))
    return found


def _adopt_orphans() -> None:
    """On Linux, descendants of a job whose parent died become this process's children, which it kills."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
