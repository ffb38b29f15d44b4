from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.verify.compare_values import Captured, Comparison, compare
from jaxlint.verify.jobs import Leaf

EPS = 2.0**-23


def captured(values: object, dtype: str = "float32", kind: str = "array", path: str = "x") -> Captured:
    array = np.asarray(values)
    return Captured((Leaf(path, kind, dtype, array.shape),), {path: array})


floats = st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=8)


@given(floats)
def test_equal_values_are_the_same(values: list[float]) -> None:
    result = compare(captured(values), captured(values))
    assert (result.level, result.max_abs) == ("same", 0.0)


@given(floats, st.floats(-7.5, 7.5))
def test_rounding_of_the_largest_value_is_allowed(values: list[float], share: float) -> None:
    moved = np.array(values) + share * EPS * max(map(abs, values))
    assert compare(captured(values), captured(moved)).level == "same"


@given(floats, st.floats(0.01, 100.0), st.data())
def test_a_change_of_one_percent_is_never_the_same(values: list[float], share: float, data: st.DataObject) -> None:
    values = [value + 1.0 for value in map(abs, values)]
    moved = np.array(values)
    moved[data.draw(st.integers(0, len(values) - 1))] += share * max(values)
    assert compare(captured(values), captured(moved)).level == "different"
    assert compare(captured(moved), captured(values)).level == "different"


def test_a_small_change_is_unclear_without_a_reference_and_settled_with_one() -> None:
    one, two, exact = captured([1.0]), captured([1.0001]), captured([1.0000001])
    assert compare(one, two).level == "unclear"
    assert compare(one, two, exact).level == "different"
    assert compare(captured([1.0001]), captured([0.9999]), captured([1.0])).level == "same"


def test_a_large_row_hides_no_small_one() -> None:
    one, two = [[1e6, 2e6], [0.1, 0.2]], [[1e6, 2e6], [0.15, 0.2]]
    off = [[1e6 + 1, 2e6], [0.1, 0.2]]  # where the original's own error is in the large row
    for exact in (one, off):  # it may be rounding of large numbers, so that it is left open
        assert compare(captured(one), captured(two), captured(exact)).level == "unclear"
        assert compare(captured(one), captured(two), captured(exact), captured(off)).level == "unclear"
        assert compare(captured(one), captured([[1e6, 2e6], [1e5, 0.2]]), captured(exact)).level == "different"
    assert compare(captured(one), captured(off), captured(off)).level == "same"


def test_what_is_in_64_bits_is_no_judge_of_itself() -> None:
    one, two = captured([1.0, 3.0], "float64"), captured([1.0 + 1e-13, 3.0], "float64")
    shaken = captured([1.0 + 5e-14, 3.0], "float64")
    assert compare(one, two, one).level == "unclear"
    assert compare(one, two, one, shaken).level == "same"
    assert compare(one, captured([1.0 + 1e-12, 3.0], "float64"), one, shaken).level == "unclear"
    assert compare(one, captured([1.0 + 1e-7, 3.0], "float64"), one, shaken).level == "different"


def test_bfloat16_is_coarse() -> None:
    """Its 8 eps are 6 %; somewhat beyond that nothing can be told without a better result."""
    one = captured([1.0], "bfloat16")
    levels = [compare(one, captured([value], "bfloat16")).level for value in (1.05, 1.1, 1.5)]
    assert levels == ["same", "unclear", "different"]


@pytest.mark.parametrize(
    ("one", "two", "level"),
    [
        ([np.nan, 1.0], [np.nan, 1.0], "same"),
        ([np.nan, 1.0], [0.0, 1.0], "different"),
        ([np.inf], [np.inf], "same"),
        ([np.inf], [-np.inf], "different"),
        ([np.inf], [3e38], "unclear"),
        ([0.0], [-0.0], "same"),
    ],
)
def test_special_values(one: list[float], two: list[float], level: str) -> None:
    assert compare(captured(one), captured(two)).level == level


def test_the_difference_nearest_to_its_bound_is_told() -> None:
    gap = compare(captured([[1.0, 0.0], [1000.0, 0.0]]), captured([[1.0 + 4 * EPS, 0.0], [1000.0 + EPS, 0.0]])).gap
    assert gap is not None and not gap.exact
    assert gap.error == pytest.approx(4 * EPS) and gap.allowed == pytest.approx(8 * EPS)
    excused = compare(captured([1.0001]), captured([0.9999]), captured([1.0])).gap
    assert excused is not None and excused.exact
    assert excused.error == pytest.approx(1e-4) and excused.allowed == pytest.approx(4e-4 + 8 * EPS)
    assert compare(captured([1], "int32"), captured([1], "int32")).gap is None


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=4), st.data())
def test_what_is_told_can_always_be_sent(values: list[float], data: st.DataObject) -> None:
    others = data.draw(st.lists(st.floats(), min_size=len(values), max_size=len(values)))
    found = compare(captured(values, "float64"), captured(others, "float64"), captured(values, "float64"))
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found


def test_a_nan_may_heal_where_that_is_asked_for() -> None:
    was, now = captured([np.nan, 1.0]), captured([0.0, 1.0])
    assert compare(was, now, heal=True).level == "same"
    assert compare(was, captured([0.0, 2.0]), heal=True).level == "different"


@given(st.lists(st.integers(-1000, 1000), min_size=1))
def test_integers_must_be_equal(values: list[int]) -> None:
    moved = [values[0] + 1, *values[1:]]
    assert compare(captured(values, "int32"), captured(values, "int32")).level == "same"
    assert compare(captured(values, "int32"), captured(moved, "int32")).level == "different"


def test_shape_type_and_structure_belong_to_the_result() -> None:
    assert compare(captured([1.0]), captured([[1.0]])).level == "different"
    assert compare(captured([1.0]), captured([1.0], "float64")).level == "different"
    assert compare(captured([1.0]), captured([1.0], path="y")).level == "different"


def test_keys_may_differ_where_that_is_asked_for() -> None:
    one, two = captured([1, 2], "key<fry>", "key"), captured([3, 4], "key<fry>", "key")
    assert compare(one, two).level == "different"
    assert compare(one, two, keys=False).level == "same"


def test_a_buffer_that_is_no_longer_given_away_is_no_fault_but_a_new_donation_is() -> None:
    gone = Captured((Leaf("x", "deleted"),), {})
    assert compare(gone, captured([1.0])).level == "same"
    assert compare(captured([1.0]), gone).level == "different"
