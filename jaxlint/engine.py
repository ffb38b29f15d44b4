"""From files to findings: reads and parses them, runs the analysis, applies the selection and the suppressions."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from jaxlint.analysis import analyse
from jaxlint.analysis.project import module_name
from jaxlint.config.settings import Settings
from jaxlint.lowering import Lowering
from jaxlint.meter import Meter
from jaxlint.model import Finding, Span
from jaxlint.registry import Rule, rules
from jaxlint.rules import syntax_error
from jaxlint.source.depth import too_deep
from jaxlint.source.files import shown
from jaxlint.source.suppressed import silence
from jaxlint.source.text import LineMap, SourceError, SourceFile
from jaxlint.store.store import Store, digest_of


class Loaded(Struct, frozen=True):
    """What was read: the sources, the file of each path shown, and a finding for each that cannot be read."""

    sources: tuple[SourceFile, ...]
    files: dict[str, Path]
    unreadable: tuple[Finding, ...] = ()


class Failure(Struct, frozen=True):
    """An internal failure: jaxlint, not the checked code, is at fault. The other files are linted all the same."""

    path: str
    error: str

    def __str__(self) -> str:
        return f"{self.path}: {self.error} (please report this; JAXLINT_DEBUG=1 shows more)"


class Linted(Struct, frozen=True):
    """The findings in the order of files and lines, and what went wrong inside jaxlint."""

    findings: tuple[Finding, ...]
    failures: tuple[Failure, ...] = ()


def load(files: Sequence[Path]) -> Loaded:
    """Reads files; what cannot be read or decoded becomes a finding."""
    sources: list[SourceFile] = []
    unreadable: list[Finding] = []
    names = {shown(file): file for file in files}
    for path, file in names.items():
        try:
            sources.append(SourceFile.read(path, file=file))
        except SourceError as error:
            unreadable.append(unreadable_finding(path, error))
    return Loaded(tuple(sources), names, tuple(unreadable))


def unreadable_finding(path: str, error: SourceError) -> Finding:
    """The finding for a file that cannot be read as text."""
    return _finding(syntax_error.RULE, path, Span(error.line, 1, error.line, 1), f"the file {error.message}")


def lint(loaded: Loaded, settings: Settings, meter: Meter | None = None, jobs: int = 1) -> Linted:
    """Everything that is wrong with the sources under these settings, suppressions applied.

    Where nothing changed since a run that is in the store, its findings are taken from there. `jobs` is how many
    processes may be used.
    """
    meter = meter or Meter()
    with meter.stage("look into the store"):
        key = _run_key(loaded, settings) if settings.store.folder else b""
        known = settings.store.findings(key)
    if known is not None:
        return Linted(known)
    linted = _linted(loaded, settings, meter, jobs)
    if not linted.failures:
        settings.store.keep_findings(key, linted.findings)
    return linted


def _run_key(loaded: Loaded, settings: Settings) -> bytes:
    """Stands for all that the findings depend on: settings, paths, places in packages, and contents."""
    chosen = [_chosen(one) for one in (settings, *settings.nested)]
    files = [(source.path, module_name(source.path), source.data) for source in loaded.sources]
    return digest_of([chosen, loaded.unreadable, *files])


def _chosen(settings: Settings) -> object:
    ignores = [(one.pattern, one.negated, one.codes) for one in settings.per_file_ignores]
    return os.path.relpath(settings.root), settings.enabled, ignores, settings.target, settings.wrappers


def _linted(loaded: Loaded, settings: Settings, meter: Meter, jobs: int) -> Linted:
    found: list[Finding] = list(loaded.unreadable)
    with meter.stage("check the syntax"):
        parsed, broken = _parsed(loaded.sources, settings.store)
    found += broken
    with meter.stage("import the rules"):
        on = settings.enabled.union(*(inner.enabled for inner in settings.nested))
        names = {rule.name for rule in rules() if rule.code in on}
    analysis: list[Finding] = []
    failures: list[Failure] = []
    with meter.stage("analyse"):
        for part, paths in _alike(loaded, settings):
            some, lost = analysed(parsed, part, names, meter, jobs, paths)
            analysis += some
            failures += lost
    by_path: dict[str, list[Finding]] = {source.path: [] for source in parsed}
    for finding in dict.fromkeys(analysis):
        by_path[finding.path].append(finding)
    for source in parsed:
        enabled = settings.enabled_in(loaded.files.get(source.path, Path(source.path)))
        chosen = [finding for finding in by_path[source.path] if finding.code in enabled]
        found += silence(source.text, source.path, chosen, enabled=enabled)
    found.sort(key=lambda finding: (finding.path, finding.span, finding.code))
    return Linted(tuple(found), tuple(failures))


def _alike(loaded: Loaded, settings: Settings) -> list[tuple[Settings, frozenset[str] | None]]:
    """The files by the settings that the analysis asks for, None for all of them."""
    if not settings.nested:
        return [(settings, None)]
    groups: dict[bytes, tuple[Settings, set[str]]] = {}
    for path, file in loaded.files.items():
        own = settings.of(file)
        key = digest_of([own.target, own.wrappers])
        groups.setdefault(key, (own, set()))[1].add(path)
    return [(own, frozenset(paths)) for own, paths in groups.values()]


def _parsed(sources: Sequence[SourceFile], store: Store) -> tuple[list[SourceFile], list[Finding]]:
    """The sources that Python can parse, and a finding for each other one."""
    parsed: list[SourceFile] = []
    broken: list[Finding] = []
    for source in sources:
        broken += _broken_cells(source)
        known = store.parses(source.text)
        fault = None if known else syntax_fault(source)
        if fault:
            broken.append(fault)
            continue
        parsed.append(source)
        if not known:
            store.keep_parses(source.text)
    return parsed, broken


def _broken_cells(source: SourceFile) -> Iterator[Finding]:
    """A finding for each cell of a notebook that Python cannot parse; the others are linted without it."""
    if source.program is None or not source.program.faults:
        return
    from jaxlint.source.notebook.program import Places

    places = Places(source.program, source.text)
    for fault in source.program.faults:
        first = places.first_line(fault.index) - 1
        found = fault_of(source.path, source.program.cells[fault.index].text, fault.error)
        span = found.span
        yield structs.replace(found, span=Span(span.line + first, span.column, span.end_line + first, span.end_column))


def syntax_fault(source: SourceFile) -> Finding | None:
    """The finding for a text that Python cannot parse, or None."""
    try:
        tree = parse(source.text)
        if too_deep(tree, source.text):
            raise RecursionError
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return fault_of(source.path, source.text, error)
    return None


def fault_of(path: str, text: str, error: Exception) -> Finding:
    """The finding for a text on which Python's parser raised this."""
    if isinstance(error, SyntaxError):
        return _finding(syntax_error.RULE, path, _place(text, error), f"{_sentence(error)}{_python()}")
    message = "is nested too deeply" if not isinstance(error, ValueError) else str(error)
    return _finding(syntax_error.RULE, path, Span(1, 1, 1, 1), f"the file cannot be parsed: {message}")


def parse(text: str) -> ast.Module:
    """The syntax tree; warnings about the text, such as invalid escapes, are not ours to print."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def analysed(
    sources: Sequence[SourceFile],
    settings: Settings,
    only: Collection[str] | None,
    meter: Meter | None = None,
    jobs: int = 1,
    paths: Collection[str] | None = None,
) -> tuple[list[Finding], list[Failure]]:
    """What the analysis finds in sources that parse, nothing suppressed; by the rules named in `only`, or by all.

    With `paths` only those are looked at for their own sake; imports of the others are followed.
    """
    failures: list[Failure] = []
    unread: list[Finding] = []

    def failed(path: str, error: Exception) -> None:
        if type(error).__name__ == "ParserSyntaxError":  # libcst is not imported for the sake of a name
            told = "the file cannot be parsed by libcst, though Python can; it was not linted"
            unread.append(_finding(syntax_error.RULE, path, Span(1, 1, 1, 1), told))
            return
        if os.environ.get("JAXLINT_DEBUG"):
            import traceback

            traceback.print_exception(error)
        failures.append(Failure(path, f"internal error, not linted: {type(error).__name__}: {error}"))

    lower = Lowering(settings.store, meter, jobs)
    try:
        found = analyse(
            sources,
            target=settings.target,
            wrappers=settings.wrappers,
            only=only,
            paths=paths,
            lower=lower,
            on_failure=failed,
        )
        return [*found, *unread], failures
    except Exception as error:
        if len(sources) == 1:
            failed(sources[0].path, error)
            return unread, failures
    # One file brought the whole down: each is looked at by itself, so that only that one is lost.
    looked_at = [source for source in sources if paths is None or source.path in paths]
    apart = [analysed([source], settings, only, meter) for source in looked_at]
    return [one for found, _ in apart for one in found], [one for _, lost in apart for one in lost]


def _finding(rule: Rule, path: str, span: Span, message: str) -> Finding:
    return Finding(rule.code, rule.name, rule.severity, path, span, message)


def _place(text: str, error: SyntaxError) -> Span:
    """Where the parser stopped, moved inside the text; the parser counts columns of UTF-8 text from 1 in characters."""
    lines = LineMap(text)
    line = min(max(error.lineno or 1, 1), len(lines))
    column = min(max(error.offset or 1, 1), len(lines.line(line)) + 1)
    end_line, end_column = error.end_lineno or line, error.end_offset or 0
    if end_line != line or end_column <= column or end_column > len(lines.line(line)) + 1:
        end_column = column
    return Span(line, column, line, end_column)


def _sentence(error: SyntaxError) -> str:
    return str(error.msg).rstrip(".") or "invalid syntax"


def _python() -> str:
    return f" (read as Python {sys.version_info.major}.{sys.version_info.minor})"


def replaced(loaded: Loaded, changed: Mapping[str, SourceFile]) -> Loaded:
    """The same files with other texts for some of them."""
    return structs.replace(loaded, sources=tuple(changed.get(source.path, source) for source in loaded.sources))
