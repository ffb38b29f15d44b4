"""What a shell is told when the user asks for the rest of a word."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = "import sys; from jaxlint.cli.main import main; sys.argv[0] = 'jaxlint'; main()"


def completed(words: str) -> list[str]:
    """The words that bash is offered for the last one."""
    told = {"_JAXLINT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    found = subprocess.run([sys.executable, "-c", SCRIPT], env=os.environ | told, capture_output=True, text=True)
    return [line.partition(",")[2] for line in found.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("jaxlint pro", "profile"),
        ("jaxlint --unsaf", "--unsafe-fixes"),
        ("jaxlint check --sel", "--select"),
        ("jaxlint --select vmap-of", "vmap-of-jit"),
        ("jaxlint rule JAX101", "JAX101"),
        ("jaxlint check --select JAX101,vmap-of", "JAX101,vmap-of-jit"),
    ],
)
def test_commands_options_and_rules_are_completed(words: str, expected: str) -> None:
    assert expected in completed(words)


def test_nothing_is_checked_on_the_way() -> None:
    assert "check" in completed("jaxlint ")
