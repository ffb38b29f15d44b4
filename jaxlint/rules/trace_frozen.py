"""JAX406 trace-frozen: clocks and host random numbers in a compiled function give the same value for ever."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import ApiCall
from jaxlint.analysis.frames import steps
from jaxlint.model import Severity
from jaxlint.registry import Rule

RULE = Rule("JAX406", "trace-frozen", "a host value that is read once, when the function is traced", Severity.ERROR)

CLOCKS = frozenset(
    {"time.time", "time.time_ns", "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today",
     "os.urandom", "uuid.uuid4", "uuid.uuid1", "secrets.token_bytes", "secrets.randbits", "secrets.randbelow"}
)  # fmt: skip
RANDOM = frozenset(
    f"random.{name}"
    for name in ("random", "uniform", "randint", "randrange", "choice", "choices", "shuffle", "sample", "gauss",
                 "normalvariate", "betavariate", "expovariate", "getrandbits", "triangular")
)  # fmt: skip
SEEDED = frozenset({"default_rng", "RandomState", "Generator", "SeedSequence", "PCG64", "Philox", "MT19937", "seed",
                    "get_state", "set_state"})  # fmt: skip


def check(event: ApiCall, context: Context) -> Iterator[Report]:
    """A clock or generator that is read inside a compiled function."""
    if not event.frame.compiled or event.frame.in_test() or not is_drawn(event.path):
        return
    message = f"`{event.path}` runs once, when the function is traced; each later call gets the same value"
    yield Report(event.span, message, steps(event.frame))


def is_drawn(path: str) -> bool:
    """Whether each call of the host function gives something else."""
    module, _, name = path.rpartition(".")
    return path in CLOCKS or path in RANDOM or (module == "numpy.random" and name not in SEEDED)


CHECKS = {ApiCall: check}
