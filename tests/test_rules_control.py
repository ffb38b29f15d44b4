"""Rules on control flow, derivatives, donation, purity and timing: what is reported, and what must be silent."""

# ruff: noqa: E501 - programs stand on one line

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from jaxlint.analysis import analyse
from jaxlint.config.targets import LATEST
from jaxlint.source.text import SourceFile

HEAD = "import time\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\nfrom jax import lax\n"


def found(body: str, *rules: str) -> list[tuple[str, int]]:
    """Rule and line (of the body) of what is reported; all rules where none are named."""
    text = HEAD + textwrap.dedent(body).lstrip("\n")
    findings = analyse([SourceFile.from_text("a.py", text)], target=LATEST, only=rules or None)
    return [(one.name, one.span.line - HEAD.count("\n")) for one in findings]


REPORTED = {
    "branch of one argument, handed none": (
        "print(lax.cond(jnp.ones(()) > 0, lambda x: x, lambda x: -x))", "control-flow-signature"),
    "vector predicate": ("print(lax.cond(jnp.ones(3) > 0, lambda: 1.0, lambda: 2.0))", "control-flow-signature"),
    "scan without xs and length": ("print(lax.scan(lambda c, x: (c, x), 0.0))", "control-flow-signature"),
    "xs of two lengths": (
        "print(lax.scan(lambda c, x: (c, x[0]), 0.0, (jnp.ones(3), jnp.ones(4))))", "control-flow-signature"),
    "carry grows": (
        "print(lax.while_loop(lambda c: c.sum() < 9, lambda c: jnp.stack([c, c]), jnp.ones(2)))", "scan-carry-type"),
    "weak float carry becomes an integer": ("print(lax.scan(lambda c, x: (jnp.int32(1), x), 0.5, jnp.ones(3)))", "scan-carry-type"),
    "branches of two shapes": (
        "print(lax.cond(jnp.ones(()) > 0, lambda: jnp.ones(2), lambda: jnp.ones(3)))", "cond-branch-type"),
    "gradient of a vector": ("print(jax.grad(lambda x: x * 2)(jnp.ones(3)))", "grad-nonscalar"),
    "aux without a pair": ("print(jax.grad(lambda x: x.sum(), has_aux=True)(jnp.ones(3)))", "has-aux"),
    "donated in a comprehension": (
        "f = jax.jit(lambda x: x + 1, donate_argnums=0)\nx = jnp.ones(3)\nprint([f(x) for _ in range(2)])", "donate-reuse"),
    "donated, then an alias is read": (
        "f = jax.jit(lambda x: x + 1, donate_argnums=0)\nx = jnp.ones(3)\ny, old = f(x), x\nprint(old + 1)", "donate-reuse"),
    "list of numbers mapped": ("print(jax.vmap(lambda x: x + 1)([1.0, 2.0]))", "mapped-non-array"),
    "number mapped in a function that nobody calls": (
        "def f(x):\n    return jax.vmap(lambda s, x: s * x)(2.0, x)", "mapped-non-array"),
    "axis index outside of any map": ("print(lax.axis_index('rows'))", "unbound-axis"),
    "update of an item": ("x = jnp.zeros(3)\nx[0] = 1.0", "inplace-assign"),
    "read beyond the end": ("x = jnp.zeros((2, 3))\nprint(x[1, 3])", "index-out-of-bounds"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "rule"), REPORTED.values(), ids=REPORTED.keys())
def test_is_reported_on_the_last_line(body: str, rule: str) -> None:
    assert (rule, body.count("\n") + 1) in found(body, rule)


def test_a_call_where_the_transform_stands_is_told_once() -> None:
    body = "def f():\n    return jax.vmap(jnp.sum, out_axes=1)(jnp.ones((3, 4)))"
    assert found(body, "out-axes") == [("out-axes", 2)]


SILENT = {
    "number mapped that a caller may replace": "def f(x, s=2.0):\n    return jax.vmap(lambda s, x: s * x)(s, x)",
    "axes of a record": (
        "from typing import NamedTuple\nclass P(NamedTuple):\n    w: jax.Array\n    b: float\n"
        "print(jax.vmap(lambda p: p.w * p.b, in_axes=(P(0, None),))(P(jnp.ones(3), 1.0)))"),
    "old form of cond": "print(lax.cond(jnp.ones(()) > 0, 1.0, lambda x: x, 2.0, lambda x: -x))",
    "scan by length": "print(lax.scan(lambda c, _: (c + 1, None), 0, None, length=3))",
    "one of two unknown things": "def f(flag, a):\n    xs = jnp.ones(3) if flag else jnp.ones(4)\n    return lax.scan(lambda c, x: (c, x), 0.0, xs)",
    "weak carry is promoted": "print(lax.scan(lambda c, x: (c + x, None), 0, jnp.ones(3)))",
    "gradient of one element": "print(jax.grad(lambda x: x[0])(jnp.ones(3)))",
    "gradients in a map": "print(jax.vmap(jax.grad(lambda x: x**2))(jnp.ones(3)))",
    "donation under an outer jit": (
        "f = jax.jit(lambda x: x + 1, donate_argnums=0)\n@jax.jit\ndef g(x):\n    return f(x) + x\nprint(g(jnp.ones(3)))"),
    "donation that is no use": "f = jax.jit(lambda x: x.sum(), donate_argnums=0)\nx = jnp.ones(3)\nprint(f(x), x)",
    "donated NumPy array": "f = jax.jit(lambda x: x + 1, donate_argnums=0)\nx = np.ones(3)\nprint(f(x), x)",
    "axis that is tried": "try:\n    print(lax.axis_index('rows'))\nexcept NameError:\n    pass",
    "axis of a library": "def f(x):\n    return lax.psum(x, 'rows')",
    "stopped gradient": (
        "def f(x):\n    y = lax.stop_gradient(x)\n    return x * lax.while_loop(lambda c: c < 9.0, lambda c: 2 * c, y)\nprint(jax.grad(f)(2.0))"),
    "shapes are printed": "@jax.jit\ndef f(x):\n    print(x.shape, f'{x.dtype}')\n    return x\nprint(f(jnp.ones(3)))",
    "trace counter": "seen = []\n@jax.jit\ndef f(x):\n    seen.append(1)\n    return x\nprint(f(jnp.ones(3)))",
    "local list": "@jax.jit\ndef f(x):\n    rows = []\n    for i in range(3):\n        rows.append(x * i)\n    return jnp.stack(rows)\nprint(f(jnp.ones(3)))",
    "item of a NumPy array": "x = np.zeros(3)\nx[0] = 1.0",
    "concrete in a block": (
        "@jax.jit\ndef f(x):\n    with jax.ensure_compile_time_eval():\n        n = int(jnp.arange(3).sum())\n    return x * n\nprint(f(jnp.ones(3)))"),
    "mask outside of jit": "x = jnp.arange(3)\nprint(x[x > 1], jnp.nonzero(x))",
    "timing that waits": (
        "f = jax.jit(lambda x: x + 1)\nt = time.time()\ny = f(jnp.ones(3))\njax.block_until_ready(y)\nprint(time.time() - t)"),
    "timing that waits in a helper": (
        "f = jax.jit(lambda x: x + 1)\ndef show(y):\n    return float(y[0])\nt = time.time()\ny = f(jnp.ones(3))\nshow(y)\nprint(time.time() - t)"),
    "guarded twice": (
        "def f(x):\n    safe = jnp.where(x > 0, x, 1.0)\n    return jnp.where(x > 0, jnp.sqrt(safe), 0.0)\nprint(jax.grad(f)(2.0))"),
    "64 bits are on": "jax.config.update('jax_enable_x64', True)\nprint(jnp.zeros(3, dtype=jnp.float64))",
}  # fmt: skip


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT.keys())
def test_is_silent(body: str) -> None:
    hints = {"list-to-array", "unjitted-hot-loop", "host-sync-in-loop", "unrolled-loop", "closed-over-constant"}
    others = {"donate-unusable"}  # what the array is not used for is told, its reading is not
    assert [one for one in found(body) if one[0] not in hints | others] == []


@hypothesis_settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(-8, 8))
def test_an_index_is_reported_exactly_when_it_is_out_of_bounds(size: int, index: int) -> None:
    outside = not -size <= index < size
    assert bool(found(f"x = jnp.zeros({size})\nprint(x[{index}])", "index-out-of-bounds")) is outside


@hypothesis_settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["0", "0.5", "True", "jnp.float32(0)", "jnp.int32(0)"]),
    st.sampled_from(["0", "0.5", "True", "jnp.float32(0)", "jnp.int32(0)"]),
)
def test_branches_of_cond_must_agree(left: str, right: str) -> None:
    kinds = {"0": "int", "0.5": "float", "True": "bool", "jnp.float32(0)": "float", "jnp.int32(0)": "int"}
    body = f"print(lax.cond(jnp.ones(()) > 0, lambda: {left}, lambda: {right}))"
    assert bool(found(body, "cond-branch-type")) is (kinds[left] != kinds[right])
