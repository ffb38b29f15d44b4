"""JAX411 key-constant: a PRNG key of a literal seed where it is made again and again."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import KeyMade
from jaxlint.analysis.frames import Frame
from jaxlint.model import Severity
from jaxlint.registry import Rule

RULE = Rule("JAX411", "key-constant", "a key with a literal seed is made again and again", Severity.WARNING)


STAGING = frozenset({"jit", "pmap", "checkpoint", "scan", "fori_loop", "while_loop", "map"})


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
    if is_body(event.frame):
        return "makes the same key in each call of the compiled function"
    return None


def is_body(frame: Frame) -> bool:
    """Whether this is the function itself that is compiled, or a loop body, and not one that it calls."""
    site = frame.caller.site if frame.caller is not None else None
    return frame.staged and site is not None and site.kind in STAGING


CHECKS = {KeyMade: check}
