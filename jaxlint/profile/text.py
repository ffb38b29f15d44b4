"""The profile for people: a table of the functions, then for each what changed, where, and which rule treats it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from jaxlint.config.selection import find_rule
from jaxlint.model import Finding, Safety
from jaxlint.profile.differences import Cause, Difference
from jaxlint.profile.explain import Explanation
from jaxlint.profile.records import Function, Site
from jaxlint.profile.report import Explained, Item, Report
from jaxlint.profile.summary import Again, Cost
from jaxlint.source.files import shown

Paint = Callable[..., str]
_LINES, _GROUPS, _OPERATIONS = 10, 6, 4


def render(report: Report, *, color: bool = False) -> str:
    """The whole report, ending in a line end."""
    paint: Paint = click.style if color else _plain
    blocks = [_summary(report)]
    if report.functions:
        blocks.append(_table(report.functions, paint))
        blocks += [_block(item, _function_line(item, paint), paint) for item in report.functions]
    if report.lines:
        blocks.append(paint("Operations compiled one by one, outside of any jitted function:", bold=True))
        blocks += [_block(item, _line_line(item, paint), paint) for item in report.lines[:_LINES]]
        if len(report.lines) > _LINES:
            blocks.append(f"and {len(report.lines) - _LINES} more lines; `--output-format json` has all of them.")
    return "\n\n".join(blocks) + "\n"


def _plain(text: str, **_: object) -> str:
    return text


def _summary(report: Report) -> str:
    profile, cost = report.profile, report.profile.cost
    end = f"jaxlint profile of {report.command.target}: exit status {report.status} after {report.seconds:.1f} s"
    if not profile.jax:
        return f"{end}; JAX traced and compiled nothing."
    spent = (
        f"JAX {profile.jax} on {profile.platform or 'no device'}: {_count(cost.compiles, 'compilation')}, {_ms(cost)}"
    )
    again = sum((item.again_cost for item in report.functions), Cost())
    if not report.functions:
        told = f"No function was traced or compiled more than once ({_count(profile.once, 'function')} once)."
    else:
        told = (
            f"{_count(len(report.functions), 'function')} compiled more than once: "
            f"{_count(again.compiles, 'compilation')} after the first cost {_whole(again)}."
        )
    lines = [end, spent, told]
    lines += [f"the recorder did not understand something: {text}" for text in profile.trouble]
    return "\n".join(lines)


def _table(items: Sequence[Item], paint: Paint) -> str:
    head = ("function", "traced", "compiled", "trace ms", "lower ms", "compile ms", "after the first ms")
    rows = [_row(item) for item in items]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *rest = (cell.ljust(w) if not i else cell.rjust(w) for i, (cell, w) in enumerate(_pairs(cells, widths)))
        return "  ".join([first, *rest])

    return "\n".join([paint(line(head), bold=True), *map(line, rows)])


def _pairs(cells: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[str, int]]:
    return zip(cells, widths, strict=True)


def _row(item: Item) -> tuple[str, ...]:
    cost = item.cost
    numbers = (cost.trace_ms, cost.lower_ms, cost.compile_ms, item.again_cost.total_ms)
    function = item.function
    name = function.label if function else ""
    return (name, str(cost.traces), str(cost.compiles), *(f"{number:.0f}" for number in numbers))


def _function_line(item: Item, paint: Paint) -> str:
    function = item.function
    assert function
    place = f"{_shown(function.file)}:{function.line}" if function.file else function.origin
    library = " in a library" if function.origin == "library" else ""
    times = f"compiled {_times(item.cost.compiles)}"
    return f"{paint(function.label, bold=True)} ({place}){library} was {times}, {_whole(item.cost)}"


def _line_line(item: Item, paint: Paint) -> str:
    site = item.site
    assert site
    names = [f"{name} ×{count}" if count > 1 else name for name, count in item.operations[:_OPERATIONS]]
    more = ", …" if len(item.operations) > _OPERATIONS else ""
    inside = f"{', '.join(names)}{more}"
    where = paint(_place(site), bold=True)
    return f"{where}: {_count(item.cost.compiles, 'compilation')}, {_whole(item.cost)} ({inside})"


def _block(item: Item, head: str, paint: Paint) -> str:
    lines = [head]
    for explained in item.again[:_GROUPS]:
        lines += _again(explained, item.function, paint)
    if len(item.again) > _GROUPS:
        lines.append(f"  and for {len(item.again) - _GROUPS} more reasons; `--output-format json` has all of them")
    return "\n".join(lines)


def _again(explained: Explained, function: Function | None, paint: Paint) -> Iterator[str]:
    again = explained.again
    where = f"from {_place(again.site)}: " if function and again.site else ""
    times = "once more" if again.calls == 1 else f"{again.calls} times more"
    yield f"  {where}{times}, {_whole(again.cost)}"
    yield from (f"    {line}" for line in _changes(again, function))
    for explanation in explained.explanations:
        yield from (f"    {paint('=', fg='blue')} {line}" for line in _explanation(explanation))


def _changes(again: Again, function: Function | None) -> Iterator[str]:
    """What changed, one line for each cause; the further examples follow the first where they differ."""
    for number, difference in enumerate(again.examples[0]):
        others = [example[number] for example in again.examples[1:] if len(example) > number]
        further = [f"{one.before} → {one.after}" for one in others if one.after]
        tail = f"; {'; '.join(dict.fromkeys(further))}" if further else ""
        more = ", …" if again.calls > len(again.examples) and further else ""
        yield _difference(difference, function) + tail + more


def _difference(one: Difference, function: Function | None) -> str:
    change = f"{one.before} → {one.after}"
    more = f" and {one.others} more" if one.others else ""
    place = f"`{one.argument}{one.path}`{more}"
    match one.cause:
        case Cause.FUNCTION:
            return f"a new {_object(function)} each time, though its code is the same"
        case Cause.BODY:
            return "a new body function each time, though its code is the same"
        case Cause.ARGUMENTS:
            return f"other parameters were passed: ({one.before}) → ({one.after})"
        case Cause.KEYWORD:
            return f"`{one.argument}` was passed {one.before}, now {one.after}"
        case Cause.TRANSFORM:
            return f"the transforms around the call: {change}"
        case Cause.SETTING | Cause.OPTIONS:
            return f"{one.cause} {place}: {change}"
        case Cause.UNKNOWN:
            return "the same function object, arguments and settings as before"
        case _:
            return f"{one.cause} of {place}: {change}"


def _object(function: Function | None) -> str:
    around = function.around if function else ()
    if "method" in around:
        return "bound method"
    if "partial" in around:
        return "partial"
    if function and function.name == "<lambda>":
        return "lambda"
    return "function object"


def _explanation(one: Explanation) -> Iterator[str]:
    if one.finding:
        yield from _found(one.finding)
    elif one.rule:
        rule = find_rule(one.rule)
        yield f"{one.advice}; `jaxlint rule {rule.code}` ({rule.name}) explains it"
    else:
        yield one.advice


def _found(finding: Finding) -> Iterator[str]:
    place = f"{finding.place}:{finding.span.line}:{finding.span.column}"
    yield f"{place}: {finding.code} {finding.name}: {finding.message}"
    if finding.fix:
        kind = "suggestion" if finding.fix.safety is Safety.DISPLAY else f"{finding.fix.safety.value} fix"
        yield f"{kind}: {finding.fix.message}"


def _place(site: Site) -> str:
    inside = "" if site.function == "<module>" else f" in {site.function}"
    return f"{_shown(site.file)}:{site.line}{inside}"


def _shown(file: str) -> str:
    return file if file.startswith("<") else shown(Path(os.path.normpath(file)))


def _whole(cost: Cost) -> str:
    return f"{cost.total_ms:.0f} ms"


def _ms(cost: Cost) -> str:
    return f"{_whole(cost)} (trace {cost.trace_ms:.0f}, lowering {cost.lower_ms:.0f}, compile {cost.compile_ms:.0f})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
