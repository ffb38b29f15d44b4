"""What calls of one target cost in both versions: compilations and traces counted, and time compared."""

# mypy: disable-error-code="no-untyped-call"
# JAX has functions without annotations.

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable

import jax
from msgspec import structs

from jaxlint.verify.compare_values import compare
from jaxlint.verify.jobs import WARM_CALLS, CallResult, Timing, World
from jaxlint.verify.worker.capture import capture
from jaxlint.verify.worker.counting import Counter
from jaxlint.verify.worker.record import Call
from jaxlint.verify.worker.side import Side
from jaxlint.verify.worker.timing import paired

_TIME_S, _MAX_TIMED = 15.0, 3


class Meter:
    """Measures the targets of one job; only the first few are timed, and none once a gain is proven."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._counter = Counter()
        self._timed = 0
        self._proven_faster = False

    def measure(self, result: CallResult, call: Call, before: Side, after: Side) -> CallResult:
        """Count what warm calls compile and trace; time them when nothing else is proven yet."""
        counts = [self._count(side, result.name, call) for side in (before, after)]
        (compiled, traced), (compiled_after, traced_after) = counts
        timing = None
        real = before.world is after.world is World.REAL
        if real and self._timed < _MAX_TIMED and not self._proven_faster and result.outcome == "same":
            self._timed += 1
            # Fewer compilations are a gain already, and calls that compile take long.
            budget = _TIME_S if compiled == compiled_after else _TIME_S / 5
            timing = self._time(result.name, call, before, after, budget)
            self._proven_faster = bool(timing and timing.faster)
        return structs.replace(
            result, compiles=(compiled, compiled_after), traces=(traced, traced_after), timing=timing
        )

    def _count(self, side: Side, name: str, call: Call) -> tuple[int, int]:
        prepared = [side.fresh(call) for _ in range(WARM_CALLS)]
        start = self._counter.now()
        with contextlib.redirect_stdout(io.StringIO()), side.active():
            for args, kwargs in prepared:
                jax.block_until_ready(side.function(name)(*args, **kwargs))
        end = self._counter.now()
        return end[0] - start[0], end[1] - start[1]

    def _time(self, name: str, call: Call, before: Side, after: Side, budget: float) -> Timing | None:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            sides = (before, after)
            changed = [_changes_what_it_is_given(side, name, call) for side in sides]
            runs = [_runner(side, name, call, any(changed)) for side in sides]
            for side, run in zip((before, after), runs, strict=True):
                side.enter()
                run()
            if printed.getvalue():
                return None  # printing costs more than computing
            accelerator = jax.default_backend() != "cpu"
            enter = before.enter, after.enter
            return paired(runs[0], runs[1], budget, self._seed, accelerator=accelerator, enter=enter)


def _changes_what_it_is_given(side: Side, name: str, call: Call) -> bool:
    """Whether a call changes its arguments or gives their buffers away, so that none can be made with them again."""
    side.enter()
    args, kwargs = side.fresh(call)
    untouched = capture((args, kwargs))
    jax.block_until_ready(side.function(name)(*args, **kwargs))
    return compare(untouched, capture((args, kwargs))).level != "same"


def _runner(side: Side, name: str, call: Call, afresh: bool) -> Callable[[], object]:
    """Makes the call; with fresh copies on both sides where one of them needs them, for copies cost time."""
    side.enter()
    function = side.function(name)
    if not afresh:
        args, kwargs = side.fresh(call)
        return lambda: jax.block_until_ready(function(*args, **kwargs))

    def with_fresh_copies() -> object:
        args, kwargs = side.fresh(call)
        return jax.block_until_ready(function(*args, **kwargs))

    return with_fresh_copies
