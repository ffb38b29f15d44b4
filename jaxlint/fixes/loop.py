"""Applies fixes again and again until nothing is left to apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, structs

from jaxlint.engine import Linted, Loaded, replaced, syntax_fault
from jaxlint.fixes.edits import apply_fixes
from jaxlint.model import Finding
from jaxlint.source.text import SourceError, SourceFile

PASSES = 100
"""No honest set of fixes needs as many passes; two rules that undo each other would go on for ever."""

STEPS = 8
"""So often a rule may say the same of one line, each time with one more fix, until its fix is taken for one that does
not mend what it finds."""

Lint = Callable[[Loaded], Linted]
Choose = Callable[[Loaded, Sequence[Finding]], Sequence[Finding]]


class Fixed(Struct, frozen=True):
    """The texts afterwards, the findings whose fix is in them, those that remain, and what could not be done.

    `origins` has for each finding in `applied` the text that it speaks of, which may be that of a pass in between.
    `found` is what was found before any fix.
    """

    loaded: Loaded
    applied: tuple[Finding, ...]
    remaining: Linted
    notes: tuple[str, ...] = ()
    origins: Mapping[Finding, str] = {}
    found: tuple[Finding, ...] = ()


def fix_all(loaded: Loaded, lint: Lint, choose: Choose) -> Fixed:
    """Applies the fixes of the findings that `choose` picks, to a fixed point.

    `choose` gets the sources and the findings of one pass and returns those to be fixed; it may add verdicts. Of
    fixes that overlap, the first is applied and the others wait for the next pass. A fix that would break the
    syntax is dropped and told in `notes`, and so are rules whose fixes undo each other.
    """
    history = _History(loaded)
    notes: dict[str, None] = {}
    original, linted = loaded, lint(loaded)
    found = linted.findings
    for _ in range(PASSES):
        judged = tuple(choose(loaded, linted.findings))
        changed, done = _one_pass(loaded, tuple(filter(history.allows, judged)), notes)
        if not changed:
            fixed = Fixed(loaded, tuple(history.applied), linted, tuple(notes), history.origins, found)
            return _tidied(fixed, original, lint)
        history.note(loaded, changed, done, notes)
        loaded = replaced(loaded, changed)
        stuck = history.stuck(notes)
        loaded = replaced(
            loaded, {one.path: one.with_text(stuck[one.path]) for one in loaded.sources if one.path in stuck}
        )
        linted = lint(loaded)
    paths = ", ".join(sorted({finding.path for finding in linted.findings if finding.fix}))
    notes[f"{paths}: the fixes did not settle after {PASSES} passes; what was done so far is kept"] = None
    return Fixed(loaded, tuple(history.applied), linted, tuple(notes), history.origins, found)


class _History:
    """What was applied, and what each file said before; rules that lead back to such a text are not applied again."""

    def __init__(self, loaded: Loaded) -> None:
        self.applied: list[Finding] = []
        self.origins: dict[Finding, str] = {}
        self._texts = {source.path: [source.text] for source in loaded.sources}
        self._done: dict[str, list[list[Finding]]] = {source.path: [] for source in loaded.sources}
        self._banned: set[tuple[str, str]] = set()

    def allows(self, finding: Finding) -> bool:
        """Whether its fix may be applied to its file."""
        return (finding.path, finding.code) not in self._banned

    def note(
        self, loaded: Loaded, changed: Mapping[str, SourceFile], done: Sequence[Finding], notes: dict[str, None]
    ) -> None:
        """Takes in one pass: the files that changed, from what is in `loaded`, and the findings whose fixes did it."""
        texts = {source.path: source.text for source in loaded.sources}
        self.origins.update((finding, texts[finding.path]) for finding in done)
        self.applied += done
        for path, source in changed.items():
            self._done[path].append([finding for finding in done if finding.path == path])
            if source.text in self._texts[path]:
                self._forget(path, self._texts[path].index(source.text), "undo each other", notes)
            else:
                self._texts[path].append(source.text)

    def stuck(self, notes: dict[str, None]) -> dict[str, str]:
        """The files in which one fix after the other did not mend what was found, with their texts before the first."""
        found = {}
        for path, steps in self._done.items():
            last = steps[-STEPS:]
            same = {(one.code, one.message, one.span.line) for step in last for one in step}
            if len(last) == STEPS and len(same) == 1:
                index = len(steps) - STEPS
                found[path] = self._texts[path][index]
                self._forget(path, index, "do not mend what they are for", notes)
        return found

    def _forget(self, path: str, index: int, why: str, notes: dict[str, None]) -> None:
        """Forgets what has been done since a text, and forbids it."""
        undone = [finding for step in self._done[path][index:] for finding in step]
        del self._texts[path][index + 1 :], self._done[path][index:]
        codes = sorted({finding.code for finding in undone})
        self._banned.update((path, code) for code in codes)
        for finding in undone:
            self.applied.remove(finding)
            self.origins.pop(finding, None)
        notes[f"{path}: the fixes for {' and '.join(codes)} {why} and were left out"] = None


def _tidied(fixed: Fixed, original: Loaded, lint: Lint) -> Fixed:
    """Without the imports that the fixes left unused."""
    from jaxlint.fixes.tidy import without_unused_imports  # most runs fix nothing

    pairs = zip(original.sources, fixed.loaded.sources, strict=True)
    tidy = ((after, without_unused_imports(before, after)) for before, after in pairs)
    changed = {after.path: tidied for after, tidied in tidy if tidied is not after}
    if not changed:
        return fixed
    loaded = replaced(fixed.loaded, changed)
    return structs.replace(fixed, loaded=loaded, remaining=lint(loaded))


def text_with(source: SourceFile, findings: Sequence[Finding]) -> tuple[str, tuple[Finding, ...]]:
    """The text with as many of the fixes as go together, and the findings that those belong to."""
    fixable = [finding for finding in findings if finding.fix]
    result = apply_fixes(source.text, [finding.fix for finding in fixable if finding.fix])
    return result.text, tuple(fixable[index] for index in result.fixes)


def _one_pass(
    loaded: Loaded, findings: Sequence[Finding], notes: dict[str, None]
) -> tuple[dict[str, SourceFile], list[Finding]]:
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    changed: dict[str, SourceFile] = {}
    done: list[Finding] = []
    for source in loaded.sources:
        if source.path in by_path:
            after, fixed = _fix_file(source, by_path[source.path], notes)
            if after.text != source.text:
                changed[source.path] = after
                done += fixed
    return changed, done


def _fix_file(
    source: SourceFile, findings: Sequence[Finding], notes: dict[str, None]
) -> tuple[SourceFile, tuple[Finding, ...]]:
    text, fixed = text_with(source, findings)
    if not _fault_of(source, text):
        return source.with_text(text), fixed
    return _fix_one_by_one(source, fixed, notes)


def _fix_one_by_one(
    source: SourceFile, findings: Sequence[Finding], notes: dict[str, None]
) -> tuple[SourceFile, tuple[Finding, ...]]:
    """Finds out which fix cannot be made: each is tried on top of those that can."""
    kept: list[Finding] = []
    best = source.text
    for finding in findings:
        text, fixed = text_with(source, [*kept, finding])
        fault = _fault_of(source, text)
        if fault:
            where = f"{finding.path}:{finding.span.line}:{finding.span.column}"
            notes[f"{where}: the fix for {finding.code} {fault}"] = None
        else:
            kept, best = list(fixed), text
    return source.with_text(best), tuple(kept)


def _fault_of(source: SourceFile, text: str) -> str:
    """Why the file cannot have this text; empty where it can."""
    if text == source.text:
        return ""
    try:
        after = source.with_text(text)
    except SourceError as error:
        return f"was left out: the file {error.message}"
    return "would break the syntax and was left out" if syntax_fault(after) else ""
