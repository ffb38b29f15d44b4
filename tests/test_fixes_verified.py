"""The verifier judges the fix that each rule's page shows first: none makes a difference, and most are proved."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from examples import ROOT, Block, blocks, pages

from jaxlint.registry import rules

# Rules whose originals fail, or are wrong, in a way for which nothing independent tells what is right: the verifier
# then says so, and leaves the fix to the user. Where one of these is proved all the same, so much the better.
WITHOUT_REFERENCE = frozenset(
    {
        "at-result-discarded", "control-flow-signature", "deprecated-api", "grad-int-input", "grad-kwargs",
        "grad-nonscalar", "has-aux", "in-axes-arity", "in-axes-kwargs", "in-axes-rank", "in-axes-size",
        "inplace-assign", "mapped-non-array", "mesh-axis-types", "out-axes",
        "scan-carry-type", "traced-print", "unbound-axis", "x64-dtype",
    }
)  # fmt: skip


def shown_first() -> list[Block]:
    """For each page with fixes the first bad block that runs here."""
    found = []
    for page in pages():
        runs = (block.before for block in blocks(page) if block.before is not None and block.runs and block.before.runs)
        found += [block for block in [next(runs, None)] if block is not None]
    return found


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """By page, what is left of its example once all that is proved was fixed."""
    folder = tmp_path_factory.mktemp("pages")
    for block in shown_first():
        (folder / f"{block.page.replace('-', '_')}.py").write_text(block.text, "utf-8")
    command = [
        *(sys.executable, "-m", "jaxlint", "--isolated", "--no-cache", "--select", "ALL", "--unsafe-fixes"),
        *("--fix", "--verify", "--jobs", "2", "--output-format", "json", "."),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, list[dict[str, Any]]] = {block.page: [] for block in shown_first()}
    for finding in json.loads(done.stdout):
        found[Path(finding["path"]).stem.replace("_", "-")].append(finding)
    return found


@pytest.mark.jax
def test_every_rule_with_a_fix_shows_one() -> None:
    fixing = {rule.name for rule in rules() if rule.fix is not None}
    assert {block.page for block in shown_first()} <= {rule.name for rule in rules()}
    assert len({block.page for block in shown_first()} & fixing) > 40


@pytest.mark.jax
def test_no_fix_makes_a_difference(left: dict[str, list[dict[str, Any]]]) -> None:
    verdicts = [
        (page, one["line"], one["verification"]["verdict"], one["verification"]["reason"])
        for page, findings in left.items()
        for one in findings
        if one["verification"] is not None
    ]
    assert [one for one in verdicts if one[2] == "different"] == []
    assert all(reason for *_, reason in verdicts)


@pytest.mark.jax
def test_fixes_are_proved_wherever_something_tells_what_is_right(left: dict[str, list[dict[str, Any]]]) -> None:
    unproved = {page for page, findings in left.items() if any(one["name"] == page and one["fix"] for one in findings)}
    assert unproved <= WITHOUT_REFERENCE
