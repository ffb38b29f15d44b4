"""Branches on tracers written as array operations: the text that comes out, and that it means the same."""

# ruff: noqa: E501 - programs before and after stand side by side

from __future__ import annotations

import textwrap

import numpy as np
import pytest
from examples import fixed, linted, runner
from hypothesis import given
from hypothesis import strategies as st
from test_repair import context_of

from jaxlint.analysis.frames import Frame
from jaxlint.analysis.scope import Scope
from jaxlint.analysis.values import Api, Array, Level, Site, Trace
from jaxlint.model import Safety, Span
from jaxlint.program import nodes as n
from jaxlint.repair.booleans import as_arrays
from jaxlint.repair.numeric import Reader

HEAD = "import jax\nimport jax.numpy as jnp\n\n\ndef helper(x):\n    return 2 * x\n\n\n"
RULES = frozenset({"traced-branch", "traced-while", "traced-loop-range", "traced-shape", "missing-static-argnames"})


def function(body: str, parameters: str = "x, y") -> str:
    return f"{HEAD}@jax.jit\ndef f({parameters}):\n{textwrap.indent(textwrap.dedent(body), '    ')}"


def rewritten(body: str, parameters: str = "x, y") -> str:
    """The body of a jitted function after all fixes."""
    after = fixed(function(body, parameters), RULES).loaded.sources[0].text
    return textwrap.dedent(after.partition(f"def f({parameters}):\n")[2])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if x > 0:\n    return x\nreturn -x\n", "return jnp.where(x > 0, x, -x)\n"),
        ("if x > 0:\n    return x\nelse:\n    return -x\n", "return jnp.where(x > 0, x, -x)\n"),
        (
            "if x > 1:\n    return 1.0\nelif x > 0:\n    return x\nelse:\n    return -x\n",
            "return jnp.where(x > 1, 1.0, jnp.where(x > 0, x, -x))\n",
        ),
        (
            "if x > 1:\n    return 1.0\nif x > 0:\n    return 2.0\nreturn x\n",
            "return jnp.where(x > 1, 1.0, jnp.where(x > 0, 2.0, x))\n",
        ),
        ("if x > 0:\n    z = x + 1\n    return z * 2\nreturn y\n", "return jnp.where(x > 0, (x + 1) * 2, y)\n"),
        ("if x > 0:\n    return x\nz = y + 1\nreturn z\n", "z = y + 1\nreturn jnp.where(x > 0, x, z)\n"),
        ("if x > 0:\n    return x, y\nreturn y, y\n", "return jnp.where(x > 0, x, y), y\n"),
        ("if x > 0:\n    x = -x\nreturn x\n", "x = jnp.where(x > 0, -x, x)\nreturn x\n"),
        ("if x > 0:\n    x += 1\nreturn x\n", "x = jnp.where(x > 0, x + 1, x)\nreturn x\n"),
        ("if x > 0:\n    x *= y + 1\nreturn x\n", "x = jnp.where(x > 0, x * (y + 1), x)\nreturn x\n"),
        ("if x > 0:\n    z = x\nelse:\n    z = y\nreturn z\n", "z = jnp.where(x > 0, x, y)\nreturn z\n"),
        ("if x > 0:\n    a = b = x\nelse:\n    a = b = y\nreturn a\n", "a = jnp.where(x > 0, x, y)\nb = jnp.where(x > 0, x, y)\nreturn a\n"),
        ("b = 2 * y\nif x > 0:\n    b = 3 * x\n    x = y\nreturn x, b\n", "b = 2 * y\nb = jnp.where(x > 0, 3 * x, b)\nx = jnp.where(x > 0, y, x)\nreturn x, b\n"),
        ("if not x > 0 and y > 0:\n    x = y\nreturn x\n", "x = jnp.where(~(x > 0) & (y > 0), y, x)\nreturn x\n"),
        ("if x > 0:\n    return helper(x)\nreturn x\n", "return jax.lax.cond(x > 0, lambda: helper(x), lambda: x)\n"),
        ("z = x if x > y else y\nreturn z\n", "z = jnp.where(x > y, x, y)\nreturn z\n"),
        ("return 0 < x < 1 < y\n", "return (0 < x) & (x < 1) & (1 < y)\n"),
        ("return x > 0 and (y > 0 or x > 3)\n", "return (x > 0) & ((y > 0) | (x > 3))\n"),
        ("return not x > 0\n", "return ~(x > 0)\n"),
        ("return not jnp.any(x > 0)\n", "return ~jnp.any(x > 0)\n"),
        ("return min(x, y)\n", "return jnp.minimum(x, y)\n"),
        ("return max(x, y, 3)\n", "return jnp.maximum(jnp.maximum(x, y), 3)\n"),
        ("return max([x, y])\n", "return jnp.maximum(x, y)\n"),
        ("return sorted((x, y, 0.5))\n", "return jnp.sort(jnp.stack((x, y, 0.5)))\n"),
        ("return x in (1, 2)\n", "return jnp.isin(x, jnp.array([1, 2]))\n"),
        ("return x not in {1, 2}\n", "return ~jnp.isin(x, jnp.array([1, 2]))\n"),
        ("return any([x > 0, y > 0])\n", "return jnp.any(jnp.array([x > 0, y > 0]))\n"),
    ],
)  # fmt: skip
def test_branches_become_array_operations(body: str, expected: str) -> None:
    assert rewritten(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "if x > 0:\n    print(x)\n    return x\nreturn y\n",  # a side effect
        "if x > 0:\n    raise ValueError\nreturn x\n",
        "if x > 0:\n    z = x\nreturn z\n",  # nothing to keep
        "if x > 0:\n    return None\nreturn x\n",
        "if x > 0:\n    return 'positive'\nreturn 'negative'\n",
        "if x > 0:\n    return (x, y)\nreturn x\n",
        "if x > 0:\n    z = x + 1\n    return z * z * z + jnp.exp(z) + jnp.cos(z) if y is None else helper\nreturn y\n",
        "assert x > 0\nreturn x\n",
        "return x or y\n",  # `or` gives one of the values, not a boolean
        "return x and y\n",
        "return min([v for v in (x, y)], key=abs)\n",
        "return 'a' if x > 0 else 'b'\n",
        "z = {}\nif x > 0:\n    z['a'] = x\nreturn z\n",
        "for i in range(3):\n    if x > i:\n        break\nreturn x\n",
        "while x > 0:\n    x = x - 1\n    print(x)\nreturn x\n",
        "while x > 0:\n    if y > 0:\n        break\n    x = x - 1\nreturn x\n",
    ],
)
def test_what_is_not_mechanical_stays(body: str) -> None:
    assert rewritten(body) == body


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if x > 0:  # big\n    x = y\nreturn x  # end\n", "x = jnp.where(x > 0, y, x)  # big\nreturn x  # end\n"),
        (
            "# before\nif x > 0:  # one\n    # two\n    return x  # three\n# four\nreturn y  # five\n",
            "# before\n# one\n# two\n# three\n# four\nreturn jnp.where(x > 0, x, y)  # five\n",
        ),
        ("if x > 0:\n    return x\n# kept\nz = y + 1  # too\nreturn z\n", "# kept\nz = y + 1  # too\nreturn jnp.where(x > 0, x, z)\n"),
        ("z = (x > 0  # one\n     and y > 0)  # two\nreturn z\n", "z = ((x > 0)  # one\n     & (y > 0))  # two\nreturn z\n"),
        (
            "while x > y:  # until\n    # halve\n    x = x / 2\nreturn x\n",
            "def keep_going(x):  # until\n    return x > y\n\ndef step(x):\n    # halve\n    x = x / 2\n    return x\n\n"
            "x = jax.lax.while_loop(keep_going, step, x)\nreturn x\n",
        ),
    ],
)  # fmt: skip
def test_comments_stay(body: str, expected: str) -> None:
    assert rewritten(body) == expected


def test_an_import_is_added_where_the_name_is_not_bound() -> None:
    before = "from jax import jit\n\n\n@jit\ndef f(x):\n    return max(x, 0)\n"
    after = "import jax.numpy as jnp\nfrom jax import jit\n\n\n@jit\ndef f(x):\n    return jnp.maximum(x, 0)\n"
    assert fixed(before, RULES).loaded.sources[0].text == after


# Booleans: every expression keeps its value.

ATOMS = ["p", "q", "a > b", "b <= 2", "a < b < c", "0 < a <= b < 3", "(a == c)", "True", "a + 1 > b * c"]


def expressions() -> st.SearchStrategy[str]:
    atoms = st.sampled_from(ATOMS)
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            inner.map(lambda e: f"not {e}" if e[0] == "(" or e in ATOMS or e.startswith("not ") else f"not ({e})"),
            st.tuples(inner, st.sampled_from([" and ", " or "]), inner).map("".join),
            st.tuples(inner, st.sampled_from([" and ", " or "]), inner).map(lambda parts: f"({''.join(parts)})"),
            inner.map(lambda e: f"( # why\n {e} )"),
        ),
        max_leaves=6,
    )


def reader_of(text: str, site: Site | None = None) -> tuple[n.Expr, Reader]:
    """The value assigned in a text, read in a function that always runs under a transform, or (no site) may not."""
    context = context_of(f"import jax.numpy as jnp\n{text}")
    trace = Trace(Level.TRACED)
    scope = Scope()
    scope.names["jnp"] = Api("jax.numpy")
    scope.names.update({name: Array("float32", (), trace=trace) for name in "abc"})
    scope.names.update({name: Array("bool", (), trace=trace) for name in "pq"})
    statement = context.module.body[1]
    assert isinstance(statement, n.Assign) and statement.value is not None
    span = statement.span
    function = n.Function(span, "f", (), (), None, (), frozenset(), frozenset(), span)
    return statement.value, Reader(Frame("a.py", scope, function, Frame("a.py", Scope(), site=site)), context)


DECORATED = Site("jax.jit", "jit", "a.py", Span(1, 1, 1, 2), Span(1, 1, 1, 2), form="decorator")


@pytest.mark.parametrize("site", [None, DECORATED], ids=["called by anybody", "always traced"])
@given(
    text=expressions(),
    numbers=st.tuples(*[st.integers(0, 3)] * 3),
    flags=st.tuples(st.booleans(), st.booleans()),
    data=st.data(),
)
def test_boolean_rewrites_keep_the_value(
    site: Site | None, text: str, numbers: tuple[int, ...], flags: tuple[bool, ...], data: st.DataObject
) -> None:
    wrapped = f"({text}\n)"
    value, reader = reader_of(f"z = {wrapped}\n", site)
    written = as_arrays(value, reader)
    assert written is not None
    # Where the function may be called eagerly, each value may as well be one of Python's.
    is_python = [site is None and data.draw(st.booleans()) for _ in range(5)]
    values = [number if plain else np.float32(number) for number, plain in zip(numbers, is_python, strict=False)]
    values += [flag if plain else np.bool_(flag) for flag, plain in zip(flags, is_python[3:], strict=True)]
    names = dict(zip("abcpq", values, strict=True))
    assert bool(eval(f"({written}\n)", {"jnp": np}, names)) == bool(eval(wrapped, {}, names))
    assert not {" and ", " or ", "not "} & {word for word in (" and ", " or ", "not ") if word in written}


@given(expressions())
def test_comments_in_booleans_stay(text: str) -> None:
    value, reader = reader_of(f"z = ({text}\n)\n")
    written = as_arrays(value, reader)
    assert written is not None
    inside = reader.context.text.at(value.span)
    assert written.count("# why") == inside.count("# why")


@pytest.mark.parametrize(
    ("text", "safety"),
    [
        ("@jax.jit\ndef f(x):\n    return not x > 0\n", Safety.SAFE),
        ("@jax.jit\ndef f(x):\n    return min(x, 1)\n", Safety.SAFE),
        (
            "@jax.jit\ndef f(x, y=1.0):\n    return max(y, 1)\n\n\nf(1.0, 2.0)\n",
            Safety.UNSAFE,
        ),  # the default is a number
        ("def g(x):\n    return not x > 0\n\n\n@jax.jit\ndef f(x):\n    return g(x)\n", Safety.UNSAFE),
        ("def g(x):\n    return min(x, 1)\n\n\n@jax.jit\ndef f(x):\n    return g(x)\n", Safety.UNSAFE),
        ("def g(x):\n    return 0 < x < 1\n\n\n@jax.jit\ndef f(x):\n    return g(x)\n", Safety.SAFE),
    ],
)
def test_what_python_numbers_may_reach_is_not_safe(text: str, safety: Safety) -> None:
    (finding,) = (one for one in linted(HEAD + text).findings if one.name == "traced-branch")
    assert finding.fix is not None and finding.fix.safety is safety


# Under JAX: the fixed programs run and give what the branches would have given.

PROGRAMS = {
    "choices": """
        @jax.jit
        def f(x, y):
            if 0 < x < 2 and not y > 3:  # both
                a = helper(x) + 1
                b = y
            elif x > 5:
                a, b = x, x
            else:
                a = x - 1
                b = 2 * y
            return a + b


        @jax.jit
        def g(x, y):
            if x > 0 and y > 0:
                a = x * 2
                y = a_third(y)
            else:
                a = x
            return a, y


        def a_third(y):
            return y / 3


        @jax.jit
        def h(x):
            if x > 3:
                return helper(x)
            return x


        @jax.jit
        def k(x):
            if x > 3:
                return 1.0, x
            if x > 2:
                return 2.0, -x
            return x, 0 * x


        assert g(1.0, 3.0) == (2.0, 1.0) and g(-1.0, 3.0) == (-1.0, 3.0)
        assert h(4.0) == 8.0 and h(1.0) == 1.0
        assert k(4.0) == (1.0, 4.0) and k(2.5) == (2.0, -2.5) and k(1.0) == (1.0, 0.0)
    """,
    "builtins": """
        @jax.jit
        def f(x, y):
            return min(x, y), max(x, y, 2.0), sorted([x, y, 0.0]), x in (1, 2), any([x > 3, y > 3]), 0 < x < y


        low, high, ordered, inside, some, between = f(1.0, 3.0)
        assert (low, high, inside, some, between) == (1.0, 3.0, True, False, True)
        assert ordered.tolist() == [0.0, 1.0, 3.0]
    """,
    "loops": """
        @jax.jit
        def root(a):
            r = a
            rounds = 0
            while jnp.abs(r * r - a) > 1e-4 and rounds < 50:
                ratio = a / r
                r = 0.5 * (r + ratio)
                rounds += 1
            return r, rounds


        @jax.jit
        def before_peak(x):
            total = 0.0
            last = -1.0
            for i in range(jnp.argmax(x)):
                total = total + x[i]
                last = x[i]
            return total, last


        r, rounds = root(9.0)
        assert abs(r - 3.0) < 1e-3 and 0 < rounds < 50
        assert before_peak(jnp.array([1.0, 2.0, 5.0, 3.0])) == (3.0, 2.0)
    """,
    "lists": """
        LEVELS = [0.5, 2.0]
        OPERATIONS = (jnp.sin, helper)


        @jax.jit
        def f(x, i):
            return LEVELS[i] * OPERATIONS[i](x)


        assert f(3.0, 1) == 12.0
    """,
    "statics": """
        from functools import partial


        @partial(jax.jit, static_argnums=0)
        def f(n, k, /, x):
            return jnp.zeros(k) + n + x


        @jax.checkpoint
        def g(x, flag):
            if flag:
                return x
            return -x


        class Window:
            def _ramp(n):
                return jnp.arange(n)

            ramp = staticmethod(jax.jit(_ramp))

            @partial(jax.jit, static_argnames=["self"])
            def head(self, x, k):
                return x[:k]


        assert f(1, 2, 3.0).shape == (2,) and g(1.0, True) == 1.0
        assert Window.ramp(3).tolist() == [0, 1, 2] and Window().head(jnp.ones(3), 2).shape == (2,)
    """,
}


@pytest.mark.jax
def test_fixed_programs_run() -> None:
    programs = {name: HEAD + textwrap.dedent(text) for name, text in PROGRAMS.items()}
    after = {name: fixed(text, RULES) for name, text in programs.items()}
    left = {
        name: [str(one) for one in outcome.remaining.findings if one.name in RULES] for name, outcome in after.items()
    }
    assert left["builtins"] == left["loops"] == left["lists"] == left["statics"] == []
    failed = runner({name: outcome.loaded.sources[0].text for name, outcome in after.items()})
    assert {name: outcome for name, outcome in failed.items() if outcome} == {}


@pytest.mark.parametrize("call", ["power(x, n - 1)", "f.power(x, n - 1)"])
def test_a_recursive_function_keeps_its_branch(call: str) -> None:
    """`lax.cond` traces both sides, and so would never end."""
    text = f"import jax\n\n\n@jax.jit\ndef power(x, n):\n    if n == 0:\n        return x\n    return x * {call}\n"
    assert linted(text).findings[0].fix is None
