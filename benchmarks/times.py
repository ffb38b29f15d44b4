#!/usr/bin/env python3
"""How often does the verifier call one of two identical versions faster, and which gains does it see?

    times.py [--trials N] [--gains N] [--load N] [--minutes N] [--seed N]

Each trial is one measurement as the verifier makes it (`jaxlint.verify.worker.timing.paired`), of a pair of versions
in this process. In an identical pair both versions make the same call; in a pair with a gain of 1.1, 1.3 or 2 the
fixed version makes it 10 times, the original 11, 13 or 20 times. `--load` keeps that many other processes busy.
After `--minutes` no trial is started. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import jax
import jax.numpy as jnp
from load import busy
from msgspec import Struct

from jaxlint.verify.jobs import Timing
from jaxlint.verify.worker.timing import paired

Call = Callable[[], object]
GAINS = {1.1: 11, 1.3: 13, 2.0: 20}
BUDGET_S = 15.0  # what the verifier gives one callable


class Row(Struct, frozen=True):
    """What the trials of one pair showed."""

    kind: str
    one_call_s: float
    gain: float
    found: list[Timing | None]


def calls() -> dict[str, Callable[[], Call]]:
    """Makers of calls, so that each trial has functions of its own."""
    x, batch = jnp.arange(8.0), jnp.ones((64, 64))

    def tiny() -> Call:
        f = jax.jit(lambda v: v * 2.0 + 1.0)
        return lambda: jax.block_until_ready(f(x))

    def product() -> Call:
        f = jax.jit(lambda v: jnp.tanh(v @ v).sum())
        return lambda: jax.block_until_ready(f(batch))

    def loop() -> Call:
        f = jax.jit(lambda v: jnp.sin(v) * 0.5)

        def run() -> object:
            value = x
            for _ in range(20):
                value = f(value)
            return jax.block_until_ready(value)

        return run

    def eager_map() -> Call:
        f = jax.vmap(jax.jit(lambda v: jnp.sum(v * v) + v[0]))
        return lambda: jax.block_until_ready(f(batch))

    return {
        "a call of a few µs": tiny,
        "a product": product,
        "a loop of 20 calls": loop,
        "eager vmap of jit": eager_map,
    }


def pair(make: Callable[[], Call], gain: float) -> tuple[Call, Call]:
    """Two versions, the second `gain` times as fast."""
    if gain == 1.0:
        return make(), make()
    call = make()
    return _repeated(call, GAINS[gain]), _repeated(call, 10)


def _repeated(call: Call, times: int) -> Call:
    def run() -> None:
        for _ in range(times):
            call()

    return run


def trials(counts: Mapping[float, int], seed: int, end: float) -> list[Row]:
    """Measures each pair many times, in turns, so that all of them meet the same load; `end` is on the clock."""
    rows = [Row(kind, _one_call(make()), gain, []) for gain in counts for kind, make in calls().items()]
    for number in range(max(counts.values())):
        for row in rows:
            if number < counts[row.gain] and time.monotonic() < end:
                row.found.append(_trial(calls()[row.kind], row.gain, seed + number))
        print(f"\r{number + 1} rounds ", end="", file=sys.stderr, flush=True)
    return [row for row in rows if row.found]


def _trial(make: Callable[[], Call], gain: float, seed: int) -> Timing | None:
    before, after = pair(make, gain)
    for version in (before, after):
        version()
    return paired(before, after, BUDGET_S, seed)


def _one_call(call: Call) -> float:
    call()
    times = []
    for _ in range(50):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times)


def table(rows: list[Row]) -> str:
    """Markdown: for each pair how often which side was called faster."""
    head = ["call", "time", "true gain", "trials", "faster", "slower", "too slow to time", "rounds", "median ratio"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in rows:
        timed = [one for one in row.found if one]
        lines.append(f"| {' | '.join([*_counts(row, timed), *_medians(timed)])} |")
    equal = [one for row in rows if row.gain == 1.0 for one in row.found if one]
    wrong = sum(one.faster or one.slower for one in equal)
    told = f"Identical pairs called faster or slower: {wrong} of {len(equal)}."
    return "\n".join([*lines, "", told])


def _counts(row: Row, timed: list[Timing]) -> list[str]:
    faster, slower = sum(one.faster for one in timed), sum(one.slower for one in timed)
    time_ = f"{row.one_call_s * 1e6:.0f} µs"
    gain = "none" if row.gain == 1.0 else f"{row.gain:g}x"
    missing = len(row.found) - len(timed)
    return [row.kind, time_, gain, *map(str, (len(row.found), faster, slower, missing))]


def _medians(timed: list[Timing]) -> list[str]:
    if not timed:
        return ["", ""]
    ratios = [one.ratio for one in timed]
    return [f"{statistics.median(one.rounds for one in timed):g}", f"{statistics.median(ratios):.3f}"]


def main() -> int:
    """Exit status 1 when one in a hundred identical pairs, or more, is called faster or slower."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100, help="of identical versions, for each kind of call")
    parser.add_argument("--gains", type=int, default=25, help="trials of each gain, for each kind of call")
    parser.add_argument("--load", type=int, default=0, help="busy processes beside this one")
    parser.add_argument("--minutes", type=float, default=60.0, help="when to start no more trials")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts = {1.0: options.trials, **dict.fromkeys(GAINS, options.gains)}
    with busy(options.load):
        rows = trials(counts, options.seed, time.monotonic() + 60 * options.minutes)
    print(file=sys.stderr)
    print(f"JAX {jax.__version__} on {jax.devices()[0].device_kind}, {os.cpu_count()} cores ({platform.machine()}),")
    print(f"{options.load} busy processes beside it.\n")
    print(table(rows))
    equal = [one for row in rows if row.gain == 1.0 for one in row.found if one]
    return 1 if equal and sum(one.faster or one.slower for one in equal) * 100 >= len(equal) else 0


if __name__ == "__main__":
    sys.exit(main())
