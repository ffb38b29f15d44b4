"""Baselines: what is known is not reported, and stays known when lines move."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from jaxlint import baseline
from jaxlint.cli.main import cli
from jaxlint.model import Finding, Severity, Span

OLD = "import jax\n\ndef f(x):\n    for _ in range(3):\n        x = jax.jit(lambda v: v + 1)(x)\n    return x\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.py").write_text(OLD)
    return tmp_path


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["check", "--isolated", "--no-cache", *args], standalone_mode=False)
    status = result.return_value if result.exception is None else 2
    return status, result.stdout, result.stderr + str(result.exception or "")


def test_what_is_known_is_not_reported(folder: Path) -> None:
    assert run("old.py")[0] == 1
    status, _, told = run("--write-baseline", "known.json", ".")
    assert status == 0 and "knows 1 findings" in told
    assert run("--baseline", "known.json", ".")[0] == 0


def test_a_finding_stays_known_when_lines_move_and_is_new_when_its_line_changes(folder: Path) -> None:
    run("--write-baseline", "known.json", "old.py")
    (folder / "old.py").write_text("# moved\n\n" + OLD)
    assert run("--baseline", "known.json", "old.py")[0] == 0
    (folder / "old.py").write_text(OLD.replace("v + 1", "v + 2"))
    assert run("--baseline", "known.json", "old.py")[0] == 1


def test_a_second_equal_fault_is_new(folder: Path) -> None:
    run("--write-baseline", "known.json", "old.py")
    (folder / "old.py").write_text(OLD + OLD.replace("import jax\n", "").replace("def f", "def g"))
    status, out, _ = run("--baseline", "known.json", "--output-format", "json", "old.py")
    assert status == 1 and len(json.loads(out)) == 1


def test_what_is_known_is_not_fixed(folder: Path) -> None:
    run("--write-baseline", "known.json", "old.py")
    assert run("--baseline", "known.json", "--fix", "--unsafe-fixes", "old.py")[0] == 0
    assert (folder / "old.py").read_text() == OLD


def test_the_configuration_may_name_it_from_its_own_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("--write-baseline", "known.json", ".")
    (folder / "jaxlint.toml").write_text('baseline = "known.json"\n')
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")
    result = CliRunner().invoke(cli, ["check", "--no-cache", ".."], standalone_mode=False)
    assert result.return_value == 0, result.output


@pytest.mark.parametrize("text", [None, "", "{}", '{"version": 9, "findings": []}', "[1, 2]", "\0"])
def test_a_file_that_is_no_baseline_is_told(folder: Path, text: str | None) -> None:
    if text is not None:
        (folder / "known.json").write_text(text)
    status, _, told = run("--baseline", "known.json", ".")
    assert status == 2 and "known.json" in told and ("--write-baseline" in told or "write it anew" in told)


LINES = st.sampled_from(["a = 1", "  b", "", "ü = 2", "a = 1 "])


@given(st.lists(LINES, min_size=1, max_size=8), st.lists(st.integers(0, 7), max_size=6))
def test_all_that_is_written_is_known(lines: list[str], places: list[int]) -> None:
    numbers = [place % len(lines) + 1 for place in places]
    found = [Finding("JAX110", "jit-in-loop", Severity.WARNING, "x.py", Span(n, 1, n, 2), "m") for n in numbers]
    texts, file = {"x.py": "\n".join(lines)}, Path("known.json")
    written = json.loads(baseline.rendered(found, texts, file))["findings"]
    counts = {(one["path"], one["code"], one["line"]): one["count"] for one in written}
    assert sum(counts.values()) == len(found)
    assert not baseline.Baseline(Path.cwd(), counts).unknown(found, texts)
