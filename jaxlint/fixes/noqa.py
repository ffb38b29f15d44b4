"""Suppresses findings where they are: `# noqa: CODES` at the end of the statement that each stands in."""

from __future__ import annotations

from collections.abc import Iterable

from jaxlint.model import Finding
from jaxlint.source.suppressions import Directive, directives, statement_ends
from jaxlint.source.text import LineMap

_UNSUPPRESSABLE = {"JAX000", "JAX001"}  # what cannot be read, and what is said of suppressions themselves


def with_noqa(text: str, findings: Iterable[Finding]) -> str:
    """The text in which these findings of its file are suppressed; codes join a `# noqa` that is there already."""
    ends = statement_ends(text)
    wanted: dict[int, set[str]] = {}
    for finding in findings:
        end = ends.get(finding.span.line)
        if end is not None and finding.code not in _UNSUPPRESSABLE:
            wanted.setdefault(end, set()).add(finding.code)
    known = {one.last: one for one in directives(text) if not one.own and not one.whole_file and one.codes}
    lines = LineMap(text)
    for end in sorted(wanted, reverse=True):
        offset, added = _insertion(lines, end, sorted(wanted[end]), known.get(end))
        text = text[:offset] + added + text[offset:]
    return text


def _insertion(lines: LineMap, end: int, codes: list[str], known: Directive | None) -> tuple[int, str]:
    """Where in the text what is to be put in, for the statement that ends in line `end`."""
    if known is None:
        return lines.offset(end, len(lines.line(end)) + 1), f"  # noqa: {', '.join(codes)}"
    return lines.offset(known.line, known.codes_end_column), "".join(f", {code}" for code in codes)
