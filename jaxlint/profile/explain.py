"""Which rule treats what was compiled again, and what the linter finds there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from jaxlint.config.settings import Settings
from jaxlint.engine import Loaded, lint, load
from jaxlint.model import Finding
from jaxlint.profile.cells import name, split
from jaxlint.profile.differences import Cause, Difference
from jaxlint.profile.records import Function, Site
from jaxlint.profile.summary import Again, Profile
from jaxlint.source.notebook.findings import ByCell
from jaxlint.source.text import LineMap, SourceFile

ADVICE: Mapping[Cause, str] = {
    Cause.FUNCTION: "define and jit the function once, and keep the jitted function",
    Cause.BODY: "define the body once, or jit the function around",
    Cause.SHAPE: "pad to one shape, or to few",
    Cause.DTYPE: "give the argument one dtype",
    Cause.WEAK_TYPE: "start with an array of the result's dtype instead of a Python number",
    Cause.STRUCTURE: "pass the same pytree structure, with the same static fields, in every call",
    Cause.STATIC: "leave the argument traced, or pass few values, or objects that compare equal",
    Cause.ARGUMENTS: "pass the same parameters in every call",
    Cause.KEYWORD: "pass arguments in one style",
    Cause.PLACEMENT: "put the arrays on the same devices, with the same sharding, before every call",
    Cause.TRANSFORM: "put `jax.jit` outermost",
    Cause.OPTIONS: "jit the function once, with one set of options",
    Cause.SETTING: "set it once, before the first call",
    Cause.UNKNOWN: "its caches may have been cleared or full, threads met in it, or JAX keeps none for this",
}
_RULES: Mapping[Cause, tuple[str, ...]] = {
    Cause.FUNCTION: ("jit-in-function", "jit-in-loop"),
    Cause.BODY: ("fresh-control-flow-body",),
    Cause.SHAPE: ("shape-retrace",),
    Cause.WEAK_TYPE: ("python-scalar-retrace",),
    Cause.STATIC: ("static-retrace",),
    Cause.KEYWORD: ("call-style-retrace",),
    Cause.TRANSFORM: ("vmap-of-jit", "grad-of-jit"),
}
_AROUND = "jit the function around, which compiles all of it at once"
_OPERATIONS = ("unjitted-hot-loop", "unrolled-loop")
NAMES = frozenset({*(name for names in _RULES.values() for name in names), *_OPERATIONS})
"""The rules that can explain a compilation."""


class Explanation(Struct, frozen=True):
    """The rule that treats a cause, None where there is none; the linter's finding at the place, if it has one."""

    cause: Cause
    advice: str
    rule: str | None = None
    finding: Finding | None = None


class Linted(Struct, frozen=True):
    """What the linter finds in the files of a profile; a cell of a notebook counts as a file: see `cells`."""

    findings: Mapping[str, Sequence[Finding]]
    texts: Mapping[str, str]


def linted(profile: Profile, settings: Callable[[Iterable[str]], Settings]) -> Linted:
    """Lints the files of the program that a profile speaks of."""
    files = sorted({file for file, _ in map(split, _files(profile)) if os.path.isfile(file)})
    if not files:
        return Linted({}, {})
    loaded = load([Path(file) for file in files])
    findings: dict[str, list[Finding]] = {}
    by_cell = ByCell(loaded.sources, {})
    for found in lint(loaded, settings(files)).findings:
        if found.name in NAMES:
            finding = by_cell.told(found)
            findings.setdefault(_real(_file(loaded, finding.path, finding.cell)), []).append(finding)
    texts = (pair for source in loaded.sources for pair in _texts(source))
    return Linted(findings, {_real(_file(loaded, path, cell)): text for path, cell, text in texts})


def _texts(source: SourceFile) -> Iterator[tuple[str, int | None, str]]:
    """The texts that the lines of findings count in, with their places."""
    if source.program is None:
        yield source.path, None, source.text
    else:
        yield from ((source.path, cell.number, cell.text) for cell in source.program.cells)


def _file(loaded: Loaded, path: str, cell: int | None) -> str:
    file = str(loaded.files[path])
    return file if cell is None else name(file, cell)


def _real(file: str) -> str:
    path, cell = split(file)
    return os.path.realpath(path) if cell is None else name(os.path.realpath(path), cell)


def _files(profile: Profile) -> Iterator[str]:
    for one in profile.functions:
        if one.function.origin == "program":
            yield one.function.file
        yield from (again.site.file for again in one.again if again.site)
    yield from (line.site.file for line in profile.lines)


def explain(again: Again, function: Function | None, files: Linted) -> list[Explanation]:
    """One explanation for each cause; for operations that JAX ran one by one (`function` is None), one for all."""
    if function is None:
        finding = _finding(_OPERATIONS, again.site, None, files)
        return [Explanation(again.causes[0], _AROUND, finding.name if finding else None, finding)]
    return [_explanation(cause, again, function, files) for cause in again.causes]


def _explanation(cause: Cause, again: Again, function: Function, files: Linted) -> Explanation:
    names = _names(cause, again, function)
    finding = _finding(names, again.site, function, files)
    rule = finding.name if finding else _likely(names, again)
    return Explanation(cause, ADVICE[cause], rule, finding)


def _names(cause: Cause, again: Again, function: Function) -> tuple[str, ...]:
    if cause is Cause.UNKNOWN and function.kind == "loop":
        return _RULES[Cause.BODY]
    if cause is Cause.DTYPE and any(one.python_number for one in _differences(again, cause)):
        return _RULES[Cause.WEAK_TYPE]
    return _RULES.get(cause, ())


def _differences(again: Again, cause: Cause) -> Iterator[Difference]:
    return (one for example in again.examples for one in example if one.cause is cause)


def _likely(names: tuple[str, ...], again: Again) -> str | None:
    """The rule to read where the linter is silent."""
    if names == _RULES[Cause.FUNCTION]:
        return "jit-in-loop" if again.site and again.site.function == "<module>" else "jit-in-function"
    if names == _RULES[Cause.TRANSFORM]:
        told = {text for one in _differences(again, Cause.TRANSFORM) for text in (one.before, one.after)}
        return "vmap-of-jit" if "vmap" in told else "grad-of-jit"
    return names[0] if names else None


def _finding(
    names: tuple[str, ...], site: Site | None, function: Function | None, files: Linted
) -> Finding | None:  # fmt: skip
    """The finding at the line of the call; else in the function; else around the call, where it names the function."""
    places = []
    if site:
        places.append((site.file, site.line, site.line, ""))
    if function:
        places.append((function.file, function.line, function.last, ""))
        if site:
            places.append((site.file, site.first, site.last, function.name.strip("<>")))
    for file, first, last, word in places:
        real = _real(file)
        for finding in files.findings.get(real, ()):
            span = finding.span
            inside = span.line <= last and first <= span.end_line
            if finding.name in names and inside and word in _text(files.texts[real], finding):
                return finding
    return None


def _text(text: str, finding: Finding) -> str:
    lines = LineMap(text)
    last = min(finding.span.end_line, len(lines))
    return "\n".join(lines.line(number) for number in range(finding.span.line, last + 1))
