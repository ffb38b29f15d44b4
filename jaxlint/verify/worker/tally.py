"""What the calls of one target have shown, and what they show together."""

from __future__ import annotations

from jaxlint.verify.compare_values import Comparison, worst_of
from jaxlint.verify.jobs import CallResult, Fault
from jaxlint.verify.worker.record import Call

_NOTHING = "returns no numbers or texts, and changes none"


class Tally:
    """What the calls of one target have shown so far."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[Comparison] = []
        self.inputs: dict[str, int] = {}
        self.healed: Fault | None = None  # what the original raised where the fixed version did not
        self.raised: Fault | None = None
        self.good: Call | None = None  # a call as it was given that both versions take
        self.hits: set[int] = set()  # what ran in calls that both versions take
        self.gone: set[int] = set()  # what the original ran in these of that which it alone has
        self.doubt = ""  # how a call that rests on a guess told the versions apart
        self.removed = 0, 0
        self.opaque = False  # its result holds a function that is not known to be the same

    def note(self, result: Comparison, call: Call, ordinary: bool) -> None:
        """Both returned, and nothing differed."""
        self.found.append(result)
        self.good = self.good or (call if ordinary else None)
        if result.judged:
            self.inputs[call.source] = self.inputs.get(call.source, 0) + 1

    def note_fault(self, fault: Fault | None, healed: bool) -> None:
        """Both raised the same, or only the original did."""
        self.raised = self.raised or fault
        if healed:
            self.healed = self.healed or fault

    def note_removed(self, before: int, after: int) -> None:
        """How many calls of functions that this JAX no longer has each version made."""
        self.removed = self.removed[0] + before, self.removed[1] + after

    def told_apart(self, call: Call, parted: CallResult) -> CallResult | None:
        """That the versions differ, which settles the matter; where the call rests on a guess, a doubt is noted."""
        if not call.tentative:
            return parted
        self.doubt = f"{parted.why}; these inputs are guessed"
        return None

    def answer(self) -> CallResult:
        """What all of them show together."""
        if self.doubt:
            return CallResult(self.name, "doubtful", self.doubt, self.inputs)
        if self.healed and not self.good:
            return CallResult(self.name, "healed", fault=self.healed)
        if not self.inputs:
            often = f"raises {self.raised} on every input that was tried; mend that first"
            return CallResult(self.name, "skipped", f"{self.name} {often if self.raised else _NOTHING}")
        if self.opaque:
            return CallResult(
                self.name, "skipped", f"{self.name} returns a function that may have changed, and nothing calls it here"
            )
        total = worst_of(self.found)
        return CallResult(
            self.name, total.level, total.why, self.inputs, total.max_abs, self.healed, gap=total.gap,
            removed=self.removed,
        )  # fmt: skip
