"""The page of a rule, where the pointer rests on a finding or on a code in a comment."""

from __future__ import annotations

import re

from lsprotocol import types as lsp

from jaxlint import registry
from jaxlint.model import Span
from jaxlint.pages import page
from jaxlint.registry import Rule
from jaxlint.server.check import Checked
from jaxlint.server.diagnostics import positions_of
from jaxlint.source.suppressions import directives
from jaxlint.source.text import LineMap

_WORD = re.compile(r"[\w-]+")


def hover(checked: Checked, position: lsp.Position, encoding: str) -> lsp.Hover | None:
    """The pages of the rules that a position is about, as Markdown."""
    positions = positions_of(checked, encoding)
    line, column = positions.place(position)
    named = _named(checked.document.source.text, line, column)
    about = [named] if named else _found(checked, line, column)
    if not about:
        return None
    pages = dict.fromkeys(page(rule.name) or f"# {rule.code} {rule.name}\n\n{rule.summary}" for rule, _ in about)
    text = lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n---\n\n".join(pages))
    return lsp.Hover(text, positions.range(about[0][1]))


def _named(text: str, line: int, column: int) -> tuple[Rule, Span] | None:
    """The rule whose code or name stands at a place in a suppression."""
    for directive in directives(text):
        if directive.line == line and directive.codes_column <= column <= directive.codes_end_column:
            written = LineMap(text).line(line)
            for word in _WORD.finditer(written, directive.codes_column - 1, directive.codes_end_column - 1):
                rule = _rule(word.group())
                if rule and word.start() < column <= word.end() + 1:
                    return rule, Span(line, word.start() + 1, line, word.end() + 1)
    return None

    return LineMap(text).line(line)


def _rule(word: str) -> Rule | None:
    return next((rule for rule in registry.rules() if word.upper() == rule.code or word == rule.name), None)


def _found(checked: Checked, line: int, column: int) -> list[tuple[Rule, Span]]:
    rules = {rule.code: rule for rule in registry.rules()}
    here = [one for one in checked.findings if _covers(one.span, line, column)]
    return [(rules[finding.code], finding.span) for finding in here if finding.code in rules]


def _covers(span: Span, line: int, column: int) -> bool:
    return (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column)
