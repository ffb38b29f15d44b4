"""What a change touches must have run: statements, expressions that Python evaluates at need alone, and defaults."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.model import Verdict, Verification
from jaxlint.verify.jobs import Range
from jaxlint.verify.lazy import parted
from jaxlint.verify.worker.watching import watched

Judge = Callable[..., Verification]

HEAD = "import jax\nimport jax.numpy as jnp\n\n"
ARM = HEAD + (
    "@jax.jit\ndef g(x):\n    return x + 1\n\n"
    "def f(x, flag=False):\n    return g(x * 2) if not flag else g(x * 3)\n\n"
    "print(f(jnp.arange(3.0)))\n"
)
TABLE = HEAD + (
    "def f(x, act='relu'):\n    table = {'relu': lambda v: jnp.maximum(v, 0), 'square': lambda v: v * v}\n"
    "    return table[act](x)\n\nprint(f(jnp.arange(3.0)))\n"
)
SHORT = HEAD + "def f(x, n=3):\n    return x * 2 if n > 2 or x.sum() > 7 else x\n\nprint(f(jnp.arange(3.0)))\n"
EMPTY = HEAD + "def f(x, more=()):\n    return x * 2 + sum(3 * one for one in more)\n\nprint(f(jnp.arange(3.0)))\n"
TRIPLED = "    if flag:\n        y = y * 3\n"
RARE = HEAD + f"def f(x, flag=False):\n    y = x * 2\n{TRIPLED}    return y\n\nprint(f(jnp.arange(3.0)))\n"
DENSE = HEAD + (
    "def f(x, bias=None):\n    y = x * 2\n    return y if bias is None else y + bias\n\nprint(f(jnp.arange(3.0)))\n"
)
CHOSEN = HEAD + (
    "@jax.jit\ndef f(x):\n    if x.sum() > jnp.inf:\n        return x * 3\n    return x * 2\n\n"
    "print(f(jnp.arange(3.0)))\n"
)
WHERE = "    return jnp.where(x.sum() > jnp.inf, x * 5, x * 2)\n"


LOSS = (
    HEAD
    + """def loss(x, reduction="mean", mask=None):
    try:
        e = x**2 * (1.0 if mask is None else mask)
    except TypeError:
        e = x**2
    match reduction:
        case "mean":
            return e.mean()
        case "sum":
            return e.sum()
    return e

print(loss(jnp.arange(3.0)))
"""
)
NET = (
    HEAD
    + """class Net:
    scale = 2.0

    def __init__(self, scale=None, bias=1.0, rate=None):
        self.scale = scale if scale is not None else self.scale
        self.bias, self.rate = bias, rate

    def __call__(self, x):
        return x * self.scale + self.bias

print(Net(3.0, 0.0, 1.0)(jnp.arange(3.0)))
"""
)


@pytest.mark.jax
@pytest.mark.parametrize(("old", "new"), [("scale = 2.0", "scale = 4.0"), ("bias=1.0", "bias=5.0")])
def test_values_that_the_program_replaces_count_too(judge: Judge, old: str, new: str) -> None:
    found = judge(NET, NET.replace(old, new))
    assert found.verdict is Verdict.DIFFERENT and "no longer" in found.reason


@pytest.mark.jax
def test_what_may_stand_for_another_default_is_left_open(judge: Judge) -> None:
    found = judge(NET, NET.replace("rate=None", "rate=0.1"))
    assert found.verdict is Verdict.UNVERIFIED and "the default of the parameter `rate` is 0.1" in found.reason


@pytest.mark.jax
@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (ARM, "x * 3", "x * 4"),
        (TABLE, "v * v", "v * v * v"),
        (SHORT, "> 7", "> 1"),
        (EMPTY, "3 * one", "4 * one"),
        (LOSS, 'case "sum"', 'case "total"'),
        (LOSS, "except TypeError", "except ValueError"),
        (RARE, TRIPLED, ""),
        (RARE.replace(":\n        y = y", ": y = y"), "y * 3", "y * 4"),
        (RARE.replace(":\n        y = y", ": y = y"), "    if flag: y = y * 3\n", ""),
        (RARE, f"{TRIPLED}    return y", "    return jnp.asarray(y)"),
        (DENSE, "y if bias is None else y + bias", "y"),
        (CHOSEN, CHOSEN[CHOSEN.index("    if x") : CHOSEN.index("\nprint")], WHERE),
    ],
)
def test_what_never_ran_is_not_judged(judge: Judge, before: str, old: str, new: str) -> None:
    assert before.count(old) == 1
    found = judge(before, before.replace(old, new), rule="traced-branch" if before is CHOSEN else None)
    assert found.verdict is Verdict.UNVERIFIED and "not reached" in found.reason, found


@pytest.mark.jax
@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (ARM, "x * 2", "2 * x"),
        (ARM.replace("print(", "print(f(jnp.ones(2), flag=True), "), "x * 3", "3 * x"),
        (TABLE, "jnp.maximum(v, 0)", "jnp.maximum(0, v)"),
        (EMPTY.replace("range(3.0))", "range(3.0), [1.0])"), "3 * one", "one * 3"),
        (
            RARE.replace("3.0)))", "3.0)), f(jnp.ones(2), True))"),
            "    if flag:\n        y = y * 3\n",
            "    y *= 1 + 2 * flag\n",
        ),
        (SHORT, "    return x * 2 if", "    y = 2.0\n    return x * y if"),
    ],
)
def test_what_ran_is_judged(judge: Judge, before: str, old: str, new: str) -> None:
    assert before.count(old) == 1
    found = judge(before, before.replace(old, new))
    assert found.verdict in (Verdict.CONFIRMED, Verdict.SAME), found.reason


def test_what_moves_is_not_touched() -> None:
    made = "g = jit(lambda v: v if c else -v)\n"
    old = f"def f(x, c):\n    for i in range(3):\n        {made}        x = g(x)\n    return x\n"
    new = f"def f(x, c):\n    {made}    for i in range(3):\n        x = g(x)\n    return x\n"
    found = parted(old, ast.parse(old), ast.parse(new))
    assert not found.gone and not found.gone_at_need and not found.new_at_need


WATCHED = """def f(x, c):
    return x * 2 if c else y
y = 3
z = [k for k in range(3) if k > 1]
h = lambda v: 1
f(1, True) or h(2)
"""


def test_expressions_are_watched_from_the_first_call_on() -> None:
    lines = WATCHED.splitlines()
    told = {"x * 2": True, "y": False, "k": True, "k > 1": True, "1": False, "h(2)": False}
    where = dict(zip(told, (2, 2, 4, 4, 5, 6), strict=True))
    starts = {text: lines[line - 1].index(f" {text}" if text == "y" else text) for text, line in where.items()}
    starts |= {"y": lines[1].rindex("y"), "1": lines[4].rindex("1"), "h(2)": lines[5].index("h(2)")}
    ranges = [Range(line, line, (starts[text], starts[text] + len(text))) for text, line in where.items()]
    for _ in range(2):
        hits: set[int] = set()
        with watched("watched.py", [*ranges, Range(3, 3)], hits):
            exec(compile(WATCHED, "watched.py", "exec"), {})
        assert hits == {*(index for index, ran in enumerate(told.values()) if ran), len(told)}


WORDS = ["a", "b", "not a", "a if b else c", "a and b", "b or a and c", "[a for a in b if c]", "lambda: a"]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), st.integers(0, 4), st.sampled_from(WORDS))
def test_what_is_told_stands_in_the_texts(parts: list[str], place: int, other: str) -> None:
    changed = [other if number == place else part for number, part in enumerate(parts)]
    texts = [f"def f(a, b, c):\n    return {', '.join(some)}\n" for some in (parts, changed)]
    one, two = map(ast.parse, texts)
    there, back = parted(texts[0], one, two), parted(texts[1], two, one)
    for text, ranges in ((texts[0], there.gone_at_need), (texts[1], there.new_at_need), (texts[0], back.new_at_need)):
        for part in ranges:
            assert part.columns is not None
            ast.parse(text.splitlines()[part.first - 1][slice(*part.columns)])
    if parts == changed:
        assert there == back and not there.new_at_need
