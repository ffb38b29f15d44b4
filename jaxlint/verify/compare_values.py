"""Are two results the same? The float criterion of the protocol.

Floats pass within 8 eps of the largest value of their row. Beyond that, a result computed in 64 bits may only excuse:
the fixed version may be at most four times as far from it as the original, plus 8 eps. A result that is in 64 bits
itself has no better one to be held against: there only what a rounding of the inputs does excuses. Differences that
this cannot settle are `unclear`. Figures are in benchmarks/verifier.md; changes below about 1e-6 relative cannot be
seen in float32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from jaxlint.verify.compare_text import compare_text
from jaxlint.verify.jobs import Gap, Leaf

_EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "complex128": 2.0**-52, "complex64": 2.0**-23,
        "float16": 2.0**-10, "bfloat16": 2.0**-7}  # fmt: skip
_NUMERIC = ("array", "number")
_CLOSE, _FACTOR, _UNSETTLED = 8.0, 4.0, 1e-3
_DOUBTFUL, _DOUBTFUL_64 = 32.0, 1e-9  # what may be rounding where nothing tells: so many eps; of 64 bits, this share
_TINY = float(np.finfo(np.float64).tiny)
_HUGE = float(np.finfo(np.float64).max)


class Captured(Struct, frozen=True):
    """The leaves of a result; `arrays` holds the numbers of those of kind array, by path."""

    leaves: tuple[Leaf, ...]
    arrays: Mapping[str, Any]

    def numbers(self, path: str) -> np.ndarray:
        """The numbers of the array at `path`."""
        return np.asarray(self.arrays[path])


_Others = tuple[Captured | None, Captured | None]  # the original's result in 64 bits, and with shaken inputs


class Comparison(Struct, frozen=True):
    """`level` is same, unclear or different; `judged` counts the leaves that carry values."""

    level: str
    why: str = ""
    max_abs: float = 0.0
    judged: int = 0
    gap: Gap | None = None


def compare(
    before: Captured,
    after: Captured,
    reference: Captured | None = None,
    shaken: Captured | None = None,
    *,
    keys: bool = True,
    heal: bool = False,
    types: bool = True,
) -> Comparison:
    """Compare two results leaf by leaf.

    `reference` is the original's result in 64 bits, `shaken` that for inputs which are off by a rounding: where these
    matter, as when large numbers cancel, so do the roundings inside. `keys=False` skips PRNG keys; `heal` lets any
    value take the place of a NaN; without `types` equal numbers of other types are the same.
    """
    if heal:
        before = _healed(before, after)
    was = {leaf.path: leaf for leaf in before.leaves}
    now = {leaf.path: leaf for leaf in after.leaves}
    if was.keys() != now.keys():
        path = sorted(was.keys() ^ now.keys())[0]
        return Comparison(
            "different",
            f"{path or 'the result'} is only in the {'original' if path in was else 'fixed'} version's result",
        )
    found = [_leaf(was[p], now[p], before, after, (reference, shaken), keys, types) for p in was]
    return worst_of(found)


def _healed(before: Captured, after: Captured) -> Captured:
    arrays = {
        path: np.where(np.isnan(was), after.arrays[path], was)
        if was.dtype.kind in "fc" and path in after.arrays and np.shape(after.arrays[path]) == was.shape
        else was
        for path, was in before.arrays.items()
    }
    return Captured(before.leaves, arrays)


def _leaf(
    was: Leaf, now: Leaf, before: Captured, after: Captured, others: _Others, keys: bool, types: bool
) -> Comparison:
    name = was.path or "the result"
    if not keys and _key_like(was) and _key_like(now):
        return Comparison("same")
    if was.kind == "deleted":  # the original gave its buffer away; keeping it is no fault
        return Comparison("same")
    numeric = was.kind in _NUMERIC and now.kind in _NUMERIC
    if was.kind != now.kind and not numeric:
        return Comparison("different", f"{name}: {_say(was)} against {_say(now)}")
    if was.kind == "text":
        level, why = compare_text(was.text, now.text)
        return Comparison(level, f"{name}: {why}" if why else "", judged=1)
    if was.kind == "other":
        level = "same" if was.text == now.text else "different"
        return Comparison(level, "" if level == "same" else f"{name}: {was.text} against {now.text}")
    if was.shape != now.shape or (types and not _same_type(was, now)):
        return Comparison("different", f"{name}: {_say(was)} against {_say(now)}")
    return _arrays(was, now, before, after, others)


def _same_type(was: Leaf, now: Leaf) -> bool:
    """The same kind, dtype and weakness; or a Python number, of which jit makes a weakly typed array at its border."""
    if was.kind != now.kind:
        return any(leaf.kind == "array" and leaf.weak and not leaf.shape for leaf in (was, now))
    return (was.dtype, was.weak) == (now.dtype, now.weak)


def _key_like(leaf: Leaf) -> bool:
    return leaf.kind == "key" or (leaf.kind == "array" and leaf.dtype == "uint32" and leaf.shape[-1:] in ((2,), (4,)))


def _say(leaf: Leaf) -> str:
    if leaf.kind in ("array", "key", "number"):
        return f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]" + (" (weak)" if leaf.weak else "")
    return leaf.text or leaf.kind


def _arrays(leaf: Leaf, now: Leaf, before: Captured, after: Captured, others: _Others) -> Comparison:
    name = leaf.path or "the result"
    one, two = before.numbers(leaf.path), after.numbers(leaf.path)
    if one.dtype.kind != two.dtype.kind and one.dtype.kind in "biuf" and two.dtype.kind in "biuf":
        one, two = one.astype(np.float64), two.astype(np.float64)
    if one.dtype.kind not in "fc":
        if np.array_equal(one, two):
            return Comparison("same", judged=1)
        return Comparison(
            "different", f"{name}: {int(np.sum(one != two))} of {one.size} {leaf.dtype} values differ", judged=1
        )
    odd = _non_finite(one, two)
    if odd:
        return Comparison(odd, f"{name}: NaN or infinity in other places", judged=1)
    good = np.isfinite(one)
    gap = np.where(good, np.abs(np.subtract(one, two, where=good, out=np.zeros_like(one))), 0.0).real
    worst = _largest(gap)
    # A Python float has most likely been an array of float32.
    eps = max(_EPS.get(one_of.dtype, 0.125) if one_of.kind == "array" else _EPS["float32"] for one_of in (leaf, now))
    limit = _CLOSE * eps * _row_scale(one, good) + _smallest(leaf.dtype)
    if worst == 0.0 or bool((gap <= limit).all()):
        return Comparison("same", max_abs=worst, judged=1, gap=_nearest(gap, limit))
    with np.errstate(invalid="ignore", over="ignore"):
        level, excused = _excuse(leaf, one, two, limit, eps, others)
    share = worst / max(float(np.abs(one[good]).max(initial=0.0)), _TINY)
    return Comparison(
        level,
        f"{name}: largest error {worst:.3g}, {share:.2g} of the largest value",
        worst,
        1,
        excused or _nearest(gap, limit),
    )


def _non_finite(one: np.ndarray, two: np.ndarray) -> str:
    if not np.array_equal(np.isnan(one), np.isnan(two)):
        return "different"
    infinite = np.isinf(one) | np.isinf(two)
    if not infinite.any():
        return ""
    if not np.array_equal(np.isinf(one), np.isinf(two)):
        return "unclear"  # an overflow on one side only: the limit of the number format, or a fault
    return "" if np.array_equal(one[infinite], two[infinite]) else "different"


def _row_scale(values: np.ndarray, good: np.ndarray) -> np.ndarray:
    sizes = np.where(good, np.abs(np.where(good, values, 0)), 0.0)
    return np.asarray(sizes.max(axis=-1, keepdims=True, initial=0.0) if sizes.ndim else sizes)


def _smallest(dtype: str) -> float:
    return 2.0**-126 if dtype in ("float32", "bfloat16", "complex64") else 0.0  # subnormals may be flushed to zero


def _nearest(gap: np.ndarray, limit: np.ndarray | float) -> Gap | None:
    """The difference that comes nearest to its limit; None where there is no limit above zero."""
    gaps, limits = np.broadcast_arrays(gap, limit)
    bounded = limits > 0
    if not bounded.any():
        return None
    with np.errstate(over="ignore"):
        index = np.argmax(gaps[bounded] / limits[bounded])
    return Gap(_largest(gaps[bounded][index]), _largest(limits[bounded][index]))


def _excuse(
    leaf: Leaf, one: np.ndarray, two: np.ndarray, limit: np.ndarray, eps: float, others: _Others
) -> tuple[str, Gap | None]:
    """Whether rounding explains the rows that differ by more than the limit: measured against 64 bits.

    Each row is judged by itself, so that large rows do not hide wrong small ones.
    """
    good = np.isfinite(one)
    beyond = _row_scale(one - two, good) > limit
    exact, shaken = (_numbers_like(one, other, leaf.path, good) for other in others)
    noise = _row_scale(one - shaken, good) if shaken is not None else 0.0
    if exact is None or eps <= _EPS["float64"]:  # what is in 64 bits itself is known no better
        return _doubt(one, two, beyond, eps, noise if eps <= _EPS["float64"] else None)
    size = _row_scale(exact, good)
    bound = _FACTOR * np.maximum(_row_scale(one - exact, good), noise) + _CLOSE * eps * size
    error = _row_scale(two - exact, good)
    gap = _nearest(error[beyond], bound[beyond])
    gap = Gap(gap.error, gap.allowed, exact=True) if gap else None
    if bool((error > bound)[beyond].any()):
        return _beyond(error, bound), gap
    settled = bound <= _UNSETTLED * np.maximum(size, _row_scale(one, good))
    return ("same" if bool(settled[beyond].all()) else "unclear"), gap


def _doubt(
    one: np.ndarray, two: np.ndarray, beyond: np.ndarray, eps: float, noise: np.ndarray | float | None
) -> tuple[str, Gap | None]:
    """What the rows are where nothing is known more exactly; `noise` is what a rounding of the inputs does to them."""
    good = np.isfinite(one)
    error, size = _row_scale(one - two, good), _row_scale(one, good)
    share = _DOUBTFUL_64 if eps <= _EPS["float64"] else max(_UNSETTLED, _DOUBTFUL * eps)
    bound = share * size
    if noise is not None:
        excused = _FACTOR * noise + _CLOSE * eps * size
        if bool(((error <= excused) & (excused <= _UNSETTLED * size))[beyond].all()):
            return "same", _nearest(error[beyond], excused[beyond])
        bound = np.maximum(bound, excused)
    return ("unclear" if bool((error <= bound)[beyond].all()) else _beyond(error, bound)), None


def _beyond(error: np.ndarray, bound: np.ndarray) -> str:
    """What rows beyond their bounds are. The largest row's bound covers small rows that are made of large numbers."""
    return "different" if _largest(error) > _largest(bound) else "unclear"


def _largest(values: np.ndarray) -> float:
    return min(float(np.abs(values).max(initial=0.0)), _HUGE)  # JSON has no infinity


def _numbers_like(one: np.ndarray, other: Captured | None, path: str, good: np.ndarray) -> np.ndarray | None:
    """The numbers at the same place of another result, if they are of the same form and finite."""
    if other is None or path not in other.arrays:
        return None
    found = other.numbers(path)
    return found if found.shape == one.shape and bool(np.isfinite(found[good]).all()) else None


def worst_of(comparisons: Sequence[Comparison]) -> Comparison:
    """The most serious of several comparisons, with their largest error and the sum of what they judged."""
    order = ("same", "unclear", "different")
    worst = max(comparisons, key=lambda c: order.index(c.level), default=Comparison("same"))
    largest = max((c.max_abs for c in comparisons), default=0.0)
    gaps = [c.gap for c in comparisons if c.gap]
    gap = max(gaps, key=lambda g: g.error / max(g.allowed, _TINY), default=None)
    return Comparison(worst.level, worst.why, largest, sum(c.judged for c in comparisons), gap)
