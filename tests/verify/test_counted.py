"""What is tried is counted, not timed: equal files get equal verdicts, and a search that was cut short is no proof."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from jaxlint.model import Verdict, Verification
from jaxlint.verify import Change, Verifier
from jaxlint.verify.worker.vary import FEW_STYLES, STYLES, varier

pytestmark = pytest.mark.jax

Judge = Callable[..., Verification]

HEAD = "import jax\nimport jax.numpy as jnp\nfrom jax import lax\n"

TOP = f"""{HEAD}
def top(scores, k: int):
    order = jnp.argsort(-scores)
    return jnp.zeros(scores.shape, bool).at[order[:k]].set(True)
"""


def test_ties_tell_orders_apart(judge: Judge) -> None:
    backwards = TOP.replace("jnp.argsort(-scores)", "jnp.argsort(scores)[::-1]")
    guessed = judge(TOP, backwards)
    assert guessed.verdict is Verdict.UNVERIFIED and "these inputs are guessed" in guessed.reason
    declared = [f"# jaxlint: example top(f32[6], 2)\n{text}" for text in (TOP, backwards)]
    assert judge(*declared).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jnp.argmax(x, -1)", "x.shape[-1] - 1 - jnp.argmax(x[..., ::-1], -1)"),
        ("x > y", "x >= y"),
        ("jnp.where(x < y, x, y)", "jnp.minimum(x, y)"),  # with NaN
        ("x == 5000.0", "x > 1e9"),
    ],
)
def test_edges_are_tried_for_scalars_too(judge: Judge, before: str, after: str) -> None:
    shape = "f32[7], f32[7]" if "argmax" in before else "f32, f32"
    texts = [f"{HEAD}# jaxlint: example f({shape})\ndef f(x, y):\n    return {body}\n" for body in (before, after)]
    assert judge(*texts).verdict is Verdict.DIFFERENT


def test_the_first_styles_hold_ties_and_nan() -> None:
    for value in (jnp.float32(2.0), jnp.ones(3), np.arange(5.0)):
        assert any(np.isnan(varier(style, 0)(value)).any() for style in FEW_STYLES)
    for array in (jnp.arange(3.0), jnp.arange(3), np.arange(5.0)):
        assert len(np.unique(varier("ties", 0)(array))) < array.size


def test_a_scalar_meets_each_constant() -> None:
    styles = [style for style in STYLES if style.startswith("constants")]
    assert {varier(style, 0, (3.0, 5000.0))(1.0) for style in styles} >= {0.0, 3.0, 5000.0, -3.0, -5000.0}


def test_a_comparison_that_is_cut_short_is_no_proof(tmp_path: Path) -> None:
    path = tmp_path / "slow.py"
    text = f"""{HEAD}
# jaxlint: example slow(f32[200,200])
def slow(x):
    return lax.fori_loop(0, 3000, lambda _, v: jnp.tanh(v @ x), x) + x * 2
"""
    with Verifier(timeout_s=12) as verifier:
        found = verifier.verify(Change(str(path), text, text.replace("x * 2", "2 * x")))
    assert found.verdict is Verdict.UNVERIFIED
    assert "slow was not compared to the end" in found.reason and "example slow(" in found.reason


def test_a_removed_function_that_calls_no_longer_need_is_a_gain(judge: Judge, tree_map_is_gone: None) -> None:
    before = """
    import jax
    from jax.experimental import maps

    def scale(params, s):
        return jax.tree_map(lambda p: p * s, params)

    def size(params):
        return len(jax.tree_map(lambda p: p, params))
    """
    found = judge(before, before.replace("jax.tree_map(lambda p: p * s", "jax.tree.map(lambda p: p * s"), "removed-api")
    assert found.verdict is Verdict.CONFIRMED and "scale calls fewer removed functions" in found.reason
    changed = before.replace("lambda p: p * s", "lambda p: p + s")
    assert judge(before, changed, "removed-api").verdict in (Verdict.DIFFERENT, Verdict.UNVERIFIED)
    other = before.replace("def size", "def length")
    assert judge(before, other, "removed-api").verdict is not Verdict.CONFIRMED
