"""Doubts about a good verdict: the program's own data may hide much, and what did not run was not judged."""

from __future__ import annotations

from msgspec import Struct, structs

from jaxlint.model import Verdict, Verification
from jaxlint.verify.change import Change, Touched
from jaxlint.verify.compare_values import Comparison
from jaxlint.verify.jobs import Data, ProgramJob, ReplayResult, World
from jaxlint.verify.meant import NANS
from jaxlint.verify.runner import Runner
from jaxlint.verify.runs import Run, compare_programs


class Doubts(Struct, frozen=True):
    """What may be held against a good verdict on one change.

    `worlds` are those of the two versions, `before` is the text that stood for the original, and `replay` what calls of
    both have shown.
    """

    runner: Runner
    change: Change
    parts: Touched
    worlds: tuple[World, World]
    before: str
    replay: ReplayResult | None

    def settle(self, found: Verification) -> Verification:
        """A good verdict that no doubt stands against, else `unverified` with the doubt; other verdicts as they are."""
        if found.verdict not in (Verdict.CONFIRMED, Verdict.SAME):
            return found
        doubt = self._not_reached() or self._with_other_data(found.reason)
        return structs.replace(found, verdict=Verdict.UNVERIFIED, reason=doubt, same=None) if doubt else found

    def _not_reached(self) -> str:
        """That the original does not reach a statement which the fixed version does not have."""
        if not self.parts.gone:
            return ""
        form = ProgramJob("", "", world=self.worlds[0], watch=self.parts.gone)
        hits = {*self.runner.program(self.change.before, "original", form).result.hits}
        hits.update(self.replay.gone if self.replay else ())
        line = next((part.first for index, part in enumerate(self.parts.gone) if index not in hits), 0)
        return f"line {line} of the original, which the fixed version does not have, was not reached" if line else ""

    def _with_other_data(self, good: str) -> str:
        """That the versions differ when the arrays that they make hold other numbers."""
        for data in (Data.SHIFTED, Data.SCALED):
            found = self._differ(data)
            if found is not None:
                say = f"with the program's own data it {good}; but with other numbers in its arrays {found}"
                return say if found else ""
        return ""

    def _differ(self, data: Data) -> str | None:
        """In what they differ with this data; empty when in nothing, None when both fail with it."""
        one = self.runner.program(self.before, "original", ProgramJob("", "", world=self.worlds[0], data=data))
        if not one.result.varied:
            return ""
        two = self.runner.program(self.change.after, "fixed", ProgramJob("", "", world=self.worlds[1], data=data))
        faults = one.result.fault, two.result.fault
        if all(faults):
            return None
        if any(faults):
            return f"only the {'original' if faults[0] else 'fixed program'} fails: {faults[0] or faults[1]}"
        found = self._compared(one, two)
        if found.level != "same":
            exact = self.runner.program(self.before, "original", ProgramJob("", "", world=World.DOUBLE, data=data))
            found = self._compared(one, two, exact)
        return found.why if found.level == "different" else ""

    def _compared(self, one: Run, two: Run, exact: Run | None = None) -> Comparison:
        heal, keys = self.change.rule in NANS, not self.worlds[0].ignores_keys
        return compare_programs(one, two, exact, parts=self.parts, keys=keys, heal=heal, types=False)
