"""The rules and their pages say the same."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise

import pytest
from examples import PAGES, blocks, linted, markdown, pages
from markdown_it import MarkdownIt

from jaxlint import pages as shipped
from jaxlint.model import Safety
from jaxlint.registry import Rule, rules

SECTIONS = ["What it finds", "Why it matters", "How to fix it", "Examples"]
SAFEST_FIRST = (Safety.SAFE, Safety.UNSAFE, Safety.DISPLAY)

per_rule = pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.name) for rule in rules()])


def headings(page: str, level: str) -> Iterator[str]:
    tokens = MarkdownIt().parse(markdown(page))
    for token, inner in pairwise(tokens):
        if token.type == "heading_open" and token.tag == level:
            yield inner.content


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in rules()}) == len(rules())
    assert len({rule.name for rule in rules()}) == len(rules())


@per_rule
def test_code_and_name_have_their_form(rule: Rule) -> None:
    assert re.fullmatch(r"JAX\d{3}", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.summary and not rule.summary.endswith(".")


@per_rule
def test_page_carries_the_name_of_its_rule(rule: Rule) -> None:
    assert (PAGES / f"{rule.name}.md").is_file(), f"rules/{rule.name}.md is missing"
    assert list(headings(rule.name, "h1")) == [f"{rule.name} ({rule.code})"]
    assert list(headings(rule.name, "h2")) == SECTIONS
    assert shipped.page(rule.name) == markdown(rule.name)


@per_rule
def test_page_has_examples(rule: Rule) -> None:
    kinds = {block.kind for block in blocks(rule.name)}
    assert {"bad", "good"} <= kinds, "a page has bad and good examples"
    assert rule.fix not in (Safety.SAFE, Safety.UNSAFE) or "fixed" in kinds, "a rule with a fix shows what comes out"


@per_rule
def test_fixes_are_as_safe_as_the_rule_says(rule: Rule) -> None:
    """`Rule.fix` is the safest fix that the rule offers, and its page shows one."""
    bad = [block for block in blocks(rule.name) if block.kind == "bad"]
    found = [one for block in bad for one in linted(block.text, block.target).findings]
    offered = {one.fix.safety for one in found if one.name == rule.name and one.fix}
    assert next((safety for safety in SAFEST_FIRST if safety in offered), None) == rule.fix


def test_every_page_belongs_to_a_rule() -> None:
    assert set(pages()) <= {rule.name for rule in rules()}


def test_rules_need_no_jax() -> None:
    code = (
        "import sys\n"
        "for name in ('jax', 'jaxlib', 'numpy', 'flax', 'rich', 'flake8'): sys.modules[name] = None\n"
        "from jaxlint.registry import rules\n"
        "assert rules()\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
