"""Verdicts on small programs: what is right is confirmed or same, what is wrong never is."""

from __future__ import annotations

import statistics
from collections.abc import Callable

import pytest

from jaxlint.model import Verdict, Verification

Judge = Callable[..., Verification]

pytestmark = pytest.mark.jax

GOOD = (Verdict.CONFIRMED, Verdict.SAME)

REMOVED = """
import jax
import jax.numpy as jnp

@jax.jit
def step(params, grads, lr=0.1):
    return jax.tree_map(lambda p, g: p - lr * g, params, grads)

params = {"w": jnp.arange(3.0)}
print(step(params, {"w": jnp.ones(3)}))
"""
RESTORED = REMOVED.replace("jax.tree_map", "jax.tree.map")

BRANCH = """
import jax
import jax.numpy as jnp

@jax.jit
def relu(x):
    if x > 0:
        return x
    return 0.1 * x

if __name__ == "__main__":
    print(relu(2.0))
"""
WHERE = BRANCH.replace("    if x > 0:\n        return x\n    return 0.1 * x", "    return jnp.where(x > 0, x, 0.1 * x)")

LOOP = """
import jax
import jax.numpy as jnp

def run(x, rates):
    for rate in rates:
        x = jax.jit(lambda v, r: v - r * v)(x, rate)
    return x

print(run(jnp.arange(4.0), [0.1, 0.2, 0.3]))
"""
HOISTED = LOOP.replace("    for rate", "    shrink = jax.jit(lambda v, r: v - r * v)\n    for rate").replace(
    "x = jax.jit(lambda v, r: v - r * v)(", "x = shrink("
)

ORDER = """
import jax
import jax.numpy as jnp

def f(x):
    return jnp.sum(x ** 2)

g = jax.vmap(jax.jit(f))
"""
SWAPPED = ORDER.replace("jax.vmap(jax.jit(f))", "jax.jit(jax.vmap(f))")

KEYS = """
import jax
import jax.numpy as jnp

def noise(key, shape):
    dx = jax.random.normal(key, shape)
    dy = jax.random.normal(key, shape)
    return 2.0 * dx, dy

a, b = noise(jax.random.PRNGKey(1), (3,))
print(a.shape, float(a[0]))
"""
SPLIT = KEYS.replace("    dx", "    kx, ky = jax.random.split(key)\n    dx").replace(
    "normal(key, shape)\n    dy", "normal(kx, shape)\n    dy"
)
SPLIT = SPLIT.replace("dy = jax.random.normal(key", "dy = jax.random.normal(ky")

NANS = """
import jax
import jax.numpy as jnp

def norm(x):
    return jnp.where(x > 0, jnp.sqrt(x), 0.0)

print(jax.grad(norm)(0.0), jax.grad(norm)(2.0))
"""
FINITE = NANS.replace("jnp.sqrt(x)", "jnp.sqrt(jnp.where(x > 0, x, 1.0))")

METHOD = """
import jax
import jax.numpy as jnp

class Model:
    def __init__(self, w):
        self.w = w

    def update(self, w, x):
        return w - 0.1 * x

    def step(self, x):
        self.w = jax.jit(self.update)(self.w, x)
        return self.w.sum()

m = Model(jnp.ones(3))
for _ in range(3):
    m.step(jnp.arange(3.0))
print(m.w)
"""
KEPT = METHOD.replace("self.w = w\n", "self.w = w\n        self._update = jax.jit(self.update)\n", 1).replace(
    "jax.jit(self.update)(self.w", "self._update(self.w"
)

STATIC = """
import jax
import jax.numpy as jnp

def power(x, n):
    for _ in range(n):
        x = x * x
    return x

power = jax.jit(power)
print(power(jnp.full(3, 1.5), 3))
"""
NAMED = STATIC.replace("jax.jit(power)", 'jax.jit(power, static_argnames="n")')

PRINTED = """
import jax
import jax.numpy as jnp

@jax.jit
def loss(w):
    value = jnp.sum(w ** 2)
    print("loss", value)
    return value

for s in range(3):
    loss(jnp.full(2, float(s)))
"""
DEBUG = PRINTED.replace('print("loss", value)', 'jax.debug.print("loss {}", value)')


@pytest.mark.parametrize(
    ("before", "after", "rule", "words"),
    [
        (BRANCH, WHERE, "traced-branch", "eager"),
        (LOOP, HOISTED, "jit-in-loop", "compil"),
        (ORDER, SWAPPED, "vmap-of-jit", "faster"),
        (KEYS, SPLIT, "key-reuse", "keys"),
        (NANS, FINITE, "where-grad-nan", "NaN"),
        (METHOD, KEPT, "jit-of-method", "compil"),
        (STATIC, NAMED, "missing-static-argnames", "eager"),
        (PRINTED, DEBUG, "traced-print", "eager"),
    ],
)
def test_good_fixes_are_confirmed(judge: Judge, before: str, after: str, rule: str, words: str) -> None:
    _is_confirmed(judge(before, after, rule), words)


def _is_confirmed(found: Verification, words: str) -> None:
    assert found.verdict is Verdict.CONFIRMED, found
    assert words in found.reason and found.same is True
    assert found.jax and found.device == "cpu" and found.inputs != "none"


@pytest.mark.usefixtures("tree_map_is_gone")
def test_a_removed_name_is_replaced(judge: Judge) -> None:
    _is_confirmed(judge(REMOVED, RESTORED, "removed-api"), "put back")


def test_the_figures_of_a_gain_are_reported(judge: Judge) -> None:
    found = judge(ORDER, SWAPPED, "vmap-of-jit")
    assert found.speedup is not None and found.speedup.low > 1.02 and found.max_abs_error == 0.0
    assert found.evidence is not None and found.evidence.timed is not None
    assert found.evidence.timed.what == "g" and len(found.evidence.timed.ratios) >= 40
    assert found.speedup.low < statistics.median(found.evidence.timed.ratios) < found.speedup.high
    assert found.evidence.errors and all(0 <= one.error <= one.allowed for one in found.evidence.errors)
    found = judge(LOOP, HOISTED, "jit-in-loop")
    assert found.compiles is not None and found.compiles.after < found.compiles.before
    assert found.evidence is not None
    assert [(one.what, one.before, one.after) for one in found.evidence.compiles] == [("run", 9, 3)]


MUTANTS = [
    (REMOVED, RESTORED.replace("p - lr * g", "p + lr * g"), "removed-api"),
    (REMOVED, RESTORED.replace("lr=0.1", "lr=0.11"), "removed-api"),
    (BRANCH, WHERE.replace("0.1 * x", "0.2 * x"), "traced-branch"),
    (BRANCH, WHERE.replace("x > 0", "x > -1"), "traced-branch"),
    (LOOP, HOISTED.replace("v - r * v", "v - r"), "jit-in-loop"),
    (LOOP, HOISTED.replace("0.3]", "0.31]"), "jit-in-loop"),
    (ORDER, SWAPPED.replace("x ** 2", "x ** 3"), "vmap-of-jit"),
    (ORDER, SWAPPED.replace("jnp.sum", "jnp.mean"), "vmap-of-jit"),
    (ORDER, SWAPPED.replace("jax.vmap(f)", "jax.vmap(f, in_axes=1)"), "vmap-of-jit"),
    (KEYS, SPLIT.replace("2.0 * dx", "2.5 * dx"), "key-reuse"),
    (KEYS, SPLIT.replace("normal(ky", "uniform(ky"), "key-reuse"),
    (KEYS, SPLIT.replace("normal(ky", "normal(kx"), "key-reuse"),
    (NANS, FINITE.replace("0.0)\n", "0.5)\n"), "where-grad-nan"),
    (NANS, FINITE.replace("(norm)(0.0)", "(norm)(0.01)"), "where-grad-nan"),
    (METHOD, KEPT.replace("0.1 * x", "0.1 + x"), "jit-of-method"),
    (STATIC, NAMED.replace("x * x", "x + x"), "missing-static-argnames"),
    (PRINTED, DEBUG.replace("w ** 2", "w * 2"), "traced-print"),
    (PRINTED, DEBUG.replace('    jax.debug.print("loss {}", value)\n', ""), "traced-print"),
    (
        STATIC,
        NAMED.replace("print(power(jnp.full(3, 1.5), 3))", "power(jnp.full(3, 1.5), 3)"),
        "missing-static-argnames",
    ),
]


@pytest.mark.parametrize(("before", "after", "rule"), MUTANTS)
def test_wrong_fixes_are_never_good(judge: Judge, before: str, after: str, rule: str) -> None:
    found = judge(before, after, rule)
    assert found.verdict not in GOOD, found


@pytest.mark.parametrize("text", [WHERE, LOOP, ORDER, KEYS, METHOD])
def test_a_version_that_does_the_same_is_the_same_and_never_confirmed(judge: Judge, text: str) -> None:
    """One name is changed, so that the two texts are not equal and everything is run."""
    found = judge(text, text.replace("x", "xx").replace("jaxx", "jax").replace("maxx", "max").replace("axxes", "axes"))
    assert found.verdict is not Verdict.CONFIRMED, found
    found = judge(
        text, text.replace("def ", "unused = None\ndef ", 1) if not text.count("@") else text + "\nunused = None\n"
    )
    assert found.verdict is not Verdict.CONFIRMED, found


def test_what_is_true_of_numbers_need_not_be_true_of_nan(judge: Judge) -> None:
    told = "slope = jax.grad(norm)(0.0)\nprint('finite:', bool(jnp.isfinite(slope)))\n"
    before, after = (text[: text.index("print")] + told for text in (NANS, FINITE))
    assert judge(before, after, "where-grad-nan").verdict is Verdict.UNVERIFIED
    assert judge(before, after.replace("'finite:'", "'found:'"), "where-grad-nan").verdict is Verdict.DIFFERENT


def test_the_same_text_is_the_same(judge: Judge) -> None:
    assert judge(LOOP, LOOP).verdict is Verdict.SAME


@pytest.mark.parametrize("status", ["True", "not ok", "'failed'", "None", "3"])
def test_programs_may_end_with_a_status(judge: Judge, status: str) -> None:
    text = f"import sys\nimport jax.numpy as jnp\nok = bool(jnp.arange(3.0).sum() > 2)\nsys.exit({status})\n"
    assert judge(text, text.replace("3.0", "4.0 - 1")).verdict is Verdict.SAME


def test_a_fix_that_fails_is_different(judge: Judge) -> None:
    found = judge(LOOP, LOOP.replace("jnp.arange(4.0)", "jnp.arrange(4.0)"))
    assert found.verdict is Verdict.DIFFERENT and "only the fixed" in found.reason


def test_what_cannot_be_reached_is_unverified_with_advice(judge: Judge) -> None:
    before = "import jax\n\ndef use(model, policy):\n    return model.apply(policy.act(3))\n"
    found = judge(before, before.replace("act(3)", "act(4)"))
    assert found.verdict is Verdict.UNVERIFIED and "`# jaxlint: example use(" in found.reason


def test_a_change_in_a_branch_that_does_not_run_is_unverified(judge: Judge) -> None:
    before = "import sys\nx = 1\nif len(sys.argv) > 5:\n    x = 2\nprint(x)\n"
    found = judge(before, before.replace("x = 2", "x = 3"))
    assert found.verdict is Verdict.UNVERIFIED and "line 4" in found.reason


def test_a_program_that_gives_other_results_each_time_is_unverified(judge: Judge) -> None:
    before = "import numpy as np\nx = np.random.default_rng().random()\nprint(x)\n"
    found = judge(before, before.replace("print(x)", "print(x + 0)"))
    assert found.verdict is Verdict.UNVERIFIED and "each run" in found.reason


def test_measured_times_do_not_tell_versions_apart(judge: Judge) -> None:
    before = """
    import time
    import jax.numpy as jnp
    start = time.time()
    x = jnp.arange(3.0).sum()
    took = time.time() - start
    print("took", took, x)
    """
    assert judge(before, before.replace("jnp.arange(3.0).sum()", "jnp.sum(jnp.arange(3.0))")).verdict in GOOD


def test_a_missing_module_is_unverified(judge: Judge) -> None:
    before = "import no_such_module_anywhere\nprint(1.0)\n"
    found = judge(before, before.replace("1.0", "2.0"))
    assert found.verdict is Verdict.UNVERIFIED and "no_such_module_anywhere" in found.reason


def test_verdicts_do_not_depend_on_the_order_of_jobs(judge: Judge) -> None:
    poison = "import jax.numpy as jnp\njnp.sum = jnp.mean\nx = jnp.sum(jnp.ones(3))\nprint(x)\n"
    judge(poison, poison.replace("jnp.ones(3)", "jnp.ones((3,))"))
    assert judge(ORDER, ORDER.replace("x ** 2", "x ** 2.5")).verdict is Verdict.DIFFERENT


AXES = """
import jax
import jax.numpy as jnp

def blend(left, right, weights):
    return weights[0] * left + weights[1] * right

f = jax.vmap(blend, in_axes=(0, 0))
print(f(jnp.arange(6.0).reshape(3, 2), jnp.ones((3, 2)), jnp.array([0.25, 0.75])))
"""


@pytest.mark.usefixtures("tree_map_is_gone")
def test_one_of_several_removed_names(judge: Judge) -> None:
    before = REMOVED.replace("print(", "print(jax.tree_leaves(params), ")
    found = judge(before, before.replace("jax.tree_leaves", "jax.tree.leaves"), "removed-api")
    assert found.verdict is Verdict.CONFIRMED and "fewer calls of removed" in found.reason
    wrong = before.replace("jax.tree_leaves(params)", "jax.tree.leaves([params, 1])")
    assert judge(before, wrong, "removed-api").verdict not in GOOD


def test_methods_are_called_on_instances_that_each_version_builds(judge: Judge) -> None:
    before = METHOD.replace("print(m.w)\n", "").replace("self.w.sum()", "float(self.w.sum())")
    after = KEPT.replace("print(m.w)\n", "").replace("self.w.sum()", "float(self.w.sum())")
    found = judge(before, after, "jit-of-method")
    assert found.verdict is Verdict.CONFIRMED and "recorded" in str(found.inputs)
    assert judge(before, after.replace("0.1 * x", "0.1 + x"), "jit-of-method").verdict is Verdict.DIFFERENT


def test_static_methods_have_no_instances_to_be_built(judge: Judge) -> None:
    text = """
import jax
import jax.numpy as jnp

class Trainer:
    def __init__(self):
        self.slope = jax.grad(jax.jit(self.loss))

    @staticmethod
    def loss(x):
        return jnp.sum(jnp.tanh(x) ** 2)

print(Trainer().slope(jnp.arange(3.0)))
"""
    found = judge(text, text.replace("grad(jax.jit(self.loss))", "jit(jax.grad(self.loss))"))
    assert found.verdict in (Verdict.CONFIRMED, Verdict.SAME), found.reason


def test_axes_that_alone_work_are_confirmed(judge: Judge) -> None:
    found = judge(AXES, AXES.replace("(0, 0)", "(0, 0, None)"), "in-axes-arity")
    assert found.verdict is Verdict.CONFIRMED and "no other axes work" in found.reason


@pytest.mark.parametrize("axes", ["(0, None, None)", "(1, 1, None)", "(0, 0, 0)"])
def test_other_axes_are_never_good(judge: Judge, axes: str) -> None:
    assert judge(AXES, AXES.replace("(0, 0)", axes), "in-axes-arity").verdict not in GOOD


def test_axes_among_several_that_work_are_unverified(judge: Judge) -> None:
    square = AXES.replace("[0.25, 0.75]", "[0.25, 0.5, 0.25]").replace("weights[1]", "weights[-1]")
    square = square.replace("weights[0]", "weights.ravel()[0]").replace("weights[-1]", "weights.ravel()[-1]")
    found = judge(square, square.replace("(0, 0)", "(0, 0, None)"), "in-axes-arity")
    assert found.verdict is Verdict.UNVERIFIED and "check which were meant" in found.reason


def test_a_program_that_counts_its_traces_is_judged_without_jit(judge: Judge) -> None:
    before = LOOP.replace(
        "def run", "seen = {'n': 0}\n\ndef shrink(v, r):\n    seen['n'] += 1\n    return v - r * v\n\ndef run"
    )
    before = (
        before.replace("jax.jit(lambda v, r: v - r * v)", "jax.jit(lambda v, r: shrink(v, r))") + "print(seen['n'])\n"
    )
    after = before.replace("    for rate", "    once = jax.jit(lambda v, r: shrink(v, r))\n    for rate")
    after = after.replace("x = jax.jit(lambda v, r: shrink(v, r))(", "x = once(")
    found = judge(before, after, "jit-in-loop")
    assert found.verdict is Verdict.CONFIRMED and "of both versions" in found.reason
    assert judge(before, after).verdict is Verdict.DIFFERENT
    assert judge(before, after.replace("r * v", "r + v"), "jit-in-loop").verdict not in GOOD


def test_a_changed_setting_reaches_everything(judge: Judge) -> None:
    before = 'import jax\nimport jax.numpy as jnp\njax.config.update("jax_enable_x64", False)\n'
    before += "x = jnp.ones(3) / 3\nprint(x.dtype)\n"
    assert judge(before, before.replace("False", "True")).verdict is Verdict.DIFFERENT


HIDDEN = """
import jax
import jax.numpy as jnp

double = jax.vmap(jax.jit(lambda x: 2 * x))
start = jnp.zeros(3)
print(double(start))
print(jax.lax.fori_loop(0, 3, lambda i, x: x * 2.0, start))
"""


def test_the_programs_own_data_cannot_hide_what_else_has_changed(judge: Judge) -> None:
    after = HIDDEN.replace("jax.vmap(jax.jit(lambda x: 2 * x))", "jax.jit(jax.vmap(lambda x: 2 * x))")
    assert judge(HIDDEN, after, "vmap-of-jit").verdict in GOOD
    for edit in (("fori_loop(0", "fori_loop(1"), ("x * 2.0", "x * 3.0"), ("2 * x", "3 * x"), ("zeros", "ones")):
        found = judge(HIDDEN, after.replace(*edit), "vmap-of-jit")
        assert found.verdict not in GOOD, (edit, found)


def test_numbers_that_cancel_excuse_roundings(judge: Judge) -> None:
    before = "import jax\nimport jax.numpy as jnp\n\ndef step(x, y):\n    return x * 0.1 + y * 0.3 - 0.1\n\n"
    before += "v = 0.0\nfor _ in range(3):\n    v = step(v, jnp.float32(0.7))\nprint(v)\n"
    after = before.replace("def step", "@jax.jit\ndef step")
    assert judge(before, after).verdict in GOOD
    assert judge(before, after.replace("- 0.1", "- 0.1001")).verdict not in GOOD


CANCELS = """
import jax
import jax.numpy as jnp

key = jax.random.key(5)
x = jax.random.normal(key, (8,))
noise = jax.random.normal(key, (8,))
print(jnp.mean((x - noise) ** 2))
halve = jax.vmap(jax.jit(lambda v: v / 2))
print(halve(x).shape)
"""


def test_equal_data_under_two_names_cannot_hide_a_change(judge: Judge) -> None:
    after = CANCELS.replace("jax.vmap(jax.jit(lambda v: v / 2))", "jax.jit(jax.vmap(lambda v: v / 2))")
    assert judge(CANCELS, after, "vmap-of-jit").verdict in GOOD
    assert judge(CANCELS, after.replace("jnp.mean", "jnp.sum"), "vmap-of-jit").verdict not in GOOD


SHAPES = """
import jax
import jax.numpy as jnp

@jax.jit
def scaled(x, factor):
    return x * factor

def main():
    print(scaled(jnp.arange(3.0), factor=jnp.ones(3)).shape)

main()
"""


def test_what_a_function_is_given_counts_where_only_shapes_are_printed(judge: Judge) -> None:
    assert judge(SHAPES, SHAPES.replace("factor=jnp", "jnp")).verdict in GOOD
    found = judge(SHAPES, SHAPES.replace("factor=jnp.ones", "jnp.zeros"))
    assert found.verdict is Verdict.UNVERIFIED and "calls scaled with other arguments" in found.reason
    silent = SHAPES.replace("print(", "(")
    assert judge(silent, silent.replace("factor=jnp.ones(3)", "jnp.ones(1)")).verdict not in GOOD


FAILS_THRICE = """
import jax
import jax.numpy as jnp

@jax.jit
def smaller(v, cap):
    return min(v, cap)

@jax.jit
def middle(a, b, c):
    return sorted([a, b, c])[1]

@jax.jit
def listed(k):
    return jnp.where(k in (2, 3, 5), 1.0, 0.0)

print(smaller(3.0, 2.0))
print(middle(1.0, 3.0, 2.0))
print(listed(3))
"""


def test_programs_that_fail_at_different_places_are_not_the_same(judge: Judge) -> None:
    fixed = FAILS_THRICE.replace("k in (2, 3, 5)", "(k == 2) | (k == 3) | (k == 5)")
    assert judge(FAILS_THRICE, fixed, "traced-branch").verdict in GOOD
    assert judge(FAILS_THRICE, fixed.replace("print(smaller(3.0, 2.0))\n", ""), "traced-branch").verdict not in GOOD
    found = judge(FAILS_THRICE, fixed.replace("print(listed(3))\n", ""), "traced-branch")
    assert found.verdict is Verdict.UNVERIFIED and "not reached" in found.reason


def test_a_key_is_an_argument_too(judge: Judge) -> None:
    before = SHAPES.replace("x, factor", "x, key").replace("x * factor", "jax.random.normal(key, x.shape)")
    before = before.replace("jnp.ones(3)", "jax.random.key(0)").replace("factor=", "key=")
    assert judge(before, before.replace("key=jax", "jax")).verdict in GOOD
    assert judge(before, before.replace("key=jax.random.key(0)", "jax.random.key(1)")).verdict is Verdict.UNVERIFIED


def test_a_name_that_is_no_longer_defined_is_told(judge: Judge) -> None:
    before = HIDDEN + "Limit = float\n"
    after = before.replace("jax.vmap(jax.jit(lambda x: 2 * x))", "jax.jit(jax.vmap(lambda x: 2 * x))")
    assert judge(before, after, "vmap-of-jit").verdict in GOOD
    found = judge(before, after.replace("Limit = float\n", ""), "vmap-of-jit")
    assert found.verdict is Verdict.UNVERIFIED and "no longer defines Limit" in found.reason


def test_errors_that_are_left_must_still_be_told(judge: Judge) -> None:
    before = FAILS_THRICE[: FAILS_THRICE.index("print(")] + (
        "for call in (lambda: smaller(3.0, 2.0), lambda: middle(1.0, 3.0, 2.0), lambda: listed(3)):\n"
        "    try:\n        call()\n    except Exception as error:\n        print(type(error).__name__)\n"
    )
    after = before.replace("min(v", "jnp.minimum(v")
    assert judge(before, after, "traced-branch").verdict in GOOD
    silent = after.replace("print(type(error).__name__)", "pass")
    assert judge(before, silent, "traced-branch").verdict not in GOOD


def drawn_by_the_caller(before: str) -> str:
    """The program with its frozen draw moved out of the jitted function, as the fix of trace-frozen does it."""
    after = before.replace("noisy(x)", "noisy(x, drawn)").replace("x + np.random.randn()", "x + drawn")
    return after.replace("noisy(1.0)", "noisy(1.0, np.random.randn())")


def test_a_fix_that_changes_values_must_agree_with_what_was_meant(judge: Judge) -> None:
    before = (
        "import jax\nimport numpy as np\n\n@jax.jit\ndef noisy(x):\n    return x + np.random.randn()\n\n"
        "first = float(noisy(1.0))\nprint(first == float(noisy(1.0)))\n"
    )
    after = drawn_by_the_caller(before)
    assert judge(before, after, "trace-frozen").verdict in GOOD
    assert judge(before, after.replace("first ==", "first !="), "trace-frozen").verdict not in GOOD


def test_results_count_where_the_parameters_have_changed(judge: Judge) -> None:
    before = (
        "import jax\nimport numpy as np\n\n@jax.jit\ndef noisy(x):\n    return 3.0 * x + np.random.randn()\n\n"
        "first = noisy(1.0)\nassert first.shape == noisy(1.0).shape\nprint(bool(first == noisy(1.0)))\n"
    )
    after = drawn_by_the_caller(before)
    assert judge(before, after, "trace-frozen").verdict in GOOD
    assert judge(before, after.replace("3.0 * x", "2.0 * x"), "trace-frozen").verdict not in GOOD


ROWS = """
import jax

def jitter(key):
    use = jax.random.bernoulli(key)
    return use, use * jax.random.uniform(key)

use, noise = jax.vmap(jitter)(jax.random.split(jax.random.key(0), 16))
print(float(noise[use].min()), float(noise[use].max()))
"""


def test_draws_that_are_equal_for_all_examples_hide_nothing(judge: Judge) -> None:
    after = ROWS.replace("    use =", "    key_1, key_2 = jax.random.split(key)\n    use =")
    after = after.replace("bernoulli(key)", "bernoulli(key_1)").replace("uniform(key)", "uniform(key_2)")
    assert judge(ROWS, after, "key-reuse").verdict in GOOD
    wrong = after.replace(
        "float(noise[use].min()), float(noise[use].max())", "float(noise[use].max()), 0.0 + noise.min()"
    )
    assert judge(ROWS, wrong, "key-reuse").verdict not in GOOD
    assert judge(ROWS, after.replace(".max()", ".min()"), "key-reuse").verdict not in GOOD


@pytest.mark.parametrize("make", ["key", "PRNGKey"])
def test_keys_must_still_come_from_the_same_seed(judge: Judge, make: str) -> None:
    before = f"import jax\n\nkey = jax.random.{make}(5)\nprint(jax.random.normal(key) - jax.random.uniform(key))\n"
    after = before.replace("print(", "key_1, key_2 = jax.random.split(key)\nprint(")
    after = after.replace("normal(key)", "normal(key_1)").replace("uniform(key)", "uniform(key_2)")
    assert judge(before, after, "key-reuse").verdict in GOOD
    assert judge(before, after.replace("(5)", "(6)"), "key-reuse").verdict not in GOOD


NOISE = """
import jax

class Noise:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, key):
        return self.scale * jax.random.normal(key) + jax.random.uniform(key)

@jax.jit
def pair(key, scale):
    return scale * jax.random.normal(key), jax.random.uniform(key)

# jaxlint: example pair(key, 2.0)
# jaxlint: example Noise(2.0).__call__(key)
"""


@pytest.mark.parametrize("function", ["pair", "__call__"])
def test_keys_that_are_repeated_in_a_library_are_counted(judge: Judge, function: str) -> None:
    start = NOISE.index("    def __call__") if function == "__call__" else NOISE.index("def pair")
    end = NOISE.index("\n\n", start)
    body = NOISE[start:end]
    indent = " " * 8 if function == "__call__" else " " * 4
    split = body.replace("normal(key)", "normal(key_1)").replace("uniform(key)", "uniform(key_2)")
    split = split.replace(indent + "return", f"{indent}key_1, key_2 = jax.random.split(key)\n{indent}return")
    found = judge(NOISE, NOISE.replace(body, split), "key-reuse")
    assert found.verdict is Verdict.CONFIRMED and "0 draws instead of 1 repeat a key" in found.reason, found.reason
    still = split.replace("key_2)", "key_1)")
    assert judge(NOISE, NOISE.replace(body, still), "key-reuse").verdict not in GOOD
    assert judge(NOISE, NOISE.replace(body, split.replace("uniform", "normal")), "key-reuse").verdict not in GOOD


def test_seeds_of_functions_that_nobody_calls_count_too(judge: Judge) -> None:
    before = """
import jax

def noisy(x):
    key = jax.random.key(5)
    return x + jax.random.normal(key) * jax.random.uniform(key)

draw = jax.random.key(1)
print(jax.random.normal(draw) + jax.random.uniform(draw))
"""
    after = before.replace("(5)\n", "(5)\n    key_1, key_2 = jax.random.split(key)\n")
    after = after.replace("normal(key)", "normal(key_1)").replace("uniform(key)", "uniform(key_2)")
    after = after.replace("(1)\n", "(1)\ndraw_1, draw_2 = jax.random.split(draw)\n")
    after = after.replace("normal(draw)", "normal(draw_1)").replace("uniform(draw)", "uniform(draw_2)")
    assert judge(before, after, "key-reuse").verdict in GOOD
    assert judge(before, after.replace("(5)", "(6)"), "key-reuse").verdict not in GOOD
