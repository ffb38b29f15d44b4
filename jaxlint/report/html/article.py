"""One finding on the page: what is wrong, the change, the verdict, and the evidence for it."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from jaxlint.model import Finding, Safety, Verdict, Verification
from jaxlint.report.figures import figures, run_on
from jaxlint.report.html import charts, code
from jaxlint.report.html.elements import element, prose
from jaxlint.report.report import Change

SIGNS = {Verdict.CONFIRMED: "✓", Verdict.SAME: "=", Verdict.DIFFERENT: "≠", Verdict.UNVERIFIED: "?"}
UNJUDGED = "not judged"


def kind(finding: Finding) -> str:
    """The verdict as a word, also for findings that have none."""
    return finding.verification.verdict.value if finding.verification else UNJUDGED


def place(finding: Finding) -> str:
    """Where it is."""
    return f"{finding.place}:{finding.span.line}:{finding.span.column}"


def badge(word: str) -> Element:
    """A verdict, told apart by its word, sign and colour."""
    sign = SIGNS[Verdict(word)] if word != UNJUDGED else "–"
    return element("span", element("span", sign, aria_hidden="true"), " ", word, class_=f"badge {slug(word)}")


def slug(word: str) -> str:
    """The word as the name of a class."""
    return word.replace(" ", "-")


def article(finding: Finding, change: Change, name: str, state: str) -> Element:
    """The finding; `name` is its anchor, `state` says what became of its fix."""
    title = f"{finding.code} {finding.name}"
    head = element("h2", badge(kind(finding)), " ", title, " ", element("span", place(finding), class_="place"))
    because = [element("li", prose(f"{step.place}:{step.line}: {step.message}")) for step in finding.because]
    return element(
        "article",
        head,
        element("p", prose(finding.message)),
        element("ul", because, aria_label="because", class_="because") if because else None,
        element("div", _texts(finding, change, state), class_="texts"),
        _evidence(finding.verification, name) if finding.verification else None,
        id=name,
        class_=slug(kind(finding)),
    )


def _texts(finding: Finding, change: Change, state: str) -> Iterator[Element]:
    label = place(finding)
    code_ = code.excerpt(change.before, finding.span, f"code at {label}")
    yield element("section", element("h3", "Code"), code_)
    if finding.fix is None or change.before == change.after:
        told = finding.fix.message if finding.fix else "there is no fix to verify"
        yield element("section", element("h3", "Change"), element("p", prose(told)))
        return
    fix = "suggestion" if finding.fix.safety is Safety.DISPLAY else f"{finding.fix.safety.value} fix"
    told = f"{fix}: {finding.fix.message}" + (f" ({state})" if state else "")
    shown = code.difference(finding.place, change, f"change at {label}")
    yield element("section", element("h3", "Change"), shown, element("p", prose(told)))


def _evidence(found: Verification, name: str) -> Element:
    rows = {**figures(found), "run on": run_on(found)}
    pairs = [element("div", element("dt", row), element("dd", value)) for row, value in rows.items() if value]
    pictures = list(_pictures(found, name))
    return element(
        "section",
        element("h3", "Verdict"),
        element("p", element("strong", found.verdict.value), prose(f": {found.reason}" if found.reason else "")),
        element("dl", pairs) if pairs else None,
        element("div", pictures, class_="pictures") if pictures else None,
    )


def _pictures(found: Verification, name: str) -> Iterator[Element]:
    evidence = found.evidence
    if evidence is None:
        return
    if evidence.timed and evidence.timed.ratios and found.speedup:
        yield charts.ratios(f"{name}-ratios", evidence.timed, found.speedup)
    for picture in (
        charts.compilations(f"{name}-compilations", found.compiles, evidence.compiles),
        charts.errors(f"{name}-errors", evidence.errors),
    ):
        if picture is not None:
            yield picture
