"""The GitHub Action: its steps are run by bash, as a runner does, with a `python` that tells what it is asked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
BASH = shutil.which("bash")
ACTION: dict[str, Any] = yaml.safe_load((Path(__file__).parents[1] / "action.yml").read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]
EXPRESSION = re.compile(r"\$\{\{ (\S+) \}\}")

pytestmark = pytest.mark.skipif(BASH is None, reason="the steps are written for bash")


def asked(folder: Path, **inputs: str) -> list[list[str]]:
    """The arguments of each call of `python`, one list a step."""
    python = folder / "python"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)
    values = {f"inputs.{key}": str(one["default"]) for key, one in ACTION["inputs"].items()}
    values |= {f"inputs.{key}": value for key, value in inputs.items()} | {"github.action_path": "/action"}
    return [_run(step, values, folder) for step in STEPS]


def _run(step: dict[str, Any], values: dict[str, str], folder: Path) -> list[str]:
    given = {
        key: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: values[match[1]], text) for key, text in step["env"].items()
    }
    environment = {**os.environ, **given, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    command = [str(BASH), "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()


def test_every_input_is_used_and_none_is_put_into_a_script() -> None:
    used = {match for step in STEPS for text in step["env"].values() for match in re.findall(r"inputs\.(\w+)", text)}
    assert used == set(ACTION["inputs"])
    assert not any("${{" in step["run"] for step in STEPS)


def test_the_defaults_install_the_version_of_the_action_and_check_everything(tmp_path: Path) -> None:
    install, check = asked(tmp_path)
    assert install[-1] == "/action"
    assert check == ["-m", "jaxlint", "check", "--output-format", "github", "--", "."]


def test_inputs_reach_the_command(tmp_path: Path) -> None:
    install, check = asked(
        tmp_path, paths="src\nmy notes/*.py\n", args="--select JAX1\n--exit-zero", version="0.1.0", verify="true"
    )
    assert install[-1] == "flake8-jaxlint[verify]==0.1.0"
    assert check[4:] == ["github", "--verify", "--select", "JAX1", "--exit-zero", "--", "src", "my notes/*.py"]
