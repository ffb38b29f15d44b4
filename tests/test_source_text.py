from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.source.text import LineMap, SourceError, SourceFile

TEXTS = st.text(alphabet=st.sampled_from("ab =#\n\r\t\f\v\x1c\x85\u2028é日😀"), max_size=60)


@given(TEXTS)
def test_every_offset_has_one_position(text: str) -> None:
    lines = LineMap(text)
    for offset in range(len(text) + 1):
        line, column = lines.position(offset)
        inside_line_end = text[max(offset - 1, 0) : offset + 1] == "\r\n"
        if not inside_line_end:
            assert lines.offset(line, column) == offset


@given(TEXTS)
def test_lines_put_together_are_the_text(text: str) -> None:
    lines = LineMap(text)
    numbers = range(1, len(lines) + 1)
    ends = [text[lines.starts[n - 1] + len(lines.line(n)) : (*lines.starts, len(text))[n]] for n in numbers]
    assert "".join(lines.line(n) + end for n, end in zip(numbers, ends, strict=True)) == text
    assert set(ends) <= {"", "\n", "\r", "\r\n"}


@pytest.mark.parametrize(
    "text", ["a = 1\n\fb = 2\n", "a = 1", "a = '''\r\n'''\rb = 2", "x = 'é\x0c\x85'\r\ny = 1\n", "\n\r\n\rz = 1"]
)
def test_lines_are_counted_as_python_counts_them(text: str) -> None:
    last = ast.parse(text).body[-1]
    assert isinstance(last, ast.Assign)
    name = last.targets[0]
    assert isinstance(name, ast.Name)
    assert LineMap(text).line(last.lineno)[last.col_offset :].startswith(name.id)


@pytest.mark.parametrize("position", [(0, 1), (1, 0), (1, 4), (2, 3), (3, 1)])
def test_a_position_outside_the_text_is_refused(position: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="outside"):
        LineMap("ab\nc").offset(*position)


@given(TEXTS, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1", "shift_jis"]))
def test_decoding_gives_back_the_text_or_says_why_not(text: str, encoding: str) -> None:
    declaration = "" if encoding.startswith("utf") else f"# coding: {encoding}\n"
    try:
        data = (declaration + text).encode(encoding)
    except UnicodeEncodeError:
        return
    try:
        source = SourceFile.from_bytes("a.py", data)
    except SourceError as error:
        assert encoding == "utf-16" or error.message
    else:
        assert source.text == declaration + text
        assert source.with_text(source.text).data == data


@given(st.binary(max_size=80))
def test_any_bytes_decode_or_are_explained(data: bytes) -> None:
    try:
        source = SourceFile.from_bytes("a.py", data)
    except SourceError as error:
        assert error.message
        assert error.line >= 1
    else:
        assert source.with_text(source.text).data == data


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        ("x = 1\n".encode("utf-16"), 1, "UTF-16"),
        (b"x = 1\n\ny = '\xe9'\n", 3, "0xe9"),
        (b"y = '\xe9'\n", 1, "declares no encoding"),
        (b"# coding: latin1000\n", 1, "latin1000"),
        (b"# coding: rot13\n", 1, "not an encoding of text"),
        (b"\xef\xbb\xbf# coding: latin-1\n", 1, "declaration"),
        (b"# coding: ascii\nx = '\xe9'\n", 2, "ascii"),
        (b"x = 1\ny = '\0'\n", 2, "null byte"),
    ],
)
def test_what_cannot_be_decoded_is_explained(data: bytes, line: int, words: str) -> None:
    with pytest.raises(SourceError) as caught:
        SourceFile.from_bytes("a.py", data)
    assert words in caught.value.message
    assert caught.value.line == line


def test_a_declaration_counts_whatever_ends_the_lines() -> None:
    assert SourceFile.from_bytes("a.py", b"#\r# coding: latin-1\rx = '\xe9'").text == "#\r# coding: latin-1\rx = 'é'"


def test_a_text_that_the_encoding_cannot_hold_is_refused() -> None:
    source = SourceFile.from_bytes("a.py", b"# coding: latin-1\n")
    with pytest.raises(SourceError, match="iso-8859-1 has no `日`"):
        source.with_text(source.text + "# 日\n")
