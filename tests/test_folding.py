"""A fault that stands in many places of a file is one finding with one fix."""

from __future__ import annotations

from examples import fixed, linted

TEXT = (
    "import jax\n\na = jax.tree_map(abs, [1])\nb = jax.tree_map(abs, jax.tree_map(abs, [2]))\nc = jax.tree_leaves(a)\n"
)


def test_it_is_told_at_the_first_place_and_mended_at_all() -> None:
    first, other = linted(TEXT).findings
    assert (first.span.line, other.span.line) == (3, 5)
    assert first.message.endswith("(here and in 2 other places of this file)")
    after = fixed(TEXT).loaded.sources[0].text
    assert after == TEXT.replace("tree_map", "tree.map").replace("tree_leaves", "tree.leaves")


def test_two_places_are_both_named() -> None:
    (finding,) = linted("import jax\n\na = jax.tree_map(abs, [1])\nb = jax.tree_map(abs, [2])\n").findings
    assert finding.message.endswith("(here and in line 4 of this file)")
