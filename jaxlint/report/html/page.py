"""The page as a whole: what was found on top, a filter by verdict, then each finding with its evidence."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from xml.etree.ElementTree import Element

from jaxlint import __version__
from jaxlint.model import Finding, Verdict
from jaxlint.report.figures import run_on, speedup
from jaxlint.report.html.article import UNJUDGED, article, badge, kind, place, slug
from jaxlint.report.html.elements import document, element, raw
from jaxlint.report.report import Change, Report
from jaxlint.report.text import summary

_KINDS = [*(verdict.value for verdict in Verdict), UNJUDGED]


def render(report: Report) -> str:
    """The page; `report.changes` has what each finding's fix changes. It needs nothing but itself."""
    shown = sorted((*report.findings, *report.fixed), key=lambda one: (one.path, one.cell or 0, one.span))
    names = [f"finding-{number}" for number in range(1, len(shown) + 1)]
    fixed = frozenset(map(id, report.fixed))
    state = "would be applied" if report.would else "applied"
    articles = [
        article(one, _change(report, one), name, state if id(one) in fixed else "")
        for one, name in zip(shown, names, strict=True)
    ]
    kinds = Counter(map(kind, shown))
    main = element(
        "main",
        element("h1", "jaxlint: fixes and their evidence"),
        element("p", " · ".join(filter(None, [summary(report).splitlines()[0].rstrip("."), _places(shown)]))),
        _filter(kinds) if shown else None,
        _contents(shown, names) if shown else None,
        articles,
        element("footer", element("p", f"jaxlint {__version__}")),
    )
    return document(element("html", _head(), element("body", main), lang="en"))


def _change(report: Report, finding: Finding) -> Change:
    text = report.texts.get(finding.place, "")
    return report.changes.get(finding, Change(text, text))


def _places(findings: Sequence[Finding]) -> str:
    """Where it was verified."""
    verdicts = [one.verification for one in findings if one.verification]
    return "; ".join(dict.fromkeys(place for found in verdicts if (place := run_on(found))))


def _head() -> Element:
    style = files(__package__).joinpath("style.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("title", "jaxlint: fixes and their evidence"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        # Nothing is loaded and nothing is run, whatever the findings speak of.
        element(
            "meta",
            http_equiv="Content-Security-Policy",
            content=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        ),
        raw("style", style),
    )


def _filter(kinds: Counter[str]) -> Element:
    """Boxes that show and hide findings; the style sheet does it."""
    boxes = [box for word in _KINDS if kinds[word] for box in _box(word, kinds[word])]
    return element("fieldset", element("legend", "Show"), boxes)


def _box(word: str, count: int) -> Iterator[Element]:
    name = f"show-{slug(word)}"
    box = element("input", type="checkbox", id=name, checked="checked")
    yield element("label", box, " ", badge(word), " ", element("strong", str(count)), for_=name)


def _contents(findings: Sequence[Finding], names: Sequence[str]) -> Element:
    rows = [
        element(
            "li",
            badge(kind(one)),
            element("a", place(one), href=f"#{name}"),
            element("span", f"{one.code} {one.name}"),
            element("span", speedup(one.verification.speedup) if one.verification else ""),
            class_=slug(kind(one)),
        )
        for one, name in zip(findings, names, strict=True)
    ]
    return element("nav", element("ol", rows), class_="contents", aria_label="findings")
