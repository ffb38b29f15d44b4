"""key-reuse and key-constant: what the linter says of programs that are made at random, and of shapes that matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import dedent

import pytest
from examples import fixed, linted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

RULES = ("key-reuse", "key-constant")
property_test = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def lines(text: str, rule: str = "key-reuse") -> list[int]:
    """The lines in which a rule reports."""
    return sorted({finding.span.line for finding in linted(text).findings if finding.name == rule})


def after_fixes(text: str) -> str:
    return str(fixed(text, frozenset(RULES)).loaded.sources[0].text)


# Straight-line programs, against a model that counts


@dataclass
class Model:
    """Runs the operations on numbered keys and notes the lines that use one again."""

    held: dict[str, int] = field(default_factory=lambda: {"a": 0, "b": 1})
    used: set[int] = field(default_factory=set)
    source: list[str] = field(default_factory=lambda: ["from jax import random", "", "def f(a, b):"])
    wrong: list[int] = field(default_factory=list)
    made: int = 2

    def use(self, name: str) -> None:
        """A draw or a split consumes the key that a name holds."""
        if self.held[name] in self.used:
            self.wrong.append(len(self.source) + 1)
        self.used.add(self.held[name])

    def fresh(self, name: str) -> None:
        """A name gets another key."""
        self.held[name] = self.made
        self.made += 1

    def draw(self, name: str) -> None:
        self.use(name)
        self.source.append(f"    print(random.normal({name}))")

    def split(self, name: str, first: str, second: str) -> None:
        self.use(name)
        self.source.append(f"    {first}, {second} = random.split({name})")
        self.fresh(first)
        self.fresh(second)

    def alias(self, name: str, other: str) -> None:
        self.source.append(f"    {other} = {name}")
        self.held[other] = self.held[name]

    def pick(self, name: str, index: int) -> None:
        """An element of a batch of its own: never used before."""
        self.use(name)
        self.source.append(f"    {name} = random.split({name}, 5)[{index}]")
        self.fresh(name)

    @property
    def text(self) -> str:
        return "\n".join([*self.source, "    return a, b", ""])


NAMES = st.sampled_from(["a", "b"])
OPERATIONS = st.one_of(
    st.tuples(st.just("draw"), NAMES),
    st.tuples(st.just("split"), NAMES, st.just("a"), st.just("b")),
    st.tuples(st.just("alias"), NAMES, NAMES),
    st.tuples(st.just("pick"), NAMES, st.integers(0, 4)),
)


def modelled(operations: list[tuple[str, ...]]) -> Model:
    model = Model()
    for name, *arguments in operations:
        getattr(model, name)(*arguments)
    return model


@property_test
@given(st.lists(OPERATIONS, max_size=8))
def test_straight_lines_are_counted(operations: list[tuple[str, ...]]) -> None:
    model = modelled(operations)
    assert lines(model.text) == sorted(set(model.wrong)), model.text


@property_test
@given(st.lists(st.tuples(st.just("draw"), NAMES), max_size=6))
def test_draws_that_share_a_key_are_told_apart_by_the_fix(operations: list[tuple[str, ...]]) -> None:
    after = after_fixes(modelled(operations).text)
    compile(after, "after", "exec")
    assert lines(after) == [], after
    assert after_fixes(after) == after


@property_test
@given(st.lists(OPERATIONS, max_size=4), st.lists(OPERATIONS, max_size=4))
def test_exclusive_branches_do_not_add_up(left: list[tuple[str, ...]], right: list[tuple[str, ...]]) -> None:
    """`if x: A; return` and then B says what A and B say, each on its own."""
    one, other = modelled(left), modelled(right)
    body = ["    " + line for line in one.source[3:]]
    text = "\n".join([
        "from jax import random", "", "def f(a, b, x):", "    if x:", *body, "        return a, b", *other.source[3:],
        "    return a, b", "",
    ])  # fmt: skip
    expected = [line + 1 for line in one.wrong] + [line + len(body) + 2 for line in other.wrong]
    assert lines(text) == sorted(set(expected)), text


# Parts of a batch


INDICES = st.integers(-4, 3)
BOUNDS = st.one_of(st.none(), st.integers(0, 4))


@st.composite
def selections(draw: st.DrawFn) -> tuple[str, frozenset[int]]:
    """How a part of four keys is written, and which keys it is."""
    if draw(st.booleans()):
        index = draw(INDICES)
        return f"[{index}]", frozenset({index % 4})
    lower, upper = draw(BOUNDS), draw(BOUNDS)
    return f"[{'' if lower is None else lower}:{'' if upper is None else upper}]", frozenset(range(4)[lower:upper])


@property_test
@given(selections(), selections())
def test_parts_of_a_batch_meet_where_their_indices_do(
    left: tuple[str, frozenset[int]], right: tuple[str, frozenset[int]]
) -> None:
    def use(selection: str) -> str:
        part = f"keys{selection}"
        return f"jax.vmap(jax.random.normal)({part})" if ":" in selection else f"jax.random.normal({part})"

    text = (
        "import jax\n\ndef f(key):\n    keys = jax.random.split(key, 4)\n"
        f"    one = {use(left[0])}\n    other = {use(right[0])}\n    return one, other\n"
    )
    found = lines(text)
    assert found in ([], [6])
    if left[1] and right[1] and not left[1] & right[1]:
        assert found == [], text
    if left[1] & right[1]:
        assert found == [6], text


# Shapes


def test_tag_of_fold_in() -> None:
    text = dedent("""
        from jax import random

        def f(key, n):
            a = random.normal(random.fold_in(key, 1))
            b = random.normal(random.fold_in(key, 1))
            for i in range(n):
                a += random.normal(random.fold_in(key, i))
            return a + b

        def g(key, n):
            return random.split(key, n), random.fold_in(key, n)

        def h(key):
            return random.split(key, 3), random.fold_in(key, 99)

        def k(key):
            return random.split(key, 3), random.fold_in(key, 2)
    """)
    assert lines(text) == [6, 18]


def test_optional_key() -> None:
    text = dedent("""
        from jax import random

        def f(key=None):
            if key is None:
                key = random.key(0)
            return random.normal(key) + random.uniform(key)
    """)
    assert lines(text) == [7]
    assert lines(text, "key-constant") == []


def test_key_is_made_anew_by_each_call() -> None:
    text = dedent("""
        from jax import random

        class Stream:
            def __init__(self, seed):
                self.key = random.key(seed)

            def next(self):
                self.key, key = random.split(self.key)
                return key

        stream = Stream(0)
        print(random.normal(stream.next()), random.normal(stream.next()))
    """)
    assert lines(text) == []


def test_base_of_a_method_call_is_used_once() -> None:
    assert lines("from jax import random\n\ndef f(key, n):\n    return random.split(key, n).reshape(2, -1, 2)\n") == []


def test_variants_that_are_compared() -> None:
    text = dedent("""
        import jax

        def cost(theta, key):
            return theta * jax.random.normal(key)

        def f(key):
            slow, fast = cost(1.0, key), jax.jit(cost)(1.0, key)
            return slow, fast, jax.grad(cost)(1.0, key)

        def slope(key):
            return cost(1.1, key) - cost(0.9, key)

        def two(key):
            return cost(1.1, key) + cost(0.9, key)
    """)
    assert lines(text) == [15]


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("assert jnp.allclose(a, 2 * b)", []),
        ("np.testing.assert_array_equal(a[0], b)", []),
        ("assert (a == b).all()", []),
        ("self.assertEqual(a, b)", []),
        ("self.assertTrue(bool((a == b).all()))", []),
        ("print('correlated:', bool((a == b).all()))", [6]),
        ("return jnp.allclose(a, b)", [6]),
        ("assert a.shape == b.shape", [6]),
        ("self.assertNotEqual(a, b)", [6]),
        ("chex.assert_trees_all_equal_dtypes(a, b)", [6]),
        ("assert jnp.allclose(a, a)", [6]),
    ],
)
def test_results_that_must_be_the_same_may_share_a_key(check: str, expected: list[int]) -> None:
    text = f"""import jax
import jax.numpy as jnp

def test_it(self, key):
    a = jax.random.normal(key, (3,))
    b = jnp.stack([jax.random.normal(k) for k in jax.random.split(key, 3)])
    {check}
"""
    assert lines(text) == expected


def test_new_names_are_new_in_their_function() -> None:
    draw = "def {}(key):\n    return random.normal(key) + random.normal(key)\n\n\n"
    other = "def other(x):\n    key_1 = x\n    return key_1\n"
    fixed_text = after_fixes("from jax import random\n\n\n" + draw.format("f") + draw.format("g") + other)
    assert fixed_text.count("key_1, key_2 = random.split(key)") == 2
    assert "key_1_2" in after_fixes("from jax import random\n\nkey_1 = 0\n\n\n" + draw.format("f"))


def test_loops_with_an_index_into_a_batch() -> None:
    text = dedent("""
        from jax import random

        def f(key, n, names):
            keys = random.split(key, n)
            found = [random.normal(keys[i]) for i in range(n)]
            for name, k in zip(names, keys):
                print(name, random.normal(k))
            twice = [random.normal(keys[i]) + random.uniform(keys[i]) for i in range(n)]
            return found, twice
    """)
    assert lines(text) == [9]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x + random.normal(key)", [8]),
        ("x + random.normal(random.fold_in(key, i))", []),
        ("lax.cond(x > 0, lambda k: random.normal(k), lambda k: random.uniform(k), random.fold_in(key, i))", []),
    ],
)
def test_body_of_a_compiled_loop(body: str, expected: list[int]) -> None:
    text = dedent(f"""
        import jax
        from jax import lax, random

        @jax.jit
        def f(key, x):
            def body(i, x):
                return {body}

            return lax.fori_loop(0, 3, body, x)
    """)
    assert lines(text) == expected
    assert lines(after_fixes(text)) == []


def test_finding_tells_both_places_by_their_names() -> None:
    text = dedent("""
        from jax import random

        def draw(rng):
            return random.normal(rng)

        def f(key):
            x = random.normal(key)
            return x + draw(key)
    """)
    (finding,) = [one for one in linted(text).findings if one.name == "key-reuse"]
    assert finding.span.line == 9
    assert "`key`" in finding.message
    assert [step.line for step in finding.because] == [8]


def test_tests_and_plain_functions_may_have_literal_seeds() -> None:
    text = dedent("""
        import jax

        def sample(n):
            return jax.random.normal(jax.random.key(0), (n,))

        def test_sample():
            for n in range(3):
                assert (sample(n) == jax.random.normal(jax.random.key(0), (n,))).all()
    """)
    assert lines(text, "key-constant") == []
