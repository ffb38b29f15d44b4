"""Every claim of the array semantics, compared with what JAX and NumPy themselves answer."""

from __future__ import annotations

import random
import warnings
from typing import Any, TypeVar

import pytest
from arrays_cases import (
    CONSTRUCTORS,
    ELEMENTWISE_NAMES,
    INDEXING,
    JOINING,
    LAX,
    LAX_NAMES,
    LAX_PAIRS,
    NN_NAMES,
    OPERATORS,
    PAIR_NAMES,
    PRODUCTS,
    RANDOM,
    REDUCTIONS,
    SHAPING,
    SPECIAL_NAMES,
    SPECIAL_PAIRS,
)
from arrays_model import abstract, disagreement
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from jaxlint.analysis import arrays
from jaxlint.analysis.values import Array, Key, Scalar, Value

jax = pytest.importorskip("jax")
np = pytest.importorskip("numpy")
jnp = jax.numpy

T = TypeVar("T")
pytestmark = [pytest.mark.jax, pytest.mark.filterwarnings("ignore")]

DTYPES = ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "bfloat16", "float32", "complex64"]
WEAK = [("int32", True), ("float32", True), ("complex64", True)]
TYPED = [(dtype, False) for dtype in DTYPES] + WEAK
HOST_DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]

GROUPS = {
    "elementwise": [f"jnp.{name}(x)" for name in ELEMENTWISE_NAMES],
    "scalars": [f"jnp.{name}({value})" for name in ELEMENTWISE_NAMES for value in ("1", "0.5", "True")]
    + [f"jnp.{name}({pair})" for name in PAIR_NAMES for pair in ("x, 2", "2, x", "x, 0.5", "0.5, x", "1, 2", "1.0, 2")],
    "pairs": [f"jnp.{name}(x, {other})" for name in PAIR_NAMES for other in "yz"],
    "nn": [f"jax.nn.{name}(x)" for name in NN_NAMES],
    "special": [f"jax.scipy.special.{name}(x)" for name in SPECIAL_NAMES]
    + [f"jax.scipy.special.{name}(x, {other})" for name in SPECIAL_PAIRS for other in "yz"],
    "lax elementwise": [f"lax.{name}(x)" for name in LAX_NAMES]
    + [f"lax.{name}({pair})" for name in LAX_PAIRS for pair in ("x, x", "x, 1", "x, 0.5", "w, w")],
    "reductions": REDUCTIONS,
    "constructors": CONSTRUCTORS,
    "shaping": SHAPING,
    "joining": JOINING,
    "products": PRODUCTS,
    "lax": LAX,
    "random": RANDOM,
    "indexing": INDEXING,
    "operators": OPERATORS,
}
# Functions whose results need a mapped axis, or that only pass pytrees on.
ELSEWHERE = {
    "jax.lax.psum", "jax.lax.pmean", "jax.lax.pmax", "jax.lax.pmin", "jax.lax.ppermute", "jax.lax.pcast",
    "jax.lax.all_gather", "jax.lax.axis_index", "jax.lax.axis_size", "jax.lax.with_sharding_constraint",
    "jax.device_get", "jax.lax.empty",
}  # fmt: skip
# Only NumPy's, or gone from newer JAX.
NOT_IN_JAX = {f"jax.numpy.{name}" for name in ("asanyarray", "ascontiguousarray", "fix", "half", "round_", "trapz")}


class World:
    """Arrays for the names in the expressions: abstract, with some sizes hidden, and as JAX and NumPy have them."""

    def __init__(self, source: random.Random, host: bool = False) -> None:
        self.source = source
        self.host = host
        self.symbols: dict[str, int] = {}
        self.numbers: dict[str, int] = {}
        self.abstract: dict[str, Value] = {"k": Key()}
        self.real: dict[str, Any] = {"k": None if host else jax.eval_shape(lambda: jax.random.key(0))}
        self.rank = source.choice([0, 1, 1, 2, 2, 3])
        size = source.choice
        shape = tuple(size([1, 2, 3, 4]) for _ in range(self.rank))
        stretched = tuple(size([1, dim]) for dim in shape)[size([0, 0, self.rank]) if size([0, 1]) else 0 :]
        n, p = size([1, 3, 4]), size([1, 2, 3])
        self.array("x", shape)
        self.array("y", shape)
        self.array("z", stretched)
        self.array("v", (n,))
        self.array("u", (n,))
        self.array("m", (size([1, 2, 3]), p))
        self.array("s", (p, p))
        self.array("t", (size([1, 2]), size([1, 2, 3]), p))
        self.array("r", (size([1, 2]), 3))
        self.array("i", (n,), ("int32", False))
        self.array("b", shape, ("bool", False))
        self.array("f", (n,), ("float32", False))
        self.array("q", (n, n), ("float32", False))
        self.array("w", (), size(WEAK[:2]))
        for name, form in (("h", shape), ("g", shape), ("h0", ()), ("h1", (2,))):
            self.host_array(name, form, "int64" if name == "h1" else size(HOST_DTYPES))

    def array(self, name: str, shape: tuple[int, ...], typed: tuple[str, bool] | None = None) -> None:
        """Adds an array of any dtype, or one that is told."""
        if self.host:
            told = typed is not None and name != "w"
            self.host_array(name, shape, typed[0] if typed and told else self.source.choice(HOST_DTYPES))
            return
        dtype, weak = typed or self.source.choice(TYPED)
        self.real[name] = jax.ShapeDtypeStruct(shape, dtype, weak_type=weak)
        self.abstract[name] = Array(self.hidden(dtype), self.blurred(name, shape), self.hidden(weak))

    def host_array(self, name: str, shape: tuple[int, ...], dtype: str) -> None:
        """Adds an array of NumPy."""
        self.real[name] = np.ones(shape, dtype)
        self.abstract[name] = Array(self.hidden(dtype), self.blurred(name, shape), False, True)

    def hidden(self, fact: T) -> T | None:
        """A fact, which the analysis sometimes does not know."""
        return None if self.source.random() < 0.08 else fact

    def blurred(self, name: str, shape: tuple[int, ...]) -> tuple[int | str | None, ...] | None:
        """The shape with some sizes unknown, and some as symbols; sometimes nothing."""
        found: list[int | str | None] = []
        for dim in shape:
            draw = self.source.random()
            symbol = f"{name}{len(found)}"
            self.symbols[symbol] = dim
            found.append(None if draw < 0.1 else symbol if draw < 0.25 else dim)
        return self.hidden(tuple(found))

    def filled(self, template: str) -> str:
        """The expression with its axes and numbers drawn."""
        rank = max(self.rank, 1)
        axis, other = (self.source.randrange(-rank, rank) for _ in range(2))
        self.numbers["unknown_axis"] = axis
        self.abstract["unknown_axis"] = Scalar("int")
        return template.format(
            a=axis if self.hidden(True) else "unknown_axis", c=other, n=self.source.choice([1, 2, 3, 5])
        )


def answer(expression: str, world: World) -> Any:
    """What JAX (without computing) or NumPy gives; None where it refuses."""
    modules = {"jnp": jnp, "np": np, "jax": jax, "lax": jax.lax, **world.numbers}
    code = compile(expression, expression, "eval")
    host = {name: value for name, value in world.real.items() if isinstance(value, np.ndarray)}
    device = {name: value for name, value in world.real.items() if name not in host and value is not None}
    kept: list[Any] = []

    def run(values: dict[str, Any]) -> Any:
        result = eval(code, modules, {**host, **values})
        kept.append(result)
        return result if all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(result)) else 0

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not device:
                return eval(code, modules, host)
            result = jax.eval_shape(run, device)
    except Exception:  # whatever JAX refuses says nothing about claims
        return None
    plain = not jax.tree.leaves(kept[-1]) or not all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(kept[-1]))
    return kept[-1] if plain else result


def check(template: str, world: World) -> set[str]:
    """Compares one expression; gives the functions that both sides answered."""
    expression = world.filled(template)
    real = answer(expression, world)
    if real is None:
        return set()
    claim, called = abstract(expression, world.abstract)
    problem = disagreement(claim, real, world.symbols)
    assert problem is None, f"{expression}: {problem}\n" + "\n".join(
        f"{name} = {value}" for name, value in world.abstract.items() if name in expression
    )
    return called


def hosted(template: str) -> str:
    """The same expression on NumPy's functions."""
    return template.replace("jnp.", "np.").replace("np.bfloat16", "np.float32")


@pytest.mark.parametrize("group", GROUPS)
def test_claims_hold_in_jax(group: str) -> None:
    source = random.Random(group)
    for template in GROUPS[group]:
        for _ in range(4):
            check(template, World(source))


@pytest.mark.parametrize(
    "group", [name for name in GROUPS if name not in ("nn", "lax", "lax elementwise", "special", "random")]
)
def test_claims_hold_in_numpy(group: str) -> None:
    source = random.Random(group)
    for template in GROUPS[group]:
        if not any(word in template for word in ("jax.", "lax.")):
            for _ in range(10):
                check(hosted(template), World(source, host=True))


@given(
    st.sampled_from(sorted(template for group in GROUPS.values() for template in group)),
    st.randoms(use_true_random=False),
)
@settings(max_examples=300, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_claims_hold_for_random_shapes(template: str, source: random.Random) -> None:
    check(template, World(source))


def test_each_function_is_checked_against_jax() -> None:
    source = random.Random(0)
    names = {f"jax.{name}" for name in arrays.FUNCTIONS if not name.startswith("numpy.random")}
    missing = names - ELSEWHERE - NOT_IN_JAX
    for template in (template for group in GROUPS.values() for template in group):
        function = template.partition("(")[0].replace("jnp.", "jax.numpy.").replace("lax.", "jax.lax.")
        # Many dtypes are refused by many functions: draw until one is taken.
        for _ in range(80):
            if function not in missing:
                break
            missing -= check(template, World(source))
    assert sorted(missing) == []
