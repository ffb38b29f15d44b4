"""What was measured for a verdict, in words and numbers that all reports for people share."""

from __future__ import annotations

from jaxlint.model import Counts, Speedup, Verification


def number(value: float) -> str:
    """A ratio with as many digits as it is worth."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def speedup(gain: Speedup | None) -> str:
    """The ratio with its interval; empty where there is none."""
    return f"{number(gain.ratio)}x ({number(gain.low)} to {number(gain.high)})" if gain else ""


def counts(pair: Counts | None) -> str:
    """A count before and after; empty where there is none."""
    return f"{pair.before} -> {pair.after}" if pair else ""


def compilations(verification: Verification) -> str:
    """How often the program compiled, and the calls of callables where that has changed; empty where neither is known.

    The program may never call them.
    """
    told = verification.evidence.compiles if verification.evidence else ()
    calls = [f"{one.what} {one.before} -> {one.after}" for one in told if one.before != one.after]
    return ", ".join(filter(None, (counts(verification.compiles), *calls)))


def error(value: float | None) -> str:
    """The largest error; empty where nothing was compared."""
    return "" if value is None else f"{value:.3g}"


def run_on(verification: Verification) -> str:
    """Device and JAX version, as far as they are known."""
    hardware = verification.evidence.hardware if verification.evidence else ""
    device = f"{verification.device} ({hardware})" if hardware else verification.device
    jax = f"JAX {verification.jax}" if verification.jax else ""
    return ", ".join(filter(None, (device, jax)))


def figures(verification: Verification) -> dict[str, str]:
    """Names and values of what was measured; the value is empty where it was not."""
    return {
        "speed-up": speedup(verification.speedup),
        "compilations": counts(verification.compiles),
        "traces": counts(verification.traces),
        "largest error": error(verification.max_abs_error),
        "inputs": verification.inputs or "",
    }
