"""The caller's end of a server process: starts it, sends it jobs, cleans up behind it."""

from __future__ import annotations

import contextlib
import math
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
from msgspec import Struct, structs

from jaxlint.verify.jobs import TRAIL, Job, Limits, ProgramResult, Ready, Reply, Request, Result

_START_S, _GRACE_S, _MAX_OUTPUT = 180.0, 15.0, 4 << 20
# The interpreter must find this jaxlint without the folder that it lies in staying on the path of the user's program.
_BOOT = (
    "import sys; sys.path.insert(0, {root!r}); from jaxlint.verify.worker.server import main; "
    "sys.path.pop(0); main({folder!r}, {device!r})"
)
_KEPT = (
    "PATH",
    "LANG",
    "TZ",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SYSTEMROOT",
    "PYTHONPATH",
)
_KEPT_PREFIXES = (
    "LC_",
    "JAX_",
    "XLA_",
    "CUDA_",
    "NVIDIA_",
    "OMP_",
    "OPENBLAS_",
    "MKL_",
    "TF_CPP_",
    "ROCM_",
    "HIP_",
    "TPU_",
)
_DROPPED = ("JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE", "JAX_LOG_COMPILES", "JAX_DISABLE_JIT")


class Answer(Struct, frozen=True):
    """A job's result with what it printed; `failure` says why there is no result."""

    result: Result | None = None
    stdout: str = ""
    stderr: str = ""
    arrays: Mapping[str, Any] = {}  # leaf path → numbers, for programs
    failure: str = ""
    timed_out: bool = False
    last: tuple[str, str] = ("", "")  # of a replay that timed out: which version was called last, and with what


class Unavailable(Exception):
    """No job can be run; the message says why and what to do."""


class Server:
    """A context manager: one server process, one job at a time."""

    def __init__(self, *, device: str, limits: Limits, python: str = sys.executable) -> None:
        self.limits = limits
        self._device = device
        self._python = python
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = ""
        self._buffer = b""
        self._jobs = 0
        self._lacks = ""
        self.jax = self.hardware = ""

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the process if it does not run yet. Unavailable when JAX or the device is missing."""
        if self._lacks:
            raise Unavailable(self._lacks)
        if self._process is not None:
            return
        self._folder = os.path.realpath(tempfile.mkdtemp(prefix="jaxlint-"))
        self._buffer = b""
        root = str(Path(__file__).resolve().parents[2])
        with open(os.path.join(self._folder, "server.txt"), "wb") as errors:
            self._process = subprocess.Popen(
                [self._python, "-P", "-c", _BOOT.format(root=root, folder=self._folder, device=self._device)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=self._folder,
                env=_environment(self._device), start_new_session=True,
            )  # fmt: skip
        line = self._read(_START_S)
        if line:
            ready = msgspec.json.decode(line, type=Ready)
        else:
            ready = Ready(problem="the verifier's process did not start: " + self._complaint())
        if ready.problem:
            self._lacks = ready.problem
            self.close()
            raise Unavailable(ready.problem)
        self.jax, self.hardware = ready.jax, ready.hardware

    def run(self, job: Job, wall_s: float = math.inf, larger: float = 1.0) -> Answer:
        """Run one job to its end, within this time and so many times the time limit.

        Unavailable when JAX or the device is missing; whatever else goes wrong is the answer's failure.
        """
        self.start()
        self._jobs += 1
        folder = os.path.join(self._folder, f"job-{self._jobs}")
        os.mkdir(folder, 0o700)
        try:
            limits = structs.replace(self.limits, wall_s=min(self.limits.wall_s * larger, wall_s))
            reply = self._exchange(Request(folder, limits, job))
            return _answer(folder, reply, limits)
        except BrokenPipeError:
            self.close()
            return Answer(failure="the verifier's own process ended; it will be started again for the next change")
        except (msgspec.MsgspecError, zipfile.BadZipFile, OSError, KeyError, ValueError) as error:
            return Answer(failure=f"what its process reported cannot be read ({type(error).__name__}: {error})")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _exchange(self, request: Request) -> Reply:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(request) + b"\n")
        self._process.stdin.flush()
        line = self._read(request.limits.wall_s + _GRACE_S)
        if not line:
            raise BrokenPipeError
        return msgspec.json.decode(line, type=Reply)

    def _read(self, seconds: float) -> bytes:
        """The next line from the process; empty when it ended or the time passed."""
        assert self._process is not None and self._process.stdout is not None
        handle, deadline = self._process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self._buffer:
            readable, _, _ = select.select([handle], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(handle, 1 << 16) if readable else b""
            if not chunk:
                return b""
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _complaint(self) -> str:
        with contextlib.suppress(OSError):
            text = Path(self._folder, "server.txt").read_text(errors="replace").strip()
            return text.splitlines()[-1] if text else "it said nothing"
        return "it said nothing"

    def close(self) -> None:
        """End the process and all of its jobs, and remove their folder. May be called at any time."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
            try:
                process.wait(3.0)
            except subprocess.TimeoutExpired:
                pass
            finally:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                process.stdout.close()  # type: ignore[union-attr]
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def _environment(device: str) -> dict[str, str]:
    """What JAX and Python need of the environment; not the secrets that it may hold."""
    kept = {k: v for k, v in os.environ.items() if (k in _KEPT or k.startswith(_KEPT_PREFIXES)) and k not in _DROPPED}
    if kept.get("PYTHONPATH"):  # the worker runs in another folder
        kept["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, kept["PYTHONPATH"].split(os.pathsep)))
    platforms = {"cpu": "cpu", "gpu": "cuda,cpu", "tpu": "tpu,cpu"}
    # Jobs that run side by side share the accelerator's memory.
    shared = {} if device == "cpu" else {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return shared | kept | {
        "JAX_PLATFORMS": platforms.get(device, device), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8", "TF_CPP_MIN_LOG_LEVEL": "2",
    }  # fmt: skip


def _answer(folder: str, reply: Reply, limits: Limits) -> Answer:
    if reply.timed_out:
        return Answer(
            failure=f"it did not end within {limits.wall_s:g} s: give it less to do, or a higher limit",
            timed_out=True,
            last=_last_called(folder),
        )
    path = Path(folder, "result.json")
    if not path.exists():
        return Answer(failure=_why_no_result(folder, reply, limits))
    result: Result = msgspec.json.decode(path.read_bytes(), type=Result)
    stdout, stderr = _text(folder, "stdout"), _text(folder, "stderr")
    if stdout is None:
        return Answer(failure=f"it printed more than {_MAX_OUTPUT >> 20} MB")
    arrays = _arrays(folder, result) if isinstance(result, ProgramResult) else {}
    return Answer(result, stdout, stderr or "", arrays)


def _last_called(folder: str) -> tuple[str, str]:
    which, _, what = (_text(folder, TRAIL) or "").partition("\n")
    return which, what.strip()


def _why_no_result(folder: str, reply: Reply, limits: Limits) -> str:
    if reply.status == -signal.SIGXFSZ:
        return f"it wrote a file or printed more than {limits.file_mb} MB"
    if reply.status < 0:
        return f"its process was ended by {signal.Signals(-reply.status).name}"
    with contextlib.suppress(OSError):
        text = Path(folder, "error.txt").read_text(errors="replace").strip()
        if text:
            return "the verifier failed on it: " + text.splitlines()[-1][:300]
    return f"its process ended early with status {reply.status}"


def _text(folder: str, name: str) -> str | None:
    path = Path(folder, name)
    if not path.exists():
        return ""
    return path.read_text("utf-8", errors="replace") if path.stat().st_size <= _MAX_OUTPUT else None


def _arrays(folder: str, result: ProgramResult) -> dict[str, Any]:
    import numpy as np

    with np.load(os.path.join(folder, "arrays.npz"), allow_pickle=False) as stored:
        return {result.leaves[int(index)].path: stored[index] for index in stored.files}
