"""Runs one version of the file as a whole program."""

from __future__ import annotations

import contextlib
import random
import sys
import types
from typing import Any

import numpy as np

from jaxlint.verify.compare_values import Captured
from jaxlint.verify.jobs import Data, Draws, Fault, ProgramJob, ProgramResult, World
from jaxlint.verify.worker import execute, overlay
from jaxlint.verify.worker.capture import TooMuch, capture, module_values
from jaxlint.verify.worker.clock import freeze
from jaxlint.verify.worker.counting import Counter
from jaxlint.verify.worker.neutral import KeyLog
from jaxlint.verify.worker.place import Place
from jaxlint.verify.worker.removed import Uses
from jaxlint.verify.worker.varied import Varied
from jaxlint.verify.worker.watching import watched
from jaxlint.verify.worker.worlds import inside, patched


def prepare(path: str, text: str) -> Place:
    """Set the process up for the file: imports, clock, seeds, served text."""
    place = Place(path, text)
    sys.path.insert(0, place.root)
    sys.path += [folder for folder in place.more_folders() if folder not in sys.path]
    sys.argv = [path]
    overlay.serve(path, text)
    freeze(place.root)
    seed()
    return place


def seed() -> None:
    """Give each run of the program the same random numbers of Python and NumPy."""
    random.seed(0)
    np.random.seed(0)


def run_program(job: ProgramJob) -> tuple[ProgramResult, Captured]:
    """Run it to its end and keep what it left in its globals."""
    place, counter, log = prepare(job.path, job.text), Counter(), KeyLog()
    uses = Uses()
    hits: set[int] = set()
    outside: set[int] = set()
    errors: list[Fault] | None = [] if job.log_errors else None
    disk = overlay.Watch(job.path)
    varied = None if job.data is Data.OWN else Varied(job.data, place.root, job.path, job.text)
    with contextlib.ExitStack() as stack:
        stack.enter_context(inside(job.world, uses))
        stack.enter_context(patched(log.functions() if job.world is World.REAL and job.log_keys else {}))
        stack.enter_context(patched(varied.functions() if varied else {}))
        with watched(job.path, job.watch, hits, errors, outside):
            namespace, fault, status = _run(job, place)
        execute.settle()
        compiles, traces = counter.now()
        draws = log.draws() if job.log_keys else Draws()
        values, note = _values(namespace)
    result = ProgramResult(
        values.leaves,
        fault,
        status,
        tuple(sorted(hits)),
        tuple(sorted(outside)),
        compiles,
        traces,
        draws,
        tuple(errors or ()),
        uses.count,
        varied.count if varied else 0,
        note,
        disk.problem,
    )  # fmt: skip
    return result, values


def _run(job: ProgramJob, place: Place) -> tuple[dict[str, Any], Fault | None, int]:
    """The globals that it leaves, and how it ends. Its package may fail before it begins."""
    namespace: dict[str, Any] = {}

    def run(module: types.ModuleType) -> None:
        nonlocal namespace
        namespace = vars(module)
        execute.run(job.text, module, job.path)

    try:
        place.load(run)
    except SystemExit as end:
        return namespace, None, execute.status_of(end)
    except BaseException as error:
        return namespace, execute.fault_of(error, job.path), 1
    return namespace, None, 0


def _values(namespace: dict[str, Any]) -> tuple[Captured, str]:
    try:
        return capture(module_values(namespace)), ""
    except TooMuch:
        return Captured((), {}), "its globals hold more numbers than are kept for comparison"
    except Exception as error:
        return Captured((), {}), f"its globals could not be read ({type(error).__name__})"
