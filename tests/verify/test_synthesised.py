"""Arguments that are made up for functions which nobody calls: found for what programs hold, and telling."""

from __future__ import annotations

import importlib.util
import re
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxlint.model import Verdict, Verification
from jaxlint.verify.examples import examples
from jaxlint.verify.worker import made_up
from jaxlint.verify.worker.apart import set_apart
from jaxlint.verify.worker.record import find
from jaxlint.verify.worker.synthesise import arguments, example_of, planned, refusal

pytestmark = pytest.mark.jax

Judge = Callable[..., Verification]

GOOD = (Verdict.CONFIRMED, Verdict.SAME)

HEAD = """
import dataclasses
import enum
from collections.abc import Callable
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
"""

HELD = f"""{HEAD}
class Params(NamedTuple):
    w: jax.Array
    b: jax.Array

@dataclasses.dataclass
class Rates:
    rate: float
    steps: int

class Mode(enum.Enum):
    PLAIN = 1
    TWICE = 2

class Layer:
    def __init__(self, n_in: int, n_out, key):
        self.w = jax.random.normal(key, (n_in, n_out))
        self.n_in = n_in

    def __call__(self, x):
        return x @ self.w / self.n_in * 2.0

def named(p: Params, x):
    return (x @ p.w + p.b) * 2.0

def held(c: Rates, x):
    return x * c.rate * c.steps * 2.0

def mode(x, m: Mode, kind: Literal["a", "b"]):
    return x * m.value * (2.0 if kind == "a" else 3.0)

def loss(loss_fn, params, x):
    return jax.tree.map(lambda g: g * 2.0, jax.grad(loss_fn)(params, x))

def looped(body, condition, x):
    return lax.fori_loop(0, 3, body, lax.while_loop(condition, lambda v: v * 2.0 + 1.0, x))

def folded(step: Callable, init, xs):
    return lax.scan(step, init, xs)[1] * 2.0

def attention(q, k, v):
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) * 2.0), v)

def unpacked(state, x):
    pos, vel = state
    b, n = x.shape
    return pos + vel * 2.0, x.reshape(n, b)

def keyed(params, x):
    return jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"] * 2.0

def layered(layers, x):
    for w, b in layers:
        x = jnp.tanh(x @ w + b) * 2.0
    return x

def drawn(key, n: int, *more):
    return jax.random.normal(key, (n,)) * 2.0 + sum(jnp.sum(one) for one in more)
"""


def test_arguments_are_found_for_what_programs_hold(judge: Judge) -> None:
    good = HELD.replace("* 2.0", "* (4.0 / 2.0)")
    found = judge(HELD, good)
    assert found.verdict in GOOD and "synthesised (" in (found.inputs or ""), found.reason
    assert judge(HELD, HELD.replace("c.steps * 2.0", "c.rate * 2.0")).verdict is Verdict.DIFFERENT


# Each hides where arguments are all alike: sizes, flags, options, functions, defaults, ranks, types.
WRONG = [
    ("def f(g, x, y):\n    return jnp.sum(g(x, y)) * 2.0", "g(x, y)", "g(y, x)"),
    ("def f(fn, gn, x):\n    return fn(gn(x))", "fn(gn(x))", "gn(fn(x))"),
    ("def f(loss_fn, p, x):\n    return jax.grad(loss_fn)(p, x)", "(p, x)\n", "(p, p)\n"),
    ("def f(fn, x):\n    return jnp.sum(fn(x))", "jnp.sum(fn(x))", "jnp.sum(fn(x.T).T)"),
    ("def f(energy, x):\n    return jax.vmap(energy)(x)", "(energy)", "(energy, in_axes=1)"),
    ("def f(x):\n    return x.sum(0) / x.shape[0]", "x.shape[0]", "x.shape[1]"),
    ("def f(q, k):\n    return jnp.einsum('bqd,bkd->bqk', q, k) / q.shape[-1]", "q.shape[-1]", "q.shape[1]"),
    ("def f(x, n: int, m: int):\n    return jnp.zeros((n, m)) + x.sum()", "(n, m)", "(m, n)"),
    ("def f(x, a: bool, b: bool):\n    return jnp.where(a and not b, x, 2 * x)", "a and not b", "b and not a"),
    ("def f(x, mode):\n    return x.sum() if mode in ('a', 'b') else x", "in ('a', 'b')", "== 'a'"),
    ("def f(x, mode):\n    return x.sum() if mode == 'a' else x", "== 'a'", "in ('a', 'c')"),
    ("def f(x, axis=0):\n    return x.sum(axis)", "x.sum(axis)", "x.sum(0)"),
    ("def f(x, mask=None):\n    return x.sum() if mask is None else (x * mask).sum()", "(x * mask)", "x"),
    ("def f(x, eps=1e-6):\n    return x / (jnp.abs(x).sum() + eps)", "+ eps", "+ 1e-6"),
    ("def f(x, idx):\n    return x[idx]", "x[idx]", "x.at[idx].get(mode='fill', fill_value=0)"),
    ("def f(x):\n    return jnp.zeros_like(x)", "zeros_like(x)", "zeros(x.shape)"),
    ("def f(x):\n    return x.sum(-1)", "x.sum(-1)", "x.sum(1)"),
    ("def f(x, a=False, b=False):\n    return x * (2 if a else 1) * (3 if b else 1)", "(3 if b", "(3 if b and not a"),
    ("def f(x, step: int):\n    return x * (1 if step < 100 else 0.99 ** (step - 100))", "- 100)", "- 101)"),
    ("def f(x):\n    if x.ndim != 2:\n        raise ValueError(x)\n    return x.sum(0)", "x.ndim != 2", "x.ndim < 2"),
    ("def f(x, n: int):\n    assert n > 0\n    return x / n", "assert n > 0", "pass"),
    ("def f(x, y):\n    return x * lax.stop_gradient(y)", "lax.stop_gradient(y)", "y"),
    ("def f(x):\n    return x / x.sum()", "x.sum()", "float(x.sum())"),
    ("def f(x, how='mean'):\n    return {'mean': jnp.mean, 'max': jnp.max}[how](x)", "jnp.max", "jnp.min"),
    ("def f(x, dtype=jnp.float32):\n    return jnp.eye(x.size, dtype=dtype)", "dtype=dtype", "dtype='float32'"),
    ("def f(x, precision=None):\n    return jnp.dot(x, x, precision=precision)", "=precision)", "='highest')"),
    ("import numpy as np\ndef f(x: np.ndarray):\n    x = x - 1\n    x += 2\n    return x", "x = x - 1", "x -= 1"),
    (
        "import numpy as np\ndef f(n: int):\n    return [np.ones(n), np.ones(n)]",
        "[np.ones(n), np.ones(n)]",
        "2 * [np.ones(n)]",
    ),
    ("def f(z):\n    return (z * z.conj()).real", "z.conj()", "z"),
    ("SEEN = []\ndef f(x):\n    SEEN.append(float(x.sum()))\n    return x", "SEEN.append(", "SEEN[:] = ("),
    ("def f(x, *args):\n    return x + sum(args)", "sum(args)", "args[0]"),
    (
        "class L:\n    def __init__(self, n_in, n_out):\n        self.n_in, self.n_out = n_in, n_out\n"
        "        self.w = jnp.ones((n_in, n_out))\n    def f(self, x):\n        return x @ self.w / self.n_in",
        "/ self.n_in",
        "/ self.n_out",
    ),
]


@pytest.mark.parametrize(("text", "old", "new"), WRONG)
def test_no_wrong_fix_hides_behind_arguments_that_are_alike(judge: Judge, text: str, old: str, new: str) -> None:
    before = f"{HEAD}\n{text}\n"
    assert before.count(old) == 1
    found = judge(before, before.replace(old, new))
    assert found.verdict in (Verdict.DIFFERENT, Verdict.UNVERIFIED), found
    assert "not reached" not in found.reason  # it was called, and the difference was seen


PARTS = [
    ("def f(x):\n    return x if x.size else jnp.zeros(1)", "jnp.zeros(1)", "jnp.ones(1)"),
    ("def f(x):\n    g = lambda v: v * 2\n    return (x, g)[0]", "v * 2", "v * 3"),
    (
        "class E:\n    v = None\n    def f(self, x):\n        self.v = x if self.v is None else x + self.v\n"
        "        return self.v",
        "x + self.v",
        "x",
    ),
]


@pytest.mark.parametrize(("text", "old", "new"), PARTS)
def test_parts_of_a_line_that_did_not_run_are_not_proved(judge: Judge, text: str, old: str, new: str) -> None:
    before = f"{HEAD}\n{text}\n"
    found = judge(before, before.replace(old, new))
    assert found.verdict is Verdict.UNVERIFIED and "from column" in found.reason, found


RECORD = f"""{HEAD}
@dataclasses.dataclass
class Rates:
    rate: float = 0.1
    decay: float = 0.0

def step(p, g, r: Rates):
    return p - r.rate * (g + r.decay * p)
"""


def test_other_defaults_of_records_are_seen(judge: Judge) -> None:
    assert judge(RECORD, RECORD.replace("decay: float = 0.0", "decay: float = 1e-4")).verdict is Verdict.DIFFERENT


DONATED = f"""{HEAD}
from functools import partial

@partial(jax.jit, donate_argnums=0)
def moved(p, g):
    return p - g
"""


def test_keeping_a_buffer_is_not_faster(judge: Judge) -> None:
    found = judge(DONATED, DONATED.replace("@partial(jax.jit, donate_argnums=0)", "@jax.jit"))
    assert found.verdict is Verdict.SAME, found


HOOKED = f"""{HEAD}
def f(x, hook=None, scale=1.0):
    y = x * scale
    if hook is not None:
        y = hook(y)
    return y

# jaxlint: example f(f32[4])
"""


@pytest.mark.parametrize(("old", "new"), [("x * scale", "x * scale * scale"), ("hook(y)", "hook(hook(y))")])
def test_an_example_that_leaves_out_what_the_change_concerns_proves_nothing(judge: Judge, old: str, new: str) -> None:
    found = judge(HOOKED, HOOKED.replace(old, new))
    assert found.verdict is Verdict.UNVERIFIED and "no value but its default was tried" in found.reason
    advised = HOOKED + re.findall("# jaxlint: example .*?(?=`)", found.reason)[0] + "\n"
    assert judge(advised, advised.replace(old, new)).verdict is Verdict.DIFFERENT
    assert judge(advised, advised.replace("    return y", "    return jnp.asarray(y)")).verdict in GOOD


OPTIMISED = f"""{HEAD}
import optax

def step(params, grads, tx: optax.GradientTransformation):
    updates, _ = tx.update(grads, tx.init(params), params)
    return optax.apply_updates(params, updates)
"""


def test_optimizers_use_all_that_they_are_given(judge: Judge) -> None:
    pytest.importorskip("optax", reason="optax is not installed")
    good = judge(OPTIMISED, OPTIMISED.replace("updates, _", "updates, unused"))
    assert good.verdict in GOOD, good.reason
    assert judge(OPTIMISED, OPTIMISED.replace(", params)\n    return", ")\n    return")).verdict is Verdict.UNVERIFIED
    assert judge(OPTIMISED, OPTIMISED.replace("init(params), params", "init(params), grads")).same is False


EQUINOX = f"""{HEAD}
import equinox as eqx

class Net(eqx.Module):
    layers: list

    def __init__(self, width: int, key):
        keys = jax.random.split(key)
        self.layers = [eqx.nn.Linear(width, width, key=one) for one in keys]

    def __call__(self, x):
        for layer in self.layers:
            x = jnp.tanh(layer(x)) * 2.0
        return x

def loss(model: Net, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2) * 2.0
"""

FLAX = f"""{HEAD}
from flax import nnx

class Mlp(nnx.Module):
    def __init__(self, d_in: int, d_out: int, rngs: nnx.Rngs):
        self.linear = nnx.Linear(d_in, d_out, rngs=rngs)

    def __call__(self, x):
        return self.linear(x) * 2.0

def total(model: Mlp, x):
    return jnp.sum(model(x)) * 2.0
"""


@pytest.mark.parametrize(
    ("library", "text", "old", "new"),
    [("equinox", EQUINOX, "(x) - y", "(y) - x"), ("flax", FLAX, "jnp.sum(model(x))", "jnp.mean(model(x))")],
)
def test_modules_of_libraries_are_built(judge: Judge, library: str, text: str, old: str, new: str) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    found = judge(text, text.replace("* 2.0", "* (4.0 / 2.0)"))
    assert found.verdict in GOOD and "synthesised (" in (found.inputs or ""), found.reason
    assert judge(text, text.replace(old, new)).verdict is Verdict.DIFFERENT


TYPED = """
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

def picked(x: Float[Array, "3 n"], at: Int[Array, "k"], keep: Bool[Array, "n"]):
    a, b, c = x
    return jnp.where(keep, a + b + c, 0.0).sum() + x[0, at] * 2.0
"""


def test_annotations_of_jaxtyping_say_ranks_sizes_and_types(judge: Judge) -> None:
    pytest.importorskip("jaxtyping", reason="jaxtyping is not installed")
    assert judge(TYPED, TYPED.replace("x[0, at] * 2.0", "2.0 * x[0, at]")).verdict in GOOD
    assert judge(TYPED, TYPED.replace("a + b + c", "a + b + b")).verdict is Verdict.DIFFERENT


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[types.ModuleType]:
    path = tmp_path_factory.mktemp("held") / "held_for_planning.py"
    path.write_text(HELD)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[path.stem]


def test_what_is_advised_can_be_pasted(held: types.ModuleType) -> None:
    namespace = vars(held)
    names = [name for name, value in namespace.items() if getattr(value, "__module__", "") == held.__name__]
    called = [*(name for name in names if not isinstance(namespace[name], type)), "Layer.__call__"]
    assert len(called) > 10
    for name in called:
        found = examples(f"{HELD}\n# jaxlint: example {example_of(planned(name, namespace))}\n")
        assert [example.name for example in found.found] == [name] and not found.problems


def test_arguments_that_a_call_takes_are_all_different(held: types.ModuleType) -> None:
    namespace = vars(held)
    function = find(namespace, "named")
    accepts = lambda call: refusal(function, call.args, call.kwargs)  # noqa: E731
    calls = arguments(planned("named", namespace), accepts, accepts)
    assert {call.tentative for call in calls} == {True, False}
    for call in calls:
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(call.args)]
        assert all(not np.array_equal(one, two) for one, two in pairwise(leaves))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_sizes_are_apart_unless_they_belong_together(classes: list[int]) -> None:
    def accepted(sizes: list[int]) -> bool:
        return all(a == b for a, c in zip(sizes, classes) for b, d in zip(sizes, classes) if c == d)  # noqa: B905

    found = set_apart([4] * len(classes), accepted)
    assert accepted(found)
    found_out = [one for one, count in Counter(classes).items() if count <= 3]
    assert len(set(found)) >= len(found_out)


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(3)), st.sampled_from([made_up.number, made_up.like_the_first, made_up.like_the_last]))
def test_made_up_functions_tell_their_arguments_apart(
    order: list[int], make: Callable[[str], made_up.Function]
) -> None:
    given = [jnp.arange(4.0).reshape(2, 2) + place for place in range(3)]
    other = [given[place] for place in order]
    assert np.allclose(make("f")(*given), make("f")(*other)) is (order == [0, 1, 2])
    assert not np.allclose(make("f")(*given), make("g")(*given))
    assert not np.allclose(make("f")(*given), make("f")(*(one.T for one in given)))
