"""A call in progress: its scope, what surrounds it, and how it was reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from jaxlint.analysis.scope import Scope
from jaxlint.analysis.values import NONE, Site, Token, Value, one_of
from jaxlint.model import Span, Step
from jaxlint.program import nodes as n


@dataclass(frozen=True, slots=True)
class Arguments:
    """The evaluated arguments of a call. `complete` is False where `*x` or `**x` of unknown content was passed."""

    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    nodes: tuple[n.Expr | None, ...] = ()  # the expression of each positional argument, where there is one
    keyword_nodes: tuple[tuple[str, n.Argument], ...] = ()
    complete: bool = True

    def keyword(self, name: str) -> Value | None:
        """A keyword argument's value."""
        return next((value for key, value in self.keywords if key == name), None)

    def get(self, position: int, name: str) -> Value | None:
        """An argument that may come by position or by name."""
        return self.positional[position] if position < len(self.positional) else self.keyword(name)

    def node(self, position: int, name: str) -> n.Expr | None:
        """The expression of an argument that may come by position or by name."""
        if position < len(self.positional):
            return self.nodes[position] if position < len(self.nodes) else None
        return next((argument.value for key, argument in self.keyword_nodes if key == name), None)

    def all(self) -> Iterator[Value]:
        """Every argument's value."""
        yield from self.positional
        yield from (value for _, value in self.keywords)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call in progress stands: the call, and the expression that it is at."""

    frame: Frame = field(compare=False)
    span: Span


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a key: how sure ('strong', 'weak'), by what ('draw', 'split', 'fold', ...), and where.

    `places` are those of the calls in progress, innermost first. `number` is how many keys a split makes or what a
    `fold_in` folds in.
    """

    how: str
    action: str
    places: tuple[Place, ...]
    number: object = None


Consumed: TypeAlias = dict[int, tuple[tuple[Token, Use], ...]]
"""The keys consumed so far on a path, by the number of their token."""


@dataclass(slots=True)
class Frame:
    """One call of a function (or the run of a module body) in progress."""

    path: str
    scope: Scope
    function: n.Function | None = None
    caller: Frame | None = None
    call_span: Span | None = None
    site: Site | None = None  # the transform application that runs this call, if one does
    staged: bool = False
    compiled: bool = False  # inside a computation that is compiled as a whole (checkpoint stages without compiling)
    mapped: tuple[Site, ...] = ()  # the eager vmap and grad applications around, outermost first
    number: int = 0
    owner: Value | None = None
    given: tuple[Value, ...] = ()  # the arguments, without the object of a method
    known: bool = True  # False where the call is a guess: no visible code makes it
    loop_spans: list[Span] = field(default_factory=list)
    returns: list[Value] = field(default_factory=list)
    exits: list[Consumed] = field(default_factory=list)
    jumps: list[tuple[dict[str, Value], Consumed]] = field(default_factory=list)  # states at break and continue
    failed: Span | None = None  # the statement in which a tracing error was already told
    tried: int = 0  # how many `try` statements with handlers are around

    def result(self) -> Value:
        """What the call gives back."""
        return one_of(self.returns) if self.returns else NONE

    def chain(self) -> Iterator[Frame]:
        """This frame and its callers, innermost first."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.caller

    def guess(self) -> Frame:
        """A frame at the same place for calls that no visible code makes."""
        return Frame(
            self.path, self.scope, self.function, self.caller, self.call_span, None, self.staged, self.compiled,
            self.mapped, self.number, self.owner, known=False,
        )  # fmt: skip

    @property
    def loops(self) -> int:
        """How many loops of this function are around."""
        return len(self.loop_spans)

    @property
    def depth(self) -> int:
        """How many calls deep this is."""
        return sum(1 for _ in self.chain())

    @property
    def name(self) -> str:
        """How to call the function in a message."""
        return self.function.name if self.function is not None else "the module"

    @property
    def described(self) -> str:
        """The function's name as a message quotes it."""
        return f"`{self.function.name}`" if self.function is not None else "the module"

    def entry(self) -> Frame:
        """The innermost frame that a staging or mapping transform runs, else the outermost frame."""
        last = self
        for frame in self.chain():
            last = frame
            if frame.site is not None:
                return frame
        return last

    def outermost_call(self) -> Frame | None:
        """The outermost frame of the transforms around this place, which was called by plain code."""
        found: Frame | None = None
        for frame in self.chain():
            if frame.site is not None:
                found = frame
        return found

    def in_test(self) -> bool:
        """Whether this runs in a test function or test file."""
        return any(frame.name.startswith(("test_", "test")) or is_test_path(frame.path) for frame in self.chain())


@cache
def is_test_path(path: str) -> bool:
    """Whether a file holds tests, as pytest and unittest name them."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


def steps(frame: Frame) -> tuple[Step, ...]:
    """The explanation how tracing came to a frame, from the outermost transform inwards."""
    found: list[Step] = []
    inner = frame
    for outer in frame.chain():
        if outer.site is not None:
            site = outer.site
            verb = {"jit": "jitted", "checkpoint": "checkpointed"}.get(site.kind, f"run under `{site.transform}`")
            found.append(Step(site.path, site.span.line, f"`{inner.name}` is {verb}"))
        elif outer.caller is not None and outer.call_span is not None and outer.caller.site is None:
            caller = outer.caller
            found.append(Step(caller.path, outer.call_span.line, f"{caller.described} calls `{outer.name}`"))
        if outer.function is not None:
            inner = outer
    while found and " calls " in found[-1].message:
        found.pop()  # what is outside the outermost transform explains nothing
    return tuple(reversed(found))
