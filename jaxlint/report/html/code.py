"""Program text on the page: the lines around a finding with its span marked, and a change as a diff."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from jaxlint.fixes.diff import unified
from jaxlint.model import Span
from jaxlint.report.html.elements import Children, element
from jaxlint.report.report import Change
from jaxlint.source.text import LineMap

_AROUND, _MOST = 2, 12
_SIGNS = {"+": ("added", "+"), "-": ("removed", "−"), "@": ("place", ""), "\\": ("place", "")}
_SAID = {"added": "added: ", "removed": "removed: "}


def excerpt(text: str, span: Span, name: str) -> Element:
    """The lines of the span and some around it, numbered."""
    lines = LineMap(text)
    last = min(span.end_line, span.line + _MOST, len(lines))
    numbers = range(max(1, span.line - _AROUND), min(len(lines), last + _AROUND) + 1)
    rows = [_row(str(number), "", _marked(lines.line(number), number, span)) for number in numbers]
    return _block(rows, name)


def difference(path: str, change: Change, name: str) -> Element:
    """What is changed. Signs say it as well as colours."""
    lines = unified(path, change.before, change.after).split("\n")[2:]
    return _block([_diff_row(line) for line in lines if line], name)


def _diff_row(line: str) -> Element:
    kind, sign = _SIGNS.get(line[0], ("kept", ""))
    content = line if kind == "place" else line[1:]
    said = element("span", _SAID[kind], class_="said") if kind in _SAID else None
    return _row(sign, kind, [said, _shown(content)])


def _marked(line: str, number: int, span: Span) -> Iterator[Element | str]:
    if not span.line <= number <= span.end_line:
        yield _shown(line)
        return
    start = span.column - 1 if number == span.line else len(line) - len(line.lstrip())
    end = max(span.end_column - 1, start) if number == span.end_line else len(line)
    yield _shown(line[:start])
    yield element("mark", _shown(line[start:end] or " "))
    yield _shown(line[end:])


def _row(margin: str, kind: str, content: Children) -> Element:
    return element("tr", element("th", margin, scope="row"), element("td", content), class_=kind)


def _block(rows: list[Element], name: str) -> Element:
    table = element("table", element("tbody", rows))
    return element("div", table, class_="code", role="region", tabindex="0", aria_label=name)


def _shown(text: str) -> str:
    return text.rstrip("\r").replace("\t", "    ")
