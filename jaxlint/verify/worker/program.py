"""Runs one version of the file as a whole program."""

from __future__ import annotations

import contextlib
import random
import sys
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
from jaxlint.verify.worker.worlds import inside, patched


def prepare(path: str, text: str) -> Place:
    """Set the process up for the file: imports, clock, seeds, served text."""
    place = Place(path)
    sys.path.insert(0, place.root)
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
    errors: list[Fault] | None = [] if job.log_errors else None
    varied = None if job.data is Data.OWN else Varied(job.data, place.root, job.path, job.text)
    fault, status = None, 0
    with contextlib.ExitStack() as stack:
        stack.enter_context(inside(job.world, uses))
        stack.enter_context(patched(log.functions() if job.world is World.REAL and job.log_keys else {}))
        stack.enter_context(patched(varied.functions() if varied else {}))
        module = place.module()
        with execute.watched(job.path, job.watch, hits, errors):
            fault, status = _run(job, module)
        execute.settle()
        compiles, traces = counter.now()
        draws = log.draws() if job.log_keys else Draws()
        values, note = _values(module, fault)
    result = ProgramResult(
        values.leaves,
        fault,
        status,
        tuple(sorted(hits)),
        compiles,
        traces,
        draws,
        tuple(errors or ()),
        uses.count,
        varied.count if varied else 0,
        note,
    )  # fmt: skip
    return result, values


def _run(job: ProgramJob, module: Any) -> tuple[Fault | None, int]:
    try:
        execute.run(job.text, module, job.path)
    except SystemExit as end:
        return None, execute.status_of(end)
    except BaseException as error:
        return execute.fault_of(error, job.path), 1
    return None, 0


def _values(module: Any, fault: Fault | None) -> tuple[Captured, str]:
    try:
        return capture(module_values(vars(module))), ""
    except TooMuch:
        return Captured((), {}), "its globals hold more numbers than are kept for comparison"
    except Exception as error:
        return Captured((), {}), f"its globals could not be read ({type(error).__name__})"
