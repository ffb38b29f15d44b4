"""What runs of whole programs left behind, and how two of them are compared. Nothing is run here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

from msgspec import Struct, structs

from jaxlint.verify.change import Touched
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
    parts: Touched | None = None,
    loose: Set[str] | None = None,
    keys: bool = True,
    heal: bool = False,
    types: bool = True,
) -> Comparison:
    """Compare what two runs printed, their exit status, and the globals that both have.

    What the change does not touch, as `parts` tells, is compared but is no evidence for it; without `parts` all is. Of
    the globals in `loose`, by default those that the change binds itself, only the numbers must be the same, not their
    types. Without `types` arrays may be printed with other types.
    """
    if before.result.status != after.result.status:
        return Comparison("different", f"exit status {before.result.status} against {after.result.status}")
    level, why = compare_text(before.stdout, after.stdout, heal=heal, types=types)
    text = Comparison(level, why, judged=int((parts is None or parts.prints) and bool(before.stdout.strip())))
    common = names_of(before) & names_of(after)
    reference = part_of(exact, common) if exact is not None else None
    own = common if parts is None else _paths(parts.names) & common
    untyped = _paths(loose if loose is not None else parts.changed if parts else ()) & own
    strict, data, other = (
        compare(part_of(before, part), part_of(after, part), reference, keys=keys, heal=heal, types=part is not untyped)
        for part in (own - untyped, untyped, common - own)
    )
    return worst_of([text, strict, data, structs.replace(other, judged=0)])


def names_of(run: Run) -> set[str]:
    """The paths of the globals that it left."""
    return {_name(leaf.path) for leaf in run.result.leaves}


def _paths(names: Iterable[str]) -> set[str]:
    return {f"[{name!r}" for name in names}


def _name(path: str) -> str:
    return path.split("]")[0]


def part_of(run: Run, names: set[str]) -> Captured:
    """What it left in these globals."""
    leaves = tuple(leaf for leaf in run.result.leaves if _name(leaf.path) in names)
    return Captured(leaves, run.arrays)
