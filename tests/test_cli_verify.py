"""What the command makes of verdicts; how they come about is for the tests of the verifier."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

import jaxlint.verify
from jaxlint.cli.main import main
from jaxlint.config.settings import VerifySettings
from jaxlint.fixes.verdicts import Judge, Request
from jaxlint.model import Counts, Verdict, Verification

TEXT = "import jax\n\ny = jax.tree_map(abs, [1])\nz = jax.tree_leaves([1])\n"

Says = Callable[[Callable[[Request], Verification]], None]


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Says:
    """Puts a judge that says what it is told to in the place of the verifier."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    Path("a.py").write_text(TEXT)

    def install(say: Callable[[Request], Verification]) -> None:
        @contextmanager
        def judging(device: str, jobs: int, settings: VerifySettings, executor: str | None) -> Iterator[Judge]:
            def judge(requests: Sequence[Request]) -> list[Verification]:
                return [say(request) for request in requests]

            yield judge

        monkeypatch.setattr("jaxlint.cli.job.judging", judging)
        monkeypatch.setattr("jaxlint.cli.compare.judging", judging)

    return install


def run(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(args)
    return int(ended.value.code or 0)


def same(_: Request) -> Verification:
    return Verification(Verdict.SAME, "no difference", same=True, compiles=Counts(1, 1))


def only_map(request: Request) -> Verification:
    return same(request) if "tree_leaves" in request.after else Verification(Verdict.DIFFERENT, "other values")


def test_verdicts_are_reported(says: Says, capsys: pytest.CaptureFixture[str]) -> None:
    says(same)
    assert run("--verify", "--output-format", "json") == 1
    found = json.loads(capsys.readouterr().out)
    assert [one["verification"]["verdict"] for one in found] == ["same", "same"]
    assert found[0]["verification"]["compiles"] == {"before": 1, "after": 1}
    assert Path("a.py").read_text() == TEXT


def test_only_good_fixes_are_applied(says: Says, capsys: pytest.CaptureFixture[str]) -> None:
    says(only_map)
    assert run("--fix", "--verify") == 1
    assert Path("a.py").read_text() == TEXT.replace("tree_map", "tree.map")
    out = capsys.readouterr().out
    assert "verdict: different, other values" in out
    assert "Fixed a.py:3:5: JAX901 removed-api: " in out
    assert "verdict: same, no difference" in out
    assert out.endswith("Found 2 findings (1 fixed, 1 remaining).\n")


def test_a_diff_shows_only_good_fixes(says: Says, capsys: pytest.CaptureFixture[str]) -> None:
    says(only_map)
    assert run("--diff", "--verify") == 1
    out = capsys.readouterr().out
    assert "+y = jax.tree.map(abs, [1])" in out
    assert "+z =" not in out


@pytest.mark.parametrize(("verdict", "status"), [(Verdict.SAME, 0), (Verdict.CONFIRMED, 0), (Verdict.DIFFERENT, 1)])
def test_compare_prints_one_verdict(
    says: Says, capsys: pytest.CaptureFixture[str], verdict: Verdict, status: int
) -> None:
    says(lambda request: Verification(verdict, f"{request.before == request.after}"))
    assert run("compare", "a.py", "a.py", "--output-format", "json") == status
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["reason"], found["speedup"]) == (verdict.value, "True", None)


def test_what_the_verifier_lacks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(TEXT)
    monkeypatch.setitem(sys.modules, "jaxlint.verify.verifier", None)
    monkeypatch.delattr(jaxlint.verify, "verifier", raising=False)  # as before another test imported it
    assert run("--verify") == 2
    assert "flake8-jaxlint[verify]" in capsys.readouterr().err


def test_examples_that_cannot_be_used_are_noted(says: Says, capsys: pytest.CaptureFixture[str]) -> None:
    says(same)
    Path("a.py").write_text(TEXT + "# jaxlint: example step(f32[3])\n")
    assert run("--verify") == 1
    captured = capsys.readouterr()
    assert "a.py:5: this example is not used: the file does not define `step`" in captured.err
    assert "JAX001" not in captured.out
    run("compare", "a.py", "a.py")
    assert "a.py:5: this example is not used" in capsys.readouterr().err


def test_a_command_that_cannot_be_followed_is_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(TEXT)
    for args in (["--verify", "a.py"], ["compare", "a.py", "a.py"]):
        assert run(*args, "--run", "make test") == 2
        assert "only commands that start Python can be followed" in capsys.readouterr().err
    assert run("--run", "pytest", "a.py") == 2
    assert "`--run` is for `--verify`" in capsys.readouterr().err


def test_the_configuration_names_factories_of_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = []

    @contextmanager
    def judging(device: str, jobs: int, settings: VerifySettings, executor: str | None) -> Iterator[Judge]:
        given.append(settings)
        yield lambda requests: [same(request) for request in requests]

    monkeypatch.setattr("jaxlint.cli.job.judging", judging)
    monkeypatch.setattr("jaxlint.cli.compare.judging", judging)
    Path("a.py").write_text(TEXT)
    Path("jaxlint.toml").write_text('[verify]\nexamples = { "a:step" = "made:steps" }\n')
    run("--verify")
    run("compare", "a.py", "a.py")
    assert given == [VerifySettings(tmp_path, {"a:step": "made:steps"})] * 2
    Path("jaxlint.toml").write_text('[verify]\nrun = "python train.py"\n')
    run("--verify")
    run("--verify", "--run", "pytest tests")
    configured, asked = given[2:]
    assert (configured.run, configured.folder) == ("python train.py", tmp_path) and "verify.run" in configured.asked
    assert asked == VerifySettings(tmp_path, {}, "pytest tests")
    Path("jaxlint.toml").write_text('[verify]\nexample = { "a:step" = "made:steps" }\n')
    assert run("compare", "a.py", "a.py") == 2
    assert "unknown key `verify.example`" in capsys.readouterr().err


@pytest.mark.jax
def test_a_fix_is_proved_by_running_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = "import jax\n\nprint(jax.tree_map(lambda x: x + 1, [1, 2]))\n"
    Path("a.py").write_text(program)
    assert run("--isolated", "--fix", "--verify", "a.py") == 0
    assert Path("a.py").read_text() == program.replace("tree_map", "tree.map")
    assert "verdict: confirmed" in capsys.readouterr().out


@pytest.mark.jax
@pytest.mark.parametrize(("constant", "status"), [("1", 0), ("2", 1)])
def test_two_versions_are_compared(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    constant: str,
    status: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    program = "import jax.numpy as jnp\n\nprint(jnp.arange(3) + 1)\n"
    Path("a.py").write_text(program)
    Path("b.py").write_text(program.replace("+ 1", f"+ {constant}"))
    assert run("compare", "a.py", "b.py", "--output-format", "json") == status
    assert json.loads(capsys.readouterr().out)["verdict"] == ("same" if status == 0 else "different")


def test_an_interrupted_run_reports_what_is_known(
    says: Says, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted(jaxlint.verify.Verifier):
        def check(self) -> None:
            """All is there."""

        def iterate(self, changes: Sequence[jaxlint.verify.Change]) -> Iterator[Verification]:
            yield Verification(Verdict.SAME, "no difference", same=True)
            raise KeyboardInterrupt

    monkeypatch.setattr("jaxlint.verify.Verifier", Interrupted)
    assert run("check", "--isolated", "--verify", "--output-format=json", "a.py") == 1
    out, err = capsys.readouterr()
    found = [(one["verification"]["verdict"], one["verification"]["reason"]) for one in json.loads(out)]
    assert sorted(found) == [
        ("same", "no difference"),
        ("unverified", "it was interrupted before this fix was judged"),
    ]
    assert "[1/2] a.py:3" in err and "same, no difference" in err and "interrupted: 1 of 2 fixes were judged" in err


def test_a_device_is_for_verification(says: Says, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--device", "gpu", "a.py") == 2
    assert "give `--verify` too" in capsys.readouterr().err
