"""Calls the changed functions of both versions with the same arguments, in one process."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations, and each version another way to ask for 64 bits.

from __future__ import annotations

import contextlib
import functools
import io
import os
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import jax
from msgspec import Struct, structs

from jaxlint.verify.compare_text import compare_text
from jaxlint.verify.compare_values import Captured, Comparison, compare, worst_of
from jaxlint.verify.jobs import FIXED, ORIGINAL, CallResult, Draws, Fault, ReplayJob, ReplayResult, Target, World
from jaxlint.verify.worker import execute, overlay
from jaxlint.verify.worker.budget import Budget, CutShort
from jaxlint.verify.worker.called import other_arguments, same_results
from jaxlint.verify.worker.capture import TooMuch
from jaxlint.verify.worker.clone import Uncopyable
from jaxlint.verify.worker.commanded import Commanded
from jaxlint.verify.worker.declared import Declarations
from jaxlint.verify.worker.family import Family, Version, pairs
from jaxlint.verify.worker.functions import UNKNOWN
from jaxlint.verify.worker.measuring import Meter
from jaxlint.verify.worker.neutral import KeyLog
from jaxlint.verify.worker.parting import kept_tracer, not_comparable, parting
from jaxlint.verify.worker.place import Place
from jaxlint.verify.worker.program import prepare, seed
from jaxlint.verify.worker.record import Call, Recorder, on_new_instances
from jaxlint.verify.worker.search import NotFound, Refused
from jaxlint.verify.worker.side import Outcome, Side, Vary
from jaxlint.verify.worker.synthesise import Planned, arguments, example_of, from_shapes, planned, refusal
from jaxlint.verify.worker.tally import Tally
from jaxlint.verify.worker.transformed import told_apart
from jaxlint.verify.worker.unseen import untried
from jaxlint.verify.worker.usage import uses
from jaxlint.verify.worker.vary import FEW_STYLES, STYLES, shaken, varier, widened
from jaxlint.verify.worker.watching import watched
from jaxlint.verify.worker.worlds import inside, patched
from jaxlint.verify.worker.written import rewritten

_FULLY_VARIED = 4
_ORDINARY = ("", "fresh", "positive", "small")


def run_replay(job: ReplayJob, budget: Budget) -> ReplayResult:
    """Run both versions, record the original's calls, repeat them in both, and compare.

    What the time does not suffice for is answered as open.
    """
    replay = _Replay(job, budget)
    with patched(replay.log.functions() if job.log_keys else {}):
        return replay.run()


class _Loaded(Struct, frozen=True):
    """A version of the file as a module, those that it imported, what it called, and what ended it."""

    namespace: dict[str, Any]
    modules: Version
    recorder: Recorder
    fault: Fault | None


class _Replay:
    def __init__(self, job: ReplayJob, budget: Budget) -> None:
        self.job, self.budget = job, budget
        self.meter, self.log = Meter(job.seed), KeyLog()
        self.hits: set[int] = set()
        self.gone: set[int] = set()
        self.ran_again: set[int] = set()  # when the fixed version's own calls were recorded
        self.problems: list[str] = []
        self.names = {target.name for target in job.targets}.union(job.called)
        self.has_keys = not (job.before_world.ignores_keys or job.after_world.ignores_keys)

    def run(self) -> ReplayResult:
        job = self.job
        place, disk = prepare(job.path, job.before), overlay.Watch(job.path)
        self.family = Family(place)
        with contextlib.redirect_stdout(io.StringIO()):
            commanded = self._follow(place)
            recorded = self._load(place, job.before, job.before_world, self.names)
            self.recorded = recorded.namespace
            with inside(job.before_world):
                self.declared = Declarations(job.declared, job.targets, place, recorded.namespace, job.seed)
            if commanded:
                recorded.recorder.add(*commanded.moved_to(recorded.namespace, recorded.modules))
            # Once more without recorders, which would make the original slower.
            original = self._load(place, job.before, job.before_world)
            overlay.serve(job.path, job.after)
            with watched(job.path, job.watch, set(), outside=self.hits):
                fixed = self._load(place, job.after, job.after_world)
        recorder = recorded.recorder
        if original.fault and not recorded.fault:
            problem = f"it cannot be imported twice in one process ({original.fault})"
            return ReplayResult(unserved=f"{problem}, so that the functions of both versions cannot be compared")
        jax.clear_caches()  # what was traced until now is traced again, and seen
        before = self._side(job.before_world, original, recorded)
        after = self._side(job.after_world, fixed, recorded)
        again = self._recorded_again(place) if self._must_record_again(before, after) else Recorder((), {})
        judged = (self._judge(target, before, after, recorder, again) for target in job.targets)
        calls = (*judged, *self._called_otherwise(recorder, again))
        problems = (*self.declared.problems, *self.problems)
        hits, gone = tuple(sorted(self.hits)), tuple(sorted(self.gone))
        return ReplayResult(calls, original.fault, fixed.fault, hits, gone, problems, disk.problem)

    def _side(self, world: World, loaded: _Loaded, recorded: _Loaded) -> Side:
        known = [(recorded.namespace, loaded.namespace), *pairs(recorded.modules, loaded.modules)]
        return Side(world, loaded.namespace, known, self.job.path, lambda: self.family.use(loaded.modules))

    def _follow(self, place: Place) -> Commanded | None:
        """What the user's command calls."""
        job = self.job
        if job.declared.command is None or not job.targets:
            return None
        names = {target.name for target in job.targets}
        commanded = Commanded(job.declared.command, job.path, job.before, names, self.family.fresh())
        with inside(job.before_world):
            commanded.run(place, job.declared.command_s)
        self.problems += [commanded.problem] if commanded.problem else []
        return commanded

    def _must_record_again(self, before: Side, after: Side) -> bool:
        """Whether the fixed version's own calls count: see `called`."""
        names = [target.name for target in self.job.targets]
        return bool(self.job.called) or any(not_comparable(before.function(n), after.function(n)) for n in names)

    def _recorded_again(self, place: Place) -> Recorder:
        """The fixed version's own calls."""
        looking = watched(self.job.path, self.job.watch, self.ran_again)
        with contextlib.redirect_stdout(io.StringIO()), looking:
            return self._load(place, self.job.after, self.job.after_world, self.names).recorder

    def _called_otherwise(self, recorder: Recorder, again: Recorder) -> list[CallResult]:
        """The callables to which the fixed version passes other arguments than the original."""
        found = []
        for name in self.job.called:
            functions = (recorder.bound(name), again.bound(name))
            why = other_arguments(recorder.calls[name], again.calls[name], functions, keys=self.has_keys)
            found += [CallResult(name, "called otherwise", why)] if why else []
        return found

    def _by_results(self, name: str, problem: str, recorder: Recorder, again: Recorder) -> CallResult:
        """For a callable that cannot be called with the same arguments: the results that the programs got from it."""
        types = not self.job.before_world.is_python
        found = same_results(recorder.results[name], again.results[name], keys=self.has_keys, types=types)
        if found is None or found.level == "unclear":
            return CallResult(name, "skipped", problem)
        self.hits |= self.ran_again
        why = f"{name} (recorded calls): {found.why}" if found.why else ""
        return CallResult(name, found.level, why, {"recorded": len(again.results[name])}, found.max_abs, gap=found.gap)

    def _load(self, place: Place, text: str, world: World, names: Collection[str] = ()) -> _Loaded:
        """A module of this text, with recorders around the callables of these names."""
        seed()
        fault, modules = None, self.family.fresh()
        empty = types.ModuleType(place.name)  # what is left where the file is never reached
        recorders = [Recorder(names, vars(empty))]

        def run(module: types.ModuleType) -> None:
            recorders.append(Recorder(names, vars(module)))
            execute.run(text, module, self.job.path, recorders[-1].wrap_new if names else None)

        try:
            with inside(world):
                place.load(run)
                execute.settle()
        except SystemExit:
            pass
        except BaseException as error:
            fault = execute.fault_of(error, self.job.path)
        recorder = recorders[-1]
        recorder.active = False
        self.family.note()
        return _Loaded(recorder.namespace, modules, recorder, fault)

    def _judge(self, target: Target, before: Side, after: Side, recorder: Recorder, again: Recorder) -> CallResult:
        name = target.name
        try:
            why, is_sure = rewritten(before.function(name), after.function(name)) if target.direct else ("", False)
            if why:
                return CallResult(name, "different" if is_sure else "doubtful", f"{name}: {why}")
            if name.endswith(".__init__"):
                return CallResult(name, "skipped")  # the methods are called on what it builds
            problem = not_comparable(before.function(name), after.function(name))
            if problem:
                return self._by_results(name, problem, recorder, again)
            calls = self._calls(target, before, after, recorder)
            before.settle(after)  # looking for arguments has called one side alone
            return (self._drawn if self.job.log_keys else self._compare)(target, calls, before, after)
        except Refused as error:
            return CallResult(name, "doubtful", f"{name}: {error}: {self._advice(name, after)}")
        except CutShort as error:
            less = f"give it less to do: {self._advice(name, after)}"
            return CallResult(name, "doubtful", f"{name} was not compared to the end: {error}; {less}")
        except NotFound as error:
            return CallResult(name, "skipped", f"{error}: {self._advice(name, after)}")
        except Uncopyable as error:
            return CallResult(name, "skipped", f"its arguments cannot be copied: {error}")
        except TooMuch:
            return CallResult(name, "skipped", "its result holds more numbers than are kept for comparison")

    def _calls(self, target: Target, before: Side, after: Side, recorder: Recorder) -> list[Call]:
        name = target.name
        owner = name.rpartition(".")[0]
        calls = [*self.declared.calls[name], *recorder.calls[name]]
        if not calls and recorder.shapes[name]:
            return [from_shapes(call, self.job.seed) for call in recorder.shapes[name]]
        calls = calls or self._made_up(name, before, after)
        if "." in name and any(t.direct and t.name == f"{owner}.__init__" for t in self.job.targets):
            built = ((call, call.init or recorder.init_of(call.args[0])) for call in calls if call.args)
            return [new for call, init in built if init for new in on_new_instances(owner, call, init)]
        return calls

    def _made_up(self, name: str, before: Side, after: Side) -> list[Call]:
        def refused_by(side: Side, call: Call) -> Exception | None:
            self.budget.check("arguments were sought")
            with side.active(), contextlib.redirect_stdout(io.StringIO()):
                return refusal(side.function(name), *side.fresh(call))

        one, two = (functools.partial(refused_by, side) for side in (before, after))
        try:
            strict = before.world is after.world  # a reference takes more than a program of JAX does
            planned = self._planned(name, after)
            return arguments(planned, one, two, self.job.seed, strict=strict, path=self.job.path)
        finally:
            before.restore()
            after.restore()
            jax.clear_caches()  # what the search has traced is traced again, and seen

    def _planned(self, name: str, after: Side) -> Planned:
        with overlay.shown(self.job.path, self.job.after):
            compared = uses(after.function(name), after.namespace)
        with overlay.shown(self.job.path, self.job.before):
            return planned(name, self.recorded, compared)

    def _advice(self, name: str, after: Side, also: str = "") -> str:
        if _is_test(name):
            return f"have it run by `--run 'pytest {os.path.relpath(self.job.path, self.job.declared.root or '.')}'`"
        try:
            example = example_of(self._planned(name, after), also)
        except NotFound:
            owner, _, method = name.rpartition(".")
            example = f"{owner}(...).{method}(...)" if owner else f"{name}(...)"
        return f"add `# jaxlint: example {example}` with the right shapes, or let `--run` name a command that calls it"

    def _compare(self, target: Target, calls: list[Call], before: Side, after: Side) -> CallResult:
        tally = Tally(target.name)
        inputs = [*_inputs_of(calls, () if self.job.gentle else _styles(before.world))]
        for number, (call, style) in enumerate(inputs):
            if call.tentative and tally.doubt:
                continue
            self.budget.check(f"input {number + 1} of {len(inputs)} was compared")
            end_result = self._try(target, call, style, tally, before, after)
            if end_result is not None:
                return end_result
        self.budget.begin("", "")
        parameter = ""
        if calls and calls[0].source in ("synthesised", "declared") and before.world is after.world is World.REAL:
            parameter = untried(target, calls, before, after, (self.job.path, self.job.before, self.job.after))
            tally.doubt = tally.doubt or self._unseen(tally, parameter, before, after)
        answer = tally.answer()
        if answer.outcome == "doubtful":
            return structs.replace(answer, why=f"{answer.why}: {self._advice(target.name, after, parameter)}")
        if answer.inputs:
            self.hits |= tally.hits
            self.gone |= tally.gone
        elif tally.hits:
            jax.clear_caches()  # so that other targets that call it trace it again
        measured = self.job.measure and not tally.opaque
        return self.meter.measure(answer, tally.good, before, after) if measured and tally.good else answer

    def _unseen(self, tally: Tally, parameter: str, before: Side, after: Side) -> str:
        """What the calls have not shown, and what tells the versions apart there; empty when nothing is left."""
        if parameter:
            return f"{tally.name}: the change concerns {parameter}, and no value but its default was tried"
        return told_apart(tally.name, tally.good, before, after) if tally.good else ""

    def _drawn(self, target: Target, calls: list[Call], before: Side, after: Side) -> CallResult:
        """How often keys are used within the calls, by each version; nothing is compared."""
        one, two = (self._drawn_by(side, target.name, calls) for side in (before, after))
        return CallResult(target.name, "skipped", draws=(one, two))

    def _drawn_by(self, side: Side, name: str, calls: list[Call]) -> Draws:
        used = [self.log.during(functools.partial(side.call, name, call, lambda: None)) for call in calls]
        return Draws(sum(one.consumed for one in used), sum(one.distinct for one in used))

    def _try(
        self, target: Target, call: Call, style: str, tally: Tally, before: Side, after: Side
    ) -> CallResult | None:
        """One call in both versions; a result when it settles the matter, else what it showed is in the tally."""
        name, vary = target.name, self._vary(style, call)
        hits: set[int] = set()
        gone: set[int] = set()
        self.budget.begin(ORIGINAL if style else "", f"{name} ({_inputs(style, call)})")
        with watched(self.job.path, self.job.gone, gone):
            one = before.call(name, call, vary)
        self.budget.begin(FIXED, f"{name} ({_inputs(style, call)})")
        with watched(self.job.path, self.job.watch, hits):
            two = after.call(name, call, vary)
        if kept_tracer(one.values) and not kept_tracer(two.values):
            tally.note_fault(kept_tracer(one.values), healed=not two.fault and not style)
            return None
        if one.fault or two.fault:
            why = parting(name, one.fault, two.fault, _inputs(style, call))
            if why:
                return tally.told_apart(call, CallResult(name, "different", why))
            if call.refused and one.fault and not two.fault:
                why = f"{name} no longer raises {one.fault} ({_inputs(style, call)})"
                return tally.told_apart(call, CallResult(name, "different", why))
            if call.refused and str(one.fault) == str(two.fault):
                tally.hits |= hits
                tally.gone |= gone
            if call.tentative:
                return None
            tally.note_fault(one.fault, healed=not two.fault and not style)
            return None
        result = self._one(target, call, style, one, two, before, vary)
        if result.level == "contract":
            return CallResult(name, "skipped", result.why)
        if result.level == "different":
            gap = worst_of([*tally.found, result]).gap
            inputs = tally.inputs | {call.source: tally.inputs.get(call.source, 0) + 1}
            parted = CallResult(name, "different", result.why, inputs, result.max_abs, gap=gap)
            return tally.told_apart(call, parted)
        if result.level == "unclear" and call.tentative:
            return None
        if one.shared != two.shared and before.world is after.world is World.REAL:
            (known, path), *_ = sorted(one.shared ^ two.shared)
            tally.doubt = f"{name}: {path} and {known} are one object in one version alone"
        tells = one.tells or two.tells or _is_test(name)
        tally.note(result if tells else structs.replace(result, judged=0), call, ordinary=not style)
        tally.hits |= hits
        tally.gone |= gone
        tally.note_removed(one.removed, two.removed)
        tally.opaque = tally.opaque or UNKNOWN in two.functions or one.functions != two.functions
        return None

    def _one(
        self, target: Target, call: Call, style: str, one: Outcome, two: Outcome, before: Side, vary: Vary
    ) -> Comparison:
        level, why = compare_text(one.printed, two.printed)
        types = not self.job.before_world.is_python
        keys = self.has_keys
        result = compare(one.values, two.values, keys=keys, heal=self.job.heal, types=types)
        if result.level != "same":
            # A call that changes globals must be made equally often on both sides.
            again = not one.left
            exact = self._exact(target.name, call, before, vary) if again else None
            other = self._shaken(target.name, call, before, vary) if again else None
            result = compare(one.values, two.values, exact, other, keys=keys, heal=self.job.heal, types=types)
        result = worst_of([result, Comparison(level, why)])
        if result.level == "same":
            return result
        if (call.source == "recorded shapes" or self.job.before_world.is_python) and _structure(
            one.values
        ) != _structure(two.values):
            return Comparison("contract", f"{target.name} returns something of another form, as its callers now expect")
        if result.level == "unclear" and style.partition(" ")[0] not in _ORDINARY:
            return Comparison("same", judged=0)  # overflow or cancellation, which say nothing
        return Comparison(
            result.level,
            f"{target.name} ({_inputs(style, call)}): {result.why}",
            result.max_abs,
            result.judged,
            result.gap,
        )

    def _vary(self, style: str, call: Call) -> Vary:
        make = functools.partial(varier, style, self.job.seed, self.job.constants, counts=not call.tentative)
        return lambda: make() if style else None

    def _exact(self, name: str, call: Call, before: Side, vary: Vary) -> Captured | None:
        """The original's result in 64 bits, or None when it cannot be had."""

        with contextlib.suppress(Exception), inside(World.DOUBLE):
            outcome = before.call(name, call, lambda: _then(vary(), widened))
            return outcome.values if outcome.fault is None else None
        return None

    def _shaken(self, name: str, call: Call, before: Side, vary: Vary) -> Captured | None:
        """The original's result for inputs that are off by a rounding, or None when it cannot be had."""
        with contextlib.suppress(Exception):
            outcome = before.call(name, call, lambda: _then(vary(), shaken))
            return outcome.values if outcome.fault is None else None
        return None


def _is_test(name: str) -> bool:
    """Whether it is a test, which says by raising whether all is well."""
    return name.rpartition(".")[2].startswith("test_")


def _then(first: Callable[[Any], Any] | None, second: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return second if first is None else lambda value: second(first(value))


def _structure(values: Captured) -> list[tuple[str, str]]:
    return [(leaf.path, leaf.kind) for leaf in values.leaves]


def _styles(world: World) -> list[str]:
    """How inputs are varied; where Python stands in for what JAX refuses, its `min` and `if` of NaN are not meant."""
    refused = world in (World.EAGER, World.LOOPS, World.LENIENT)
    return [style for style in STYLES if not (refused and style.startswith("nan"))]


def _inputs_of(calls: list[Call], styles: Sequence[str]) -> Iterator[tuple[Call, str]]:
    """Each call as it is given, then in each style; of many calls, and of guesses, in the first styles alone."""
    for style in ("", *styles):
        for number, call in enumerate(calls):
            if style in ("", *FEW_STYLES) or (number < _FULLY_VARIED and not call.tentative):
                yield call, style


def _inputs(style: str, call: Call) -> str:
    made = f"{style} inputs" if style else f"{call.source} inputs"
    return f"{made} of {call.label}" if style and call.label else call.label or made
