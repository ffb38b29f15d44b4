"""Drops the findings that comments silence, and finds the comments that silence none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

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
    known = _Known([directive for directive in directives(text) if directive.own or not own_only])
    kept = [finding for finding in findings if not known.silences(finding)]
    if RULE.code in enabled:
        reports = _unused(text, path, known, frozenset(enabled))
        kept += [report for report in reports if not known.spares(report)]
    return kept


class _Known:
    """The directives of a text, found by line, with what each is about and what it has silenced."""

    def __init__(self, found: Sequence[Directive]) -> None:
        self.found = found
        self.words = _all_words(found)
        self.hits: list[set[str]] = [set() for _ in found]
        everything = groups()["ALL"] - {RULE.code} if found else frozenset()
        self._meant = [everything if words is None else _codes(words) for words in self.words]
        self._whole_file: list[int] = []
        self._by_line: dict[int, list[int]] = {}
        for index, directive in enumerate(found):
            if directive.whole_file:
                self._whole_file.append(index)
            else:
                for line in range(directive.first, directive.last + 1):
                    self._by_line.setdefault(line, []).append(index)

    def silences(self, finding: Finding) -> bool:
        """Whether a comment silences a finding; all that do are noted as used."""
        silencing = [index for index in self._at(finding) if finding.code in self._meant[index]]
        for index in silencing:
            self.hits[index].add(finding.code)
        return bool(silencing)

    def spares(self, report: Finding) -> bool:
        """Whether a comment that names the rule keeps the other comments of its line, or of the file."""
        return any(self.words[index] is not None and RULE.code in self._meant[index] for index in self._at(report))

    def _at(self, finding: Finding) -> set[int]:
        here, end = self._by_line.get(finding.span.line, ()), self._by_line.get(finding.span.end_line, ())
        return {*self._whole_file, *here, *end}


def _codes(words: Iterable[_Word]) -> frozenset[str]:
    return frozenset().union(*(word.codes for word in words))


def _all_words(found: Sequence[Directive]) -> list[list[_Word] | None]:
    """The words of each directive, None where it names none and so means all. Other tools' codes are left out."""
    known: dict[str, _Word] = {}
    return [_words(directive, known) if directive.codes else None for directive in found]


def _words(directive: Directive, known: dict[str, _Word]) -> list[_Word]:
    texts = [text for text in directive.codes if directive.own or text.upper().startswith("JAX")]
    for text in texts:
        if text not in known:
            known[text] = _word(text)
    return [known[text] for text in texts]


def _word(text: str) -> _Word:
    try:
        return _Word(text, expand(text))
    except SelectionError as error:
        return _Word(text, frozenset(), str(error))


def _unused(text: str, path: str, known: _Known, enabled: frozenset[str]) -> Iterator[Finding]:
    lines = LineMap(text)
    defaults = groups()["DEFAULT"]
    for directive, words, hit in zip(known.found, known.words, known.hits, strict=True):
        if words is None:
            idle = directive.own and not hit and defaults <= enabled
            gone: list[_Word] = []
        else:
            gone = [word for word in words if _idle(word, hit, enabled)]
            idle = bool(gone)
        if idle:
            yield _report(lines, path, directive, gone)


def _idle(word: _Word, hit: set[str], enabled: frozenset[str]) -> bool:
    """Nothing silenced, although all the rules that are meant were on: only then it is known to be needless."""
    return bool(word.problem) or (not hit & word.codes and word.codes <= enabled)


def _report(lines: LineMap, path: str, directive: Directive, gone: Sequence[_Word]) -> Finding:
    problems = [word.problem for word in gone if word.problem]
    idle = [f"`{word.text}`" for word in gone if not word.problem]
    verb = "silences" if len(idle) == 1 else "silence"
    message = "; ".join([*problems, *([f"{' and '.join(idle)} {verb} nothing here"] if idle else [])])
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
