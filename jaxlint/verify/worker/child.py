"""One job's own process: builds its fences, runs the job, writes the result into the job's folder, ends."""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import signal
import sys
import tempfile
import traceback
from typing import Any, NoReturn

import msgspec
import numpy as np

from jaxlint.verify import sandbox
from jaxlint.verify.compare_values import Captured
from jaxlint.verify.jobs import TRAIL, Limits, ProgramJob, ReplayJob, Request, Result
from jaxlint.verify.worker.budget import Budget
from jaxlint.verify.worker.program import run_program
from jaxlint.verify.worker.replay import run_replay


def work(request: Request) -> NoReturn:
    """Never returns: the process ends here, whatever the job does."""
    status = 70
    try:
        parent = os.getppid()
        os.setsid()
        _end_with(parent)
        _settle_in(request)
        result = _dispatch(request.job, request.folder, request.limits)
        with open(os.path.join(request.folder, "result.json"), "wb") as file:
            file.write(msgspec.json.encode(result))
        status = 0
    except BaseException:
        with contextlib.suppress(BaseException), open(os.path.join(request.folder, "error.txt"), "w") as file:
            file.write(traceback.format_exc())
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
        os._exit(status)


def _end_with(parent: int) -> None:
    """On Linux, die when the server dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(71)


def _settle_in(request: Request) -> None:
    folder = request.folder
    home, work_folder = os.path.join(folder, "home"), os.path.join(folder, "work")
    os.mkdir(home)
    os.mkdir(work_folder)
    os.chdir(work_folder)
    os.environ.update(HOME=home, TMPDIR=home, XDG_CACHE_HOME=home, MPLCONFIGDIR=home, MPLBACKEND="agg")
    tempfile.tempdir = home
    sys.dont_write_bytecode = True
    for handle, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(file, handle)
        os.close(file)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb"), "utf-8", errors="backslashreplace")
    sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb"), "utf-8", errors="backslashreplace", line_buffering=True)
    sandbox.enter(folder, request.limits, accelerator=os.environ.get("JAX_PLATFORMS", "cpu") != "cpu")


def _dispatch(job: ProgramJob | ReplayJob, folder: str, limits: Limits) -> Result:
    if isinstance(job, ReplayJob):
        return run_replay(job, Budget(limits.wall_s, os.path.join(folder, TRAIL)))
    result, values = run_program(job)
    _save(values, folder)
    return result


def _save(values: Captured, folder: str) -> None:
    arrays: dict[str, Any] = {
        str(i): values.arrays[leaf.path] for i, leaf in enumerate(values.leaves) if leaf.path in values.arrays
    }
    np.savez(os.path.join(folder, "arrays.npz"), **arrays)
