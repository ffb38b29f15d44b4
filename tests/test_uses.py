"""Which outside names a file uses, by Python's scope rules, and which uses are guarded."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.analysis.uses import api_uses
from jaxlint.program.lower import lower


def uses(text: str) -> list[str]:
    """The paths of the uses in expressions, in the order of the text."""
    return [use.path for use in api_uses(lower(textwrap.dedent(text), "a.py", "a")) if use.imported is None]


def guarded(text: str) -> dict[str, bool]:
    return {use.path: use.guarded for use in api_uses(lower(textwrap.dedent(text), "a.py", "a"))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import jax\njax.tree_map", ["jax.tree_map"]),
        ("import jax as j\nj.tree.map", ["jax.tree.map"]),
        ("import jax.numpy\njax.jit", ["jax.jit"]),
        ("import jax.numpy as jnp\njnp.zeros", ["jax.numpy.zeros"]),
        ("from jax import numpy as np\nnp.zeros(3)", ["jax.numpy.zeros"]),
        ("from jax import tree_map as t\nt(f, x)", ["jax.tree_map"]),
        ("import jax\njnp = jax.numpy\njnp.ones", ["jax.numpy", "jax.numpy.ones"]),
        ("from jax.numpy import *\ntrapz(1)", ["jax.numpy.trapz"]),
        ("from jax.numpy import *\nfrom numpy import *\ntrapz(1)", []),
        ("from jax.numpy import *\nlen(1)", []),
        ("from . import jax\njax.tree_map", []),
        ("from .jax import tree_map\ntree_map", []),
        ("def tree_map(f, x): ...\ntree_map(f, x)", []),
        ("import jax\njax = fake\njax.tree_map", []),
        ("import jax\nfor jax in x: jax.tree_map", []),
        ("import jax\ndef f(jax): return jax.tree_map", []),
        ("import jax\ndef f():\n    jax = 1\n    return jax.tree_map", []),
        ("import jax\ndef f(): return jax.tree_map", ["jax.tree_map"]),
        ("def f():\n    import jax\n    def g(): return jax.jit", ["jax.jit"]),
        ("import jax\n[jax.a for jax in jax.b]", ["jax.b"]),
        ("import jax\nlambda jax: jax.a", []),
        ("import jax\nlambda x=jax.a: jax.b", ["jax.a", "jax.b"]),
        ("class A:\n    import jax\n    jax.a\n    def f(self): jax.b", ["jax.a"]),
        (
            "import jax\nclass A(jax.a, metaclass=jax.b):\n    jax = 1\n    def f(self): jax.c",
            ["jax.a", "jax.b", "jax.c"],
        ),
        ("import jax\ndef f():\n    global jax\n    jax = 1\njax.a", []),
        ("import jax\n@jax.jit\ndef f(x: jax.Array = jax.a) -> jax.b: ...", ["jax.jit", "jax.Array", "jax.a", "jax.b"]),
        ("import jax\nf'{jax.a} {jax.b!r}'", ["jax.a", "jax.b"]),
        ("import jax\njax.a(jax.b)[jax.c].d", ["jax.a", "jax.b", "jax.c"]),
        ("import jax\nmatch jax.a:\n    case jax: jax.b", []),
        ("import jax\nwith jax.a() as f, jax.b: jax.c", ["jax.a", "jax.b", "jax.c"]),
        ("import jax\ntry:\n    pass\nfinally:\n    jax.a", ["jax.a"]),
        ("import jax\nx = jax.a\nx", ["jax.a", "jax.a"]),
        ("try:\n    import jax\nexcept ImportError:\n    jax = None\njax.a", ["jax.a"]),
        ("try:\n    from jax import a\nexcept ImportError:\n    from jax.b import a\na()", []),
        ("import jax\nx: jax.a", ["jax.a"]),
        ("import jax\nasync def f(): await jax.a()", ["jax.a"]),
        ("import jax\ndel jax.a, x", ["jax.a"]),
    ],
)
def test_names_are_resolved(text: str, expected: list[str]) -> None:
    assert uses(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    jax.old\nexcept AttributeError:\n    pass",
        "try:\n    pass\nexcept (ValueError, ImportError):\n    jax.old",
        "try:\n    pass\nexcept:\n    jax.old",
        "try:\n    jax.old(a=1)\nexcept TypeError:\n    pass",
        "if hasattr(jax, 'tree'):\n    pass\nelse:\n    jax.old",
        "if hasattr(jax, 'tree'):\n    jax.old",
        "if jax.__version__ < '0.4.26':\n    jax.old",
        "if jax.__version_info__ >= (0, 5):\n    pass\nelif x:\n    jax.old",
        "from packaging import version\nNEW = version.parse(jax.__version__) > V\nif not NEW:\n    jax.old",
        "def is_new():\n    return hasattr(jax, 'tree')\nif is_new():\n    jax.old",
        "x = jax.tree.map if hasattr(jax, 'tree') else jax.old",
        "hasattr(jax, 'old') and jax.old",
        "def f():\n    if hasattr(jax, 'tree'):\n        return 1\n    return jax.old",
        "if getattr(jax, 'tree', None) is None:\n    jax.old",
        "if 'old' in dir(jax):\n    jax.old",
        "import pytest\nwith pytest.raises(AttributeError):\n    jax.old",
        "import contextlib\nwith contextlib.suppress(AttributeError):\n    jax.old",
        "def test(self):\n    with self.assertRaises(AttributeError):\n        jax.old",
        "try:\n    import jax.x\n    HAS = True\nexcept ImportError:\n    HAS = False\nif HAS:\n    jax.old",
        "from .compat import JAX_VERSION\nif JAX_VERSION < (0, 5):\n    def f():\n        jax.old",
        "import pytest\n@pytest.mark.skipif(jax.__version__ > '0.5', reason='')\ndef test():\n    jax.old",
        "import inspect\nif 'x' in inspect.signature(jax.jit).parameters:\n    jax.old",
        "if hasattr(aval, 'vma'):\n    pass\nelse:\n    jax.old",
    ],
)
def test_guarded(text: str) -> None:
    assert guarded("import jax\n" + text)["jax.old"]


@pytest.mark.parametrize(
    "text",
    [
        "jax.old",
        "try:\n    jax.old\nexcept ValueError:\n    pass",
        "try:\n    x\nexcept AttributeError:\n    pass\njax.old",
        "if x:\n    jax.old",
        "if hasattr(x, 'shape'):\n    jax.old",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    jax.old",
        "if hasattr(jax, 'tree'):\n    x = 1\njax.old",
        "with open(x):\n    jax.old",
        "try:\n    x\nfinally:\n    jax.old",
        "@jax.jit\ndef f():\n    jax.old",
    ],
)
def test_not_guarded(text: str) -> None:
    assert not guarded("import jax\n" + text)["jax.old"]


def test_annotations_are_told() -> None:
    found = api_uses(lower("import jax\ndef f(x: jax.A = jax.B) -> list[jax.C]:\n    y: jax.D = jax.E\n", "a.py", "a"))
    assert {use.path: use.in_annotation for use in found} == {
        "jax": False, "jax.A": True, "jax.B": False, "jax.C": True, "jax.D": True, "jax.E": False,
    }  # fmt: skip


def test_the_call_is_told() -> None:
    found = {use.path: use.call for use in api_uses(lower("import jax\njax.a(jax.b)\n", "a.py", "a"))}
    assert found["jax.a"] is not None
    assert found["jax.b"] is None


def test_imports_are_told_with_what_they_load() -> None:
    text = "import jax.lib.xla_bridge, os\nfrom jax.config import config as c\nfrom .a import b\nfrom jax import *\n"
    assert [use.path for use in api_uses(lower(text, "a.py", "a"))] == [
        "jax.lib.xla_bridge",
        "os",
        "jax.config.config",
        "jax",
    ]


EXPRESSIONS = st.recursive(
    st.sampled_from(["jax.a", "jax.b.c", "x", "1"]),
    lambda inner: st.one_of(
        st.builds("({} + {})".format, inner, inner),
        st.builds("f({}, k={})".format, inner, inner),
        st.builds("[{}, *{}]".format, inner, inner),
        st.builds("({} if {} else x)".format, inner, inner),
        st.builds("(lambda y: {})".format, inner),
        st.builds("{{{}: {}}}".format, inner, inner),
        st.builds("[{} for z in {}]".format, inner, inner),
        st.builds("x[{}:{}]".format, inner, inner),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS)
def test_every_chain_is_found_once(expression: str) -> None:
    expected = expression.count("jax.a") + expression.count("jax.b.c")
    assert len(uses(f"import jax\n{expression}\n")) == expected


def test_long_sums_do_not_exhaust_the_stack() -> None:
    assert len(uses("import jax\nx = " + " + ".join(["jax.a"] * 300) + "\n")) == 300
