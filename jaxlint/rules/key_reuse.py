"""JAX410 key-reuse: a PRNG key is consumed twice, so that draws that should be independent are equal.

JAX412 key-reuse-maybe is its lower tier: one of the two uses is a call of a function of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import KeyReused
from jaxlint.analysis.keys import name_in
from jaxlint.model import Safety, Severity, Step
from jaxlint.registry import Rule
from jaxlint.repair.keys import key_fix
from jaxlint.rules._key_flow import is_meant

REUSE = Rule("JAX410", "key-reuse", "a PRNG key is consumed twice", Severity.WARNING, fix=Safety.SAFE)
MAYBE = Rule(
    "JAX412", "key-reuse-maybe", "a consumed PRNG key is also passed to an unknown function", Severity.INFO, False
)

MESSAGES = {
    "again": "the key `{key}` was consumed before; draws from it are not independent",
    "loop": "the key `{key}` is consumed in each round of the loop, but not renewed",
    "mapped": "the key `{key}` is not mapped: all rows draw the same numbers",
    "carry": "the key `{key}` was consumed and is handed on to the next round",
    "handed on": "the key `{key}` was consumed and is handed on as a fresh one",
    "shared": "the key `{key}` is passed under two names that are both consumed",
}


def check(event: KeyReused, context: Context) -> Iterator[Report]:
    """A key that is surely consumed twice."""
    if event.how != "strong" or event.earlier != "strong":
        return
    if event.kind in ("again", "loop") and is_meant(*event.uses, context):
        return
    message = MESSAGES[event.kind].format(key=name_in(event.frame, event.token))
    yield Report(event.span, message, _because(event), key_fix(event, context))


def _because(event: KeyReused, what: str = "is consumed") -> tuple[Step, ...]:
    if event.earlier_span is None or event.earlier_path is None or event.kind == "loop":
        return ()
    name = name_in(event.uses[0].places[0].frame, event.token)
    return (Step(event.earlier_path, event.earlier_span.line, f"`{name}` {what} here"),)


def check_maybe(event: KeyReused, context: Context) -> Iterator[Report]:
    """A key that is surely consumed once, and passed to a function that may consume it."""
    if {event.how, event.earlier} == {"strong", "weak"} and event.kind == "again":
        name = name_in(event.frame, event.token)
        known, unknown = ("before", "here") if event.how == "weak" else ("here", "before")
        message = f"the key `{name}` is consumed {known} and passed {unknown} to a function that may consume it too"
        yield Report(event.span, message, _because(event, "is used"))


RULES = ((REUSE, {KeyReused: check}), (MAYBE, {KeyReused: check_maybe}))
