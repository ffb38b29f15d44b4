"""JAX411 key-constant: a PRNG key of a literal seed where it is made again and again."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import DefaultKeySeen, KeyMade
from jaxlint.analysis.frames import Frame
from jaxlint.model import Fix, Safety, Severity, Step
from jaxlint.program import nodes as n
from jaxlint.program.names import target_names, walk
from jaxlint.registry import Rule
from jaxlint.repair.contents import calls_named
from jaxlint.repair.fold import folded
from jaxlint.repair.hoist import enclosing
from jaxlint.rules._key_flow import body_of, nodes

RULE = Rule(
    "JAX411", "key-constant", "a key with a literal seed is made again and again", Severity.WARNING, fix=Safety.UNSAFE
)


STAGING = frozenset({"jit", "pmap", "checkpoint", "scan", "fori_loop", "while_loop", "map"})


def check(event: KeyMade, context: Context) -> Iterator[Report]:
    """A literal key in a loop, in a staged function, or as the default of a field."""
    if not event.constant or event.frame.in_test():
        return
    place = _place(event)
    if place is not None and not _is_dummy(event, context) and not _is_always_given(event, context):
        written = context.text.at(event.span)
        yield Report(
            event.span, f"`{written}` {place}, so each use draws the same numbers", (), _repair(event, context)
        )


def check_default(event: DefaultKeySeen, context: Context) -> Iterator[Report]:
    """A literal key as a default that calls share; where one call or none is in sight, the users judge."""
    made = event.made
    if made.constant and (event.repeated or len(event.calls) > 1) and not made.frame.in_test():
        because = tuple(Step(path, span.line, "this call leaves the key out") for path, span in sorted(event.calls))
        written = context.text.at(made.span)
        yield Report(made.span, f"`{written}` is a default that calls share, so each draws the same numbers", because)


def _repair(event: KeyMade, context: Context) -> Fix | None:
    return folded(event.span, context) if event.loops and event.place == "call" else None


def _place(event: KeyMade) -> str | None:
    if event.place == "field":
        return "is the default of a field that all objects share"
    if event.loops:
        return "makes the same key in each round of the loop"
    if is_body(event.frame):
        return "makes the same key in each call of the compiled function"
    return None


DUMMY_TAKERS = frozenset({"init", "init_with_output", "lazy_init", "eval_shape", "tabulate", "make_jaxpr", "lower"})
OFF = {"train": False, "training": False, "is_training": False, "deterministic": True}


def _is_dummy(event: KeyMade, context: Context) -> bool:
    """Whether the key only fills a place: it goes to an initialisation for shapes, or randomness is switched off."""
    for node in nodes(body_of(event.frame, context)):
        if isinstance(node, n.Call) and any(inner.span == event.span for inner in walk(node) if inner is not node):
            if isinstance(node.function, (n.Name, n.Attribute)) and node.function.name in DUMMY_TAKERS:
                return True
            if any(_switches_off(argument) for argument in node.arguments):
                return True
    return False


def _is_always_given(event: KeyMade, context: Context) -> bool:
    """Whether the key is a field's default that only fills a place: whoever makes an object in this file gives one."""
    if event.place != "field":
        return False
    path = enclosing(context.module, event.span)
    cls = next((s.definition for s in reversed(path) if isinstance(s, n.ClassDefinition)), None)
    field = path[-1]
    if cls is None or not isinstance(field, n.Assign):
        return False
    names = {name for target in field.targets for name in target_names(target)}
    made = calls_named(context.module, n.Name, cls.name)
    return bool(made) and all(any(argument.keyword in names for argument in call.arguments) for call in made)


def _switches_off(argument: n.Argument) -> bool:
    value = argument.value
    return isinstance(value, n.Constant) and argument.keyword in OFF and OFF[argument.keyword] is value.value


def is_body(frame: Frame) -> bool:
    """Whether this is the function itself that is compiled, or a loop body, and not one that it calls."""
    site = frame.caller.site if frame.caller is not None else None
    return frame.staged and site is not None and site.kind in STAGING


CHECKS = {KeyMade: check, DefaultKeySeen: check_default}
