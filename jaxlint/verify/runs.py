"""What runs of whole programs left behind, and how two of them are compared. Nothing is run here."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from msgspec import Struct, structs

from jaxlint.verify.compare_text import compare_text
from jaxlint.verify.compare_values import Captured, Comparison, compare, worst_of
from jaxlint.verify.jobs import ProgramResult


class Run(Struct, frozen=True):
    """One run of a whole program with what it printed and left behind."""

    result: ProgramResult
    stdout: str
    arrays: Mapping[str, Any]


def compare_programs(
    before: Run,
    after: Run,
    exact: Run | None = None,
    *,
    names: Set[str] | None = None,
    changed: Set[str] = frozenset(),
    prints: bool = True,
    keys: bool = True,
    heal: bool = False,
    types: bool = True,
) -> Comparison:
    """Compare what two runs printed, their exit status, and the globals that both have.

    Of the globals in `changed` only the numbers must be the same, not their types. What is not in `names`, or the
    printed text without `prints`, is compared but is no evidence for the change. Without `types` arrays may be printed
    with other types.
    """
    if before.result.status != after.result.status:
        return Comparison("different", f"exit status {before.result.status} against {after.result.status}")
    level, why = compare_text(before.stdout, after.stdout, heal=heal, types=types)
    text = Comparison(level, why, judged=int(prints and bool(before.stdout.strip())))
    common = names_of(before) & names_of(after)
    reference = part_of(exact, common) if exact is not None else None
    own = common if names is None else {f"[{name!r}" for name in names} & common
    loose = {f"[{name!r}" for name in changed} & own
    strict, data, other = (
        compare(part_of(before, part), part_of(after, part), reference, keys=keys, heal=heal, types=part is not loose)
        for part in (own - loose, loose, common - own)
    )
    return worst_of([text, strict, data, structs.replace(other, judged=0)])


def names_of(run: Run) -> set[str]:
    """The paths of the globals that it left."""
    return {_name(leaf.path) for leaf in run.result.leaves}


def _name(path: str) -> str:
    return path.split("]")[0]


def part_of(run: Run, names: set[str]) -> Captured:
    """What it left in these globals."""
    leaves = tuple(leaf for leaf in run.result.leaves if _name(leaf.path) in names)
    return Captured(leaves, run.arrays)
