"""Has the two versions of one change run, and stops the judgement where that cannot be done."""

from __future__ import annotations

import math
import time

from msgspec import structs

from jaxlint.model import Verdict
from jaxlint.verify.change import Change, Touched
from jaxlint.verify.jobs import (
    FIXED,
    ORIGINAL,
    Declared,
    Job,
    ProgramJob,
    ProgramResult,
    ReplayJob,
    ReplayResult,
    World,
)
from jaxlint.verify.meant import NANS
from jaxlint.verify.memory import Memory
from jaxlint.verify.pool import Answer
from jaxlint.verify.runs import Run

_TARGETS = 6
"""How many callables are called within the limits; where more have changed, these are larger."""


class Stop(Exception):
    """The verdict is known before the end."""

    def __init__(self, verdict: Verdict, reason: str, same: bool | None = None) -> None:
        self.verdict, self.reason, self.same = verdict, reason, same


class Runner:
    """Runs whole programs and replays callables on one server. What cannot be run raises `Stop`.

    So does what is to be run after `limit_s`: all runs together take no longer.
    """

    def __init__(self, server: Memory, change: Change, declared: Declared, limit_s: float = math.inf) -> None:
        self._server = server
        self._limit_s, self._end, self._runs = limit_s, time.monotonic() + limit_s, 0
        self._change = change
        self._declared = declared
        self.problems: tuple[str, ...] = ()  # with what was declared

    @property
    def jax(self) -> str | None:
        """The version of JAX that runs them, once it is known."""
        return self._server.jax or None

    @property
    def hardware(self) -> str:
        """The name of the accelerator that runs them, if one does."""
        return self._server.hardware

    def program(self, text: str, which: str, form: ProgramJob, *, again: bool = False) -> Run:
        """One run of the whole program; `which` names the version where it cannot be judged.

        With `again` the program is run even if it is known what such a run does.
        """
        job = structs.replace(form, path=self._change.path, text=text)
        answer = self._run(job, again=again)
        if answer.failure or not isinstance(answer.result, ProgramResult):
            raise Stop(Verdict.UNVERIFIED, f"the {which} program could not be judged: {answer.failure}")
        _check_served(answer.result)
        return Run(answer.result, answer.stdout, answer.arrays)

    def replay(
        self,
        parts: Touched,
        worlds: tuple[World, World] = (World.REAL, World.REAL),
        measure: bool = True,
        log_keys: bool = False,
    ) -> ReplayResult | None:
        """The changed callables of both versions, called with the same arguments; None when there are none.

        With `log_keys` it is counted how they use keys, and nothing is compared.
        """
        if not parts.targets and not parts.called:
            return None
        job = ReplayJob(
            self._change.path,
            self._change.before,
            self._change.after,
            parts.targets,
            *worlds,
            watch=parts.watch,
            gone=parts.gone,
            measure=measure,
            heal=self._change.rule in NANS,
            constants=parts.constants,
            called=parts.called,
            declared=self._declared,
            log_keys=log_keys,
        )
        larger = max(1.0, len(parts.targets) / _TARGETS)
        self._end += (larger - 1) * self._limit_s if self._limit_s < math.inf else 0
        answer = self._run(job, larger=larger)
        if answer.timed_out and answer.last[0] == FIXED:
            raise Stop(Verdict.UNVERIFIED, f"the fixed version did not end with {answer.last[1]}: {answer.failure}")
        if (
            answer.timed_out and answer.last[0] == ORIGINAL
        ):  # an unusual input may have started a loop of the original that does not end
            answer = self._run(structs.replace(job, gentle=True))
        if answer.failure or not isinstance(answer.result, ReplayResult):
            raise Stop(Verdict.UNVERIFIED, f"the changed functions could not be called: {answer.failure}")
        _check_served(answer.result)
        self.problems = answer.result.problems
        return answer.result

    def _run(self, job: Job, *, larger: float = 1.0, again: bool = False) -> Answer:
        left = self._end - time.monotonic()
        if left <= 0:
            over = f"the {self._limit_s:.0f} s that it may take were over after {self._runs} runs"
            raise Stop(Verdict.UNVERIFIED, f"{over}: give the program less to do, or judge it on a machine at rest")
        self._runs += 1
        return self._server.run(job, left, larger, again=again)


def _check_served(result: ProgramResult | ReplayResult) -> None:
    """What ran must have been the version that is judged: without that proof there is no verdict."""
    if result.unserved:
        raise Stop(Verdict.UNVERIFIED, result.unserved)
