"""Rich arguments and what calls leave behind: objects of libraries, keys, closures, globals."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jaxlint.model import Verdict, Verification

pytestmark = pytest.mark.jax

Judge = Callable[..., Verification]

GOOD = (Verdict.CONFIRMED, Verdict.SAME)

# Stands for modules of libraries: arrays in slots, layers that can be called, methods behind a descriptor, and a
# wrapper that jits functions of such objects.
MODEL = """
import functools
import jax
import jax.numpy as jnp

class Cell:
    __slots__ = ("__dict__", "value")
    def __init__(self, value):
        self.value = value
    def __call__(self):
        return self.value

class Method:
    def __init__(self, function):
        self.function = function
    def __get__(self, instance, owner):
        return self.function if instance is None else functools.partial(self.function, instance)

class Meta(type):
    def __new__(meta, name, bases, body):
        return super().__new__(meta, name, bases, body | {"__call__": Method(body["__call__"])})
    def __setattr__(cls, name, value):
        super().__setattr__(name, Method(value) if name == "__call__" else value)

class Layer(metaclass=Meta):
    def __init__(self, size):
        self.weights, self.calls = Cell(jnp.ones((size, size))), Cell(0)
    def __call__(self, x):
        self.calls.value += 1
        return x @ self.weights() * 2.0

class Jitted:
    def __init__(self, function):
        self.__wrapped__, self.compiled = function, jax.jit(function)
    def __call__(self, layer, x):
        return self.compiled(layer.weights.value, x)

@Jitted
def loss(weights, x):
    return jnp.sum((x @ weights) ** 2)

layer = Layer(3)
layer(jnp.ones((2, 3)))
loss(layer, jnp.ones((2, 3)))
"""


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (("x @ self.weights() * 2.0", "2.0 * (x @ self.weights())"), ("self.weights() * 2.0", "self.weights() * 2.5")),
        (
            ("self.calls.value += 1", "self.calls.value = 1 + self.calls.value"),
            ("calls.value += 1", "calls.value += 2"),
        ),
        (("(x @ weights) ** 2", "(-(x @ weights)) ** 2"), ("(x @ weights) ** 2", "(x @ weights) ** 3")),
    ],
)
def test_objects_of_libraries(judge: Judge, good: tuple[str, str], bad: tuple[str, str]) -> None:
    found = judge(MODEL, MODEL.replace(*good))
    assert found.verdict in GOOD and "recorded" in (found.inputs or ""), found.reason
    assert judge(MODEL, MODEL.replace(*bad)).verdict is Verdict.DIFFERENT


DATA = """
import collections
import dataclasses
import functools
import typing
import jax
import jax.numpy as jnp

@functools.partial(jax.tree_util.register_dataclass, data_fields=["weights"], meta_fields=["name"])
@dataclasses.dataclass(frozen=True, slots=True)
class State:
    weights: jax.Array
    name: str = "a"

class Pair(typing.NamedTuple):
    state: State
    more: dict

@jax.tree_util.register_pytree_node_class
class Node:
    def __init__(self, a):
        self.a = a
    def tree_flatten(self):
        return (self.a,), None
    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)

@jax.jit
def step(pair, node, key, raw):
    noise = jax.random.normal(key, (3,)) + jax.random.normal(raw, (3,))
    return Pair(pair.state, {"b": pair.more["b"] * 3.0 + node.a + noise})

def make(scale, table):
    def act(x, more=1.0):
        return jnp.tanh(x * scale) + table["b"] * more
    return act

def apply(act, x):
    return act(x) * 5.0

pair = Pair(State(jnp.ones(3)), collections.OrderedDict(b=jnp.arange(3.0)))
step(pair, Node(jnp.ones(3)), jax.random.key(1), jax.random.PRNGKey(2))
apply(make(2.0, {"b": jnp.ones(3)}), jnp.arange(3.0))
"""


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (("* 3.0 + node.a", "* 1.5 * 2.0 + node.a"), ("* 3.0 + node.a", "* 3.0 - node.a")),
        (("act(x) * 5.0", "5.0 * act(x)"), ("act(x) * 5.0", "act(x) * 4.0")),
    ],
)
def test_data_of_the_user(judge: Judge, good: tuple[str, str], bad: tuple[str, str]) -> None:
    found = judge(DATA, DATA.replace(*good))
    assert found.verdict in GOOD and "recorded" in (found.inputs or ""), found.reason
    assert judge(DATA, DATA.replace(*bad)).verdict is Verdict.DIFFERENT


def test_a_function_that_is_returned_and_not_called_shows_nothing(judge: Judge) -> None:
    for edit in (("tanh(x * scale)", "tanh(x + scale)"), ("tanh(x * scale)", "tanh(scale * x)")):
        found = judge(DATA, DATA.replace(*edit))
        assert found.verdict is Verdict.UNVERIFIED and "make returns a function" in found.reason


def test_a_returned_function_whose_code_is_the_same_is_compared_by_what_it_holds(judge: Judge) -> None:
    def edited(line: str) -> str:
        return DATA.replace("    return act\n", f"    {line}\n    return act\n")

    assert judge(DATA, edited("table = dict(table)")).verdict in GOOD
    found = judge(DATA, edited("scale = scale + 1.0"))
    assert found.verdict is Verdict.DIFFERENT, found.reason


HANDED_ON = """
import dataclasses
import functools
from collections.abc import Callable
import jax
import jax.numpy as jnp

class Model:
    def __init__(self, size):
        self.size = size
    def apply(self, weights, x):
        return x @ weights * self.size

@functools.partial(jax.tree_util.register_dataclass, data_fields=["weights"], meta_fields=["apply"])
@dataclasses.dataclass
class State:
    weights: jax.Array
    apply: Callable

@jax.jit
def step(state, x):
    return State(state.weights - 0.1 * jnp.mean(state.apply(state.weights, x)), state.apply)

state = step(State(jnp.ones((3, 3)), Model(2.0).apply), jnp.ones((2, 3)))
"""


def test_a_function_that_is_handed_on_is_no_hindrance(judge: Judge) -> None:
    found = judge(HANDED_ON, HANDED_ON.replace("0.1 * jnp.mean", "1.0 * 0.1 * jnp.mean"))
    assert found.verdict in GOOD and "recorded" in (found.inputs or ""), found.reason
    assert judge(HANDED_ON, HANDED_ON.replace("- 0.1", "- 0.2")).verdict is Verdict.DIFFERENT


GLOBALS = """
import numpy as np
import jax.numpy as jnp
SEEN, COUNT, TABLE, RING = [], 0, {"n": np.zeros(2)}, []
for _ in range(40):
    RING = [RING, RING]
RING[0].append(RING)

def note(x, n):
    global COUNT
    COUNT += n
    TABLE["n"][0] += n
    SEEN.append(x * 2.0)

note(jnp.arange(3.0), 2)
SEEN.clear()
COUNT = 0
TABLE = {"n": np.zeros(2)}
"""


@pytest.mark.parametrize("edit", [("COUNT += n", "COUNT += n + 1"), ('"n"][0]', '"n"][1]'), ("x * 2.0", "x * 2.5")])
def test_globals_that_a_call_changes_are_compared(judge: Judge, edit: tuple[str, str]) -> None:
    assert judge(GLOBALS, GLOBALS.replace("COUNT += n", "COUNT = n + COUNT")).verdict in GOOD
    found = judge(GLOBALS, GLOBALS.replace(*edit))
    assert found.verdict is Verdict.DIFFERENT and "globals" in found.reason


HELD = """
import enum, functools
import jax
import jax.numpy as jnp

class Mode(enum.Enum):
    TWICE = 2

class Box:
    def __init__(self, value, more):
        self.value, self.more = value, more

def scaled(box, x):
    return x * box.value * 2.0 + box.more()

def made():
    class Held:
        def times(self, x):
            return x * 2.0
    return Held()

def total(step, x):
    if x.ndim:
        return step(x).sum()
    return scaled(Box(x, lambda: 0.0), x) + made().times(x)

def chosen(mode, x):
    return total(jnp.sin, x) if mode is Mode.TWICE else x * 0.0

NAME(HELD, jnp.arange(1.0, 4.0))
"""


@pytest.mark.parametrize(
    ("held", "changed", "good"),
    [
        ("functools.partial(scaled, Box(3.0, lambda: 0.0))", ("* 2.0 +", "* 2.5 +"), None),
        ("jax.jit(lambda x: scaled(Box(3.0, lambda: 0.0), x))", ("* 2.0 +", "* 2.5 +"), None),
        ("made().times", ("x * 2.0", "x * 2.5"), None),
        ("Mode.TWICE", ("step(x).sum()", "step(x).sum() * 1.5"), ("step(x).sum()", "jnp.sum(step(x))")),
    ],
)
def test_what_arguments_hold_is_of_the_version_that_is_judged(
    judge: Judge, held: str, changed: tuple[str, str], good: tuple[str, str] | None
) -> None:
    text = HELD.replace("HELD", held).replace("NAME", "chosen" if "Mode" in held else "total")
    bad = judge(text, text.replace(*changed))
    assert bad.verdict in (Verdict.DIFFERENT, Verdict.UNVERIFIED), bad.reason
    if good:
        found = judge(text, text.replace(*good))
        assert found.verdict is Verdict.SAME, found.reason


UNSEEN = """
import jax
import jax.numpy as jnp

@jax.jit
def scaled(x):
    return x * 2.0

def doubled(box):
    return scaled(box.value) + box.nothing()

def total(x, box=None):
    if box is not None:
        return doubled(box)
    return x.sum() + jnp.linalg.cholesky(-jnp.eye(3)).sum()

def kept(x):
    LIST[0] = doubled(x)

class Box:
    def __init__(self, value, nothing):
        self.value, self.nothing = value, nothing

LIST = [None]
total(None, Box(jnp.ones(3), lambda: 0.0))
"""


def test_a_line_counts_only_where_something_was_seen_of_it(judge: Judge) -> None:
    found = judge(UNSEEN, UNSEEN.replace("scaled(box.value) +", "2.0 + scaled(box.value) +"))
    assert found.verdict is Verdict.UNVERIFIED, found.reason
    nan = judge(UNSEEN, UNSEEN.replace("return x.sum() +", "return 2.0 * x.sum() +"))
    assert nan.verdict is Verdict.UNVERIFIED, nan.reason
    good = judge(UNSEEN, UNSEEN.replace("x * 2.0", "2.0 * x"))
    assert good.verdict is Verdict.SAME, good.reason


SET_BEFORE = """
import os
os.environ["JAX_ENABLE_X64"] = "true"
import jax
import jax.numpy as jnp

@jax.jit
def double(x):
    return x * 2

print(double(jnp.arange(3) / 3))
"""


def test_what_a_program_sets_for_jax_before_it_imports_it_holds(judge: Judge) -> None:
    narrow = SET_BEFORE.replace("x * 2", "(x * 2).astype('float32')")
    assert judge(SET_BEFORE, narrow).verdict is Verdict.DIFFERENT
    too_late = [text.replace("import os\n", "import os, jax\n") for text in (SET_BEFORE, narrow)]
    assert judge(*too_late).verdict in GOOD
