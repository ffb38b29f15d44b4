"""A text that is read in pieces says what it says as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.program import pieces as cutting
from jaxlint.program.lower import statements

FIXTURES = Path(__file__).parent.parent / "fixtures"

PARTS = (
    "import jax\n",
    "\n",
    "# def commented():\n",
    "@jax.jit\n@other(\n    1,\n)\ndef step(x):\n    return x\n",
    "class Model:\n    def call(self):\n        pass\n",
    "async def wait():\n    await wait()\n",
    'TEXT = """\ndef quoted():\nclass Quoted:\n@quoted\n"""\n',
    "if a:\n    pass\nelse:\n    def inner(): pass\n",
    "product = (a\n@ b)\n",
    "x = 1; y = 2\n",
    "\f\n",
    "é = 'ü'\r\n",
)


def whole(text: str, monkeypatch: pytest.MonkeyPatch) -> object:
    with monkeypatch.context() as patched:
        patched.setattr(cutting, "SHORTEST", len(text) + 1)
        return statements(text)


def in_pieces(text: str, monkeypatch: pytest.MonkeyPatch, shortest: int = 1) -> object:
    with monkeypatch.context() as patched:
        patched.setattr(cutting, "SHORTEST", shortest)
        return statements(text)


@given(parts=st.lists(st.sampled_from(PARTS), min_size=2, max_size=12), shortest=st.integers(1, 80))
def test_any_text_in_pieces_is_the_text(parts: list[str], shortest: int) -> None:
    text = "".join(parts)
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert in_pieces(text, monkeypatch, shortest) == whole(text, monkeypatch)


def test_fixtures_in_pieces_are_the_fixtures(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [file.read_text("utf-8") for file in FIXTURES.rglob("*.py")]
    assert sum(len(list(cutting.pieces(text * 20))) > 1 for text in texts) > len(texts) / 2
    for text in texts:
        assert in_pieces(text, monkeypatch) == whole(text, monkeypatch)


def test_lines_are_counted_on() -> None:
    text = "def f():\r\n    pass\r\n" * 600
    found = list(cutting.pieces(text))
    assert len(found) > 1
    assert "".join(piece.text for piece in found) == text
    assert [piece.line for piece in found[1:]] == [
        1 + "".join(piece.text for piece in found[:count]).count("\n") for count in range(1, len(found))
    ]
