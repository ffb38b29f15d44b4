"""Fresh inputs of the same form: other random numbers, and the values at which functions part."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations, and each version another way to ask for 64 bits.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint.verify.worker.capture import is_key

FEW_STYLES = ("fresh", "constants", "ties", "zeros", "nan", "mixed", "small", "positive")
"""Other numbers, and those at which sorts, comparisons and reductions part; all calls are varied so."""

STYLES = (
    *FEW_STYLES, "negative", "ones", "constants 2", "tiny", "large", "nonfinite", "fresh 2", "constants 3", "mixed 2",
    "small 2", "constants 4", "fresh 3", "constants 5", "fresh 4", "constants 6", "constants 7", "constants 8",
    "nan 2", "nan 3",
)  # fmt: skip
"""All of them, in this order."""


_NARROW = {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
_ROUNDINGS = {**_NARROW, "float64": 2.0**-52}


def varier(style: str, seed: int, constants: Sequence[float] = (), *, counts: bool = True) -> Callable[[Any], Any]:
    """A function that gives each array and number another value of its own shape and type.

    Equal seeds give equal values. `constants` are numbers of the program, around which something may change. Python's
    integers change less often without `counts`, since each other one compiles anew.
    """
    rng = np.random.default_rng([seed, STYLES.index(style)])
    style, _, number = style.partition(" ")
    edges = _Edges(constants, int(number or 1) - 1, seed)

    def change(value: Any) -> Any:
        if isinstance(value, bool):
            return value != (style == "mixed")
        if isinstance(value, int):
            return _count(value, style) if counts or style == "fresh" else value
        if isinstance(value, float):
            return float(_numbers(np.asarray(value), style, rng, edges))
        if is_key(value):
            return jax.random.fold_in(value, int(rng.integers(1 << 30))) if value.ndim == 0 else value
        if isinstance(value, np.generic):
            return value
        numbers = _numbers(np.asarray(value), style, rng, edges)
        if isinstance(value, np.ndarray):
            return numbers.astype(value.dtype)
        return _like(value, numbers)

    return change


def widened(value: Any) -> Any:
    """The same numbers in 64 bits."""
    return value.astype("float64") if str(getattr(value, "dtype", "")) in _NARROW else value


def shaken(value: Any) -> Any:
    """Numbers that are off by about one rounding, some up and some down."""
    dtype = "float32" if isinstance(value, float) else str(getattr(value, "dtype", ""))
    if dtype not in _ROUNDINGS:
        return value
    rounding = _ROUNDINGS[dtype] * np.where(np.arange(np.size(value)) % 3 == 1, -1.0, 1.0).reshape(np.shape(value))
    wide = np.asarray(value).astype(np.float64) * (1 + rounding)
    if isinstance(value, float):
        return float(wide)
    return wide.astype(value.dtype) if isinstance(value, np.ndarray) else _like(value, wide)


class _Edges:
    """The constants themselves, their negatives, and values just beside them, dealt out to one array after the other.

    Each array has an order of its own, in which the next of such inputs goes on, so that a scalar meets them too.
    """

    def __init__(self, constants: Sequence[float], turn: int, seed: int) -> None:
        both = np.array([0.0, *constants, *(-c for c in constants)])
        self._near = np.concatenate([both, both + 1e-3, both - 1e-3, both * 1.01, both * 0.99])
        self._turn, self._seed, self._dealt = turn, seed, 0

    def deal(self, shape: tuple[int, ...]) -> np.ndarray:
        """Those for the next array."""
        order = np.random.default_rng([self._seed, self._dealt]).permutation(self._near) if self._dealt else self._near
        size = int(np.prod(shape))
        self._dealt += 1
        return np.asarray(np.take(order, np.arange(size) + self._turn * size, mode="wrap")).reshape(shape)

    def nans(self, shape: tuple[int, ...]) -> np.ndarray:
        """Where the next array is NaN: each third number, at other places than in the one before."""
        self._dealt += 1
        return np.asarray((np.arange(int(np.prod(shape))) + self._dealt - 1 + self._turn).reshape(shape) % 3 == 0)


def _count(value: int, style: str) -> int:
    """A Python integer is most likely a size, a number of steps or an index: it stays near."""
    return max(value + {"fresh": 1, "positive": 2, "mixed": -1}.get(style, 0), min(value, 1))


def _like(value: jax.Array, numbers: np.ndarray) -> jax.Array:
    """The numbers as an array of the same type, weak type included."""
    if not getattr(value, "weak_type", False):
        return jnp.asarray(numbers, value.dtype)
    return jnp.asarray(numbers.item()) if value.ndim == 0 else value


def _numbers(old: np.ndarray, style: str, rng: np.random.Generator, edges: _Edges) -> np.ndarray:
    if old.dtype == np.bool_:
        return rng.random(old.shape) < {"zeros": 0.0, "ones": 1.0}.get(style, 0.5)
    if old.dtype.kind in "iu":
        return _integers(old, style, rng)
    if old.dtype.kind in "SUMmO":
        return old
    return _floats(old, style, rng, edges)


def _integers(old: np.ndarray, style: str, rng: np.random.Generator) -> np.ndarray:
    """Within the range of the old ones, since they may be indexes, sizes or raw keys."""
    if style == "fresh" or style == "mixed" or old.size == 0:
        return rng.permutation(old.reshape(-1)).reshape(old.shape) if old.dtype != np.uint32 else _key_bits(old, rng)
    low, high = old.min(), old.max()
    if style == "ties":
        return np.resize(np.array([low, high, high, low, low], old.dtype), old.shape)
    if style == "zeros" and low <= 0 <= high:
        return np.zeros_like(old)
    return np.full_like(old, {"positive": high, "negative": low, "ones": high}.get(style, low))


def _key_bits(old: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 1 << 32, old.shape, dtype=np.uint32) if old.shape[-1:] == (2,) else old


def _floats(old: np.ndarray, style: str, rng: np.random.Generator, edges: _Edges) -> np.ndarray:
    finite = np.abs(old[np.isfinite(old.astype(np.complex128))]).astype(np.float64)
    scale = float(finite.mean()) if finite.size and finite.mean() > 0 else 1.0
    drawn = rng.standard_normal(old.shape) * scale
    made = {
        "fresh": lambda: drawn,
        "positive": lambda: np.abs(drawn) + 0.1 * scale,
        "mixed": lambda: np.round(drawn / scale * 2) / 2,  # ties and exact zeros
        "constants": lambda: edges.deal(old.shape),
        "ties": lambda: np.resize(np.array([1.0, -0.5, 1.0, 0.0, -0.5]) * scale, old.shape),
        "nan": lambda: np.where(edges.nans(old.shape), np.nan, drawn),
        "small": lambda: drawn / scale * 0.3,
        "zeros": lambda: np.zeros(old.shape),
        "negative": lambda: -np.abs(drawn) - 0.1 * scale,
        "ones": lambda: np.ones(old.shape),
        "tiny": lambda: drawn * 1e-6,
        "large": lambda: drawn * 1e3,
        "nonfinite": lambda: np.where(
            rng.random(old.shape) < 0.3, rng.choice([np.nan, np.inf, -np.inf], old.shape), drawn
        ),
    }[style]()
    return np.asarray(made).astype(old.dtype if old.dtype.kind in "fc" else np.float64)
