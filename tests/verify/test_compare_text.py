from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.verify.compare_text import compare_text, is_prefix


@given(st.text())
def test_a_text_is_the_same_as_itself(text: str) -> None:
    assert compare_text(text, text) == ("same", "")


@pytest.mark.parametrize(
    ("one", "two", "level"),
    [
        ("loss 0.1234567", "loss 0.1234568", "same"),
        ("loss 0.1234", "loss 0.1235", "unclear"),
        ("loss 0.12", "loss 0.14", "different"),
        ("n = 3", "n = 4", "different"),
        ("[1.  2.]", "[ 1. 2.]", "same"),
        ("[3.9487247, 2.]", "[3.948725 , 2.]", "same"),
        ("<function f at 0x7f00aa11>", "<function f at 0x7fbb2200>", "same"),
        ("took 0.31s", "took 0.02 s", "same"),
        ("jit: 12.5 ms", "jit: 3 ms", "same"),
        ("total 12.5", "total 3", "different"),
        ("True", "False", "different"),
        ("a\nb", "a", "different"),
        ("nan", "0.0", "different"),
        ("[1e-09 1.0]", "[2e-09 1.0]", "same"),
        ("x 1.5", "y 1.5", "different"),
    ],
)
def test_levels(one: str, two: str, level: str) -> None:
    assert compare_text(one, two)[0] == level


@given(st.floats(-1e6, 1e6, width=32), st.floats(0.01, 10))
def test_a_number_that_is_one_percent_off_is_never_the_same(number: float, share: float) -> None:
    number = abs(number) + 0.1
    assert compare_text(f"v {number:.8g}", f"v {number * (1 + share):.8g}")[0] != "same"


def test_a_nan_may_heal() -> None:
    assert compare_text("g [nan nan] 1.0", "g [0. 2.] 1.0", heal=True)[0] == "same"
    assert compare_text("g [nan nan] 1.0", "g [0. 2.] 3.0", heal=True)[0] == "different"


def test_a_run_that_ended_early_printed_the_beginning() -> None:
    assert is_prefix("a\nb\n", "a\nb\nc\n")[0] == "same"
    assert is_prefix("a\nx\n", "a\nb\nc\n")[0] == "different"
