"""Originals that JAX refuses, or that do not do what they say: what their fixes are compared with."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import pytest

from jaxlint.model import Verdict, Verification

Judge = Callable[..., Verification]

pytestmark = pytest.mark.jax

GOOD = (Verdict.CONFIRMED, Verdict.SAME)
HEAD = "import jax\nimport jax.numpy as jnp\n\n"

GRAD_INT = HEAD + "slope = jax.grad(lambda x: jnp.sin(x) * x)\nprint(slope(2))\n"
GRAD_NAMED = (
    HEAD + "def gap(guess, target):\n    return (guess - target) ** 2\n\nprint(jax.grad(gap)(guess=3.0, target=1.0))\n"
)
AUX = HEAD + (
    "def loss(w):\n    return jnp.sum(w ** 3), w + 1\n\n"
    "value, aux, slopes = jax.value_and_grad(loss, has_aux=True)(jnp.arange(3.0))\nprint(value, aux, slopes)\n"
)
UNBOUND = (
    HEAD
    + "def centred(x):\n    return x - jax.lax.pmean(x, 'rows')\n\n"
    + "print(jax.vmap(centred)(jnp.array([1.0, 2.0, 4.0])))\n"
)
CARRY = (
    HEAD
    + "def decay(level, dose):\n    return 0.5 * level + dose\n\n"
    + "print(jax.lax.scan(decay, jnp.float32(1), jnp.arange(4.0)))\n"
)
NAMED = HEAD + (
    "def moved(row, offset):\n    return row - offset\n\n"
    "got = jax.vmap(moved, in_axes=(0,))(jnp.zeros((3, 3)), offset=jnp.arange(3.0))\nprint(got)\n"
)
DISCARDED = HEAD + (
    "def record(n):\n    table = jnp.zeros(n)\n    for i in range(n):\n        table.at[i].set(i / 2)\n"
    "    return table\n\nprint(record(3))\n"
)
CAUGHT = HEAD + (
    "@jax.jit\ndef kept(x):\n    return x[x > 0].sum()\n\n@jax.jit\ndef other(x):\n    return jnp.nonzero(x)[0]\n\n"
    "for f in (kept, other):\n    try:\n        print(f.__name__, f(jnp.arange(4.0) - 1))\n"
    "    except Exception as error:\n        print(f.__name__, type(error).__name__)\n"
)
QUIET = CAUGHT.replace("print(f.__name__, f(jnp.arange(4.0) - 1))", "f(jnp.arange(4.0) - 1)")
LATER = HEAD + (
    "@jax.jit\ndef first(x, y):\n    return min(x, y)\n\n@jax.jit\ndef second(x, y):\n    return max(x, y)\n\n"
    "print(first(1.0, 2.0))\nprint(second(1.0, 2.0))\n"
)
SPARE = HEAD + (
    "def decay(amount, rate=0.1):\n    return amount * jnp.exp(-rate)\n\n"
    "many = jax.vmap(decay, in_axes=(0, None))\nprint(many(jnp.linspace(1.0, 2.0, 5)))\n"
)
LEVELS = HEAD + (
    "LEVELS = [0.1, 0.5, 0.9]\n\n"
    "@jax.jit\ndef scaled(x, which):\n    return x * LEVELS[which]\n\nprint(scaled(jnp.ones(3), 1))\n"
)
STORED = HEAD + (
    "@jax.jit\ndef smoothed(u):\n    u[1:-1] += 0.5 * (u[2:] - u[:-2])\n    return u\n\n"
    "u = jnp.arange(5.0) ** 2\nfor _ in range(2):\n    u = smoothed(u)\nprint(u)\n"
)
SHARED = HEAD + "def filled(u):\n    u[0] = 1.0\n    return u\n\nold = jnp.zeros(3)\nprint(filled(old), old)\n"
TABLE = HEAD + (
    "TABLE = {'relu': jax.jit(lambda x: jnp.maximum(x, 0.0)), 'tanh': jnp.tanh}\n\n"
    "@jax.jit\ndef layer(x):\n    x = TABLE['relu'](x)\n    return x * 0.5 if jnp.max(x) > 1 else x\n\n"
    "print(layer(jnp.arange(4.0)))\n"
)
EACH = (
    HEAD
    + "def first(u):\n    u[0] = 1.0\n    return u\n\nus = jnp.zeros((2, 3))\nprint(jax.vmap(first)(us), us.sum())\n"
)
PART = (
    HEAD + "def filled(u):\n    row = u[0]\n    row[1] = 1.0\n    return u, row\n\nprint(filled(jnp.zeros((2, 3))))\n"
)
SUMMED = "u = u.at[1:-1].add(0.5 * (u[2:] - u[:-2]))"

FIXES = [
    (SPARE, ("(0, None)", "(0,)"), "in-axes-arity", "do not count"),
    (LEVELS, ("LEVELS[which]", "jnp.asarray(LEVELS)[which]"), "traced-shape", "eager semantics"),
    (GRAD_INT, ("slope(2)", "slope(2.0)"), "grad-int-input", "equal floats"),
    (GRAD_NAMED, ("guess=3.0", "3.0"), "grad-kwargs", "of that name"),
    (AUX, ("value, aux, slopes =", "(value, aux), slopes ="), "has-aux", "in this order"),
    (UNBOUND, ("vmap(centred)", "vmap(centred, axis_name='rows')"), "unbound-axis", "axis name bound"),
    (CARRY, ("level + dose", "level + dose, None"), "control-flow-signature", "needs no outputs"),
    (NAMED, ("(0,))(jnp.zeros((3, 3)), offset=", "(0, None))(jnp.zeros((3, 3)), "), "in-axes-kwargs", "by name"),
    (DISCARDED, ("table.at", "table = table.at"), "at-result-discarded", "changes x itself"),
    (STORED, ("u[1:-1] += 0.5 * (u[2:] - u[:-2])", SUMMED), "inplace-assign", "changes x itself"),
    (EACH, ("u[0] = 1.0", "u = u.at[0].set(1.0)"), "inplace-assign", "changes x itself"),
    (TABLE, ("x * 0.5 if jnp.max(x) > 1 else x", "jnp.where(jnp.max(x) > 1, x * 0.5, x)"), "traced-branch", "eager"),
    (CAUGHT, ("x[x > 0].sum()", "jnp.where(x > 0, x, 0).sum()"), "bool-mask-index", "1 of 2 errors"),
    (QUIET, ("x[x > 0].sum()", "jnp.where(x > 0, x, 0).sum()"), "bool-mask-index", "1 of 2 errors"),
    (LATER, ("min(x, y)", "jnp.minimum(x, y)"), "traced-branch", "gets to line"),
]


def _needs_arrays_that_change() -> None:
    if not hasattr(jnp.zeros(1), "_replace_with"):
        pytest.skip("the arrays of this JAX cannot be changed in place")


@pytest.mark.parametrize(("before", "edit", "rule", "words"), FIXES)
def test_a_right_fix_is_confirmed(judge: Judge, before: str, edit: tuple[str, str], rule: str, words: str) -> None:
    if words == "changes x itself":
        _needs_arrays_that_change()
    found = judge(before, before.replace(*edit), rule)
    assert found.verdict is Verdict.CONFIRMED and words in found.reason, found


@pytest.mark.parametrize(
    ("before", "edits", "rule"),
    [
        (GRAD_INT, (("slope(2)", "slope(2.0)"), ("* x", "* 2")), "grad-int-input"),
        (GRAD_NAMED, (("guess=3.0", "1.0"), ("target=1.0", "target=3.0")), "grad-kwargs"),
        (AUX, (("value, aux, slopes =", "(value, aux), slopes ="), ("** 3", "** 2")), "has-aux"),
        (UNBOUND, (("vmap(centred)", "vmap(centred, axis_name='rows')"), ("pmean", "psum")), "unbound-axis"),
        (CARRY, (("level + dose", "level - dose, None"),), "control-flow-signature"),
        (NAMED, (("(0,))(jnp.zeros((3, 3)), offset=", "(None, 0))(jnp.zeros((3, 3)), "),), "in-axes-kwargs"),
        (DISCARDED, (("table.at[i].set", "table = table.at[i].add"), ("i / 2", "i / 3")), "at-result-discarded"),
        (STORED, (("u[1:-1] += 0.5 * (u[2:] - u[:-2])", SUMMED.replace("add", "set")),), "inplace-assign"),
        (SHARED, (("u[0] = 1.0", "u = u.at[0].set(1.0)"),), "inplace-assign"),  # others hold the array too
        (PART, (("row[1] = 1.0", "row = row.at[1].set(1.0)"),), "inplace-assign"),  # NumPy's row is a part of u
        (TABLE, (("x * 0.5 if jnp.max(x) > 1 else x", "jnp.where(jnp.max(x) > 1, x, x * 0.5)"),), "traced-branch"),
        (CAUGHT, (("x[x > 0].sum()", "jnp.where(x > 0, x, 1).sum()"),), "bool-mask-index"),
        (QUIET, (("x[x > 0]", "jnp.where(x > 0, x, 0)"), ("f(jnp.arange(4.0) - 1)", "pass")), "bool-mask-index"),
        (LATER, (("min(x, y)", "jnp.maximum(x, y)"),), "traced-branch"),
        (SPARE, (("(0, None)", "(0,)"), ("1.0, 2.0, 5", "1.0, 3.0, 5")), "in-axes-arity"),
        (LEVELS, (("LEVELS[which]", "jnp.asarray([0.1, 0.5, 0.8])[which]"),), "traced-shape"),
    ],
)
def test_a_wrong_one_never_is(judge: Judge, before: str, edits: tuple[tuple[str, str], ...], rule: str) -> None:
    after = before
    for edit in edits:
        after = after.replace(*edit)
    assert judge(before, after, rule).verdict not in GOOD


UNCALLED = (
    HEAD + "@jax.jit\ndef heat(u, dt):\n    u[1:-1] += dt * (u[2:] - 2 * u[1:-1] + u[:-2])\n    return u\n",
    HEAD
    + "def table(n: int):\n    t = jnp.zeros(n)\n    for i in range(n):\n        t.at[i].set(i * 0.5)\n    return t\n",
)
UNCALLED_FIXES = [
    ("u[1:-1] += dt * (u[2:] - 2 * u[1:-1] + u[:-2])", "u = u.at[1:-1].add(dt * (u[2:] - 2 * u[1:-1] + u[:-2]))"),
    ("t.at", "t = t.at"),
]


def test_fixes_of_functions_that_nobody_calls_have_references_too(judge: Judge) -> None:
    _needs_arrays_that_change()
    for text, edit, rule in zip(UNCALLED, UNCALLED_FIXES, ("inplace-assign", "at-result-discarded"), strict=True):
        fixed = text.replace(*edit)
        found = judge(text, fixed, rule)
        assert found.verdict is Verdict.CONFIRMED and "changes x itself" in found.reason, found
        assert judge(text, fixed.replace("2 * u", "3 * u").replace("0.5", "0.6"), rule).verdict not in GOOD


REMOVED_PARAMETER = """
import jax
import jax.numpy as jnp

def update(params):
    return jax.tree_map(lambda p: p * 0.9, params)

def relu(x):
    return jnp.clip(x, a_min=0)

params = update({"w": jnp.ones(2)})
"""


@pytest.mark.usefixtures("tree_map_is_gone")
def test_parameters_that_are_gone_are_put_back(judge: Judge) -> None:
    fixed = REMOVED_PARAMETER.replace("tree_map", "tree.map")
    assert judge(REMOVED_PARAMETER, fixed.replace("a_min=0", "min=0")).verdict is Verdict.CONFIRMED
    assert judge(REMOVED_PARAMETER, fixed.replace("a_min=0", "min=5")).verdict is Verdict.DIFFERENT
