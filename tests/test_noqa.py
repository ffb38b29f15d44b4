"""`--add-noqa`: after it nothing is found, and nothing but comments has changed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.cli.main import cli

PLAIN = "import jax\n\ny = jax.tree_map(abs, [1])\n"
LONG = "import jax\n\ny = jax.tree_map(\n    abs,\n    ['''a\nb'''],\n)\nz = 1\n"
NOTED = "import jax\n\ny = jax.tree_map(abs, [1])  # why not  # noqa: E501\n"
OWN = "import jax\n\ny = jax.tree_map(abs, [1])  # jaxlint: ignore[vmap-of-jit]\n"
TWO = "import jax\n\ny = jax.vmap(jax.jit(abs))(jax.tree_map(abs, [1]))"


def check(*args: str) -> int:
    result = CliRunner().invoke(
        cli, ["check", "--isolated", "--no-cache", "--ignore", "JAX001", *args], standalone_mode=False
    )
    assert result.exception is None, result.exception
    return int(result.return_value)


@pytest.mark.parametrize("text", [PLAIN, LONG, NOTED, OWN, TWO, PLAIN.replace("\n", "\r\n"), "# é\n" + PLAIN])
def test_nothing_is_found_afterwards_and_the_program_is_the_same(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(text.encode())
    assert check(str(file)) == 1
    assert check("--add-noqa", str(file)) == 0 and check(str(file)) == 0
    after = file.read_bytes().decode()
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(text))
    assert after.count("\r\n") == text.count("\r\n")
    assert check("--add-noqa", str(file)) == 0 and file.read_bytes().decode() == after


def test_codes_join_the_noqa_that_is_there(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(NOTED)
    check("--add-noqa", str(file))
    assert "# why not  # noqa: E501, JAX" in file.read_text()


def test_it_does_not_go_together_with_fixes(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["check", "--add-noqa", "--fix", str(tmp_path)])
    assert result.exit_code == 2 and "`--add-noqa` and `--fix` exclude each other" in result.output


LINES = [
    *PLAIN.splitlines(),
    *LONG.splitlines(),
    "if y:",
    "    jax.tree_map(abs, [2])",
    "# noqa",
    "\\",
]


@given(st.lists(st.sampled_from(LINES), max_size=12).map("\n".join))
def test_any_text_keeps_its_meaning(text: str) -> None:
    from jaxlint.fixes.noqa import with_noqa
    from jaxlint.model import Finding, Severity, Span

    count = len(text.splitlines())
    found = [
        Finding("JAX901", "removed-api", Severity.ERROR, "a.py", Span(n, 1, n, 2), "") for n in range(1, count + 1)
    ]
    try:
        before = ast.dump(ast.parse(text))
    except SyntaxError:
        with_noqa(text, found)
        return
    assert ast.dump(ast.parse(with_noqa(text, found))) == before
