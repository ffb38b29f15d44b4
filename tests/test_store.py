"""What runs store: only changed files are worked out again, and nothing that is stored can make a run wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jaxlint.cli.main import main
from jaxlint.store.folder import Folder

ROOT = Path(__file__).parent.parent
CACHE = Path(".jaxlint_cache")
STEP = "import jax\n\nfrom layers import gate\n\n\n@jax.jit\ndef step(x, t):\n    return gate(x, t)\n"
GATE = "import jax.numpy as jnp\n\n\ndef gate(x, t):\n    if t > 0:\n        return x\n    return jnp.sin(x)\n"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs `jaxlint` in a project of two files and gives status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JAXLINT_CACHE_DIR", raising=False)
    Path("pyproject.toml").write_text("")
    Path("train.py").write_text(STEP)
    Path("layers.py").write_text(GATE)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def counts(run: Run, *arguments: str) -> tuple[int, int]:
    """How many files a run lowered anew, and how many it took from the store."""
    err = run("--show-timings", *arguments, ".")[2]
    found = [re.search(rf"(\d+) +files {words}", err) for words in ("lowered anew", "taken from the store")]
    return int(found[0][1]) if found[0] else 0, int(found[1][1]) if found[1] else 0


def test_only_the_changed_file_is_lowered_again(run: Run) -> None:
    first = run(".")
    assert first[0] == 1 and "layers.py:5:8: JAX301" in first[1]
    Path("train.py").write_text(STEP.replace("gate(x, t)\n", "gate(x, t) + 1\n"))
    assert counts(run) == (1, 1)
    assert counts(run) == (0, 0)  # nothing changed: the findings themselves are stored
    assert run(".") == first


def test_a_fault_that_another_file_causes_follows_that_file(run: Run) -> None:
    assert run(".")[0] == 1
    Path("train.py").write_text(STEP.replace("@jax.jit\n", ""))
    assert run(".")[0] == 0
    Path("train.py").write_text(STEP)
    assert run(".")[0] == 1


def test_settings_are_part_of_what_a_run_depends_on(run: Run) -> None:
    assert run(".")[0] == 1
    assert run("--ignore", "JAX301", ".")[0] == 0
    Path("pyproject.toml").write_text('[tool.jaxlint]\nper-file-ignores = { "layers.py" = ["JAX3"] }\n')
    assert run(".")[0] == 0


def test_the_same_text_in_two_files_is_told_apart(run: Run) -> None:
    alone = GATE.replace("def gate", "@jax.jit\ndef gate").replace("import jax.numpy", "import jax\nimport jax.numpy")
    for name in ("one.py", "two.py"):
        Path(name).write_text(alone)
    first = run("--no-cache", ".")[1]
    assert "one.py:7:8" in first and "two.py:7:8" in first
    assert run(".")[1] == first == run(".")[1]
    Path("more.py").write_text("import jax\n")
    assert run(".")[1] == first


@pytest.mark.parametrize("damage", [b"", b"\x00" * 40, b"garbage"])
def test_damaged_entries_are_worked_out_again(run: Run, damage: bytes) -> None:
    first = run(".")
    for entry in CACHE.rglob("*"):
        if entry.is_file():
            entry.write_bytes(damage)
    assert run(".") == first


def test_an_entry_of_the_wrong_kind_is_none(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "store", "v0-0000000000000000")
    folder.write("bodies", b"key", b"content")
    assert folder.read("bodies", b"key") == b"content"
    assert folder.read("bodies", b"other") is None
    file = next(one for one in (tmp_path / "store").rglob("*") if one.name == b"key".hex())
    (file.parent / b"other".hex()).write_bytes(file.read_bytes())
    assert folder.read("bodies", b"other") is None


def test_without_the_store_nothing_is_written(run: Run) -> None:
    assert run("--no-cache", ".")[0] == 1
    assert not CACHE.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_costs_only_time(run: Run, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert run(".")[0] == 1
    finally:
        tmp_path.chmod(0o700)


def test_a_file_in_the_place_of_the_folder_costs_only_time(run: Run) -> None:
    CACHE.write_text("not a folder")
    assert run(".")[0] == 1
    assert CACHE.read_text() == "not a folder"


def test_clean_removes_the_folder_and_nothing_else(run: Run) -> None:
    run(".")
    assert (CACHE / "CACHEDIR.TAG").exists() and (CACHE / ".gitignore").exists()
    (CACHE / "mine.txt").write_text("keep")
    assert run("clean")[0] == 0
    assert [file.name for file in CACHE.iterdir()] == ["mine.txt"]
    assert run("clean")[1].startswith("Nothing is stored")


def test_where_the_store_lies_can_be_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("--cache-dir", "here", ".")
    assert Path("here").is_dir() and not CACHE.exists()
    monkeypatch.setenv("JAXLINT_CACHE_DIR", "there")
    run(".")
    assert Path("there").is_dir() and not CACHE.exists()
    monkeypatch.delenv("JAXLINT_CACHE_DIR")
    Path("pyproject.toml").write_text('[tool.jaxlint]\ncache-dir = "configured"\n')
    run(".")
    assert Path("configured").is_dir() and not CACHE.exists()


def test_where_nothing_changed_the_parser_is_not_even_imported(run: Run) -> None:
    run(".")
    script = (
        "import sys\nfrom jaxlint.cli.main import main\n"
        "try:\n    main(['.'])\nfinally:\n    print('libcst' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and "JAX301" in done.stdout
    assert done.stdout.splitlines()[-1] == "False"


def test_processes_find_what_one_finds(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("odd.py").write_text("import jax\nx = '\\ud800'\ny = " + "(" * 90 + "jax" + ")" * 90 + "\n")
    alone = run("--no-cache", ".")
    monkeypatch.setattr("jaxlint.lowering.WORTH_PROCESSES", 0)
    status, out, err = run("--jobs", "2", "--show-timings", ".")
    assert (status, out) == alone[:2] and "lower in processes" in err
    Path("train.py").write_text(STEP + "\n")
    assert counts(run, "--jobs", "2") == (2, 1)  # what holds half a character is never stored


def test_runs_at_once_do_not_disturb_each_other(run: Run) -> None:
    command = [sys.executable, "-m", "jaxlint", "."]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(4)]
    outputs = {one.communicate()[0] for one in running}
    assert outputs == {run(".")[1]}
