"""Python on tracers: what is reported, what is left alone, and how statics are written."""

# ruff: noqa: E501 - programs before and after stand side by side

from __future__ import annotations

import textwrap

import pytest
from examples import fixed, linted

RULES = frozenset({"traced-branch", "traced-while", "traced-loop-range", "traced-shape", "missing-static-argnames"})
HEAD = "from functools import partial\n\nimport jax\nimport jax.numpy as jnp\n\n\n"


def found(text: str, target: str | None = None) -> list[str]:
    """The rules that report, in the order of the lines."""
    outcome = linted(HEAD + textwrap.dedent(text), target)
    return [one.name for one in outcome.findings if one.name in RULES]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("if x > 0:\n    x = -x", "traced-branch"),
        ("x = [v for v in range(3) if x > v]", "traced-branch"),
        ("x = bool(x > 0)", "traced-branch"),
        ("assert jnp.all(x > 0)", "traced-branch"),
        ("y = jnp.zeros(3)\nif y.sum() > 0:\n    x = -x", "traced-branch"),  # staged, though it depends on nothing
        ("while x > 0:\n    x = x - 1", "traced-while"),
        ("for _ in range(n):\n    x = x + 1", "traced-loop-range"),
        ("x = jnp.ones(n)", "traced-shape"),
        ("x = x[:n]", "traced-shape"),
        ("x = x.reshape(n, -1)", "traced-shape"),
        ("x = jnp.sum(x, axis=n)", "traced-shape"),
        ("x = [1.0, 2.0][n]", "traced-shape"),
        ("if n == 'mean':\n    x = -x", "missing-static-argnames"),
    ],
)
def test_python_on_tracers_is_reported(body: str, rule: str) -> None:
    assert found(f"@jax.jit\ndef f(x, n):\n{textwrap.indent(body, '    ')}\n    return x\n") == [rule]


@pytest.mark.parametrize("transform", ["jax.jit", "jax.vmap", "jax.checkpoint", "jax.pmap"])
def test_every_transform_that_traces_counts(transform: str) -> None:
    assert found(f"@{transform}\ndef f(x):\n    if x > 0:\n        x = -x\n    return x\n") == ["traced-branch"]


@pytest.mark.parametrize(
    "text",
    [
        "@jax.grad\ndef f(x):\n    return x if x > 0 else 0 * x\n\n\nf(1.0)\n",
        "def f(x):\n    return x if x > 0 else -x\n\n\nprint(f(jnp.ones(())))\n",
        "@jax.jit\ndef f(x, y=None):\n    return x if y is None else y\n",
        "@jax.jit\ndef f(x):\n    return x if x.ndim == 1 and x.shape[0] > 2 else x[None]\n",
        "@jax.jit\ndef f(x):\n    return jnp.zeros(x.shape[0])[: x.shape[0] // 2]\n",
        "@partial(jax.jit, static_argnames='n')\ndef f(x, n):\n    return x[:n] if n > 2 else jnp.zeros(n)\n",
        "@jax.jit\ndef f(p):\n    if 'bias' in p:\n        return p['bias']\n    return p['w']\n",
        "def f(x, n):\n    return x if n > 1 else -x\n\n\njax.vmap(f, in_axes=(0, None))(jnp.ones(3), 2)\n",
        "@jax.jit\ndef f(x):\n    if isinstance(x, jax.core.Tracer):\n        return x\n    return x if x > 0 else -x\n",
        "@jax.jit\ndef f(x):\n    try:\n        return x if x > 0 else -x\n"
        "    except jax.errors.ConcretizationTypeError:\n        return x\n",
        "OFF = False\n\n\ndef off():\n    global OFF\n    OFF = True\n\n\ndef choose(x):\n    if OFF:\n"
        "        return x if x > 0 else -x\n    return jnp.abs(x)\n\n\n@jax.jit\ndef f(x):\n    return choose(x)\n",
        "@jax.jit\ndef f(x):\n    y = 0\n    for i in range(2):\n        n = y if isinstance(y, int) else y.shape[0]\n"
        "        y = jnp.ones(n + 1) + x\n    return y\n",
    ],
)
def test_what_tracing_knows_is_left_alone(text: str) -> None:
    assert found(text) == []


def test_results_of_transforms_are_concrete_outside() -> None:
    text = """
        from typing import NamedTuple


        class State(NamedTuple):
            loss: jax.Array


        @jax.jit
        def step(x):
            return State(jnp.sum(x))


        state = step(jnp.ones(3))
        if state.loss > 1:
            print(state)
    """
    assert found(text) == []


def test_a_helper_is_reported_with_the_way_that_leads_there() -> None:
    text = "def g(x):\n    return x if x > 0 else -x\n\n\n@jax.jit\ndef f(x):\n    return g(x)\n"
    (finding,) = (one for one in linted(HEAD + text).findings if one.name in RULES)
    assert [step.message for step in finding.because] == ["`f` is jitted", "`f` calls `g`"]


FLAG = "(x, flag):\n    return x if flag else -x\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"@jax.jit\ndef f{FLAG}", f'@jax.jit(static_argnames=("flag",))\ndef f{FLAG}'),
        (f"@partial(jax.jit)\ndef f{FLAG}", f'@partial(jax.jit, static_argnames=("flag",))\ndef f{FLAG}'),
        (f"@partial(jax.jit, static_argnames='x')\ndef f{FLAG}", f"@partial(jax.jit, static_argnames=('x', \"flag\"))\ndef f{FLAG}"),
        (f"@partial(jax.jit, static_argnames=['x'])\ndef f{FLAG}", f"@partial(jax.jit, static_argnames=['x', \"flag\"])\ndef f{FLAG}"),
        (f"@partial(jax.jit, static_argnames=())\ndef f{FLAG}", f'@partial(jax.jit, static_argnames=("flag",))\ndef f{FLAG}'),
        (f"@partial(jax.jit, static_argnums=0)\ndef f{FLAG}", f"@partial(jax.jit, static_argnums=(0, 1))\ndef f{FLAG}"),
        (f"@partial(jax.jit, static_argnums=(0,))\ndef f{FLAG}", f"@partial(jax.jit, static_argnums=(0, 1))\ndef f{FLAG}"),
        (f"@jax.jit(donate_argnums=0)\ndef f{FLAG}", f'@jax.jit(donate_argnums=0, static_argnames=("flag",))\ndef f{FLAG}'),
        (f"@jax.checkpoint\ndef f{FLAG}", f"@partial(jax.checkpoint, static_argnums=(1,))\ndef f{FLAG}"),
        (f"def g{FLAG}\n\nf = jax.jit(g)\n", f'def g{FLAG}\n\nf = jax.jit(g, static_argnames=("flag",))\n'),
        ("@jax.jit\ndef f(x, flag, /):\n    return x if flag else -x\n", "@jax.jit(static_argnums=(1,))\ndef f(x, flag, /):\n    return x if flag else -x\n"),
    ],
)  # fmt: skip
def test_statics_are_added_in_the_form_that_is_there(before: str, after: str) -> None:
    call = "\n\nf(1.0, True)\n"
    assert fixed(HEAD + before + call, RULES).loaded.sources[0].text == HEAD + after + call


@pytest.mark.parametrize(
    "text",
    [
        f"jit = partial(jax.jit, static_argnames='x')\n\n\n@jit\ndef f{FLAG}\n\nf(1.0, True)\n",  # others share the alias
        f"NAMES = ('x',)\n\n\n@partial(jax.jit, static_argnames=NAMES)\ndef f{FLAG}\n\nf(1.0, True)\n",
    ],
)
def test_statics_that_stand_elsewhere_are_not_touched(text: str) -> None:
    assert fixed(HEAD + text, RULES).loaded.sources[0].text == HEAD + text


def test_older_versions_get_a_partial() -> None:
    before = f"{HEAD}@jax.jit\ndef f{FLAG}\n\nf(1.0, True)\n"
    after = fixed(before, RULES, "0.4.30").loaded.sources[0].text
    assert '@partial(jax.jit, static_argnames=("flag",))' in after


def test_an_array_is_not_made_static() -> None:
    text = "@jax.jit\ndef f(x):\n    return jnp.zeros(jnp.argmax(x))\n"
    (finding,) = (one for one in linted(HEAD + text).findings if one.name in RULES)
    assert finding.fix is None
