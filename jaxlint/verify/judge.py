"""From what was observed to a verdict. Pure functions; nothing is run here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from jaxlint import model
from jaxlint.model import Compiled, Counts, Deviation, Speedup, Timed, Verdict, Verification
from jaxlint.verify.compare_values import Comparison
from jaxlint.verify.jobs import WARM_CALLS, CallResult, Fault, Gap, Range, ReplayResult
from jaxlint.verify.runs import Run


class Evidence(Struct, frozen=True):
    """Everything that bears on the verdict. `before` is the original or the reference that stands in for it."""

    before: Run
    after: Run
    programs: Comparison
    replay: ReplayResult | None = None
    watch: Sequence[Range] = ()  # what must have run of the fixed version
    fault: Fault | None = None  # of the original, gone in the fixed version
    reference: str = ""  # what the result was compared with, when it was not the original
    gain: str = ""  # a gain that was established in another way
    device: str = "cpu"
    jax: str = ""
    hardware: str = ""
    fallible: bool = False  # the reference is no JAX program, and may differ from what was meant


def judge(evidence: Evidence) -> Verification:
    """The verdict, with its reason and figures."""
    calls = evidence.replay.calls if evidence.replay else ()
    made = _Figures(evidence, calls)
    for call in calls:
        if call.outcome == "different" and evidence.fallible:
            return made.say(Verdict.UNVERIFIED, f"it does not match {evidence.reference}: {call.why}")
        if call.outcome == "different":
            return made.say(Verdict.DIFFERENT, call.why, same=False)
    if evidence.programs.level == "different":
        return made.say(Verdict.DIFFERENT, evidence.programs.why, same=False)
    unclear = [c.why for c in (evidence.programs, *(_as_comparison(call) for call in calls)) if c.level == "unclear"]
    if unclear:
        return made.say(Verdict.UNVERIFIED, f"rounding cannot be told from a fault here: {unclear[0]}")
    otherwise = next((call for call in calls if call.outcome == "called otherwise"), None)
    if otherwise:
        return made.say(
            Verdict.UNVERIFIED, f"the fixed program calls {otherwise.name} with other arguments: {otherwise.why}"
        )
    doubtful = next((call for call in calls if call.outcome == "doubtful"), None)
    if doubtful:
        return made.say(Verdict.UNVERIFIED, doubtful.why)
    unproven = [call for call in calls if call.outcome == "healed"]
    if unproven and not evidence.fault:
        call = unproven[0]
        return made.say(
            Verdict.UNVERIFIED, f"{call.name} fails in the original ({call.fault}) and there is nothing to compare with"
        )
    missed = _missed(evidence)
    if missed:
        fault = evidence.after.result.fault
        why = f"the program ends with {fault}" if fault else _advice(calls)
        return made.say(Verdict.UNVERIFIED, f"{_place(missed)} of the fixed version was not reached: {why}")
    judged = any(call.inputs for call in calls)
    if not judged and evidence.after.result.fault:
        return made.say(
            Verdict.UNVERIFIED, f"both programs fail with {evidence.after.result.fault}, so that its effect is not seen"
        )
    if not judged and not evidence.programs.judged:
        return made.say(Verdict.UNVERIFIED, f"nothing that it does could be observed: {_advice(calls)}")
    return _same(evidence, calls, made)


def _same(evidence: Evidence, calls: Sequence[CallResult], made: _Figures) -> Verification:
    gains = list(_gains(evidence, calls))
    basis = f"matches {evidence.reference}" if evidence.reference else "behaves the same"
    slower = next((c for c in calls if c.timing and c.timing.slower), None)
    but = f", but {slower.name} is {1 / slower.timing.ratio:.2g} times slower" if slower and slower.timing else ""
    if gains:
        return made.say(Verdict.CONFIRMED, f"{basis}; {'; '.join(gains)}{but}", same=True)
    return made.say(Verdict.SAME, f"{basis}{but or '; no gain was measured'}", same=True)


def _gains(evidence: Evidence, calls: Sequence[CallResult]) -> Any:
    if evidence.fault:
        at = f" at line {evidence.fault.line}" if evidence.fault.line else ""
        yield f"the original fails{at} with {evidence.fault}, the fixed version does not"
    if evidence.gain:
        yield evidence.gain
    before, after = evidence.before.result.compiles, evidence.after.result.compiles
    if not evidence.fault and not evidence.reference and after < before:
        yield f"{after} compilations instead of {before}"
    for call in calls:
        if call.compiles and call.compiles[1] < call.compiles[0] and not evidence.reference:
            was, now = call.compiles
            yield f"{call.name} compiles {now} times instead of {was} in {WARM_CALLS} warm calls"
        if call.timing and call.timing.faster:
            t = call.timing
            yield f"{call.name} is {t.ratio:.3g} times faster ({t.low:.3g} to {t.high:.3g})"


def _as_comparison(call: CallResult) -> Comparison:
    return Comparison("unclear" if call.outcome == "unclear" else "same", call.why)


def _missed(evidence: Evidence) -> Range | None:
    """The first watched range that nothing reached of which anything was seen; None when all were."""
    ran = evidence.after.result
    hit = set(ran.hits if evidence.programs.judged else ran.outside)
    hit |= set(evidence.replay.hits if evidence.replay else ())
    return next((part for index, part in enumerate(evidence.watch) if index not in hit), None)


def _place(part: Range) -> str:
    if part.columns is None:
        return f"line {part.first}"
    start, end = part.columns
    return f"line {part.first} from column {start + 1}" + (f" to {end}" if part.last == part.first else "")


def _advice(calls: Sequence[CallResult]) -> str:
    skipped = [call for call in calls if call.outcome == "skipped" and call.why]
    return skipped[0].why if skipped else "call it in the file with arguments that lead there"


class _Figures:
    """Builds the answer around the figures that all verdicts report."""

    def __init__(self, evidence: Evidence, calls: Sequence[CallResult]) -> None:
        self._evidence = evidence
        used = [call for call in calls if call.inputs]
        timed = [c for c in calls if c.timing]
        self._timed = next((c for c in timed if c.timing and c.timing.faster), timed[0] if timed else None)
        self._calls = calls
        self._error = max([evidence.programs.max_abs, *(call.max_abs for call in used)])
        self._inputs = _say_inputs(evidence, used)

    def say(self, verdict: Verdict, reason: str, same: bool | None = None) -> Verification:
        """The answer with this verdict and reason."""
        before, after = self._evidence.before.result, self._evidence.after.result
        stands_in = bool(self._evidence.reference)
        return Verification(
            verdict, reason, same, None if same is None else self._error, self._inputs, _speedup(self._timed),
            traces=None if stands_in else Counts(before.traces, after.traces),
            compiles=None if stands_in else Counts(before.compiles, after.compiles),
            device=self._evidence.device, jax=self._evidence.jax,
            evidence=model.Evidence(
                tuple(_deviations(self._evidence, self._calls)),
                () if stands_in else tuple(_compiled(self._calls)),
                _ratios(self._timed),
                self._evidence.hardware,
            ),
        )  # fmt: skip


def _speedup(call: CallResult | None) -> Speedup | None:
    timing = call.timing if call else None
    return Speedup(round(timing.ratio, 3), round(timing.low, 3), round(timing.high, 3)) if timing else None


def _ratios(call: CallResult | None) -> Timed | None:
    if call is None or call.timing is None:
        return None
    return Timed(call.name, call.timing.calls, tuple(float(f"{ratio:.5g}") for ratio in call.timing.ratios))


def _compiled(calls: Sequence[CallResult]) -> Iterator[Compiled]:
    return (Compiled(call.name, WARM_CALLS, *call.compiles) for call in calls if call.compiles)


def _deviations(evidence: Evidence, calls: Sequence[CallResult]) -> Iterator[Deviation]:
    """The narrowest comparison of the whole program, and that of each callable."""
    original = evidence.reference or "the original"

    def deviation(what: str, gap: Gap) -> Deviation:
        return Deviation(what, f"{original}, in 64 bits" if gap.exact else original, gap.error, gap.allowed)

    if evidence.programs.gap:
        yield deviation("the program", evidence.programs.gap)
    yield from (deviation(call.name, call.gap) for call in calls if call.gap)


def _say_inputs(evidence: Evidence, used: Sequence[CallResult]) -> str:
    parts = ["the program's own"] if evidence.programs.judged else []
    for source in ("declared", "recorded", "recorded shapes", "synthesised"):
        count = sum(call.inputs.get(source, 0) for call in used)
        if count:
            parts.append(f"{source} ({count} sets)")
    return ", ".join(parts) or "none"
