"""The programs in fixtures/: exactly their findings, exactly their fixes, and all that is right or fixed runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from examples import ROOT, by_default, fixed, linted, reported, runner, shown, unmarked

FOLDER = ROOT / "fixtures"
LINKED = FOLDER / "linked"  # a project of several files: see test_linked.py
PROGRAMS = sorted(
    file for file in FOLDER.rglob("*.py") if not file.name.endswith(".fixed.py") and LINKED not in file.parents
)

per_program = pytest.mark.parametrize("program", [pytest.param(file, id=file.stem) for file in PROGRAMS])


def fixed_file(program: Path) -> Path:
    return program.with_suffix(".fixed.py")


def found(text: str) -> Counter[tuple[int, str]]:
    return Counter((one.span.line, one.name) for one in by_default(linted(text).findings))


@per_program
def test_findings_are_those_marked(program: Path) -> None:
    text = program.read_text("utf-8")
    expected, actual = reported(text, "expect"), found(text)
    assert actual == expected, (
        f"{program}\n  not reported:\n{shown(text, expected - actual)}\n  not marked:\n{shown(text, actual - expected)}"
    )


@per_program
def test_fixes_give_the_fixed_program(program: Path) -> None:
    text = program.read_text("utf-8")
    outcome = fixed(text, defaults=True)
    after = outcome.loaded.sources[0].text
    assert not outcome.notes
    if not fixed_file(program).exists():
        assert after == text, f"{program} has fixes, so {fixed_file(program).name} has to be there:\n{after}"
        return
    wanted = fixed_file(program).read_text("utf-8")
    assert unmarked(after) == unmarked(wanted), f"{program} becomes\n{after}"
    assert after != text, f"nothing in {program} has a fix, but {fixed_file(program).name} is there"
    assert found(wanted) == reported(wanted, "expect"), "the fixed program marks what is left"


def test_every_fixed_program_has_its_original() -> None:
    assert {fixed_file(program) for program in PROGRAMS} >= set(FOLDER.rglob("*.fixed.py"))


def test_the_families_are_shown() -> None:
    """Every family of rules that the programs are about has faults in them, and some programs have none."""
    marked = {rule for program in PROGRAMS for _, rule in reported(program.read_text("utf-8"), "expect")}
    assert {"grad-of-jit", "vmap-of-jit", "jit-in-loop", "jit-in-function", "jit-of-method"} <= marked
    assert {"in-axes-arity", "in-axes-kwargs", "in-axes-size", "out-axes"} <= marked
    assert {"traced-branch", "missing-static-argnames", "static-retrace", "static-unhashable"} <= marked
    assert {"removed-api", "key-reuse", "grad-int-input"} <= marked
    assert any(not reported(program.read_text("utf-8"), "expect") for program in PROGRAMS)


@pytest.mark.jax
def test_fixed_and_right_programs_run() -> None:
    right = [program for program in PROGRAMS if not reported(program.read_text("utf-8"), "expect")]
    chosen = [*right, *sorted(FOLDER.rglob("*.fixed.py"))]
    outcomes = runner({str(program.relative_to(ROOT)): program.read_text("utf-8") for program in chosen})
    assert not {name: outcome["what"] for name, outcome in outcomes.items() if outcome}
