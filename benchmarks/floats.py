#!/usr/bin/env python3
"""Which criterion tells wrong results from results that were only computed in another order?

    floats.py [FUNCTION ...] [--seed N]

Each function of `float_functions.py` is computed in orders that mean the same (jit or none, jit and vmap in both
orders, a loop or vmap, gradients with jit inside or outside): whatever a criterion calls different there is a false
alarm. Then each is changed in one place as `mutants.py` does it (a constant, an operator, an axis, a function, the
order of arguments, a statement), and its result is scaled by a little more than one: whatever a criterion calls the
same there is missed. Mutants that agree in 64 bits, or have another form or fail, do not count.

The criterion in use is that of `jaxlint.verify.compare_values`, called as the verifier calls it. Prints Markdown.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import inspect
import itertools
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

import float_functions  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from msgspec import Struct, structs  # noqa: E402
from mutants import Fix, mutants  # noqa: E402

from jaxlint.verify import compare_values  # noqa: E402
from jaxlint.verify.compare_values import Captured, compare  # noqa: E402
from jaxlint.verify.jobs import World  # noqa: E402
from jaxlint.verify.worker.capture import capture  # noqa: E402
from jaxlint.verify.worker.vary import shaken, widened  # noqa: E402
from jaxlint.verify.worker.worlds import inside  # noqa: E402

DTYPES = ("float32", "bfloat16", "float64")
SCALES = (0.1, 1.0, 10.0)
DRIFTS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
EPS = {"float32": 2.0**-23, "bfloat16": 2.0**-7, "float64": 2.0**-52}
SEEN = 1e-5  # mutants that differ by less of the largest value, in 64 bits, are the same function here
MUTANTS = 24  # of each function, at most
HEADER = "import jax\nimport jax.numpy as jnp\nfrom jax import lax\n\n\n"

Function = Callable[[Any, Any], Any]
Version = Callable[[Any, Any], Any]


class Results(Struct, frozen=True):
    """Two results that are to be compared, with what helps to judge them."""

    one: Captured
    two: Captured
    exact: Captured | None
    shaken: Captured | None
    dtype: str


class Case(Struct, frozen=True):
    """One thing to be judged, by what several inputs show of it: a legal reordering, a mutant, or a drift."""

    what: str
    dtype: str
    found: tuple[Results, ...]


# Orders of operations


def orders(f: Function) -> Iterator[tuple[Version, dict[str, Version]]]:
    """A version of the function over a batch, and the others that mean the same; then the same of its gradient."""
    yield (
        jax.jit(jax.vmap(f)),
        {
            "vmap of jit": jax.vmap(jax.jit(f)),
            "eager vmap": jax.vmap(f),
            "loop of jit": _looped(jax.jit(f)),
            "eager loop": _looped(f),
        },
    )

    def scalar(x: Any, w: Any) -> Any:
        out = f(x, w)
        return jnp.sum(out * jnp.cos(jnp.arange(out.size, dtype=out.dtype)).reshape(out.shape))

    yield (
        jax.jit(jax.vmap(jax.grad(scalar))),
        {
            "vmap of jit of grad": jax.vmap(jax.jit(jax.grad(scalar))),
            "vmap of grad of jit": jax.vmap(jax.grad(jax.jit(scalar))),
            "grad of the sum": jax.jit(jax.grad(lambda x, w: jnp.sum(jax.vmap(scalar)(x, w)))),
            "loop of grad of jit": _looped(jax.grad(jax.jit(scalar))),
            "eager vmap of grad": jax.vmap(jax.grad(scalar)),
        },
    )


def _looped(f: Function) -> Version:
    return lambda x, w: jnp.stack([f(*one) for one in zip(x, w, strict=True)])


# Results


def inputs(dtype: str, scale: float, seed: int) -> tuple[Any, Any]:
    """A batch of four pairs of arrays."""
    rng = np.random.default_rng([seed, int(scale * 1000)])
    return tuple(jnp.asarray(rng.standard_normal((4, 8, 8)) * scale, dtype) for _ in range(2))


class Runs:
    """Runs versions, each but once for the same numbers."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._known: dict[tuple[Version, str, float, Any], Captured | None] = {}

    def pair(self, before: Version, after: Version, dtype: str, scale: float) -> Results | None:
        """What both versions give, and the first in 64 bits and with shaken inputs; None where they fail."""
        one, two = self.run(before, dtype, scale), self.run(after, dtype, scale)
        if one is None or two is None:
            return None
        return Results(one, two, self.run(before, dtype, scale, widened), self.run(before, dtype, scale, shaken), dtype)

    def run(self, version: Version, dtype: str, scale: float, change: Any = None) -> Captured | None:
        """What it gives for the inputs of this type, each changed in this way; None where it fails."""
        key = (version, dtype, scale, change)
        if key not in self._known:
            self._known[key] = self._new(version, dtype, scale, change)
        return self._known[key]

    def _new(self, version: Version, dtype: str, scale: float, change: Any) -> Captured | None:
        wide = inside(World.DOUBLE) if change is widened or dtype == "float64" else contextlib.nullcontext()
        with contextlib.suppress(Exception), wide:
            args = inputs(dtype, scale, self.seed)
            return capture(version(*(args if change is None else map(change, args))))
        return None


def legal(name: str, f: Function, runs: Runs) -> Iterator[Case]:
    """The reorderings, each in both directions and with each scale by itself."""
    for base, others in orders(f):
        for (order, other), dtype, scale in itertools.product(others.items(), DTYPES, SCALES):
            for pair in ((base, other), (other, base)):
                found = runs.pair(*pair, dtype, scale)
                if found:
                    yield Case(f"{name}: {order}, scale {scale:g}", dtype, (found,))


def wrong(name: str, f: Function, runs: Runs) -> Iterator[Case]:
    """The mutants that do something else, each with all scales."""
    text = HEADER + inspect.getsource(f)
    base = jax.jit(jax.vmap(f))
    for mutant in mutants(Fix(f"{name}.py", "", text, name), random.Random(runs.seed), MUTANTS):
        other = jax.jit(jax.vmap(_function(mutant.text, name)))
        if not _differs(base, other, runs):
            continue
        for dtype in DTYPES:
            found = tuple(filter(None, (runs.pair(base, other, dtype, scale) for scale in SCALES)))
            if found and all(_form(one.one) == _form(one.two) for one in found):
                yield Case(f"{name}: {mutant.kind}: {mutant.told}", dtype, found)


def drifting(f: Function, runs: Runs) -> Iterator[Case]:
    """The result times a little more than one, computed in 64 bits and rounded once."""
    base = jax.jit(jax.vmap(f))
    for dtype, drift in itertools.product(DTYPES, DRIFTS):
        found = runs.pair(base, base, dtype, 1.0)
        if found:
            yield Case(f"{drift:g}", dtype, (_drifted(found, drift),))


def _drifted(found: Results, drift: float) -> Results:
    def moved(values: np.ndarray) -> np.ndarray:
        return (np.asarray(values, np.float64) * (1 + drift)).astype(jnp.dtype(found.dtype)).astype(np.float64)

    arrays = {path: moved(values) for path, values in found.one.arrays.items()}
    return structs.replace(found, two=Captured(found.one.leaves, arrays))


def _function(text: str, name: str) -> Function:
    namespace: dict[str, Any] = {}
    exec(compile(text, f"{name}.py", "exec"), namespace)
    return namespace[name]


def _differs(one: Version, two: Version, runs: Runs) -> bool:
    """Whether they are different functions that return something of the same form, as far as 64 bits tell."""
    for scale in SCALES:
        was, now = (runs.run(version, "float64", scale) for version in (one, two))
        if was is None or now is None or _form(was) != _form(now):
            return False
        before, after = _values(was), _values(now)
        finite = np.isfinite(before)
        if not np.array_equal(finite, np.isfinite(after)):
            return True
        if _largest(before[finite] - after[finite]) > SEEN * _largest(before):
            return True
    return False


def _form(values: Captured) -> Sequence[Any]:
    return [(leaf.path, leaf.dtype, leaf.shape) for leaf in values.leaves]


# Criteria: each says same, unclear or different

Criterion = Callable[[Results], str]


def in_use(found: Results) -> str:
    """As the verifier's replay asks."""
    level = compare(found.one, found.two).level
    return level if level == "same" else compare(found.one, found.two, found.exact, found.shaken).level


def without_reference(found: Results) -> str:
    """The same where no result in 64 bits can be had."""
    return compare(found.one, found.two).level


def tuned(close: float, factor: float) -> Criterion:
    """The criterion in use with other constants."""

    def criterion(found: Results) -> str:
        with mock.patch.multiple(compare_values, _CLOSE=close, _FACTOR=factor):
            return in_use(found)

    return criterion


def excused_as_a_whole(found: Results) -> str:
    """64 bits excuse whole arrays, by their largest numbers, and not each row by its own."""
    return "same" if compare(found.one, found.two).level == "same" else against_reference(4.0, 8.0)(found)


def against_reference(factor: float, units: float) -> Criterion:
    """The error of the fixed version is at most a multiple of the original's, plus units in the last place."""

    def criterion(found: Results) -> str:
        one, two, exact = _values(found.one), _values(found.two), _values(found.exact)
        bound = factor * _largest(one - exact) + units * EPS[found.dtype] * _largest(exact)
        return "same" if _largest(two - exact) <= bound else "different"

    return criterion


def allclose(relative: dict[str, float], absolute: dict[str, float]) -> Criterion:
    """Bounds on each element, as `numpy.allclose` has them."""

    def criterion(found: Results) -> str:
        one, two = _values(found.one), _values(found.two)
        near = np.allclose(two, one, rtol=relative[found.dtype], atol=absolute[found.dtype], equal_nan=True)
        return "same" if near else "different"

    return criterion


def _values(found: Captured | None) -> np.ndarray:
    assert found is not None
    return np.concatenate([np.ravel(found.numbers(leaf.path)) for leaf in found.leaves])


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _all(value: float) -> dict[str, float]:
    return dict.fromkeys(DTYPES, value)


CRITERIA: dict[str, Criterion] = {
    "**in use**: 8 eps of the row, or excused by 64 bits (k = 4)": in_use,
    "the same with 4 eps": tuned(4.0, 4.0),
    "the same with 16 eps": tuned(16.0, 4.0),
    "the same with k = 2": tuned(8.0, 2.0),
    "the same with k = 8": tuned(8.0, 8.0),
    "the same where there are no 64 bits": without_reference,
    "the same with whole arrays in the place of rows": excused_as_a_whole,
    "error ≤ 1 · error of the original + 4 eps": against_reference(1.0, 4.0),
    "error ≤ 4 · error of the original + 4 eps": against_reference(4.0, 4.0),
    "`numpy.allclose`": allclose(_all(1e-5), _all(1e-8)),
    "`torch.testing.assert_close`": allclose(
        {"float32": 1.3e-6, "bfloat16": 1.6e-2, "float64": 1e-7}, {"float32": 1e-5, "bfloat16": 1e-5, "float64": 1e-7}
    ),
    "tolerances of JAX's own tests": allclose(
        {"float32": 1e-6, "bfloat16": 1e-2, "float64": 1e-15}, {"float32": 1e-6, "bfloat16": 1e-2, "float64": 1e-15}
    ),
    "equal bits": allclose(_all(0.0), _all(0.0)),
}


def judged(case: Case, criterion: Criterion) -> str:
    """The most serious of what its inputs show."""
    order = ("same", "unclear", "different")
    return max((criterion(found) for found in case.found), key=order.index)


# Tables


def table(cases: Sequence[Case], bad: str, title: str) -> str:
    """For each criterion and type the share of what it gets wrong, and of what it leaves open."""
    counts = collections.Counter(case.dtype for case in cases)
    head = [title, *(f"{dtype} ({counts[dtype]})" for dtype in DTYPES)]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, criterion in CRITERIA.items():
        levels = [(case.dtype, judged(case, criterion)) for case in cases]
        cells = [_share(collections.Counter(level for dtype, level in levels if dtype == want), bad) for want in DTYPES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _share(levels: collections.Counter[str], bad: str) -> str:
    total = max(1, levels.total())
    open_ = f", {levels['unclear']} open" if levels["unclear"] else ""
    return f"{levels[bad]} ({100 * levels[bad] / total:.1f} %){open_}"


def drifts(cases: Sequence[Case]) -> str:
    """Markdown: how many functions' results the criterion in use tells from those that are a little larger."""
    head = ["type", *(f"{drift:g}" for drift in DRIFTS)]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for dtype in DTYPES:
        cells = []
        for drift in DRIFTS:
            levels = [judged(case, in_use) for case in cases if case.dtype == dtype and case.what == f"{drift:g}"]
            told = collections.Counter(levels)
            cells.append(f"{told['different']} / {told['unclear']} / {told['same']}")
        lines.append(f"| {dtype} | {' | '.join(cells)} |")
    return "\n".join(lines)


def functions(names: Sequence[str]) -> dict[str, Function]:
    """The functions asked for, or all."""
    found = {name: f for name, f in vars(float_functions).items() if inspect.isfunction(f)}
    unknown = set(names) - set(found)
    if unknown:
        sys.exit(f"there is no function called {', '.join(sorted(unknown))} in float_functions.py")
    return {name: found[name] for name in names} if names else found


def main() -> int:
    """Exit status 1 when the criterion in use raises a false alarm, or misses a mutant that 64 bits tell apart."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="*")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    right: list[Case] = []
    bad: list[Case] = []
    moved: list[Case] = []
    chosen = functions(options.functions)
    for number, (name, f) in enumerate(chosen.items(), 1):
        print(f"{number} of {len(chosen)}: {name}", file=sys.stderr, flush=True)
        runs = Runs(options.seed)
        right += legal(name, f, runs)
        bad += wrong(name, f, runs)
        moved += drifting(f, runs)
        jax.clear_caches()
    print(f"{len(chosen)} functions, JAX {jax.__version__} on {jax.default_backend()}.\n")
    print(table(right, "different", "false alarms: legal reorderings called different"))
    print()
    print(table(bad, "same", "missed: mutants called the same"))
    print("\nResults scaled by one and a little, as the criterion in use calls them: different / open / same.\n")
    print(drifts(moved))
    alarms = [case for case in right if judged(case, in_use) == "different"]
    missed = [case for case in bad if judged(case, in_use) == "same"]
    for word, cases in (("false alarm", alarms), ("missed", missed)):
        for case in cases:
            print(f"{word}: {case.dtype}: {case.what}", file=sys.stderr)
    return 1 if alarms or [case for case in missed if case.dtype != "bfloat16"] else 0


if __name__ == "__main__":
    sys.exit(main())
