"""Arguments that users declare, in comments and in the configuration."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from jaxlint.model import Verdict, Verification
from jaxlint.verify import Change, Verifier
from jaxlint.verify.examples import examples

GOOD = (Verdict.CONFIRMED, Verdict.SAME)

NAMES = """
import jax
class Model:
    def step(self, x): ...
class Child(Model):
    ...
def f(*args, **kwargs): ...
"""


def found(comment: str) -> list[tuple[str, str]]:
    assert not examples(NAMES + comment).problems
    return [(example.name, example.text) for example in examples(NAMES + comment).found]


def test_an_example_is_a_call_of_something_in_the_file() -> None:
    assert found("# jaxlint: example f(f32[8,3], 2)") == [("f", "_arguments(f32[8, 3], 2)")]
    assert found("x = 1  # jaxlint: example f(f32[], n=-1)") == [("f", "_arguments(f32[()], n=-1)")]
    assert found("# jaxlint: example f(bf16, key, dtype=bool)") == [("f", "_arguments(bf16[()], key[()], dtype=bool)")]
    assert found("# jaxlint: example f(jax.nn.relu, [i32[n] for n in (1, 2)])")
    assert found("# jaxlint: example Model.step(Model(), f32[3])") == [("Model.step", "_arguments(Model(), f32[3])")]
    assert found("# jaxlint: example Model().step(f32[3])") == [("Model.step", "_arguments(Model(), f32[3])")]
    assert found("# jaxlint: example Child().step(key[4])") == [("Child.step", "_arguments(Child(), key[4])")]


def test_an_example_goes_on_until_its_brackets_are_closed() -> None:
    text = "# jaxlint: example f({'w': f32[2],\n#     'b': f32},\n#  3)\n# and this is another comment (\n"
    assert found(text) == [("f", "_arguments({'w': f32[2], 'b': f32[()]}, 3)")]


def test_what_is_in_strings_or_means_something_else_is_no_example() -> None:
    assert found("TEXT = '''\n# jaxlint: example f(1)\n'''\n# jaxlint: examples f(1)\n# jaxlint: ignore") == []
    assert examples("def f(:\n# jaxlint: example f(1)\n") == examples("")


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("f(f32[8,3)", "is no Python call"),
        ("f(fp32[8,3])", "does not define `fp32`; did you mean `f32`?"),
        ("g(f32[8,3])", "does not define `g`"),
        ("f(f32[8,-3])", r"is no shape: write whole numbers, as in `f32\[8, 3\]`"),
        ("f(f32[2.5])", "is no shape"),
        ("Model().stp(f32[8])", "did you mean `Model.step`?"),
        ("jax.nn.relu(f32[8])", r"neither a function nor a method of this file: write `f\(...\)`"),
        ("f", "is no call"),
        ("", "says nothing"),
    ],
)
def test_what_is_wrong_with_an_example_is_said(comment: str, message: str) -> None:
    (problem,) = examples(f"{NAMES}# jaxlint: example {comment}").problems
    assert problem.line == NAMES.count("\n") + 1
    assert re.search(message, problem.message)


STEP = """
import jax
import jax.numpy as jnp

class State:
    def __init__(self, size):
        self.width, self.weights = size, jnp.ones(size)

    def loss(self, batch):
        return jnp.sum(self.weights * batch["x"]) / self.width

def step(params, batch, *, rate, mode="plain"):
    if mode == "square":
        params = jax.tree.map(jnp.square, params)
    return {name: value - rate * jnp.mean(batch) for name, value in params.items()}

def noise(key, shape):
    return jax.random.normal(key, shape)
"""
EXAMPLES = """
# jaxlint: example step({"w": f32[4,2], "b": f32}, f32[8], rate=0.5)
# jaxlint: example step({"w": f32[3]}, f32[2], rate=0.5, mode="square")
# jaxlint: example State(3).loss({"x": f32[3]})
# jaxlint: example noise(key, (3, 2))
"""


@pytest.mark.jax
def test_examples_are_what_functions_and_methods_are_called_with(verifier: Verifier, tmp_path: Path) -> None:
    def verdict(text: str, old: str, new: str) -> Verification:
        assert old in text
        return verifier.verify(Change(str(tmp_path / "a.py"), text, text.replace(old, new)))

    text = STEP + EXAMPLES
    undeclared = verdict(STEP, "rate * jnp.mean(batch)", "jnp.mean(batch) * rate")
    assert undeclared.verdict in GOOD and undeclared.inputs.startswith("synthesised (")
    good = verdict(text, "rate * jnp.mean(batch)", "jnp.mean(batch) * rate")
    assert good.verdict in GOOD and good.inputs.startswith("declared (")
    assert verdict(text, "jnp.square, params", "lambda p: p + p, params").verdict is Verdict.DIFFERENT
    assert verdict(text, ") / self", ") * (1 / 2) / self").verdict is Verdict.DIFFERENT
    assert verdict(text, "jnp.sum(self.weights * batch['x'])".replace("'", '"'), 'self.weights @ batch["x"]').same
    # The class builds its instances in another way: each version makes its own.
    assert verdict(text, "= size, jnp.ones(size)", "= size, jnp.ones((size,))").verdict in GOOD
    assert verdict(text, "= size, jnp.ones(size)", "= sze, jnp.ones(size)").verdict is Verdict.DIFFERENT
    assert verdict(text, "= size, jnp.ones(size)", "= 2 * size, jnp.ones(size)").verdict is Verdict.DIFFERENT
    assert verdict(text, "normal(key, shape)", "uniform(key, shape)").verdict is Verdict.DIFFERENT


@pytest.mark.jax
def test_an_example_that_cannot_be_called_is_told(verifier: Verifier, tmp_path: Path) -> None:
    text = STEP + '# jaxlint: example step({"w": f32[0][3]}, f32[2], rate=1)\n# jaxlint: example step(f32[3])\n'
    change = Change(str(tmp_path / "a.py"), text, text.replace("rate * jnp.mean(batch)", "jnp.mean(batch) * rate"))
    found = verifier.verify(change)
    assert found.inputs.startswith("synthesised (")
    line = STEP.count("\n") + 1
    assert f"the example at line {line} fails with" in found.reason
    assert f"the example at line {line + 1} does not fit step(params, batch" in found.reason


@pytest.mark.jax
def test_factories_make_arguments(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").touch()
    (tmp_path / "pkg/mod.py").write_text(STEP)
    (tmp_path / "tests").mkdir()
    factories = """
    import jax.numpy as jnp
    from pkg.mod import State

    def steps():
        for size in (1, 2, 3):
            yield ({"w": jnp.arange(size) + 1.0}, jnp.ones(2)), {"rate": 0.5, "mode": "square"}

    class Losses:
        @staticmethod
        def one():
            return State(2), {"x": jnp.array([1.0, 2.0])}

    def nothing():
        return State(2)
    """
    (tmp_path / "tests/made.py").write_text(textwrap.dedent(factories))
    path = str(tmp_path / "pkg/mod.py")
    named = {"pkg.mod:step": "tests.made:steps", "pkg.mod:State.loss": "tests.made:Losses.one"}
    with Verifier(factories={**named, "other:step": "tests.made:nothing"}, root=tmp_path) as verifier:
        good = verifier.verify(Change(path, STEP, STEP.replace("jnp.square,", "lambda p: p * p,")))
        assert good.verdict in GOOD and good.inputs.startswith("declared (")
        bad = verifier.verify(Change(path, STEP, STEP.replace("jnp.square,", "lambda p: p + p,")))
        assert bad.verdict is Verdict.DIFFERENT
        assert verifier.verify(Change(path, STEP, STEP.replace(") / self", ") * self"))).verdict is Verdict.DIFFERENT
    with Verifier(factories={"pkg.mod:State.loss": "tests.made:nothing"}, root=tmp_path) as verifier:
        unused = verifier.verify(Change(path, STEP, STEP.replace(") / self", ") * self")))
        assert "the factory tests.made:nothing returned an object of type State: return a tuple" in unused.reason
