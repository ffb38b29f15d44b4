"""Spelling names and editing calls: what is written must mean what was asked for."""

# ruff: noqa: E501 - programs before and after stand side by side

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.analysis.context import Context, Text
from jaxlint.config.targets import LATEST
from jaxlint.model import Edit, Span
from jaxlint.program import nodes as n
from jaxlint.program.lower import lower
from jaxlint.program.names import expressions, walk, walk_statements
from jaxlint.repair import add_argument, argument_text, fresh_name, insert_before, operand, remove_argument, spell


def context_of(text: str) -> Context:
    lines = tuple(text.splitlines(keepends=True)) + (("",) if text.endswith("\n") else ())
    return Context(lower(text, "a.py", "a"), Text(lines), LATEST, None)  # type: ignore[arg-type]


def apply(text: str, *edits: Edit) -> str:
    """The text after edits, the last in the text first."""
    lines = text.splitlines(keepends=True) or [""]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for edit in sorted(set(edits), reverse=True):
        start = starts[edit.span.line - 1] + edit.span.column - 1
        end = starts[edit.span.end_line - 1] + edit.span.end_column - 1
        text = text[:start] + edit.content + text[end:]
    return text


def first_call(context: Context) -> n.Call:
    for statement in walk_statements(context.module.body):
        for expression in expressions(statement):
            for node in walk(expression):
                if isinstance(node, n.Call):
                    return node
    raise AssertionError("no call")


def spelled(text: str, dotted: str) -> tuple[str, str]:
    """How `dotted` is written where `HERE` stands, and the text with the import added."""
    position = text.index("HERE")
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    spelling = spell(context_of(text).module, dotted, Span(line, column, line, column + 4))
    return spelling.text, apply(text, *spelling.edits)


def test_what_a_function_binds_outside_is_not_remembered_for_other_places() -> None:
    """A module is looked at once, whatever is asked of it first."""
    text = "import jax as j\ndef g():\n    global j\n    j = 1\n    HERE\nclass A:\n    def f(self):\n        THERE\n"
    module = context_of(text).module
    there = Span(8, 9, 8, 14)
    before = spell(module, "jax.jit", there)
    inside = spell(module, "jax.jit", Span(5, 5, 5, 9))
    assert before.text == "j.jit" == spell(module, "jax.jit", there).text
    assert inside.text != "j.jit"


@pytest.mark.parametrize(
    ("text", "dotted", "expected"),
    [
        ("import jax\nHERE\n", "jax.tree.map", "jax.tree.map"),
        ("import jax as j\nHERE\n", "jax.tree.map", "j.tree.map"),
        ("import jax\nimport jax.numpy as jnp\nHERE\n", "jax.numpy.prod", "jnp.prod"),
        ("from jax import numpy as np\nHERE\n", "jax.numpy.prod", "np.prod"),
        ("from jax import jit as J\nHERE\n", "jax.jit", "J"),
        ("import jax\njnp = jax.numpy\nHERE\n", "jax.numpy.prod", "jnp.prod"),
        ("def f():\n    import jax as j\n    HERE\n", "jax.jit", "j.jit"),
        ("def f():\n    return HERE\n\nimport jax\n", "jax.jit", "jax.jit"),
        ("import functools as ft\nHERE\n", "functools.partial", "ft.partial"),
        ("from jax.extend import core as jc\nHERE\n", "jax.extend.core.Jaxpr", "jc.Jaxpr"),
        ("import jax.extend.core\nHERE\n", "jax.extend.core.Jaxpr", "jax.extend.core.Jaxpr"),
        ("import jax\nHERE\n", "jax.config.update", "jax.config.update"),
    ],
)
def test_the_authors_imports_are_used(text: str, dotted: str, expected: str) -> None:
    assert spelled(text, dotted) == (expected, text)


@pytest.mark.parametrize(
    ("text", "dotted", "expected", "after"),
    [
        ("import jax\nHERE\n", "functools.partial", "functools.partial", "import functools\n\nimport jax\nHERE\n"),
        ("import jax\nHERE\n", "jax.extend.core.Jaxpr", "jax.extend.core.Jaxpr", "import jax\nimport jax.extend.core\nHERE\n"),
        ("'''doc'''\nfrom __future__ import annotations\nHERE\n", "jax.jit", "jax.jit",
         "'''doc'''\nfrom __future__ import annotations\nimport jax\nHERE\n"),
        ("import numpy as np\nHERE\n", "jax.numpy.sum", "jnp.sum", "import jax.numpy as jnp\nimport numpy as np\nHERE\n"),
        ("import jax; HERE\n", "functools.partial", "functools.partial", "import functools\n\nimport jax; HERE\n"),
        ("functools = 3\nHERE\n", "functools.partial", "functools_.partial", "import functools as functools_\nfunctools = 3\nHERE\n"),
        ("import jax\n\ndef f(jax):\n    HERE\n", "jax.jit", "jax_.jit", "import jax\nimport jax as jax_\n\ndef f(jax):\n    HERE\n"),
        ("HERE\nimport jax\n", "jax.jit", "jax.jit", "import jax\nHERE\nimport jax\n"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import jax\nHERE\n", "jax.jit", "jax.jit",
         "import jax\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import jax\nHERE\n"),
    ],
)  # fmt: skip
def test_an_import_is_added_where_none_serves(text: str, dotted: str, expected: str, after: str) -> None:
    assert spelled(text, dotted) == (expected, after)


def test_equal_needs_give_equal_edits() -> None:
    text = "import jax\n\ndef f():\n    return HERE\n\ndef g():\n    return THERE\n"
    module = context_of(text).module
    edits = {spell(module, "jax.extend.core.Var", Span(line, 12, line, 16)).edits for line in (4, 7)}
    assert len(edits) == 1


def test_fresh_name_avoids_every_name() -> None:
    text = "import jax\n\ndef f(step, *step_2):\n    return [step_3 for step_3 in (lambda step_4: step_5)]\n"
    assert fresh_name(context_of(text).module, "step") == "step_6"
    assert fresh_name(context_of(text).module, "map") == "map_2"


CALLS = [
    "f()", "f(a)", "f(a,)", "f(a, b=1)", "f(*a, **k)", "f(x for x in a)", "f((x for x in a))", "f((a, b))",
    "f(\n    a,\n    b,\n)", "f(\n    a,  # first\n    b  # last\n)", "f(a,\n  b)", "f(  # why\n    a,\n)", "f((a), (b)  ,  )",
    "f(a, # one\n  b, # two\n  c # three\n )",
]  # fmt: skip


def shape_of(text: str) -> list[str]:
    call = ast.parse(text).body[0].value  # type: ignore[attr-defined]
    positional = [ast.unparse(argument) for argument in call.args]
    return positional + [f"{k.arg}={ast.unparse(k.value)}" for k in call.keywords]


@pytest.mark.parametrize("text", CALLS)
def test_an_argument_is_added(text: str) -> None:
    context = context_of(text + "\n")
    after = apply(text + "\n", add_argument(first_call(context), "new=0", context))
    assert set(shape_of(after)) == {*shape_of(text), "new=0"}
    assert after.count("#") == text.count("#")


@pytest.mark.parametrize("text", CALLS)
def test_an_argument_is_removed(text: str) -> None:
    context = context_of(text + "\n")
    call = first_call(context)
    for index in range(len(call.arguments)):
        after = apply(text + "\n", remove_argument(call, index, context))
        kept = [a for i, a in enumerate(shape_of(text)) if i != index]
        assert shape_of(after) == kept


def test_comments_of_other_arguments_stay() -> None:
    text = "f(\n    a,  # first\n    b,\n)\n"
    context = context_of(text)
    assert apply(text, remove_argument(first_call(context), 1, context)) == "f(\n    a,  # first\n)\n"


@given(st.sampled_from(["x", "x.y", "x + 1", "-x", "f(x)", "x[0]", "(x, y)", "[1]", "1", "1.5", "x if y else z", "not x",
                        "lambda: 0", "(x) + (y)", "'a'", "{1: 2}", "(y for y in x)", "[y for y in x]", "await_", "x or y"]))  # fmt: skip
def test_an_operand_keeps_its_meaning(text: str) -> None:
    context = context_of(f"f({text})\n")
    argument = first_call(context).arguments[0]
    written = operand(argument_text(argument, context), argument.value)
    tree = ast.parse(f"{written}.at[0]", mode="eval").body
    assert ast.dump(tree.value.value) == ast.dump(ast.parse(text, mode="eval").body)  # type: ignore[attr-defined]


def test_a_statement_is_put_before_another() -> None:
    text = "def f():\n    x = 1\n    return x\n"
    context = context_of(text)
    statement = context.module.body[0].function.body[1]  # type: ignore[union-attr]
    edit = insert_before(statement.span, ["y = 2", "z = 3"], context)
    assert edit is not None
    assert apply(text, edit) == "def f():\n    x = 1\n    y = 2\n    z = 3\n    return x\n"


def test_nothing_is_put_into_a_shared_line() -> None:
    text = "if a: x = 1\n"
    context = context_of(text)
    assert insert_before(context.module.body[0].body[0].span, ["y"], context) is None  # type: ignore[union-attr]
