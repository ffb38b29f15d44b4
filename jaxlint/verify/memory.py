"""Remembers what whole programs did, since the fixes of one file are judged against the same runs of the original."""

from __future__ import annotations

import math
from collections import OrderedDict

from jaxlint.verify.jobs import Job, ProgramJob
from jaxlint.verify.pool import Answer, Server

_PROGRAMS, _NUMBERS = 32, 1_000_000


class Memory:
    """A server whose equal program jobs are run once, as long as no file changes. Failures are not remembered."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: OrderedDict[ProgramJob, Answer] = OrderedDict()

    def start(self) -> None:
        """Start the server's process if it does not run yet. Unavailable when JAX or the device is missing."""
        self._server.start()

    def rest(self) -> None:
        """End the server's process, which starts again with the next job, and forget what was run."""
        self._known.clear()
        self._server.close()

    @property
    def jax(self) -> str:
        """The version of JAX that runs the jobs, empty before the first."""
        return self._server.jax

    @property
    def hardware(self) -> str:
        """The name of the accelerator, empty where there is none or before the first job."""
        return self._server.hardware

    def run(self, job: Job, wall_s: float = math.inf, larger: float = 1.0, *, again: bool = False) -> Answer:
        """What the job did; with `again` it is run in any case, to see whether it does the same."""
        if not isinstance(job, ProgramJob) or again:
            return self._server.run(job, wall_s, larger)
        if job not in self._known:
            answer = self._server.run(job, wall_s, larger)
            if answer.failure or sum(array.size for array in answer.arrays.values()) > _NUMBERS:
                return answer
            self._known[job] = answer
        self._known.move_to_end(job)
        while len(self._known) > _PROGRAMS:
            self._known.popitem(last=False)
        return self._known[job]
