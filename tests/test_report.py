from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from msgspec import structs

from jaxlint.config.file import OUTPUT_FORMATS
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
from jaxlint.report import statistics, text
from jaxlint.report.report import Report

SCHEMA = json.loads((Path(__file__).parent / "data" / "sarif-schema-2.1.0.json").read_text())

VERIFICATION = Verification(
    Verdict.CONFIRMED, "it is faster", True, 0.0, "synthesised", Speedup(48.1, 45.0, 51.9), Counts(3, 1), Counts(2, 1),
    "cpu", "0.10.2",
    Evidence(
        (Deviation("f", "the original", 0.0, 1e-6),), (Compiled("f", 3, 3, 0),), Timed("f", 5, (45.0, 48.1, 51.9)),
    ),
)  # fmt: skip
FINDING = Finding(
    "JAX101", "vmap-of-jit", Severity.WARNING, "src/my file.py", Span(2, 8, 2, 12), "100% slow:\nyes, <really>",
    (Step("src/b.py", 3, "because of this"),),
    Fix(Safety.SAFE, "swap them", (Edit(Span(2, 8, 2, 12), "jit\n"),)), None, VERIFICATION,
)  # fmt: skip
PLAIN = Finding("JAX000", "syntax-error", Severity.ERROR, "b.py", Span(1, 1, 1, 1), "invalid \x00\x1b[31m syntax")
REPORT = Report((PLAIN, FINDING), texts={"src/my file.py": "import x\ny\t= abc'日本', jit\n", "b.py": "(\n"}, files=2)
EMPTY = Report((), files=3)


def render(name: str, report: Report = REPORT) -> str:
    result: str = import_module(f"jaxlint.report.{name}").render(report)
    return result


def test_json_is_what_tools_rely_on() -> None:
    plain, full = json.loads(render("json"))
    assert plain["fix"] is None and plain["verification"] is None and plain["because"] == []
    assert full == {
        "code": "JAX101", "name": "vmap-of-jit", "severity": "warning", "path": "src/my file.py", "cell": None,
        "line": 2, "column": 8, "end_line": 2, "end_column": 12, "message": "100% slow:\nyes, <really>",
        "because": [{"path": "src/b.py", "line": 3, "message": "because of this"}],
        "fix": {"safety": "safe", "message": "swap them", "edits": [
            {"line": 2, "column": 8, "end_line": 2, "end_column": 12, "content": "jit\n"}]},
        "verification": {"verdict": "confirmed", "reason": "it is faster", "same": True, "max_abs_error": 0.0,
                         "inputs": "synthesised", "speedup": {"ratio": 48.1, "low": 45.0, "high": 51.9},
                         "traces": {"before": 3, "after": 1}, "compiles": {"before": 2, "after": 1},
                         "device": "cpu", "jax": "0.10.2",
                         "evidence": {
                             "errors": [{"what": "f", "against": "the original", "error": 0.0, "allowed": 1e-6}],
                             "compiles": [{"what": "f", "calls": 3, "before": 3, "after": 0}],
                             "timed": {"what": "f", "calls": 5, "ratios": [45.0, 48.1, 51.9]},
                             "hardware": ""}},
    }  # fmt: skip


@pytest.mark.parametrize("report", [REPORT, EMPTY])
def test_sarif_follows_its_schema(report: Report) -> None:
    log = json.loads(render("sarif", report))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    assert len(log["runs"][0]["results"]) == len(report.findings)


def test_the_schema_finds_faults() -> None:
    log = json.loads(render("sarif"))
    log["runs"][0]["results"][1]["fixes"][0]["artifactChanges"][0]["replacements"] = []
    assert not jsonschema.Draft4Validator(SCHEMA).is_valid(log)


def test_sarif_has_fixes_and_steps() -> None:
    run = json.loads(render("sarif"))["runs"][0]
    result = run["results"][1]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "JAX101"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/my%20file.py"
    replacement = result["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert replacement["insertedContent"]["text"] == "jit\n"
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert flow[0]["location"]["message"]["text"] == "because of this"


def test_github_commands_are_escaped() -> None:
    plain, full = render("github").splitlines()
    assert plain.startswith("::error title=JAX000 syntax-error,file=b.py,line=1,col=1,")
    assert full == (
        "::warning title=JAX101 vmap-of-jit,file=src/my file.py,line=2,col=8,endLine=2,endColumn=12::"
        "src/my file.py:2:8: JAX101 vmap-of-jit: 100%25 slow:%0Ayes, <really>"
    )


def test_gitlab_fingerprints_do_not_depend_on_the_line_number() -> None:
    moved = Finding("JAX101", "vmap-of-jit", Severity.WARNING, "src/my file.py", Span(3, 8, 3, 12), "100% slow")
    texts = {"src/my file.py": "import x\n\n" + REPORT.texts["src/my file.py"].splitlines()[1]}
    (one,) = json.loads(render("gitlab", Report((moved,), texts=texts)))
    entries: list[dict[str, Any]] = json.loads(render("gitlab"))
    assert one["fingerprint"] == entries[1]["fingerprint"] != entries[0]["fingerprint"]
    assert entries[0]["severity"] == "major"
    assert entries[1]["location"]["positions"]["begin"] == {"line": 2, "column": 8}
    twice = json.loads(render("gitlab", Report((FINDING, FINDING), texts=REPORT.texts)))
    assert twice[0]["fingerprint"] != twice[1]["fingerprint"]


def test_junit_is_xml_with_a_failure_for_each_finding() -> None:
    root = ElementTree.fromstring(render("junit"))
    assert root.get("failures") == "2"
    assert [case.get("name") for case in root.iter("testcase")] == ["JAX000 syntax-error", "JAX101 vmap-of-jit"]
    (case,) = ElementTree.fromstring(render("junit", EMPTY)).iter("testcase")
    assert case.find("failure") is None


@pytest.mark.parametrize("name", OUTPUT_FORMATS)
def test_every_format_renders_nothing_found(name: str) -> None:
    assert render(name, EMPTY).endswith("\n") or name == "github"


def test_text_shows_the_line_the_reasons_the_fix_and_the_verdict() -> None:
    plain, full, verdicts, rest = render("text").split("\n\n", 3)
    assert plain.splitlines()[0] == r"b.py:1:1: JAX000 syntax-error: invalid \x00\x1b[31m syntax"
    assert full.splitlines() == [
        r"src/my file.py:2:8: JAX101 vmap-of-jit: 100% slow:\nyes, <really>",
        "  |",
        "2 | y    = abc'日本', jit",
        "  |           ^^^^^^",
        "  = because src/b.py:3: because of this",
        "  = safe fix: swap them",
        "  = verdict: confirmed, it is faster",
    ]
    assert verdicts.splitlines() == [
        "Verdicts (cpu, JAX 0.10.2)",
        "               verdict    speed-up              compilations  traces  largest error  inputs",
        "src/my file.py",
        "  2:8  JAX101  confirmed  48.1x (45.0 to 51.9)  2 -> 1        3 -> 1  0              synthesised",
    ]
    assert rest == "Found 2 findings.\n1 fixable with `--fix`.\n"


def test_the_table_of_verdicts_has_the_columns_that_are_needed() -> None:
    doubtful = structs.replace(FINDING, path="b.py", verification=Verification(Verdict.UNVERIFIED, "why\x1b[31m"))
    fixed = structs.replace(FINDING, span=Span(12, 10, 12, 11), verification=Verification(Verdict.SAME, "", True, 2e-7))
    shown = text.render(Report((doubtful,), fixed=(fixed,), files=2))
    assert shown.split("\n\n")[-2].splitlines() == [
        "Verdicts",
        "                 verdict     largest error",
        "b.py",
        "  2:8    JAX101  unverified",
        "src/my file.py",
        "  12:10  JAX101  same        2e-07",
    ]
    assert "Verdicts" not in text.render(Report((PLAIN,), files=1))


def test_text_without_findings() -> None:
    assert render("text", EMPTY) == "No findings in 3 files.\n"


def test_what_was_fixed_is_counted_and_its_proof_is_shown() -> None:
    report = Report((PLAIN,), fixed=(FINDING,), files=1)
    shown = text.render(report)
    assert shown.endswith("Found 2 findings (1 fixed, 1 remaining).\n")
    assert (
        "Fixed src/my file.py:2:8: JAX101 vmap-of-jit: 100% slow:\\nyes, <really>\n"
        "  safe fix: swap them\n  verdict: confirmed" in shown
    )


def test_colour_only_adds_to_the_text() -> None:
    import click

    colored = text.render(REPORT, color=True)
    assert colored != text.render(REPORT)
    assert click.unstyle(colored) == text.render(REPORT)


def test_a_long_line_is_cut_around_what_is_meant() -> None:
    line = "x = [" + "1, " * 500 + "jit, " + "1, " * 500 + "]"
    column = line.index("jit") + 1
    finding = Finding("JAX101", "vmap-of-jit", Severity.INFO, "a.py", Span(1, column, 1, column + 3), "here")
    shown = text.render(Report((finding,), texts={"a.py": line}, files=1)).splitlines()
    assert max(map(len, shown)) < 180
    assert shown[2][shown[3].index("^") :][:3] == "jit"


def test_statistics_count_each_rule() -> None:
    assert statistics.render_text(REPORT) == "1  JAX000  [ ]  syntax-error\n1  JAX101  [*]  vmap-of-jit\n"
    assert json.loads(statistics.render_json(REPORT))[1] == {
        "code": "JAX101", "name": "vmap-of-jit", "count": 1, "fixable": 1,
    }  # fmt: skip
