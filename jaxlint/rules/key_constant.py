"""JAX411 key-constant: a PRNG key of a literal seed where it is made again and again."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import KeyMade
from jaxlint.model import Severity
from jaxlint.registry import Rule

RULE = Rule("JAX411", "key-constant", "a key with a literal seed is made again and again", Severity.WARNING)


def check(event: KeyMade, context: Context) -> Iterator[Report]:
    """A literal key in a loop, in a staged function, or as a default."""
    if not event.constant or event.frame.in_test():
        return
    place = _place(event)
    if place is not None:
        written = context.text.at(event.span)
        yield Report(event.span, f"`{written}` {place}, so each use draws the same numbers")


def _place(event: KeyMade) -> str | None:
    if event.place == "default":
        return "is a default that all calls share"
    if event.place == "field":
        return "is the default of a field that all objects share"
    if event.loops:
        return "makes the same key in each round of the loop"
    if event.frame.staged:
        return "makes the same key in each call of the compiled function"
    return None


CHECKS = {KeyMade: check}
