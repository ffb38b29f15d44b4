"""The page of the evidence: its structure, its pictures, and what a browser makes of it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from examples import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from jaxlint.cli.main import main
from jaxlint.model import (
    Compiled,
    Counts,
    Deviation,
    Edit,
    Evidence,
    Finding,
    Fix,
    Safety,
    Severity,
    Span,
    Speedup,
    Step,
    Timed,
    Verdict,
    Verification,
)
from jaxlint.report.html import render
from jaxlint.report.html.scale import Log
from jaxlint.report.report import Change, Report

NASTY = "src/</script><b>\"'&日本\u202e\x1b.py"
BEFORE = "import jax\n\nf = jax.vmap(jax.jit(g))  # </td></table><script>alert(1)</script>\ny\t= f(1)\r\n"
AFTER = BEFORE.replace("jax.vmap(jax.jit(g))", "jax.jit(jax.vmap(g))")
EVIDENCE = Evidence(
    (Deviation("the program", "the original", 0.0, 1e-6), Deviation("<f>", "the original, in 64 bits", 3e-4, 1e-4)),
    (Compiled("f", 3, 3, 0), Compiled("quiet", 3, 0, 0)),
    Timed("f", 5, (*(1.5 + 0.01 * (number % 7) for number in range(40)), 90.0)),
)
CONFIRMED = Verification(
    Verdict.CONFIRMED, "`f` is faster", True, 0.0, "the program's own", Speedup(1.53, 1.5, 1.56), Counts(3, 1),
    Counts(2, 1), "cpu", "0.10.2", EVIDENCE,
)  # fmt: skip
FINDING = Finding(
    "JAX101", "vmap-of-jit", Severity.WARNING, NASTY, Span(3, 5, 3, 25), "eager `</p>` <i>",
    (Step(NASTY, 1, "because"),),
    Fix(Safety.SAFE, "swap them", (Edit(Span(3, 5, 3, 25), "jax.jit(jax.vmap(g))"),)), None, CONFIRMED,
)  # fmt: skip
VERDICTS = [
    CONFIRMED,
    Verification(Verdict.SAME, "no gain", True, evidence=Evidence()),
    Verification(Verdict.DIFFERENT, "other values", False, 1.0, evidence=structs.replace(EVIDENCE, timed=None)),
    Verification(Verdict.UNVERIFIED, "it fails"),
]
FINDINGS = [structs.replace(FINDING, verification=found, path=f"{number}.py") for number, found in enumerate(VERDICTS)]
PLAIN = Finding("JAX000", "syntax-error", Severity.ERROR, "b.py", Span(1, 1, 1, 1), "invalid syntax")


def report(*findings: Finding, fixed: tuple[Finding, ...] = ()) -> Report:
    changes = {one: Change(BEFORE, AFTER if one.fix else BEFORE) for one in (*findings, *fixed)}
    return Report(findings, fixed=fixed, files=1, changes=changes)


class Page(HTMLParser):
    """What a page consists of; ends that do not match their starts are an error."""

    VOID = ("meta", "input", "br", "hr", "link", "img")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def values(self, name: str) -> list[str]:
        return [value or "" for _, attribute, value in self.attributes if attribute == name]


def test_everything_is_shown_and_nothing_of_it_is_markup() -> None:
    page = Page(render(report(FINDING)))
    assert not page.tags.keys() & {"script", "b", "i", "img", "link", "iframe"}
    assert "# </td></table><script>alert(1)</script>" in page.text
    assert "src/</script><b>\"'&日本\\u202e\\x1b.py:3:5" in page.text
    assert "\x1b" not in page.text and "\u202e" not in page.text


def test_nothing_comes_from_elsewhere() -> None:
    text = render(report(*FINDINGS))
    page = Page(text)
    assert {value[0] for value in page.values("href")} == {"#"}
    assert not page.values("src") and not page.values("style")
    assert not re.search(r"url\(|@import|https?:", text)
    assert any("default-src 'none'" in content for content in page.values("content"))


def test_each_finding_has_code_change_verdict_and_pictures() -> None:
    page = Page(render(report(FINDING)))
    assert (page.tags["article"], page.tags["svg"], page.tags["mark"]) == (1, 3, 1)
    assert "added: f = jax.jit(jax.vmap(g))" in page.text and "removed: f = jax.vmap(jax.jit(g))" in page.text
    assert ": f is faster" in page.text and "1.53x (1.50 to 1.56)" in page.text
    assert "41 rounds of 5 calls of f: median 1.53 times as fast, interval 1.50 to 1.56; outside" in page.text
    assert "f, 3 warm calls: 3 before, 0 after" in page.text and "quiet" not in page.text
    assert "<f>: 0.0003 against the original, in 64 bits, 0.0001 allowed" in page.text


def test_pictures_are_named_for_those_who_do_not_see_them() -> None:
    page = Page(render(report(*FINDINGS)))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    named = [name for value in page.values("aria-labelledby") for name in value.split()]
    assert page.tags["svg"] == 5 and len(named) == 10 and set(named) <= set(ids)
    assert page.tags["h1"] == 1 and page.tags["h2"] == len(FINDINGS)


def test_what_has_no_verdict_and_what_was_fixed_is_told() -> None:
    page = Page(render(report(PLAIN, fixed=(FINDING,))))
    assert "– not judged" in page.text and "there is no fix to verify" in page.text
    assert "safe fix: swap them (applied)" in page.text
    assert "Found 2 findings (1 fixed, 1 remaining)" in page.text
    assert page.values("for") == ["show-confirmed", "show-not-judged"]
    assert Page(render(Report((), files=2))).tags["article"] == 0


@given(st.floats(1e-9, 1e9), st.floats(1.01, 1e6), st.floats(1e-12, 1e12))
def test_axes_stay_between_their_ends(low: float, share: float, value: float) -> None:
    axis = Log(low, low * share, 10.0, 300.0)
    assert 10.0 <= axis.at(value) <= 300.0
    ticks = axis.ticks(30.0, [value])
    places = [axis.at(one) for one in ticks]
    assert all(second - first >= 29.9 for first, second in pairwise(places))
    assert value in ticks or not low <= value <= low * share


@given(st.lists(st.tuples(*[st.floats(0.0, allow_infinity=False)] * 2), max_size=3), st.lists(st.floats(1e-9, 1e9)))
def test_any_figures_are_drawn(errors: list[tuple[float, float]], rounds: list[float]) -> None:
    """Numbers, however large or small, are places within the picture."""
    deviations = tuple(Deviation("f", "the original", *pair) for pair in errors)
    gain = Speedup(*(round(one, 3) for one in (min(rounds, default=1.0), *[max(rounds, default=1.0)] * 2)))
    evidence = Evidence(deviations, (), Timed("f", 5, tuple(rounds)))
    found = structs.replace(CONFIRMED, speedup=gain, evidence=evidence)
    page = Page(render(report(structs.replace(FINDING, verification=found))))
    places = [float(value) for name in ("x", "x1", "x2", "cx") for value in page.values(name)]
    assert all(0.0 <= place <= 340.0 for place in places)


@settings(max_examples=50)
@given(st.text(), st.text(), st.integers(1, 4), st.integers(1, 30))
def test_any_text_gives_a_page(text: str, message: str, line: int, column: int) -> None:
    finding = structs.replace(FINDING, message=message, span=Span(line, column, line, column + 3))
    rendered = render(Report((finding,), files=1, changes={finding: Change(text, text + message)}))
    assert Page(rendered).tags["article"] == 1
    rendered.encode("utf-8")


# The command


def run(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(args)
    return int(ended.value.code or 0)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--report", "a.html"], "`--verify`"),
        (["--verify", "--report", "a.html", "--output-file", "a.html"], "the same file"),
        (["--verify", "--report", "missing/a.html"], "no such folder"),
    ],
)
def test_wrong_use_is_told_before_anything_is_run(
    args: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*args) == 2
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


PROGRAM = """\
import jax
import jax.numpy as jnp

g = jax.vmap(jax.jit(lambda x: jnp.sum(x**2)))
print(g(jnp.ones((4, 3))), jax.tree_map(abs, [1]))
"""


@pytest.mark.jax
def test_the_command_writes_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both fixes are made one after the other; the page has the text that each of them was about."""
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(PROGRAM)
    assert run("--isolated", "--fix", "--verify", "--report", "e.html", "a.py") == 0
    assert "the evidence is in e.html" in capsys.readouterr().err
    page = Page(Path("e.html").read_text("utf-8"))
    assert page.tags["article"] == 2 and page.text.count("(applied)") == 2
    assert "removed: g = jax.vmap(jax.jit(" in page.text and "added: g = jax.jit(jax.vmap(" in page.text
    assert "added: print(g(jnp.ones((4, 3))), jax.tree.map(abs, [1]))" in page.text


# In a browser

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


@pytest.mark.skipif(not BROWSER, reason="Chromium is not installed")
@pytest.mark.parametrize(
    ("scheme", "paper"), [(1, "rgb(255, 255, 255)"), (0, "rgb(20, 23, 28)")], ids=["light", "dark"]
)
def test_a_browser_shows_it(tmp_path: Path, scheme: int, paper: str) -> None:
    """The style sheet applies, nothing sticks out, texts can be read, and the filter hides what it names."""
    content = json.dumps(render(report(PLAIN, *FINDINGS, FINDING))).replace("<", "\\u003c")
    measure = (ROOT / "tests/data/measure_page.html").read_text("utf-8")
    (tmp_path / "a.html").write_text(measure.replace("WIDTHS", "[390, 1280]").replace("PAGE", content), "utf-8")
    command = [str(BROWSER), *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1300,900"]
    command += [f"--blink-settings=preferredColorScheme={scheme}", "--virtual-time-budget=9000", "--dump-dom"]
    ended = subprocess.run(
        [*command, str(tmp_path / "a.html")], capture_output=True, text=True, timeout=120, check=True
    )
    found = re.search(r'<pre id="found">(.+?)</pre>', ended.stdout, re.DOTALL)
    assert found, ended.stderr[-2000:]
    for one in json.loads(html.unescape(found[1])):
        assert one["background"] == paper
        assert one["scroll"] <= one["width"] and not one["outside"], one
        assert one["lowest"][0] >= 4.5, one["lowest"]
        assert one["smallest"] >= 280
        assert (one["before"], one["after"]) == (len(FINDINGS) + 2, len(FINDINGS))
