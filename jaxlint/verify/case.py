"""One change under judgement: which runs are needed, in which order, and what stands in for an original that fails."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, structs

from jaxlint.model import Verdict, Verification
from jaxlint.verify.axes import alternatives
from jaxlint.verify.bodies import common_bodies
from jaxlint.verify.change import Change, Touched, is_same_place, touched
from jaxlint.verify.compare_text import is_prefix
from jaxlint.verify.compare_values import Comparison
from jaxlint.verify.doubts import Doubts
from jaxlint.verify.examples import examples
from jaxlint.verify.explained import explanation, lies_between
from jaxlint.verify.jobs import Declared, Fault, ProgramJob, ReplayResult, World
from jaxlint.verify.judge import Evidence, judge
from jaxlint.verify.meant import KEYS, NANS, VALUES
from jaxlint.verify.memory import Memory
from jaxlint.verify.references import MISSING, name_of, worlds, worlds_without_tracing
from jaxlint.verify.runner import Runner, Stop
from jaxlint.verify.runs import Run, compare_programs

_COMPARE = "write a version that does what is meant, and run `jaxlint compare` on it and the fixed one"


class _Reference(Struct, frozen=True):
    """What stands in for the original, how it compares with the fixed version, and what it is called."""

    world: World
    run: Run
    programs: Comparison
    name: str
    text: str


class Case:
    """Judges one change with the help of one server, in `limit_s` at most: what is open then is `unverified`."""

    def __init__(self, server: Memory, change: Change, device: str, declared: Declared, limit_s: float) -> None:
        self._change = change
        self._device = device
        self._examples = examples(change.before)
        self._runner = Runner(server, change, structs.replace(declared, examples=self._examples.found), limit_s)

    def judge(self) -> Verification:
        """The verdict."""
        try:
            found = self._judge()
        except Stop as stop:
            found = Verification(stop.verdict, stop.reason, stop.same, device=self._device, jax=self._runner.jax)
        meant = self._change.rule in VALUES and "only the fixed" not in found.reason
        if found.verdict is Verdict.DIFFERENT and meant:
            reason = f"this fix is meant to change what the program does ({found.reason}); {_COMPARE}"
            found = structs.replace(found, verdict=Verdict.UNVERIFIED, reason=reason, same=None)
        return self._with_problems(found)

    def _with_problems(self, found: Verification) -> Verification:
        """The verdict; its reason also says what is wrong with the arguments that were declared."""
        unread = [f"the example at line {problem.line}: {problem.message}" for problem in self._examples.problems]
        problems = [*self._runner.problems, *(unread if found.verdict is Verdict.UNVERIFIED else [])]
        return structs.replace(found, reason="; ".join([found.reason, *problems]))

    def _judge(self) -> Verification:
        parts = self._parts()
        if parts.equal:
            raise Stop(
                Verdict.SAME, "both versions are the same program: they differ in layout and comments at most", True
            )
        if parts.dropped:
            raise Stop(Verdict.UNVERIFIED, f"the fixed version no longer defines {', '.join(parts.dropped)}")
        keys = self._change.rule in KEYS
        form = ProgramJob("", "", watch=parts.gone, log_keys=keys)
        before = self._runner.program(self._change.before, "original", form)
        after = self._runner.program(self._change.after, "fixed", ProgramJob("", "", watch=parts.watch, log_keys=keys))
        if not keys and _gone(before) and _gone(after):
            restored = self._judge_restored(parts, after)
            if restored is not None:
                return restored
        self._check_faults(before, after)
        if keys and bool(before.result.fault) == bool(after.result.fault):
            return self._judge_keys(parts, before, after)
        return self._judge_values(parts, before, after)

    def _parts(self) -> Touched:
        try:
            return touched(self._change.before, self._change.after)
        except SyntaxError as error:
            raise Stop(
                Verdict.UNVERIFIED, f"one of the versions does not parse (line {error.lineno}: {error.msg})"
            ) from error

    # ---- faults -------------------------------------------------------------------------------------------------

    def _check_faults(self, before: Run, after: Run) -> None:
        gone, left = before.result.fault, after.result.fault
        for fault in (left, gone):
            if fault and fault.type == "PermissionError" and "the verifier forbids" in fault.message:
                raise Stop(Verdict.UNVERIFIED, f"the program does what the verifier does not allow: {fault}")
        if left and not gone:
            at = f" at line {left.line}" if left.line else ""
            raise Stop(Verdict.DIFFERENT, f"only the fixed program fails: {left}{at}", False)
        if left and gone and left.type in MISSING - {"AttributeError"} and str(left) == str(gone):
            raise Stop(Verdict.UNVERIFIED, f"the program cannot be run here: {left}")
        if left and gone and (left.type != gone.type or _masked(left) != _masked(gone)):
            raise Stop(Verdict.UNVERIFIED, f"the fixed program still fails: {left} (the original: {gone})")

    def _judge_restored(self, parts: Touched, after: Run) -> Verification | None:
        """For a fix of one removed name among several: both versions are compared with all of them put back."""
        form = ProgramJob("", "", world=World.RESTORED, watch=parts.watch)
        one = self._runner.program(self._change.before, "original", form)
        two = self._runner.program(self._change.after, "fixed", form)
        if one.result.fault or two.result.fault:
            return None
        programs = self._compared(parts, one, two)
        replay = self._runner.replay(parts, (World.RESTORED, World.RESTORED), measure=False)
        fewer = one.result.removed - two.result.removed
        gains = [f"{fewer} fewer calls of removed functions"] if fewer > 0 else []
        calls = replay.calls if replay else ()
        gains += [f"{call.name} calls fewer removed functions" for call in calls if call.removed[0] > call.removed[1]]
        gain = f"{', '.join(gains)} (the program still fails with {after.result.fault})" if gains else ""
        name = "the original, both with the removed names put back"
        evidence = self._evidence(parts, one, two, programs, replay, reference=name, gain=gain)
        return self._settled(evidence, parts, (World.RESTORED, World.RESTORED))

    # ---- values -------------------------------------------------------------------------------------------------

    def _judge_values(self, parts: Touched, before: Run, after: Run) -> Verification:
        heal = self._change.rule in NANS
        fault = before.result.fault if not after.result.fault else None
        programs = Comparison("different")
        if fault is None:
            programs = self._elsewhere(before, after) or self._compare(parts, before, after, heal)
            if programs.level != "different":
                self._check_reference(parts, after)
                return self._with_replay(parts, before, after, programs, heal)
            if heal and compare_programs(_truthless(before), _truthless(after), parts=parts, heal=True).level == "same":
                why = "what is true of numbers need not be true of NaN, and nothing tells whether they are right"
                raise Stop(Verdict.UNVERIFIED, f"{programs.why}: {why}; {_COMPARE}")
            traced = self._by_tracing(parts, programs) if self._change.rule is not None else None
            if traced is not None:
                return self._unless_lost(traced)
        reference = self._reference(parts, before, after, fault)
        if reference is None and fault is None and self._change.rule in VALUES:
            raise Stop(
                Verdict.UNVERIFIED, f"this fix is meant to change what the program does ({programs.why}); {_COMPARE}"
            )
        if reference is None:
            raise Stop(Verdict.DIFFERENT, programs.why, False)
        replay = self._runner.replay(parts, (reference.world, World.REAL), measure=False)
        gain = "" if fault else f"the original differs from that ({programs.why})"
        evidence = self._evidence(parts, reference.run, after, reference.programs, replay, fault, reference.name, gain)
        evidence = structs.replace(evidence, fallible=reference.world is not World.RESTORED)
        settled = self._settled(evidence, parts, (reference.world, World.REAL), reference.text)
        return settled if fault else self._unless_lost(settled)

    def _unless_lost(self, found: Verification) -> Verification:
        """The verdict on a program that does something else than before, as it should: not because it does less."""
        if found.verdict not in (Verdict.CONFIRMED, Verdict.SAME):
            return found
        common = common_bodies(self._change.before, self._change.after)
        before, after = (tuple(pair[side] for pair in common.values()) for side in (0, 1))
        was = self._runner.program(self._change.before, "original", ProgramJob("", "", watch=before)).result.hits
        now = self._runner.program(self._change.after, "fixed", ProgramJob("", "", watch=after)).result.hits
        lost = [name for index, name in enumerate(common) if index in was and index not in now]
        if not lost:
            return found
        reason = f"the fixed version no longer calls {', '.join(lost)}, so that what is gone may be gone with the calls"
        return structs.replace(found, verdict=Verdict.UNVERIFIED, reason=reason, same=None)

    def _check_reference(self, parts: Touched, after: Run) -> None:
        """A fix that is meant to change values must agree with what was meant, also where nothing has changed."""
        if self._change.rule not in VALUES:
            return
        found = next(self._references(parts, after, None), None)
        if found and found.programs.level != "same":
            raise Stop(
                Verdict.UNVERIFIED,
                f"it does what the original does, but not what {found.name} does: {found.programs.why}",
            )

    def _elsewhere(self, before: Run, after: Run) -> Comparison | None:
        """That both fail, but at different places, so that what they did until then is not the same."""
        was, now = ((run.result.fault and run.result.fault.line) or 0 for run in (before, after))
        if not was or not now or is_same_place(self._change.before, self._change.after, was, now):
            return None
        return Comparison("different", f"the original fails at line {was}, the fixed version at line {now}")

    def _by_tracing(self, parts: Touched, programs: Comparison) -> Verification | None:
        """For versions that differ in signs of tracing, or in errors that are caught or come later.

        Run without jit both must do the same, and what the fixed version really prints must be of one or the other.
        """
        before = self._runner.program(self._change.before, "original", ProgramJob("", "", log_errors=True))
        after = self._runner.program(
            self._change.after, "fixed", ProgramJob("", "", watch=parts.watch, log_errors=True)
        )
        gain = explanation(before, after)
        if gain is None:
            return None
        for world in worlds_without_tracing(self._change.rule):
            found = self._both_in(world, parts, before, after, gain)
            if found is not None and found.verdict is not Verdict.DIFFERENT:
                return found
        if gain and (before.result.errors or before.result.fault):
            raise Stop(
                Verdict.UNVERIFIED, f"{gain}, but nothing tells what the right result is ({programs.why}); {_COMPARE}"
            )
        return None

    def _both_in(self, world: World, parts: Touched, before: Run, after: Run, gain: str) -> Verification | None:
        form = ProgramJob("", "", world=world)
        one = self._runner.program(self._change.before, "reference", form)
        two = self._runner.program(self._change.after, "reference", form)
        programs = self._compared(parts, one, two, types=world is World.EAGER)
        if one.result.fault or two.result.fault or programs.level != "same" or not lies_between(before, after, two):
            return None
        run = structs.replace(two, result=structs.replace(two.result, hits=after.result.hits))
        name = f"{name_of(world, self._change.rule)}, of both versions"
        verdict = None
        for after_world in (World.REAL, world):
            replay = self._runner.replay(parts, (world, after_world), measure=False)
            evidence = self._evidence(parts, one, run, programs, replay, reference=name, gain=gain)
            verdict = judge(evidence)
            if verdict.verdict is not Verdict.DIFFERENT:
                return self._settled(evidence, parts, (world, world))
        return verdict

    def _with_replay(self, parts: Touched, before: Run, after: Run, programs: Comparison, heal: bool) -> Verification:
        replay = self._runner.replay(parts)
        healing = heal and _heals(before, after)
        if healing and parts.loose:
            raise Stop(
                Verdict.UNVERIFIED,
                "values that were NaN are numbers now, and nothing tells whether they are right: "
                "statements outside of functions have changed as well",
            )
        gain = "gradients or values that were NaN are numbers now" if healing else ""
        healed = next((call.fault for call in replay.calls if call.outcome == "healed"), None) if replay else None
        evidence = self._evidence(parts, before, after, programs, replay, gain=gain)
        judged = judge(evidence)
        verdict = self._settled(evidence, parts, (World.REAL, World.REAL))
        is_other = judged.verdict is Verdict.DIFFERENT
        if self._change.rule not in VALUES if is_other else healed is None:
            return verdict
        for world in worlds(self._change.rule, healed):
            again = self._runner.replay(parts, (world, World.REAL), measure=False)
            if again and not any(call.outcome in ("healed", "different") or call.fault for call in again.calls):
                name = name_of(world, self._change.rule)
                gain = f"the original differs from that ({judged.reason})" if is_other else gain
                other = structs.replace(evidence, replay=again, fault=healed, reference=name, fallible=True, gain=gain)
                settled = self._settled(other, parts, (World.REAL, World.REAL))
                return self._unless_lost(settled) if is_other else settled
        return verdict

    def _compare(self, parts: Touched, before: Run, after: Run, heal: bool) -> Comparison:
        programs = compare_programs(before, after, parts=parts, heal=heal)
        if programs.level == "same":
            return programs
        exact = self._runner.program(self._change.before, "original", ProgramJob("", "", world=World.DOUBLE))
        programs = compare_programs(before, after, None if exact.result.fault else exact, parts=parts, heal=heal)
        if programs.level != "same":
            again = self._runner.program(self._change.before, "original", ProgramJob("", ""), again=True)
            if compare_programs(before, again).level != "same":
                raise Stop(Verdict.UNVERIFIED, "the original gives other results at each run: seed its random numbers")
        return programs

    def _reference(self, parts: Touched, before: Run, after: Run, fault: Fault | None) -> _Reference | None:
        """A world in which the original runs to its end and agrees with the fixed version."""
        why = ""
        for found in self._references(parts, after, fault):
            if found.programs.level == "same":
                return found
            why = why or f"; against {found.name}: {found.programs.why}"
        if fault is None:
            return None
        other = self._other_axes(after)
        if other:
            why = f"; {other}"
        elif other is not None:
            name = "a Python loop over the examples, and no other axes work"
            run = self._runner.program(self._change.after, "reference", ProgramJob("", "", world=World.LOOPS))
            programs = self._compared(parts, run, after)
            if not run.result.fault and programs.level == "same":
                return _Reference(World.LOOPS, run, programs, name, self._change.after)
        level, _ = is_prefix(before.stdout, after.stdout)
        early = "" if level == "same" else " (and what is printed before that differs)"
        raise Stop(
            Verdict.UNVERIFIED,
            f"the original fails with {fault}{early}, the fixed program runs to its end, "
            f"and nothing tells what the right result is{why}; {_COMPARE}",
        )

    def _references(self, parts: Touched, after: Run, fault: Fault | None) -> Iterator[_Reference]:
        """The worlds in which the original runs to its end."""
        for world in worlds(self._change.rule, fault):
            run = self._runner.program(self._change.before, "reference", ProgramJob("", "", world=world))
            if not run.result.fault:
                programs = self._compared(parts, run, after, types=not world.is_python)
                yield _Reference(world, run, programs, name_of(world, self._change.rule), self._change.before)

    def _other_axes(self, after: Run) -> str | None:
        """Which other axes for vmap work too, empty when none do; None when the change is no change of axes alone."""
        others = alternatives(self._change.before, self._change.after)
        for axes, text in others or ():
            run = self._runner.program(text, "otherwise mapped", ProgramJob("", ""))
            if not run.result.fault and compare_programs(run, after).level != "same":
                return f"with axes {axes!r} it works too, and gives another result: check which were meant"
        return "" if others else None

    def _compared(self, parts: Touched, before: Run, after: Run, types: bool = True) -> Comparison:
        return compare_programs(before, after, parts=parts, loose=None if types else parts.names, types=types)

    def _evidence(
        self, parts: Touched, before: Run, after: Run, programs: Comparison, replay: ReplayResult | None,
        fault: Fault | None = None, reference: str = "", gain: str = "",
    ) -> Evidence:  # fmt: skip
        return Evidence(
            before, after, programs, replay, parts.watch, fault, reference, gain,
            self._device, self._runner.jax or "", self._runner.hardware,
        )  # fmt: skip

    def _settled(
        self, evidence: Evidence, parts: Touched, worlds: tuple[World, World], before: str | None = None
    ) -> Verification:
        """The verdict on the evidence, unless there are doubts about it."""
        text = before or self._change.before
        return Doubts(self._runner, self._change, parts, worlds, text, evidence.replay).settle(judge(evidence))

    # ---- keys ---------------------------------------------------------------------------------------------------

    def _judge_keys(self, parts: Touched, before: Run, after: Run) -> Verification:
        """The draws differ and no key is used twice; with draws that ignore their keys, the rest is the same."""
        world, (one, two) = World.NEUTRAL, self._both(World.NEUTRAL)
        if (one.result.fault or two.result.fault) and not before.result.fault:
            world, (one, two) = World.NEUTRAL_LOOPS, self._both(World.NEUTRAL_LOOPS)
        failed = one.result.fault or two.result.fault
        if failed and (not before.result.fault or str(one.result.fault) != str(two.result.fault)):
            raise Stop(Verdict.UNVERIFIED, f"the program fails when its draws do not depend on their keys: {failed}")
        programs = compare_programs(one, two, parts=parts, keys=False)
        replay = self._runner.replay(parts, (World.NEUTRAL, World.NEUTRAL), measure=False)
        was, now = before.result.draws, after.result.draws
        twice, still = was.repeated, now.repeated
        if not twice:
            twice, still = self._repeated_in_calls(parts)
        gain = ""
        if twice > still:
            gain = f"{still} draws instead of {twice} repeat a key that was used before"
        elif not still and now.distinct > was.distinct:
            gain = f"{now.distinct} different keys instead of {was.distinct}, none used twice"
        name = "the original when the draws do not depend on their keys"
        evidence = self._evidence(parts, one, two, programs, replay, reference=name, gain=gain)
        verification = self._settled(evidence, parts, (world, world))
        if verification.verdict in (Verdict.CONFIRMED, Verdict.SAME) and world is World.NEUTRAL:
            self._check_rows(parts)
        if verification.verdict is Verdict.SAME:
            raise Stop(
                Verdict.UNVERIFIED,
                "the rest of the program is the same, but no key was seen to be used twice in the original",
            )
        return verification

    def _repeated_in_calls(self, parts: Touched) -> tuple[int, int]:
        """How often each version repeats a key within calls of what has changed."""
        replay = self._runner.replay(parts, measure=False, log_keys=True)
        draws = [call.draws for call in replay.calls if call.draws] if replay else []
        return sum(was.repeated for was, _ in draws), sum(now.repeated for _, now in draws)

    def _both(self, world: World) -> tuple[Run, Run]:
        form = ProgramJob("", "", world=world)
        original = self._runner.program(self._change.before, "original", form)
        return original, self._runner.program(self._change.after, "fixed", form)

    def _check_rows(self, parts: Touched) -> None:
        """Under vmap draws that ignore their keys are the same for all examples, which may hide a change of them."""
        one, two = self._both(World.NEUTRAL_LOOPS)
        if one.result.fault or two.result.fault:
            return
        programs = compare_programs(one, two, parts=parts, keys=False, types=False)
        if programs.level == "different":
            raise Stop(
                Verdict.UNVERIFIED, f"with other draws for each example the rest is not the same: {programs.why}"
            )


def _gone(run: Run) -> bool:
    """Whether the run ended because a name of a module is not there."""
    fault = run.result.fault
    return fault is not None and fault.type in MISSING


def _truthless(run: Run) -> Run:
    """The run without what it printed of truth and falsehood."""
    return structs.replace(run, stdout=re.sub(r"\b(?:True|False)\b", "<truth>", run.stdout))


def _masked(fault: Fault) -> str:
    """Its message without line numbers and addresses."""
    return re.sub(r"0x[0-9a-f]+|\d+", "#", str(fault))


def _heals(before: Run, after: Run) -> bool:
    """Whether something is NaN in the original's results and a number in those of the fixed version."""
    return compare_programs(before, after).level != "same"
