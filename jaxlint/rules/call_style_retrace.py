"""JAX119 call-style-retrace: the same arguments by position here and by keyword there compile twice."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import SiteSeen
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.signature import Signature, signature
from jaxlint.model import Edit, Fix, Safety, Severity, Span, Step
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.calls import argument_text

RULE = Rule(
    "JAX119", "call-style-retrace", "calls that differ in what is passed by keyword compile again", Severity.WARNING,
    fix=Safety.SAFE,
)  # fmt: skip


def check(event: SiteSeen, context: Context) -> Iterator[Report]:
    """The eager calls of one jitted function, each new style against the first that passes the same parameters."""
    known = signature(event.value.function)
    if event.value.site.kind != "jit" or known is None or known.maximum is None:
        return
    first: dict[frozenset[str], tuple[Frame, n.Call, Arguments]] = {}
    styles: set[tuple[int, frozenset[str]]] = set()
    for frame, call, given in event.eager:
        passed = _passed(known, given)
        if passed is None or frame.in_test():
            continue
        style = (len(given.positional), frozenset(name for name, _ in given.keywords))
        other = first.setdefault(passed, (frame, call, given))
        if style in styles or other[1] is call:
            styles.add(style)
            continue
        styles.add(style)
        yield _report(call, frame, other, known, context)


def _passed(known: Signature, given: Arguments) -> frozenset[str] | None:
    """The parameters that a call passes, None where that is not known."""
    names = [known.name_at(position) for position in range(len(given.positional))]
    if not given.complete or None in names:
        return None
    return frozenset(name for name in (*names, *(name for name, _ in given.keywords)) if name is not None)


EagerCall = tuple[Frame, n.Call, Arguments]


def _report(call: n.Call, frame: Frame, other: EagerCall, known: Signature, context: Context) -> Report:
    name = known.function.name if known.function is not None else "the function"
    message = f"`{name}` compiles again here: calls differ in what they pass by position and what by keyword"
    because = (Step(other[0].path, other[1].span.line, f"`{name}` is called in another style"),)
    repaired = _in_style(call, len(other[2].positional), known, context) if frame.path == context.module.path else None
    return Report(call.span, message, because, repaired, path=frame.path)


def _in_style(call: n.Call, positional: int, known: Signature, context: Context) -> Fix | None:
    """The call with as many positional arguments as the other has."""
    if any(argument.star for argument in call.arguments) or not call.arguments:
        return None
    texts: dict[str, str] = {}
    for position, argument in enumerate(call.arguments):
        name = argument.keyword or known.name_at(position)
        if name is None:
            return None
        texts[name] = argument_text(argument, context)
    order = [parameter.name for parameter in known.parameters if parameter.name in texts]
    written = [texts[name] if i < positional else f"{name}={texts[name]}" for i, name in enumerate(order)]
    first, last = call.arguments[0].span, call.arguments[-1].span
    if first.line != last.end_line or len(order) != len(texts):
        return None
    whole = Span(first.line, first.column, last.end_line, last.end_column)
    return fix(Safety.SAFE, "pass the arguments in the same style", Edit(whole, ", ".join(written)))


CHECKS = {SiteSeen: check}
