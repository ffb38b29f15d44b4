"""Gets a verdict for each fix: what the verifier says of the file with and without it."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct, structs

from jaxlint.engine import Loaded, parse
from jaxlint.fixes.loop import text_with
from jaxlint.model import Finding, Verdict, Verification
from jaxlint.source.text import SourceFile

GOOD = (Verdict.CONFIRMED, Verdict.SAME)
"""The verdicts under which a fix may be applied."""


class Request(Struct, frozen=True):
    """One change to be judged: the file's text without and with it."""

    path: str
    before: str
    after: str
    rule: str | None
    lines: tuple[int, ...]


Judge = Callable[[Sequence[Request]], Sequence[Verification]]
"""Runs both versions of each change."""


class Verdicts:
    """Asks a judge, and remembers what it said, for the next pass asks again about what has not changed."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._known: dict[tuple[str, str, str, str | None], Verification] = {}

    def judged(self, loaded: Loaded, findings: Sequence[Finding]) -> list[Finding]:
        """The findings, each that has a fix with the verdict on it.

        A fix that cannot be judged alone, because the program still fails for another reason that has a fix too,
        gets the verdict on all fixes of the file together, and the reason says so.
        """
        sources = {source.path: source for source in loaded.sources}
        known = [finding for finding in findings if finding.path in sources]
        alone = dict(self._alone(loaded, sources, known))
        together = dict(self._together(loaded, sources, known, alone))
        return [structs.replace(one, verification=together.get(one) or alone.get(one)) for one in findings]

    def of_files(
        self, loaded: Loaded, files: Sequence[tuple[SourceFile, SourceFile]], applied: Sequence[Finding]
    ) -> list[Verification]:
        """The verdicts on whole files, each before and after all the fixes that were applied to it."""
        return self._ask(
            [
                Request(
                    _path(loaded, old),
                    old.runnable(old.text),
                    new.runnable(new.text),
                    _only_rule(one for one in applied if one.path == old.path),
                    (),
                )
                for old, new in files
            ]
        )

    def _alone(
        self, loaded: Loaded, sources: dict[str, SourceFile], findings: Sequence[Finding]
    ) -> Iterator[tuple[Finding, Verification]]:
        asked = [(finding, request) for finding in findings if (request := _request(loaded, sources, [finding]))]
        return zip((finding for finding, _ in asked), self._ask([request for _, request in asked]), strict=True)

    def _together(
        self,
        loaded: Loaded,
        sources: dict[str, SourceFile],
        findings: Sequence[Finding],
        alone: dict[Finding, Verification],
    ) -> Iterator[tuple[Finding, Verification]]:
        groups: list[list[Finding]] = []
        requests: list[Request] = []
        for path in dict.fromkeys(finding.path for finding in findings):
            group = [one for one in findings if one.path == path and one in alone and _may_join(alone[one])]
            open_ = [one for one in group if alone[one].verdict is Verdict.UNVERIFIED]
            request = _request(loaded, sources, group) if open_ and len(group) > 1 else None
            if request:
                groups.append(group)
                requests.append(request)
        for group, verdict in zip(groups, self._ask(requests), strict=True):
            if verdict.verdict in GOOD:
                reason = f"judged together with the other {len(group) - 1} fixes of this file: {verdict.reason}"
                shared = structs.replace(verdict, reason=reason)
                yield from ((one, shared) for one in group if alone[one].verdict is Verdict.UNVERIFIED)

    def _ask(self, requests: Sequence[Request]) -> list[Verification]:
        new = {_key(request): request for request in requests if _key(request) not in self._known}
        judged: list[Request] = []
        for key, request in new.items():
            if _only_comments(request):
                self._known[key] = Verification(Verdict.SAME, "the change touches comments only", same=True)
            else:
                judged.append(request)
        if judged:
            self._known.update(zip(map(_key, judged), self._judge(judged), strict=True))
        return [self._known[_key(request)] for request in requests]


def _may_join(verdict: Verification) -> bool:
    return verdict.verdict is not Verdict.DIFFERENT


def _key(request: Request) -> tuple[str, str, str, str | None]:
    return request.path, request.before, request.after, request.rule


def _request(loaded: Loaded, sources: dict[str, SourceFile], findings: Sequence[Finding]) -> Request | None:
    """The change that the fixes of one file make, or None where they make none."""
    source = sources[findings[0].path] if findings else None
    if source is None:
        return None
    after, fixed = text_with(source, findings)
    if after == source.text:
        return None
    return Request(
        path=_path(loaded, source),
        before=source.runnable(source.text),
        after=source.runnable(after),
        rule=_only_rule(fixed),
        lines=tuple(sorted(set(_lines(fixed)))),
    )


def _only_rule(findings: Iterable[Finding]) -> str | None:
    """The rule that all findings come from: what its fixes may change is then known."""
    rules = {finding.name for finding in findings}
    return rules.pop() if len(rules) == 1 else None


def _path(loaded: Loaded, source: SourceFile) -> str:
    return os.path.abspath(loaded.files.get(source.path, source.path))


def _lines(findings: Iterable[Finding]) -> Iterator[int]:
    for finding in findings:
        for edit in finding.fix.edits if finding.fix else ():
            yield from range(edit.span.line, edit.span.end_line + 1)


def _only_comments(request: Request) -> bool:
    try:
        return ast.dump(parse(request.before)) == ast.dump(parse(request.after))
    except (SyntaxError, ValueError, RecursionError):
        return False
