"""What a profile is reported from: the counts with their explanations, and how the program ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from jaxlint.config.settings import Settings
from jaxlint.profile.command import Command
from jaxlint.profile.explain import Explanation, explain, linted
from jaxlint.profile.records import Function, Site
from jaxlint.profile.run import Run
from jaxlint.profile.summary import Again, Cost, Profile, profile


class Explained(Struct, frozen=True):
    """What was compiled again at one line, and why."""

    again: Again
    explanations: tuple[Explanation, ...]


class Item(Struct, frozen=True):
    """A function, or a line whose operations JAX compiled one by one; one of `function` and `site` is there."""

    function: Function | None
    site: Site | None
    operations: tuple[tuple[str, int], ...]
    cost: Cost
    again_cost: Cost
    again: tuple[Explained, ...]


class Report(Struct, frozen=True):
    """Everything that is told of a run."""

    command: Command
    status: int
    seconds: float
    profile: Profile
    functions: tuple[Item, ...]
    lines: tuple[Item, ...]


def report(command: Command, run: Run, settings: Callable[[Iterable[str]], Settings]) -> Report:
    """Summarises a run and explains it; `settings` gives the linter's for a set of files."""
    summary = profile(run.recording)
    files = linted(summary, settings)

    def explained(again: tuple[Again, ...], function: Function | None) -> tuple[Explained, ...]:
        return tuple(Explained(one, tuple(explain(one, function, files))) for one in again)

    functions = tuple(
        Item(one.function, None, (), one.cost, one.again_cost, explained(one.again, one.function))
        for one in summary.functions
    )
    lines = tuple(
        Item(None, one.site, one.operations, one.cost, one.again_cost, explained(one.again, None))
        for one in summary.lines
    )
    return Report(command, run.status, run.seconds, summary, functions, lines)
