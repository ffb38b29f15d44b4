from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jaxlint.engine import Linted, Loaded
from jaxlint.fixes.proved import fix_proved
from jaxlint.fixes.verdicts import Request, Verdicts
from jaxlint.model import Edit, Finding, Fix, Safety, Severity, Span, Verdict, Verification
from jaxlint.source.text import SourceFile

TEXT = "old_a\nold_b\nx = 1  # comment\n"
LOADED = Loaded((SourceFile.from_bytes("a.py", TEXT.encode()),), {"a.py": Path("/project/a.py")})


def finding(line: int, content: str | None, name: str = "removed-api") -> Finding:
    span = Span(line, 1, line, 6)
    fix = Fix(Safety.SAFE, "", (Edit(span, content),)) if content is not None else None
    return Finding("JAX901", name, Severity.ERROR, "a.py", span, "gone", (), fix)


class Judge:
    """Says `confirmed` of a text in which nothing old is left, and remembers what it was asked."""

    def __init__(self, bad: str = "never") -> None:
        self.asked: list[Request] = []
        self.bad = bad

    def __call__(self, requests: Sequence[Request]) -> list[Verification]:
        self.asked += requests
        return [self._judged(request.after) for request in requests]

    def _judged(self, after: str) -> Verification:
        if self.bad in after:
            return Verification(Verdict.DIFFERENT, "other result")
        if "old" in after:
            return Verification(Verdict.UNVERIFIED, "still fails")
        return Verification(Verdict.CONFIRMED, "it runs")


def test_each_fix_is_judged_by_itself() -> None:
    judge = Judge()
    loaded = Loaded((SourceFile.from_bytes("a.py", b"old_a\n"),), {"a.py": Path("/project/a.py")})
    (one,) = Verdicts(judge).judged(loaded, [finding(1, "new_a")])
    assert one.verification == Verification(Verdict.CONFIRMED, "it runs")
    assert judge.asked == [Request("/project/a.py", "old_a\n", "new_a\n", "removed-api", (1,))]


def test_fixes_that_cannot_be_judged_alone_are_judged_together() -> None:
    one, two = Verdicts(Judge()).judged(LOADED, [finding(1, "new_a"), finding(2, "new_b")])
    assert one.verification == two.verification
    assert one.verification
    assert one.verification.verdict is Verdict.CONFIRMED
    assert "together with the other 1 fixes of this file" in one.verification.reason


def test_a_bad_fix_is_not_carried_by_the_others() -> None:
    verdicts = Verdicts(Judge(bad="worse"))
    one, two, three = verdicts.judged(LOADED, [finding(1, "new_a"), finding(2, "new_b"), finding(3, "worse")])
    assert one.verification and one.verification.verdict is Verdict.CONFIRMED
    assert two.verification and two.verification.verdict is Verdict.CONFIRMED
    assert three.verification and three.verification.verdict is Verdict.DIFFERENT


def test_what_stays_unverified_together_keeps_its_own_reason() -> None:
    one, two = Verdicts(Judge()).judged(LOADED, [finding(1, "new_a"), finding(2, "old_c")])
    assert one.verification == two.verification == Verification(Verdict.UNVERIFIED, "still fails")


def test_a_finding_without_a_fix_has_no_verdict() -> None:
    judge = Judge()
    assert Verdicts(judge).judged(LOADED, [finding(1, None)])[0].verification is None
    assert judge.asked == []


def test_a_change_of_comments_needs_no_run() -> None:
    judge = Judge()
    fix = Fix(Safety.SAFE, "", (Edit(Span(3, 6, 3, 17), ""),))
    comment = Finding("JAX001", "unused-suppression", Severity.INFO, "a.py", Span(3, 8, 3, 17), "idle", (), fix)
    (one,) = Verdicts(judge).judged(LOADED, [comment])
    assert one.verification and one.verification.verdict is Verdict.SAME
    assert judge.asked == []


def test_the_same_question_is_asked_once() -> None:
    judge = Judge()
    verdicts = Verdicts(judge)
    for _ in range(2):
        verdicts.judged(LOADED, [finding(1, "new_a"), finding(2, "new_b")])
    assert len(judge.asked) == 3


def lint(loaded: Loaded) -> Linted:
    """Wants every word that begins with `old` to be new."""
    lines = enumerate(loaded.sources[0].text.splitlines(), 1)
    return Linted(tuple(finding(n, line.replace("old", "new")) for n, line in lines if line.startswith("old")))


def test_only_proved_fixes_are_applied() -> None:
    result = fix_proved(LOADED, lint, lambda _: True, Verdicts(Judge(bad="new_b")))
    assert result.loaded.sources[0].text == TEXT
    assert [one.verification and one.verification.verdict for one in result.remaining.findings] == [
        Verdict.UNVERIFIED, Verdict.DIFFERENT,
    ]  # fmt: skip


def test_proved_fixes_are_applied_with_their_verdict() -> None:
    result = fix_proved(LOADED, lint, lambda _: True, Verdicts(Judge()))
    assert result.loaded.sources[0].text == TEXT.replace("old", "new")
    assert [one.verification and one.verification.verdict for one in result.applied] == [Verdict.CONFIRMED] * 2


class BadTogether(Judge):
    def _judged(self, after: str) -> Verification:
        if "old" not in after:
            return Verification(Verdict.DIFFERENT, "other result")
        return Verification(Verdict.SAME, "the same")


def test_fixes_that_are_bad_together_are_undone() -> None:
    result = fix_proved(LOADED, lint, lambda _: True, Verdicts(BadTogether()))
    assert result.loaded.sources[0].text == TEXT
    assert result.applied == ()
    assert "not together" in result.notes[0]
    assert {one.verification and one.verification.verdict for one in result.remaining.findings} == {Verdict.DIFFERENT}
