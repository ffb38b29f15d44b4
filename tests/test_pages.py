"""Every example of every rule's page does what the page says, in the linter and under JAX."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from examples import Block, all_blocks, fixed, linted, marks, pages, reported, runner, shown, unmarked

from jaxlint.registry import rules

RULE_NAMES = {rule.name for rule in rules()}
BATCHES = 3


def findings(block: Block) -> Counter[tuple[int, str]]:
    """Where the page's rule reports."""
    found = linted(block.text, block.target).findings
    return Counter((one.span.line, one.name) for one in found if one.name == block.page)


def per_block(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("block", [pytest.param(block, id=block.id) for block in all_blocks(*kinds)])


@per_block("bad", "good")
def test_reports_what_the_page_says(block: Block) -> None:
    found = findings(block)
    own = [(line, mark, rule) for line, mark, rule in marks(block.text) if rule == block.page]
    wrong = {rule for _, _, rule in marks(block.text)} - RULE_NAMES
    assert not wrong, f"{block}: no rule is called {sorted(wrong)}"

    expected = reported(block.text, "expect", "todo-ok")
    expected = Counter({place: count for place, count in expected.items() if place[1] == block.page})
    missed, extra = expected - found, found - expected
    healed = {line for line, mark, _ in own if mark == "todo-ok"} & {line for line, _ in missed}
    assert not healed, f"{block}: no longer reported in lines {sorted(healed)}; remove `# todo-ok:`"
    seen = {line for line, mark, _ in own if mark == "todo-expect"} & {line for line, _ in extra}
    assert not seen, f"{block}: now reported in lines {sorted(seen)}; make `# todo-expect:` into `# expect:`"
    said = []
    if missed:
        said.append(f"{block}: not reported:\n{shown(block.text, missed)}")
    if extra:
        said.append(f"{block}: reported, but not marked `# expect: {block.page}`:\n{shown(block.text, extra)}")
    assert not said, "\n".join(said)


@per_block("bad")
def test_bad_examples_mark_something(block: Block) -> None:
    marked = {rule for _, _, rule in marks(block.text)}
    assert block.page in marked, f"{block}: nothing is marked `# expect: {block.page}`"


@per_block("good")
def test_good_examples_expect_nothing(block: Block) -> None:
    wrong = [line for line, mark, rule in marks(block.text) if mark == "expect" and rule == block.page]
    assert not wrong, f"{block}: a good block cannot expect a report (lines {wrong})"


@per_block("fixed")
def test_fixes_give_what_the_page_says(block: Block) -> None:
    assert block.before is not None
    outcome = fixed(block.before.text, frozenset({block.page}), block.target)
    assert not outcome.notes, f"{block}: {outcome.notes}"
    after = outcome.loaded.sources[0].text
    assert unmarked(after) == unmarked(block.text), f"{block}: the fixes of the block above give\n\n{after}"


@per_block("bad")
def test_a_fix_changes_nothing_when_applied_again(block: Block) -> None:
    once = fixed(block.text, frozenset({block.page}), block.target).loaded.sources[0].text
    assert fixed(once, frozenset({block.page}), block.target).loaded.sources[0].text == once, str(block)


def test_there_are_pages() -> None:
    assert pages(), "rules/ holds no pages"


# Under JAX: several examples share a process, for starting JAX takes longer than most of them run.


def runnable() -> list[Block]:
    """What must run, and the bad examples that say that they run or what they raise."""
    right = [block for block in all_blocks("good", "fixed") if block.runs]
    return right + [block for block in all_blocks("bad") if block.runs and block.options.keys() & {"raises", "runs"}]


@pytest.mark.jax
@pytest.mark.parametrize("batch", range(BATCHES))
def test_examples_under_jax(batch: int) -> None:
    chosen = runnable()[batch::BATCHES]
    outcomes = runner({str(block): block.text for block in chosen})
    said = [text for block in chosen if (text := complaint(block, outcomes[str(block)]))]
    assert not said, "\n".join(said)


def complaint(block: Block, outcome: dict[str, Any] | None) -> str | None:
    """What is wrong with how an example ran; `outcome` describes the exception, None where there was none."""
    wanted = block.options.get("raises") if block.kind == "bad" else None
    if outcome is None:
        return f"{block}: runs, but should raise {wanted}" if wanted else None
    if wanted and wanted in outcome["types"]:
        return None
    return f"{block}: {outcome['what']} in line {outcome['line']}" + (f", not {wanted}" if wanted else "")
