from __future__ import annotations

import pytest

from jaxlint.fixes.edits import apply_edits
from jaxlint.model import Finding, Severity, Span
from jaxlint.registry import rules
from jaxlint.source.suppressed import silence

ALL = frozenset(rule.code for rule in rules())


def finding(line: int, end_line: int | None = None, code: str = "JAX101") -> Finding:
    name = next(rule.name for rule in rules() if rule.code == code)
    return Finding(code, name, Severity.WARNING, "a.py", Span(line, 1, end_line or line, 2), "wrong")


def silenced(text: str, *findings: Finding) -> bool:
    return not silence(text, "a.py", findings or [finding(1)])


def unused(text: str, *findings: Finding, enabled: frozenset[str] = ALL) -> list[Finding]:
    return [one for one in silence(text, "a.py", findings, enabled=enabled) if one.code == "JAX001"]


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa",
        "# NOQA",
        "#noqa:JAX101",
        "# noqa: JAX101",
        "# noqa: E501, JAX101",
        "# noqa: E501 JAX101 because it is known",
        "# noqa: JAX1",
        "# noqa: jax101",
        "# type: ignore # noqa: JAX101",
        "# jaxlint: ignore",
        "# jaxlint: ignore[vmap-of-jit]",
        "# jaxlint: ignore[JAX101, syntax-error] known",
        "# jaxlint: ignore[JAX1]",
        "# jaxlint: ignore-file",
        "# jaxlint: ignore-file[vmap-of-jit]",
    ],
)
def test_comments_that_silence(comment: str) -> None:
    assert silenced(f"x = 1  {comment}\n")


@pytest.mark.parametrize(
    "line",
    [
        "x = 1  # noqa: E501",
        "x = 1  # noqa: JAX2",
        "x = 1  # jaxlint: ignore[syntax-error]",
        "x = 1  # jaxlint: ignore-this",
        "x = 1  # flake8: noqa",
        "x = '# noqa'",
        "x = '''\n# jaxlint: ignore-file\n'''",
        "x = 1\n# noqa",
    ],
)
def test_what_does_not_silence(line: str) -> None:
    assert not silenced(f"{line}\n")


@pytest.mark.parametrize("comment", ["# flake8: noqa", "# ruff: noqa: JAX101", "# jaxlint: ignore-file[JAX1]"])
def test_a_file_is_silenced_from_any_line_of_its_own(comment: str) -> None:
    assert silenced(f"x = 1\ny = 2\n{comment}\n")


@pytest.mark.parametrize("line", [1, 2, 3, 4])
def test_a_comment_covers_the_statement_that_it_stands_in(line: int) -> None:
    rows = ["x = f(", "    a,", "    b,", ")", "y = 1"]
    rows[line - 1] += "  # noqa: JAX101"
    text = "\n".join(rows) + "\n"
    assert silenced(text, finding(1))
    assert silenced(text, finding(2, 3))
    assert not silenced(text, finding(5))


def test_a_comment_at_the_last_line_of_a_finding_counts() -> None:
    assert silenced("def f():\n    return 1  # noqa: JAX101\n", finding(1, 2))


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(ending: str) -> None:
    text = ending.join(["a = 1", "b = '\f'", "x = 1  # noqa", ""])
    assert silenced(text, finding(3))


def test_own_comments_only() -> None:
    assert silence("x = 1  # noqa\n", "a.py", [finding(1)], own_only=True) == [finding(1)]
    assert silence("x = 1  # jaxlint: ignore\n", "a.py", [finding(1)], own_only=True) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # noqa: JAX101\n", "x = 1\n"),
        ("x = 1  # noqa: JAX101, E501\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: E501 JAX101 why\n", "x = 1  # noqa: E501 why\n"),
        ("x = 1  # type: ignore  # noqa: JAX101\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: JAX101  # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: JAX101 it is known\n", "x = 1  # it is known\n"),
        ("x = 1  # jaxlint: ignore[JAX101]", "x = 1"),
        ("# jaxlint: ignore-file[JAX101]\r\nx = 1\r\n", "x = 1\r\n"),
        ("if x:\n    # jaxlint: ignore\n    y = 1\n", "if x:\n    y = 1\n"),
        ("# ruff: noqa: JAX101\n", ""),
        ("x = 1  # jaxlint: ignore[vmap-of-jitt]\n", "x = 1\n"),
    ],
)
def test_a_comment_that_silences_nothing_is_removed(before: str, after: str) -> None:
    (report,) = unused(before)
    assert report.fix
    fixed = apply_edits(before, report.fix.edits)
    assert fixed == after
    assert unused(fixed) == []


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # noqa\n",
        "x = 1  # noqa: E501\n",
        "# flake8: noqa\nx = 1\n",
        "x = 1  # noqa: JAX101, JAX001\n",
        "x = 1  # noqa: JAX101  # jaxlint: ignore[unused-suppression]\n",
    ],
)
def test_comments_that_are_left_alone(text: str) -> None:
    assert unused(text) == []


def test_a_comment_that_silences_is_used() -> None:
    assert unused("x = 1  # noqa: JAX101\n", finding(1)) == []
    assert unused("x = 1  # noqa: JAX1\n", finding(1)) == []


def test_a_wrong_word_names_the_nearest_right_one() -> None:
    (report,) = unused("x = 1  # jaxlint: ignore[vmap-of-jitt]\n")
    assert "`vmap-of-jit`" in report.message


def test_a_comment_for_a_rule_that_is_off_is_not_judged() -> None:
    text = "x = 1  # noqa: JAX101\ny = 1  # jaxlint: ignore\n"
    assert unused(text, enabled=ALL - {"JAX101"}) == []
