"""Drops the findings that comments silence, and finds the comments that silence none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from jaxlint.config.selection import SelectionError, expand, groups
from jaxlint.model import Edit, Finding, Fix, Safety, Span
from jaxlint.rules.unused_suppression import RULE
from jaxlint.source.suppressions import Directive, directives, names_ours
from jaxlint.source.text import LineMap


class _Word(Struct, frozen=True):
    """One code of a directive: what is meant by it, or what is wrong with it."""

    text: str
    codes: frozenset[str]
    problem: str = ""


def silence(
    text: str, path: str, findings: Sequence[Finding], *, enabled: Collection[str] = (), own_only: bool = False
) -> list[Finding]:
    """The findings that no comment of the text silences, and a finding for each comment that silences none.

    A comment covers the whole statement that it stands in. A finding is silenced by a comment at its first or last
    line. Comments are judged only when unused-suppression is in `enabled`, and only by our own words: `# noqa` may
    be meant for another tool, and so may any code but ours. With `own_only`, only `# jaxlint:` comments count.
    """
    if not findings and not names_ours(text):
        return []
    found = [directive for directive in directives(text) if directive.own or not own_only]
    words = [_words(directive) for directive in found]
    hits: list[set[str]] = [set() for _ in found]
    kept: list[Finding] = []
    everything = groups()["ALL"] - {RULE.code} if found else frozenset()
    for finding in findings:
        silencing = [
            index
            for index, directive in enumerate(found)
            if _touches(directive, finding) and finding.code in _meant(words[index], everything)
        ]
        for index in silencing:
            hits[index].add(finding.code)
        if not silencing:
            kept.append(finding)
    if found and RULE.code in enabled:
        reports = _unused(text, path, found, words, hits, frozenset(enabled))
        kept += [report for report in reports if not _spared(report, found, words)]
    return kept


def _touches(directive: Directive, finding: Finding) -> bool:
    return directive.covers(finding.span.line) or directive.covers(finding.span.end_line)


def _words(directive: Directive) -> list[_Word] | None:
    """The codes of a directive; None where it names none and so means all. Other tools' codes are left out."""
    if not directive.codes:
        return None
    words = []
    for text in directive.codes:
        if not directive.own and not text.upper().startswith("JAX"):
            continue
        try:
            words.append(_Word(text, expand(text)))
        except SelectionError as error:
            words.append(_Word(text, frozenset(), str(error)))
    return words


def _meant(words: list[_Word] | None, everything: frozenset[str]) -> frozenset[str]:
    return everything if words is None else frozenset().union(*(word.codes for word in words))


def _spared(report: Finding, found: Sequence[Directive], words: Sequence[list[_Word] | None]) -> bool:
    """A comment that names the rule itself keeps the other comments of its line, or of the file."""
    return any(
        directive.covers(report.span.line) and meant is not None and any(RULE.code in word.codes for word in meant)
        for directive, meant in zip(found, words, strict=True)
    )


def _unused(
    text: str,
    path: str,
    found: Sequence[Directive],
    words: Sequence[list[_Word] | None],
    hits: Sequence[set[str]],
    enabled: frozenset[str],
) -> Iterator[Finding]:
    lines = LineMap(text)
    for directive, meant, hit in zip(found, words, hits, strict=True):
        if meant is None:
            idle = directive.own and not hit and groups()["DEFAULT"] <= enabled
            gone: list[_Word] = []
        else:
            gone = [word for word in meant if _idle(word, hit, enabled)]
            idle = bool(gone)
        if idle:
            yield _report(lines, path, directive, gone)


def _idle(word: _Word, hit: set[str], enabled: frozenset[str]) -> bool:
    """Nothing silenced, although all the rules that are meant were on: only then it is known to be needless."""
    return bool(word.problem) or (not hit & word.codes and word.codes <= enabled)


def _report(lines: LineMap, path: str, directive: Directive, gone: Sequence[_Word]) -> Finding:
    problems = [word.problem for word in gone if word.problem]
    idle = ", ".join(f"`{word.text}`" for word in gone if not word.problem)
    message = "; ".join([*problems, *([f"{idle} silences nothing here"] if idle else [])])
    rest = [code for code in directive.codes if code not in {word.text for word in gone}] if gone else []
    span = Span(directive.line, directive.column, directive.line, directive.end_column)
    edit = _without_codes(directive, rest) if rest else _without_directive(lines, directive)
    fix = Fix(Safety.SAFE, "remove the code" if rest else "remove the comment", (edit,))
    return Finding(
        RULE.code, RULE.name, RULE.severity, path, span, message or "the comment silences nothing here", (), fix
    )


def _without_codes(directive: Directive, rest: Sequence[str]) -> Edit:
    span = Span(directive.line, directive.codes_column, directive.line, directive.codes_end_column)
    return Edit(span, ", ".join(rest))


def _without_directive(lines: LineMap, directive: Directive) -> Edit:
    """Removes the directive; the comment, if nothing else is in it; and the line, if nothing else is on it."""
    number, line = directive.line, lines.line(directive.line)
    before, after = line[: directive.column - 1], line[directive.end_column - 1 :]
    if directive.column > directive.comment_column or not after.strip():
        start = len(before.rstrip()) if not after.strip() or after.lstrip().startswith("#") else len(before)
        if start == 0 and not after.strip() and number < len(lines):
            return Edit(Span(number, 1, number + 1, 1), "")
        return Edit(Span(number, start + 1, number, len(line) + 1 if not after.strip() else directive.end_column), "")
    if after.lstrip().startswith("#"):
        end = directive.end_column + len(after) - len(after.lstrip())
        return Edit(Span(number, directive.column, number, end), "")
    return Edit(Span(number, directive.column, number, directive.end_column), "#")
