from __future__ import annotations

import random

import pytest

pytest.importorskip("jax")

from jaxlint.verify.worker.timing import judge


def blocks(ratio: float, rounds: int, noise: float, seed: int) -> list[tuple[float, float]]:
    rng = random.Random(seed)
    return [(ratio * (1 + noise * rng.expovariate(1)), 1 + noise * rng.expovariate(1)) for _ in range(rounds)]


@pytest.mark.parametrize("noise", [0.02, 0.3])
def test_equal_times_are_hardly_ever_called_faster(noise: float) -> None:
    found = [judge(blocks(1.0, 40, noise, seed), 0.001, 5) for seed in range(300)]
    assert sum(t.faster for t in found) <= 2 and sum(t.slower for t in found) <= 2


@pytest.mark.parametrize("ratio", [1.3, 2.0])
def test_real_gains_are_seen(ratio: float) -> None:
    found = [judge(blocks(ratio, 40, 0.1, seed), 0.001, 5) for seed in range(50)]
    assert all(t.faster and t.low <= t.ratio <= t.high for t in found)
    swapped = [judge([(a, b) for b, a in blocks(ratio, 40, 0.1, seed)], 0.001, 5) for seed in range(50)]
    assert all(t.slower and not t.faster for t in swapped)
