"""Verification on accelerators: where there is one it is used and named, where there is none that is said."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jaxlint.cli.main import main
from jaxlint.verify import Change, Unavailable, Verifier

ROOT = Path(__file__).parents[2]
PROGRAM = "import jax\nimport jax.numpy as jnp\n\ng = jax.vmap(jax.jit(jnp.sin))\nprint(g(jnp.ones((4, 3))))\n"
FIXED = PROGRAM.replace("jax.vmap(jax.jit(jnp.sin))", "jax.jit(jax.vmap(jnp.sin))")

pytestmark = pytest.mark.jax


@pytest.fixture(scope="module")
def missing() -> Iterator[str]:
    """Why there is no GPU; empty where there is one."""
    with Verifier(device="gpu") as verifier:
        try:
            verifier.check()
        except Unavailable as error:
            yield str(error)
        else:
            yield ""


def test_a_missing_gpu_is_told_with_what_to_do(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not missing:
        pytest.skip("there is a GPU here")
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(PROGRAM)
    with pytest.raises(SystemExit) as ended:
        main(["--isolated", "--fix", "--verify", "--device", "gpu", "a.py"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "no GPU can be used" in told and ("pip install" in told or "nvidia-smi" in told)
    assert Path("a.py").read_text() == PROGRAM


def test_a_missing_gpu_is_told_for_each_change(missing: str) -> None:
    if not missing:
        pytest.skip("there is a GPU here")
    with Verifier(device="gpu") as verifier:
        found = verifier.verify_all([Change("a.py", PROGRAM, FIXED)] * 2)
    assert [one.verdict.value for one in found] == ["unverified"] * 2
    assert all(one.reason == missing for one in found)


def test_a_gpu_is_used_and_named(missing: str, tmp_path: Path) -> None:
    if missing:
        pytest.skip(missing)
    path = tmp_path / "a.py"
    path.write_text(PROGRAM)
    with Verifier(device="gpu") as verifier:
        found = verifier.verify(Change(str(path), PROGRAM, FIXED, "vmap-of-jit"))
    assert (found.verdict.value, found.device) == ("confirmed", "gpu")
    assert found.evidence is not None and found.evidence.hardware


def test_the_check_of_accelerators_can_be_tried_on_a_cpu(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(PROGRAM)
    command = [sys.executable, str(ROOT / "benchmarks/gpu_check.py"), "--device", "cpu", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert "| a.py:4 | vmap-of-jit | confirmed |" in ended.stdout
    assert "Fixes: 1, run on cpu, JAX " in ended.stdout
