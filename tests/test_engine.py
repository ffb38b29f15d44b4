"""Linting as its callers see it: imports that are followed, guards that are respected, programs that break off."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from examples import ROOT, checked, linted, loaded, settings
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from jaxlint.engine import Loaded, lint, load, replaced
from jaxlint.source.text import SourceFile

FIXTURES = sorted((ROOT / "fixtures").rglob("*.py"))
ALONE = [file for file in FIXTURES if "linked" not in file.parts]


def places(text: str, target: str | None = None) -> list[tuple[int, str]]:
    """Line and rule of every finding."""
    return [(one.span.line, one.name) for one in linted(textwrap.dedent(text), target).findings]


def project(**files: str) -> list[tuple[str, int, str]]:
    """Path, line and rule of every finding in files that import each other."""
    texts = {name: textwrap.dedent(text) for name, text in files.items()}
    found = checked(lint(loaded(**texts), settings())).findings
    return [(one.path, one.span.line, one.name) for one in found]


# Ways of importing and naming

WAYS = {
    "plain": "import jax\njit, grad = jax.jit, jax.grad\n",
    "under another name": "import jax as j\njit = j.jit\ngrad = j.grad\n",
    "single names": "from jax import grad, jit\n",
    "renamed names": "from jax import grad as G, jit as J\njit, grad = J, G\n",
    "several modules": "import jax.numpy, jax\njit = jax.jit\ngrad = jax.grad\n",
    "everything": "from jax import *\n",
    "behind a guard": "try:\n    from jax import jit, grad\nexcept ImportError:\n    raise SystemExit\n",
}

SPELLINGS = {
    "call": "slope = grad(jit(f))\n",
    "steps": "f = jit(f)\nslope = grad(f)\n",
    "partial": "from functools import partial\nslope = partial(grad, argnums=0)(partial(jit)(f))\n",
    "module partial": "import functools as ft\nfast = ft.partial(jit, static_argnums=())\nslope = grad(fast(f))\n",
    "lambda": "slope = grad(jit(lambda x: x * x))\n",
    "decorators": "@grad\n@jit\ndef slope(x):\n    return x * x\n",
    "factory": "@grad\n@jit(inline=True)\ndef slope(x):\n    return x * x\n",
    "composition": "compose = lambda g: grad(jit(g))\nslope = compose(f)\n",
    "chosen": "transforms = {'fast': jit}\nslope = grad(transforms['fast'](f))\n",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_importing_and_applying(way: str, spelling: str) -> None:
    start = WAYS[way] + "def f(x):\n    return x * x\n"
    text = start + SPELLINGS[spelling] + "print(slope(1.0), slope(2.0))\n"
    ast.parse(text)
    found = places(text)
    assert [rule for _, rule in found] == ["grad-of-jit"], text
    assert found[0][0] > start.count("\n")


@pytest.mark.parametrize(
    "start",
    [
        "def jit(f):\n    return f\nfrom jax import grad\n",
        "from numba import jit\nfrom jax import grad\n",
        "import jax\nfrom jax import grad\n\nclass jax:\n    jit = staticmethod(lambda f: f)\njit = jax.jit\n",
        "from jax import grad, jit\njit = lambda f: f\n",
        "from mine import jit, grad\nimport jax\n",
    ],
)
def test_what_is_not_jax_is_left_alone(start: str) -> None:
    assert places(start + "slope = grad(jit(lambda x: x * x))\nprint(slope(1.0), slope(2.0))\n") == []


# Several files

KERNEL = """
    import jax

    @jax.jit
    def kernel(x, flag):
        if flag > 0:
            return x
        return -x

    @jax.jit
    def smooth(x):
        return x * x
"""


def test_imported_functions_are_followed() -> None:
    found = project(
        kernels=KERNEL,
        use="""
            import jax
            from kernels import smooth as s

            slope = jax.grad(s)
            print(slope(1.0), slope(2.0))
        """,
    )
    assert found == [("kernels.py", 6, "traced-branch"), ("use.py", 5, "grad-of-jit")]


@pytest.mark.parametrize(
    "statement, name",
    [
        ("import kernels", "kernels.smooth"),
        ("import kernels as k", "k.smooth"),
        ("from kernels import *", "smooth"),
        ("from names import smooth", "smooth"),
        ("import names", "names.kernels.smooth"),
    ],
)
def test_ways_through_modules(statement: str, name: str) -> None:
    found = project(
        kernels="import jax\n\n@jax.jit\ndef smooth(x):\n    return x * x\n",
        names="import kernels\nfrom kernels import smooth\n",
        use=f"import jax\n{statement}\nslope = jax.grad({name})\nprint(slope(1.0), slope(2.0))\n",
    )
    assert found == [("use.py", 3, "grad-of-jit")]


def test_a_helper_is_judged_by_how_another_file_traces_it() -> None:
    helper = "def choose(x):\n    if x > 0:\n        return x\n    return -x\n"
    assert project(helper=helper, use="from helper import choose\nimport jax\nprint(choose(1.0))\n") == []
    use = "from helper import choose\nimport jax\nprint(jax.jit(choose)(1.0))\n"
    assert project(helper=helper, use=use) == [("helper.py", 2, "traced-branch")]


def test_modules_that_import_each_other_end() -> None:
    found = project(
        one="import jax\nimport two\n\n@jax.jit\ndef f(x):\n    return two.g(x)\n",
        two="import jax\nimport one\n\ndef g(x):\n    return one.f(x) if x.ndim else x\n",
    )
    assert found == []


# Guards


@pytest.mark.parametrize(
    "guard",
    [
        "with pytest.raises(Exception):",
        "with pytest.raises(jax.errors.TracerBoolConversionError, match='bool'):",
        "with jax.disable_jit():",
        "with contextlib.suppress(Exception):",
    ],
)
def test_what_is_expected_to_fail_is_not_reported(guard: str) -> None:
    text = (
        "import contextlib\nimport jax\nimport pytest\n\n"
        "def choose(x):\n    return x if x > 0 else -x\n\n"
        f"{guard}\n    jax.jit(choose)(1.0)\n"
    )
    assert places(text) == []
    assert places(text.replace(guard, "if True:")) == [(6, "traced-branch")]


def test_fragments_with_undefined_names() -> None:
    assert places("import jax\n\n@jax.jit\ndef step(p, x):\n    return update(p, jax.grad(loss)(p, x))\n") == []
    assert places("import jax\nstep = jax.jit(step)\nfor epoch in range(3):\n    p = step(p, x)\n") == []


def test_files_without_jax_are_not_looked_at() -> None:
    assert places("x = 1\nif x:\n    undefined(x)\n") == []


# Robustness


@pytest.mark.parametrize(
    "text", ["", "\n", "\ufeff", "# jax", "jax", "import jax", "\tx = jax", "jax\\", "'''jax", "(" * 500 + "jax"]
)
def test_odd_texts(text: str) -> None:
    assert all(name == "syntax-error" for _, name in places(text))


def test_what_cannot_be_read_does_not_hide_the_rest(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "latin.py").write_bytes(b"# \xe9\n")
    (tmp_path / "good.py").write_text("import jax\nprint(jax.grad(lambda x: x * 0.5)(2))\n")
    files = [tmp_path / name for name in ("missing.py", "broken.py", "latin.py", "good.py")]
    found = checked(lint(load(files), settings())).findings
    assert {(Path(one.path).name, one.name) for one in found} == {
        ("missing.py", "syntax-error"),
        ("broken.py", "syntax-error"),
        ("latin.py", "syntax-error"),
        ("good.py", "grad-int-input"),
    }


def test_the_same_text_gives_the_same_findings() -> None:
    files = load(ALONE)
    first = lint(files, settings())
    assert first.findings and first == lint(files, settings())
    alone = [one for file in ALONE for one in lint(load([file]), settings()).findings]
    assert sorted(alone, key=str) == sorted(first.findings, key=str)


@pytest.mark.parametrize("file", FIXTURES, ids=lambda file: file.stem)
def test_a_file_being_typed_never_fails(file: Path) -> None:
    """Every tenth prefix ends somewhere in a word, a string or a bracket; each line end is a prefix as well."""
    text = file.read_text("utf-8")
    ends = {
        *range(0, len(text), max(len(text) // 40, 1)),
        *(i for i, c in enumerate(text, 1) if c == "\n" and i % 3 == 0),
    }
    files = loaded(typed="")
    for end in sorted(ends):
        outcome = lint(replaced(files, {"typed.py": SourceFile.from_text("typed.py", text[:end])}), settings())
        assert not outcome.failures, (text[:end], outcome.failures)


@pytest.mark.parametrize("file", FIXTURES, ids=lambda file: file.stem)
def test_a_file_with_a_line_missing_never_fails(file: Path) -> None:
    lines = file.read_text("utf-8").splitlines(keepends=True)
    for number in range(0, len(lines), 3):
        text = "".join(lines[:number] + lines[number + 1 :])
        outcome = lint(loaded(without=text), settings())
        assert not outcome.failures, (number + 1, outcome.failures)


# Generated programs: small, syntactically right, and mostly senseless.

NAMES = st.sampled_from(["x", "y", "f", "g", "key", "self", "jax", "jnp", "params"])
ATOMS = st.one_of(
    NAMES,
    st.sampled_from(
        ["0", "1", "-1", "2.5", "None", "True", "'a'", "()", "[]", "{}", "...", "lambda x: x", "lambda *a, **k: a"]
    ),
)
FUNCTIONS = st.sampled_from(
    [
        "jax.jit",
        "jax.vmap",
        "jax.grad",
        "jax.value_and_grad",
        "jax.hessian",
        "jax.pmap",
        "jax.checkpoint",
        "jax.lax.scan",
        "jax.lax.cond",
        "jax.lax.while_loop",
        "jax.lax.fori_loop",
        "jax.lax.switch",
        "jax.lax.map",
        "jax.random.split",
        "jax.random.normal",
        "jax.random.key",
        "jax.tree.map",
        "jax.jvp",
        "jax.vjp",
        "jnp.zeros",
        "jnp.arange",
        "jnp.sum",
        "jnp.where",
        "jnp.reshape",
        "jnp.stack",
        "partial",
        "range",
        "len",
        "zip",
        "enumerate",
        "map",
        "sorted",
        "print",
        "isinstance",
        "getattr",
        "x",
        "f",
        "g",
        "x.at",
        "params.get",
        "key.shape",
    ]
)
OPTIONS = st.sampled_from(
    [
        "in_axes",
        "out_axes",
        "static_argnums",
        "static_argnames",
        "argnums",
        "axis",
        "shape",
        "donate_argnums",
        "has_aux",
    ]
)


def _call(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    keyword = st.builds("{}={}".format, OPTIONS, children)
    star = st.builds("*{}".format, NAMES)
    positional = st.lists(st.one_of(children, star), max_size=3)
    called = st.one_of(FUNCTIONS, children.map("({})".format))
    return st.builds(
        lambda function, first, last: f"{function}({', '.join([*first, *last])})",
        called,
        positional,
        st.lists(keyword, max_size=1),
    )


def _compound(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    inner = children.map("({})".format)
    operators = st.sampled_from(["+", "-", "*", "/", "**", "@", "//", "%", "<", ">=", "==", "and", "or", "is", "in"])
    return st.one_of(
        _call(children),
        st.builds("{} {} {}".format, inner, operators, inner),
        st.builds("{}[{}]".format, inner, children),
        st.builds(
            "{}.{}".format, inner, st.sampled_from(["shape", "T", "at", "dtype", "sum", "append", "items", "item"])
        ),
        st.builds("({} if {} else {})".format, children, children, children),
        st.builds("({}, {})".format, children, children),
        st.builds("{{'a': {}, **{}}}".format, children, inner),
        st.builds("[{} for x in {} if {}]".format, children, inner, inner),
        st.builds("(y := {})".format, children),
        st.builds("f'{{{}}}'".format, NAMES),
        st.builds("(lambda x, y=1, *, key=None: {})".format, children),
    )


EXPRESSIONS = st.recursive(ATOMS, _compound, max_leaves=8)


def _indented(body: list[str]) -> str:
    return textwrap.indent("\n".join(body) or "pass", "    ")


def _block(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(children, min_size=1, max_size=3).map(_indented)
    decorator = st.sampled_from(
        [
            "",
            "@jax.jit\n",
            "@partial(jax.jit, static_argnums=(0,))\n",
            "@jax.vmap\n",
            "@jax.custom_vjp\n",
            "@property\n",
        ]
    )
    parameters = st.sampled_from(["", "x", "self, x", "x, y=2", "*x, **y", "x, /, y, *, key: jax.Array = None"])
    return st.one_of(
        st.builds(
            "{}def {}({}):\n{}\n    return {}".format, decorator, st.sampled_from("fg"), parameters, body, EXPRESSIONS
        ),
        st.builds("if {}:\n{}\nelse:\n{}".format, EXPRESSIONS, body, body),
        st.builds("for {} in {}:\n{}".format, st.sampled_from(["x", "x, y", "x, *y", "x[0]"]), EXPRESSIONS, body),
        st.builds("while {}:\n{}\n    break".format, EXPRESSIONS, body),
        st.builds("class A({}):\n{}".format, st.sampled_from(["", "f", "A", "jax.Array"]), body),
        st.builds("try:\n{}\nexcept Exception as y:\n{}\nfinally:\n{}".format, body, body, body),
        st.builds("with {} as x:\n{}".format, EXPRESSIONS.map("({})".format), body),
        st.builds(
            "match {}:\n    case [x, *y]:\n{}".format, EXPRESSIONS, body.map(lambda text: textwrap.indent(text, "    "))
        ),
    )


SIMPLE = st.one_of(
    st.builds("{} = {}".format, st.sampled_from(["x", "y", "f", "g", "x, y", "x[0]", "x.y", "(x, *y)"]), EXPRESSIONS),
    st.builds("{} += {}".format, st.sampled_from(["x", "x[0]", "x.y"]), EXPRESSIONS),
    EXPRESSIONS,
    st.sampled_from(
        ["del x", "global x", "import jax as x", "from jax import numpy as jnp, jit as f", "x: int = 1", "f(f)"]
    ),
    st.builds("assert {}, {}".format, EXPRESSIONS, EXPRESSIONS),
)
PROGRAMS = st.lists(st.recursive(SIMPLE, _block, max_leaves=6), min_size=1, max_size=5)


unhurried = profile(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


@given(PROGRAMS)
@unhurried
def test_no_program_makes_the_analysis_fail(statements: list[str]) -> None:
    text = "\n".join(["import jax", "import jax.numpy as jnp", "from functools import partial", *statements, ""])
    linted(text)


@given(PROGRAMS, PROGRAMS)
@unhurried
def test_no_pair_of_files_makes_the_analysis_fail(first: list[str], second: list[str]) -> None:
    one = "\n".join(["import jax", "from two import *", *first, ""])
    two = "\n".join(["import jax, one", "import jax.numpy as jnp", "from one import x, f", *second, ""])
    checked(lint(loaded(one=one, two=two), settings()))


def test_loaded_files_are_replaced_by_their_path() -> None:
    files: Loaded = replaced(loaded(a="x = 1\n"), {"a.py": SourceFile.from_text("a.py", "x = (\n")})
    assert [one.name for one in lint(files, settings()).findings] == ["syntax-error"]


@pytest.mark.parametrize("operator", ["and", "or"])
@pytest.mark.parametrize(("terms", "read"), [(900, True), (1001, False), (8000, False)])
def test_chains_that_would_break_the_parser_are_not_read(operator: str, terms: int, read: bool) -> None:
    text = "import jax\nx = 1\nif " + f" {operator} ".join(["x"] * terms) + ":\n    pass\n"
    assert [one.code for one in linted(text).findings] == ([] if read else ["JAX000"])


@pytest.mark.parametrize(
    "before", ["x = ", "@", "if x:\n    pass\nelif ", "try:\n    pass\nexcept ", "match x:\n    case 1 if "]
)
@pytest.mark.parametrize(("calls", "read"), [(300, True), (1100, False), (8000, False)])
def test_chained_calls_that_would_take_minutes_are_not_read(before: str, calls: int, read: bool) -> None:
    after = {"x": "", "@": "\ndef f():\n    pass"}.get(
        before[0], ":\n    pass" if "match" not in before else ":\n        pass"
    )
    text = f"import jax\n{before}a" + ".b()" * calls + after + "\n"
    assert [one.code for one in linted(text).findings] == ([] if read else ["JAX000"])


def test_what_only_python_can_parse_is_a_finding_and_no_failure() -> None:
    (finding,) = linted("import jax\nx = (" + " ".join(["'a'"] * 3200) + ")\n").findings
    assert finding.code == "JAX000" and "libcst" in finding.message


# Packages that the API table describes

BRANCH = "import jax\n\n@jax.jit\ndef f(x):\n    return x if x > 0 else -x\n\njax.tree_map\n"


@pytest.mark.parametrize("name", ["math.py", "functools.py", "jax.py", "own/__init__.py"])
def test_own_modules_are_linted_whatever_their_names(tmp_path: Path, name: str) -> None:
    assert [one.name for one in lint(load([written(tmp_path / name)]), settings()).findings] == [
        "traced-branch",
        "removed-api",
    ]


@pytest.mark.parametrize("name", ["jax/__init__.py", "jax/_src/api.py", "numpy/jax_like.py"])
def test_packages_that_the_table_describes_are_not(tmp_path: Path, name: str) -> None:
    file = written(tmp_path / name)
    for folder in file.relative_to(tmp_path).parents[:-1]:
        (tmp_path / folder / "__init__.py").touch()
    assert not lint(load([file]), settings()).findings


def written(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(BRANCH, "utf-8")
    return file
