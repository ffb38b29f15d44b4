"""Applies only fixes that were proved: each by itself, and all those of a file together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import structs

from jaxlint.engine import Linted, Loaded, replaced
from jaxlint.fixes.loop import Fixed, Lint, fix_all
from jaxlint.fixes.verdicts import GOOD, Verdicts
from jaxlint.model import Finding, Verdict, Verification
from jaxlint.source.text import SourceFile


def fix_proved(loaded: Loaded, lint: Lint, wanted: Callable[[Finding], bool], verdicts: Verdicts) -> Fixed:
    """Applies the wanted fixes whose verdict is `confirmed` or `same`; the others remain, with their verdict."""
    rejected: dict[Finding, Finding] = {}

    def choose(sources: Loaded, findings: Sequence[Finding]) -> list[Finding]:
        judged = verdicts.judged(sources, [finding for finding in findings if wanted(finding)])
        rejected.clear()
        rejected.update((_bare(finding), finding) for finding in judged if not _proved(finding))
        return [finding for finding in judged if _proved(finding)]

    fixed = fix_all(loaded, lint, choose)
    undone = dict(_bad_together(loaded, fixed, verdicts))
    if undone:
        fixed = _undo(loaded, fixed, lint, undone)
        rejected.update((_bare(finding), finding) for finding in _with(fixed.remaining.findings, undone))
    findings = tuple(rejected.get(finding, finding) for finding in fixed.remaining.findings)
    return structs.replace(fixed, remaining=Linted(findings, fixed.remaining.failures))


def changes(before: Loaded, after: Loaded) -> Iterator[tuple[SourceFile, SourceFile]]:
    """The files that differ, before and after."""
    pairs = zip(before.sources, after.sources, strict=True)
    return ((old, new) for old, new in pairs if old.text != new.text)


def _bad_together(loaded: Loaded, fixed: Fixed, verdicts: Verdicts) -> Iterator[tuple[str, Verification]]:
    """The files whose fixes are good one by one, but change what the program does when they are all made."""
    count = Counter(finding.path for finding in fixed.applied)
    several = [(old, new) for old, new in changes(loaded, fixed.loaded) if count[old.path] > 1]
    for (old, _), verdict in zip(several, verdicts.of_files(loaded, several, fixed.applied), strict=True):
        if verdict.verdict is Verdict.DIFFERENT:
            reason = f"good one by one, but not together with the other fixes of this file: {verdict.reason}"
            yield old.path, structs.replace(verdict, reason=reason)


def _undo(loaded: Loaded, fixed: Fixed, lint: Lint, undone: dict[str, Verification]) -> Fixed:
    after = replaced(fixed.loaded, {source.path: source for source in loaded.sources if source.path in undone})
    applied = tuple(finding for finding in fixed.applied if finding.path not in undone)
    notes = (f"{path}: not fixed: {verdict.reason}" for path, verdict in undone.items())
    return Fixed(after, applied, lint(after), (*fixed.notes, *notes), fixed.origins, fixed.found)


def _with(findings: Sequence[Finding], undone: dict[str, Verification]) -> Iterator[Finding]:
    for finding in findings:
        if finding.path in undone and finding.fix:
            yield structs.replace(finding, verification=undone[finding.path])


def _proved(finding: Finding) -> bool:
    return finding.verification is not None and finding.verification.verdict in GOOD


def _bare(finding: Finding) -> Finding:
    return structs.replace(finding, verification=None)
