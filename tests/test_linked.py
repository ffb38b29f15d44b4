"""fixtures/linked: faults whose causes lie in other files, one program for each way from the cause to the fault."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from examples import ROOT, reported

from jaxlint.cli.main import main

FOLDER = ROOT / "fixtures" / "linked"
GATE_CHAIN = [
    ("by_call.py", "`step` is jitted"),
    ("by_call.py", "`step` calls `residual`"),
    ("nets/blocks.py", "`residual` calls `gated`"),
    ("nets/blocks.py", "`gated` calls `gate`"),
]


Checked = Callable[..., str]


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Checked:
    """Runs the command in the folder of the project and gives what it prints."""
    monkeypatch.chdir(FOLDER)

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["--isolated", "--no-cache", *arguments])
        out, err = capfd.readouterr()
        assert ended.value.code in (0, 1), err
        return out

    return run


def findings(checked: Checked, *arguments: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(checked("--output-format", "json", *arguments))
    return found


def marked() -> set[tuple[str, int, str]]:
    return {
        (file.relative_to(FOLDER).as_posix(), line, rule)
        for file in FOLDER.rglob("*.py")
        for line, rule in reported(file.read_text("utf-8"), "expect")
    }


def place(finding: dict[str, object]) -> tuple[object, object, object]:
    return finding["path"], finding["line"], finding["name"]


def test_the_project_has_exactly_the_findings_that_are_marked(checked: Checked) -> None:
    assert {place(finding) for finding in findings(checked, ".")} == marked()


@pytest.mark.parametrize("cause", sorted(FOLDER.glob("by_*.py")), ids=lambda file: file.stem)
def test_each_way_leads_from_its_cause_to_its_fault(checked: Checked, cause: Path) -> None:
    """With one program beside the package there is one fault, and without any there is none."""
    (finding,) = findings(checked, cause.name, "nets")
    assert place(finding) in marked()
    assert Path(str(finding["path"])).name != cause.name
    steps = finding["because"]
    assert isinstance(steps, list) and cause.name in {step["path"] for step in steps}
    assert findings(checked, "nets") == []


def test_the_chain_is_in_the_text(checked: Checked) -> None:
    shown = checked("by_call.py", "nets").splitlines()
    steps = [line.strip().removeprefix("= because ") for line in shown if "= because" in line]
    assert [(step.split(":")[0], step.split(": ", 1)[1]) for step in steps] == GATE_CHAIN


def test_the_chain_is_in_the_json(checked: Checked) -> None:
    (finding,) = findings(checked, "by_call.py", "nets")
    assert isinstance(finding["because"], list)
    assert [(step["path"], step["message"]) for step in finding["because"]] == GATE_CHAIN


def test_the_chain_is_a_code_flow_in_the_sarif(checked: Checked) -> None:
    (run,) = json.loads(checked("--output-format", "sarif", "by_call.py", "nets"))["runs"]
    (flow,) = run["results"][0]["codeFlows"]
    steps = [one["location"]["message"]["text"] for one in flow["threadFlows"][0]["locations"]]
    assert steps[: len(GATE_CHAIN)] == [message for _, message in GATE_CHAIN]
