from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.fixes.edits import apply_edits, apply_fixes
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.source.text import LineMap

TEXTS = st.text(alphabet=st.sampled_from("ab(#\n\r\té日"), max_size=40)
CONTENTS = st.text(alphabet=st.sampled_from("xyz\n"), max_size=5)


def fix(*edits: Edit) -> Fix:
    return Fix(Safety.SAFE, "", edits)


def edit(line: int, column: int, end_line: int, end_column: int, content: str) -> Edit:
    return Edit(Span(line, column, end_line, end_column), content)


@st.composite
def texts_with_fixes(draw: st.DrawFn) -> tuple[str, list[Fix]]:
    text = draw(TEXTS)
    lines = LineMap(text)
    offsets = [offset for offset in range(len(text) + 1) if text[max(offset - 1, 0) : offset + 1] != "\r\n"]
    span = st.lists(st.sampled_from(offsets), min_size=2, max_size=2).map(sorted)
    one = st.tuples(span, CONTENTS).map(
        lambda pair: Edit(Span(*lines.position(pair[0][0]), *lines.position(pair[0][1])), pair[1])
    )
    return text, draw(st.lists(st.lists(one, min_size=1, max_size=3).map(lambda edits: fix(*edits)), max_size=6))


def offsets_of(text: str, one: Edit) -> tuple[int, int]:
    lines = LineMap(text)
    return lines.offset(one.span.line, one.span.column), lines.offset(one.span.end_line, one.span.end_column)


@given(texts_with_fixes())
def test_nothing_outside_the_edits_changes(case: tuple[str, list[Fix]]) -> None:
    text, fixes = case
    result = apply_fixes(text, fixes)
    touched = sorted(offsets_of(text, one) for index in result.fixes for one in fixes[index].edits)
    kept, position = [], 0
    for start, end in touched:
        kept.append(text[position:start])
        position = max(position, end)
    kept.append(text[position:])
    rest = result.text
    for part in kept:
        assert part in rest
        rest = rest[rest.index(part) + len(part) :]


@given(texts_with_fixes())
def test_edits_that_were_taken_do_not_overlap(case: tuple[str, list[Fix]]) -> None:
    text, fixes = case
    result = apply_fixes(text, fixes)
    spans = sorted({(*offsets_of(text, one), one.content) for index in result.fixes for one in fixes[index].edits})
    assert all(one[1] <= other[0] for one, other in pairwise(spans) if one != other)


@given(texts_with_fixes())
def test_the_first_sound_fix_is_always_taken(case: tuple[str, list[Fix]]) -> None:
    text, fixes = case
    alone = [index for index, one in enumerate(fixes) if apply_fixes(text, [one]).fixes]
    assert apply_fixes(text, fixes).fixes[:1] == tuple(alone[:1])


@given(texts_with_fixes())
def test_a_single_edit_is_exactly_a_replacement(case: tuple[str, list[Fix]]) -> None:
    text, fixes = case
    for one in fixes:
        start, end = offsets_of(text, one.edits[0])
        ending = LineMap(text).ending(one.edits[0].span.line)
        content = one.edits[0].content.replace("\n", ending)
        assert apply_edits(text, one.edits[:1]) == text[:start] + content + text[end:]


def test_an_import_that_two_fixes_need_is_added_once() -> None:
    needed = edit(2, 1, 2, 1, "import jax.tree\n")
    text = "import jax\na = 1\nb = 2\n"
    result = apply_fixes(text, [fix(needed, edit(2, 1, 2, 2, "x")), fix(needed, edit(3, 1, 3, 2, "y"))])
    assert result.text == "import jax\nimport jax.tree\nx = 1\ny = 2\n"
    assert result.fixes == (0, 1)


def test_two_imports_at_one_place_are_both_added() -> None:
    result = apply_fixes("a = 1\n", [fix(edit(1, 1, 1, 1, "import x\n")), fix(edit(1, 1, 1, 1, "import y\n"))])
    assert result.text == "import x\nimport y\na = 1\n"


def test_brackets_that_two_fixes_open_at_one_place_are_not_merged() -> None:
    wrap = fix(edit(1, 1, 1, 1, "f("), edit(1, 2, 1, 2, ")"))
    result = apply_fixes("a\n", [wrap, wrap])
    assert result.text == "f(a)\n"
    assert result.fixes == (0,)


def test_a_fix_is_taken_whole_or_not_at_all() -> None:
    first = fix(edit(1, 1, 1, 4, "x"))
    second = fix(edit(2, 1, 2, 2, "y"), edit(1, 3, 1, 5, "z"))
    result = apply_fixes("abcde\nfg\n", [first, second])
    assert result.text == "xde\nfg\n"
    assert result.fixes == (0,)


def test_edits_that_touch_wait_for_each_other() -> None:
    result = apply_fixes("ab\n", [fix(edit(1, 1, 1, 2, "x")), fix(edit(1, 2, 1, 3, "y"))])
    assert result.text == "xb\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_ends_take_the_form_of_the_file(ending: str) -> None:
    text = f"a = 1{ending}b = 2{ending}"
    assert apply_edits(text, [edit(2, 1, 2, 1, "import x\n")]) == f"a = 1{ending}import x{ending}b = 2{ending}"


def test_a_file_of_mixed_line_ends_keeps_them() -> None:
    assert apply_edits("a\r\nb\nc\r\n", [edit(2, 1, 2, 2, "x\ny"), edit(3, 1, 3, 1, "z\n")]) == "a\r\nx\ny\nz\r\nc\r\n"


def test_an_edit_after_the_last_line() -> None:
    assert apply_edits("a = 1\r\n", [edit(2, 1, 2, 1, "b = 2\n")]) == "a = 1\r\nb = 2\r\n"
    assert apply_edits("a = 1", [edit(1, 6, 1, 6, "\nb = 2")]) == "a = 1\nb = 2"


def test_columns_count_characters() -> None:
    assert apply_edits("s = '日本😀'; x = 1\n", [edit(1, 12, 1, 13, "y")]) == "s = '日本😀'; y = 1\n"


def test_an_edit_outside_the_text_is_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        apply_edits("a\n", [edit(5, 1, 5, 1, "x")])


def test_many_fixes_are_applied_in_reasonable_time() -> None:
    count = 20_000
    text = "value = 1\n" * count
    fixes = [fix(edit(1, 1, 1, 1, "import x\n"), edit(n, 1, n, 6, "other")) for n in range(1, count + 1)]
    result = apply_fixes(text, fixes)
    assert len(result.fixes) == count
    assert result.text == "import x\n" + "other = 1\n" * count


@pytest.mark.parametrize(
    ("second", "together"),
    [
        ("f_2 = h\n", False),  # the same scope: the second would take the place of the first
        ("f_3 = h\n", True),
        ("import f_2\n", True),
        ("    f_2 = h\n", True),  # another function's own
    ],
)
def test_of_fixes_that_bind_one_new_name_in_one_scope_the_first_is_taken(second: str, together: bool) -> None:
    text = "a\nb\ndef f():\n    c\n    d\n"
    line = 5 if second.startswith(" ") else 2
    result = apply_fixes(text, [fix(edit(1, 1, 1, 1, "f_2 = g\n")), fix(edit(line, 1, line, 1, second))])
    assert len(result.fixes) == (2 if together else 1)
