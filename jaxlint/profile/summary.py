"""Counts what was traced and compiled, for each function and for each line that runs operations one by one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from jaxlint.profile.differences import Cause, Difference, nearest
from jaxlint.profile.records import Call, Event, Function, Recording, Site

_COMPARED, _EXAMPLES = 64, 3


class Cost(Struct, frozen=True):
    """How often something was traced and compiled, and the milliseconds of each stage."""

    traces: int = 0
    compiles: int = 0
    trace_ms: float = 0.0
    lower_ms: float = 0.0
    compile_ms: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.traces + other.traces,
            self.compiles + other.compiles,
            self.trace_ms + other.trace_ms,
            self.lower_ms + other.lower_ms,
            self.compile_ms + other.compile_ms,
        )

    @property
    def total_ms(self) -> float:
        """All stages together."""
        return self.trace_ms + self.lower_ms + self.compile_ms


class Again(Struct, frozen=True):
    """The calls at one line that were compiled again for the same causes, with the first few examples."""

    site: Site | None
    causes: tuple[Cause, ...]
    examples: tuple[tuple[Difference, ...], ...]
    calls: int
    cost: Cost


class FunctionProfile(Struct, frozen=True):
    """A function that was traced or compiled more than once; `again` is all but the first time."""

    function: Function
    cost: Cost
    again_cost: Cost
    again: tuple[Again, ...]


class LineProfile(Struct, frozen=True):
    """A line where one expression compiled the same operation more than once, outside of any jitted function."""

    site: Site
    operations: tuple[tuple[str, int], ...]
    cost: Cost
    again_cost: Cost
    again: tuple[Again, ...]


class Profile(Struct, frozen=True):
    """What a run showed, the most expensive first."""

    jax: str
    platform: str
    cost: Cost
    functions: tuple[FunctionProfile, ...]
    lines: tuple[LineProfile, ...]
    once: int
    trouble: tuple[str, ...]


class _Timed(Struct, frozen=True):
    call: Call
    cost: Cost


def profile(recording: Recording) -> Profile:
    """The summary of a recording."""
    timed = list(_timed(recording))
    groups: dict[str, list[_Timed]] = defaultdict(list)
    operations: dict[tuple[str, int], list[_Timed]] = defaultdict(list)
    for one in timed:
        function = recording.functions[one.call.function]
        if function.origin != "jax":
            groups[function.key].append(one)
        elif one.call.site:
            operations[one.call.site.file, one.call.site.line].append(one)
    functions = [_function(calls, recording) for calls in groups.values() if _again(calls)]
    lines = [line for calls in operations.values() if (line := _line(calls, recording))]
    return Profile(
        jax=recording.jax,
        platform=next((event.platform for event in recording.events if event.platform), ""),
        cost=_sum([*(one.cost for one in timed), *map(_cost, _loose(recording))]),
        functions=tuple(sorted(functions, key=lambda one: -one.again_cost.total_ms)),
        lines=tuple(sorted(lines, key=lambda one: -one.again_cost.total_ms)),
        once=sum(not _again(calls) for calls in groups.values()),
        trouble=recording.trouble,
    )


def _timed(recording: Recording) -> Iterator[_Timed]:
    """The calls that cost something, with their costs.

    A call that was traced, but neither lowered nor ahead of time, took its trace from a cache, or is part of another
    trace (JAX 0.5 and earlier tell of those): it counts for nothing.
    """
    events: dict[int, list[Event]] = defaultdict(list)
    for event in recording.events:
        if event.call is not None:
            events[event.call].append(event)
    for number, call in recording.calls.items():
        if call.ahead or any(event.kind != "trace" for event in events[number]):
            yield _Timed(call, _sum(map(_cost, events[number])))


def _loose(recording: Recording) -> Iterator[Event]:
    return (event for event in recording.events if event.call is None and event.kind != "trace")


def _cost(event: Event) -> Cost:
    spent = event.seconds * 1000
    match event.kind:
        case "trace":
            return Cost(traces=1, trace_ms=spent)
        case "lower":
            return Cost(lower_ms=spent)
        case _:
            return Cost(compiles=1, compile_ms=spent)


def _sum(costs: Iterable[Cost]) -> Cost:
    return sum(costs, Cost())


def _again(calls: Sequence[_Timed]) -> bool:
    return len(calls) > 1


def _function(calls: Sequence[_Timed], recording: Recording) -> FunctionProfile:
    return FunctionProfile(
        function=recording.functions[calls[0].call.function],
        cost=_sum(one.cost for one in calls),
        again_cost=_sum(one.cost for one in calls[1:]),
        again=tuple(_grouped(_explained(calls, recording))),
    )


def _line(calls: Sequence[_Timed], recording: Recording) -> LineProfile | None:
    """The line's profile where one expression of it compiled an operation more than once."""
    by_key: dict[object, list[_Timed]] = defaultdict(list)
    for one in calls:
        site = one.call.site
        by_key[recording.functions[one.call.function].key, site and site.instruction].append(one)
    if not any(map(_again, by_key.values())) or not calls[0].call.site:
        return None
    counts = Counter(recording.functions[one.call.function].name for one in calls)
    explained = [pair for same in by_key.values() for pair in _explained(same, recording)]
    return LineProfile(
        site=calls[0].call.site,
        operations=tuple(counts.most_common()),
        cost=_sum(one.cost for one in calls),
        again_cost=_sum(one.cost for one, _ in explained),
        again=tuple(_grouped(explained)),
    )


def _explained(
    calls: Sequence[_Timed], recording: Recording
) -> list[tuple[_Timed, tuple[Difference, ...]]]:  # fmt: skip
    """Each call but the first, with what was new about it."""
    earlier: list[Call] = [calls[0].call]
    found: list[tuple[_Timed, tuple[Difference, ...]]] = []
    for one in calls[1:]:
        found.append((one, nearest(one.call, earlier[-_COMPARED:], recording)))
        earlier.append(one.call)
    return found


def _grouped(explained: Iterable[tuple[_Timed, tuple[Difference, ...]]]) -> list[Again]:
    groups: dict[object, list[tuple[_Timed, tuple[Difference, ...]]]] = defaultdict(list)
    for one, differences in explained:
        site = one.call.site
        causes = tuple((difference.cause, difference.argument) for difference in differences)
        groups[site and (site.file, site.line), causes].append((one, differences))
    found = [_group(members) for members in groups.values()]
    return sorted(found, key=lambda again: -again.cost.total_ms)


def _group(members: Sequence[tuple[_Timed, tuple[Difference, ...]]]) -> Again:
    first, differences = members[0]
    return Again(
        site=first.call.site,
        causes=tuple(dict.fromkeys(difference.cause for difference in differences)),
        examples=tuple(dict.fromkeys(each for _, each in members))[:_EXAMPLES],
        calls=len(members),
        cost=_sum(one.cost for one, _ in members),
    )
