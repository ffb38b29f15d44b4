from __future__ import annotations

from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
clientlib = pytest.importorskip("pre_commit.clientlib")

ROOT = Path(__file__).parents[1]
HOOKS = ROOT / ".pre-commit-hooks.yaml"


def test_pre_commit_accepts_the_hooks() -> None:
    hooks = {hook["id"]: hook for hook in clientlib.load_manifest(HOOKS)}
    assert set(hooks) == {"jaxlint", "jaxlint-fix"}
    for hook in hooks.values():
        assert hook["language"] == "python"
        assert hook["types_or"] == ["python", "pyi", "jupyter"]
        assert hook["require_serial"] is True


@pytest.mark.parametrize("hook", ["jaxlint", "jaxlint-fix"])
def test_what_a_hook_runs_is_a_command(hook: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jaxlint.cli.main import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("x = 1  # noqa: JAX101\n")
    (entry,) = [one["entry"] for one in yaml.safe_load(HOOKS.read_text()) if one["id"] == hook]
    with pytest.raises(SystemExit) as ended:
        main([*entry.split()[1:], "a.py"])
    fixes = "--fix" in entry
    assert ended.value.code == (0 if fixes else 1)
    assert (tmp_path / "a.py").read_text() == ("x = 1\n" if fixes else "x = 1  # noqa: JAX101\n")
