"""What packages around JAX, and users' own wrappers, do to the functions they are given."""

from __future__ import annotations

import pytest

from jaxlint.analysis import analyse
from jaxlint.config.targets import Target
from jaxlint.source.text import SourceFile

TARGET = Target("0.10.2", "0.10.2")


def names(*files: tuple[str, str], wrappers: dict[str, str] | None = None) -> list[tuple[str, int]]:
    """The findings in (path, text) files, as rule names with lines."""
    sources = [SourceFile.from_bytes(path, text.encode()) for path, text in files]
    return [(finding.name, finding.span.line) for finding in analyse(sources, target=TARGET, wrappers=wrappers)]


BRANCH = "def step(x, n):\n    if n > 0:\n        return x * n\n    return x\n\n\n"


@pytest.mark.parametrize(
    ("transform", "branches"),
    [
        ("equinox.filter_jit", False),  # a Python number stays one
        ("flax.nnx.jit", True),
        ("flax.nnx.remat", True),
        ("haiku.remat", True),
        ("penzai.pz.variable_jit", True),
        ("equinox.filter_checkpoint", False),
        ("haliax.named_jit", False),
        ("chex.assert_max_traces", False),
    ],
)
def test_numbers_are_traced_only_where_the_wrapper_traces_them(transform: str, branches: bool) -> None:
    package = transform.rpartition(".")[0]
    head = f"import {package}\nimport jax.numpy as jnp\n\n\n"
    text = f"{head}{BRANCH}step = {transform}(step)\nprint(step(jnp.ones(3), 2))\n"
    found = names(("a.py", text))
    assert [name for name, _ in found] == (["traced-branch"] if branches else [])


@pytest.mark.parametrize("loop", ["haiku.while_loop", "flax.nnx.while_loop", "numpyro.util.while_loop"])
def test_loops_of_other_packages_trace_their_bodies(loop: str) -> None:
    package = loop.rpartition(".")[0]
    text = (
        f"import {package}\n\n\ndef body(i):\n    if i > 2:\n        return i + 2\n    return i + 1\n\n\n"
        f"print({loop}(lambda i: i < 9, body, 0))\n"
    )
    assert names(("a.py", text)) == [("traced-branch", 5)]


def test_a_wrapper_of_the_user_behaves_like_the_transform_it_is_declared_as() -> None:
    text = f"from mylib import fast\n\n\n{BRANCH}step = fast(step)\nprint(step(1.0, 2))\n"
    assert names(("a.py", text)) == []
    assert [name for name, _ in names(("a.py", text), wrappers={"mylib.fast": "jax.jit"})] == ["traced-branch"]


def test_a_wrapper_may_be_a_function_of_the_project_itself() -> None:
    library = "def fast(f):\n    return __import__('mystery').wrap(f)\n"
    text = f"import mylib\n\n\n{BRANCH}step = mylib.fast(step)\nprint(step(1.0, 2))\n"
    found = names(("a.py", text), ("mylib.py", library), wrappers={"mylib.fast": "jax.jit"})
    assert [name for name, _ in found] == ["traced-branch"]


def test_a_wrapper_may_be_like_a_loop() -> None:
    body = "def body(c, x):\n    if x > 0:\n        return c, x\n    return c + x, x\n"
    text = f"import jax.numpy as jnp\nimport mylib\n\n\n{body}\n\nmylib.loop(body, 0.0, jnp.ones(3))\n"
    assert names(("a.py", text), wrappers={"mylib.loop": "jax.lax.scan"}) == [("traced-branch", 6)]


LINEN = """import flax.linen as nn
import jax
import jax.numpy as jnp


class Norm(nn.Module):
    eps: float = 1e-5

    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        if x.shape[0] > 1 and scale.shape == (3,) and self.eps > 0:
            x = x * scale
        if x.var() < self.eps:
            return x
        return x / 2


class Net(nn.Module):
    def setup(self):
        self.dense = nn.Dense(3)
        self.norm = Norm()

    def __call__(self, x):
        return self.norm(self.dense(x))

    def encode(self, x):
        return float(jnp.sum(self.dense(x)))


net = Net()
x = jnp.ones((2, 3))
variables = net.init(jax.random.key(0), x)
"""


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("print(jax.jit(net.apply)(variables, x))", [("traced-branch", 14)]),
        ("jax.grad(jax.jit(lambda v: Net().apply(v, x).sum()))(variables)", [("traced-branch", 14)]),
        ("y, _ = jax.jit(lambda v: net.apply(v, x, mutable=['stats']))(variables)", [("traced-branch", 14)]),
        ("jax.jit(lambda v: net.apply(v, x, method=Net.encode))(variables)", [("traced-host-call", 28)]),
        ("jax.jit(lambda v: net.apply(v, x, method='encode'))(variables)", [("traced-host-call", 28)]),
        ("print(net.apply(variables, x))", []),  # eager: nothing is traced
    ],
)
def test_methods_of_linen_modules_run_where_they_are_applied(use: str, found: list[tuple[str, int]]) -> None:
    assert names(("a.py", f"{LINEN}{use}\n")) == found


def test_layers_draw_their_parameters_with_the_key_that_they_get() -> None:
    text = """import equinox as eqx
import jax


def make(key):
    first, second = jax.random.split(key)
    inner = eqx.nn.Linear(2, 3, key=first)
    outer = eqx.nn.Linear(3, 1, key=second)
    again = eqx.nn.MLP(3, 3, 8, 2, key=second)
    return inner, outer, again
"""
    assert names(("a.py", text)) == [("key-reuse", 9)]


@pytest.mark.parametrize(
    ("loss", "found"),
    [
        ("optax.l2_loss(x @ w, y)", True),
        ("optax.l2_loss(x @ w)", True),
        ("optax.softmax_cross_entropy_with_integer_labels(x, y)", True),
        ("optax.losses.huber_loss(x @ w, y).mean()", False),
        ("optax.squared_error(w[0], w[1])", False),
    ],
)
def test_losses_of_optax_are_no_means(loss: str, found: bool) -> None:
    text = f"""import jax
import jax.numpy as jnp
import optax


def objective(w, x, y):
    return {loss}


print(jax.grad(objective)(jnp.zeros(2), jnp.ones((5, 2)), jnp.ones(5, int)))
"""
    assert [name for name, _ in names(("a.py", text))] == (["grad-nonscalar"] if found else [])
