"""Runs a program abstractly: the state that all parts of the interpreter share, and the order of what is run.

A module's body is run as Python would run it, calls and transforms included, on abstract values. What no visible
code calls is then called with unknown arguments, and what is transformed is run under its transform with parameters
of which only annotations and defaults are known. Rules hear of what happens through events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from jaxlint.analysis import calls, classes, ecosystem, statements, transforms
from jaxlint.analysis.branches import Test
from jaxlint.analysis.events import Branch, DefaultKeySeen, HostCall, RangeOver, ShapeUse, SiteSeen, StaticWanted
from jaxlint.analysis.frames import Consumed, Frame
from jaxlint.analysis.project import Project
from jaxlint.analysis.scope import Scope
from jaxlint.analysis.values import (
    Closure,
    Instance,
    Option,
    Site,
    Token,
    TracedParameter,
    Transformed,
    Value,
    is_traced,
    options,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

Emit = Callable[[Any], None]

STEPS_PER_MODULE = 60_000
STEPS_PER_ENTRY = 20_000
STEPS_PER_GUESS = 3_000
"""How many nodes a module body, a transformed function, and a function that nothing visible calls may evaluate.

Real roots take hundreds; the bounds cut exponential call trees, the more so the less the root is worth.
"""

MAX_DEPTH = 24
"""How many calls deep the analysis follows."""


TRACING_FAULTS = (Branch, HostCall, RangeOver, ShapeUse, StaticWanted)


class OutOfSteps(Exception):
    """One root took too many steps; it is given up without a report."""


class Machine:
    """The shared state of one abstract run over the modules of a project."""

    def __init__(
        self,
        modules: Project,
        emit: Emit,
        wrappers: Mapping[str, str],
        on_failure: Callable[[str, Exception], None],
    ) -> None:
        self.modules = modules
        self.on_failure = on_failure
        self._emit = emit
        self.transforms = ecosystem.transforms(wrappers)
        self.control_flow = ecosystem.control_flow(wrappers)
        self.declared = frozenset(wrappers)
        self.scopes: dict[str, Scope] = {}
        self.consumed: Consumed = {}
        self.handed_on: dict[int, tuple[Frame, Span]] = {}  # where keys leave the function that made them
        self.key_place = "call"  # what a key that is made now is for: see `KeyMade`
        self.last_return: tuple[Frame, n.Return] | None = None
        self.records: dict[tuple[str, Span], SiteSeen] = {}
        self.default_keys: dict[tuple[str, Span], DefaultKeySeen] = {}
        self.closures: dict[tuple[str, Span], Closure] = {}
        self.executed: set[tuple[str, Span]] = set()
        self.entries: list[tuple[Transformed, Frame]] = []
        self.entered: set[tuple[str, Span]] = set()
        self.memo: dict[Any, Value] = {}
        self.tests: dict[int, Test] = {}  # by the identity of the node
        self.prototypes: dict[tuple[str, Span], Instance] = {}
        self.open_classes: set[tuple[str, Span]] = set()  # extended, or given to what may register them as pytrees
        self.wanted: set[TracedParameter] = set()  # of which it was told that they must be static
        self.paths: set[str] = set()
        self.steps, self.budget = 0, STEPS_PER_MODULE
        self.quiet = 0
        self.doubts = 0
        self.doubted = 0  # how many events were held back because of doubt
        self.refusals = 0  # how many `try` statements in progress expect tracers to be refused
        self._numbers = 0

    # Services for the parts of the interpreter

    def number(self) -> int:
        """A fresh number for a frame or a token."""
        self._numbers += 1
        return self._numbers

    def token(self, name: str, span: Span, born: int = 0) -> Token:
        """A fresh key identity, made by the call with the number `born`."""
        return Token(self.number(), name, span, (), born)

    def step(self) -> None:
        """Counts one evaluation.

        Raises:
            OutOfSteps: the root has used up its steps.
        """
        self.steps += 1
        if self.steps > self.budget:
            raise OutOfSteps

    def emit(self, event: Any) -> None:
        """Tells the rules, unless a guard says that the program expects the fault."""
        if self.quiet:
            return
        if isinstance(event, (StaticWanted, ShapeUse)) and event.value.trace is not None:
            self.wanted |= event.value.trace.parameters
        if self.doubts and isinstance(event, TRACING_FAULTS):
            self.doubted += 1
        else:
            self._emit(event)

    @contextmanager
    def doubt(self, when: bool = True) -> Iterator[None]:
        """No faults of Python on tracers while this lasts: the code may be meant for running without tracing."""
        self.doubts += when
        try:
            yield
        finally:
            self.doubts -= when

    @contextmanager
    def refusal(self, when: bool) -> Iterator[None]:
        """What Python refuses of tracers is expected while this lasts: the program goes on with concrete values."""
        self.refusals += when
        try:
            with self.doubt(when):
                yield
        finally:
            self.refusals -= when

    @contextmanager
    def silence(self) -> Iterator[None]:
        """No events while this lasts."""
        self.quiet += 1
        try:
            yield
        finally:
            self.quiet -= 1

    def record(self, value: Transformed) -> SiteSeen | None:
        """What was seen so far of a transform application."""
        return self.records.get((value.site.path, value.site.span))

    def note_site(self, value: Transformed, frame: Frame, node: n.Expr | n.Function, *, fresh: bool) -> SiteSeen:
        """What is known so far of a place where a transform is applied, begun at the first sight of it."""
        key = (value.site.path, value.site.span)
        if key not in self.records:
            seen = SiteSeen(
                value, frame, node, frame.loops, fresh,
                lambda: self.stays_traceable(seen), lambda other: self.could_be(seen, other),
            )  # fmt: skip
            self.records[key] = seen
        self.records[key].repeated |= any(caller.loops for caller in frame.chain())
        return self.records[key]

    # The run

    def run(self, names: Iterable[str]) -> None:
        """Runs the named modules and what they reach, and tells at the end how each transform was used."""
        for name in names:
            self.load(name)
        self.paths = {self.modules[name].path for name in names if name in self.scopes}
        self._run_entries()
        self._run_uncalled()
        self._run_entries()
        for record in self.records.values():
            record.traced_self = classes.traced_self(self, record.value)
            record.told = frozenset(p.name for p in self.wanted if p.site == record.value.site)
            self._emit(record)
        for made in self.default_keys.values():
            self._emit(made)

    def stays_traceable(self, record: SiteSeen) -> bool:
        """Whether the function could run under an outer jit: nothing in it asks a tracer for what it cannot tell."""
        function = record.value.function
        statics = function.site.options if isinstance(function, Transformed) else ()
        kept = tuple((name, option) for name, option in statics if name.startswith("static"))
        return self._traces_under_jit(record.value, record.frame, record.value.site, kept)

    def could_be(self, record: SiteSeen, value: Transformed) -> bool:
        """Whether a transform of another function could be traced where the record's is applied."""
        return self.traces(value.site.path, lambda: transforms.call_generic(self, record.frame, value))

    def runs_under_jit(self, frame: Frame) -> bool:
        """Whether the function that a frame runs could be jitted as it stands."""
        assert frame.function is not None
        closure = self.closures.get((frame.path, frame.function.span))
        site = Site("jax.jit", "jit", frame.path, frame.function.span, frame.function.span)
        return closure is not None and self._traces_under_jit(closure, frame, site, ())

    def can_be_jitted(self, value: Value, frame: Frame, span: Span) -> bool:
        """Whether a function that is called eagerly could be jitted as it stands."""
        return self._traces_under_jit(value, frame, Site("jax.jit", "jit", frame.path, span, span), ())

    def _traces_under_jit(self, value: Value, frame: Frame, at: Site, statics: tuple[tuple[str, Option], ...]) -> bool:
        site = Site("jax.jit", "jit", at.path, at.span, at.span, options=statics)
        inner = Transformed(site, value)
        return self.traces(site.path, lambda: transforms.call_generic(self, frame, inner))

    def needs_value(self, value: Transformed, frame: Frame, name: str) -> bool:
        """Whether a function asks for the value of a parameter, were all its parameters traced."""
        site = replace(value.site, options=())
        bare = replace(value, site=site)
        faults = self.faults(site.path, lambda: transforms.call_generic(self, frame, bare))
        traces = (option.trace for fault in faults for option in options(fault.value))
        return any(p.name == name for trace in traces if trace is not None for p in trace.parameters)

    def traces(self, path: str, run: Callable[[], object]) -> bool:
        """Whether a trial run, of which no rule hears, asks no tracer for what it cannot tell."""
        return not self.faults(path, run)

    def faults(self, path: str, run: Callable[[], object]) -> list[Any]:
        """Where a trial run asks tracers for what they cannot tell."""
        faults: list[Any] = []

        def listen(event: Any) -> None:
            if isinstance(event, TRACING_FAULTS) and any(is_traced(option) for option in options(event.value)):
                faults.append(event)

        told, self._emit = self._emit, listen
        self.memo, memo = {}, self.memo
        try:
            self.root(path, STEPS_PER_ENTRY, run)
        finally:
            self._emit, self.memo = told, memo
        return faults

    def load(self, name: str) -> Scope | None:
        """The scope of a project module, run at the first request (an import cycle sees it half done)."""
        if name not in self.scopes:
            module = None if self.modules.is_outside(name) else self.modules.get(name)
            if module is None:
                return None
            scope = self.scopes[name] = Scope()
            frame = Frame(module.path, scope)
            outer, self.consumed, steps, self.steps = self.consumed, {}, self.steps, 0
            self.root(module.path, STEPS_PER_MODULE, lambda: statements.run_body(self, frame, module.body))
            self.consumed, self.steps = outer, steps
        return self.scopes[name]

    def root(self, path: str, budget: int, run: Callable[[], object]) -> None:
        """Runs one root within its own budget; a failure costs this root alone."""
        outer, self.steps = self.steps, 0
        outer_budget, self.budget = self.budget, budget
        quiet, doubts, refusals = self.quiet, self.doubts, self.refusals
        try:
            run()
        except (OutOfSteps, RecursionError):
            pass
        except Exception as error:
            self.on_failure(path, error)
        finally:
            self.quiet, self.doubts, self.refusals = quiet, doubts, refusals
            self.steps, self.budget = outer, outer_budget

    def _run_entries(self) -> None:
        while self.entries:
            value, frame = self.entries.pop(0)
            key = (value.site.path, value.site.span)
            if key not in self.entered:
                self.entered.add(key)
                self.consumed = {}
                self.root(value.site.path, STEPS_PER_ENTRY, partial(transforms.run_generic, self, frame, value))

    def _run_uncalled(self) -> None:
        """Calls every function that nothing called with unknown arguments, the outer ones first."""
        done: set[tuple[str, Span]] = set()
        while True:
            waiting = [
                key for key in self.closures if key not in self.executed and key not in done and key[0] in self.paths
            ]
            if not waiting:
                return
            for key in waiting:
                done.add(key)
                if key not in self.executed:
                    self.consumed = {}
                    self.root(key[0], STEPS_PER_GUESS, partial(calls.run_uncalled, self, self.closures[key]))
            self._run_entries()
