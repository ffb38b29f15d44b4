"""JAX406 trace-frozen: clocks and host random numbers in a compiled function give the same value for ever."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis import bindings
from jaxlint.analysis.bindings import Bindings
from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import ApiCall, SiteSeen
from jaxlint.analysis.frames import steps
from jaxlint.analysis.returned import behind
from jaxlint.model import Safety, Severity, Step
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.contents import expressions_of
from jaxlint.repair.hoist import enclosing, holds
from jaxlint.repair.parameters import Captured, as_arguments, reads_in
from jaxlint.repair.spelling import fresh_name

RULE = Rule(
    "JAX406", "trace-frozen", "a host value that is read once, when the function is traced", Severity.ERROR,
    fix=Safety.UNSAFE,
)  # fmt: skip

CLOCKS = frozenset(
    {"time.time", "time.time_ns", "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today",
     "os.urandom", "uuid.uuid4", "uuid.uuid1", "secrets.token_bytes", "secrets.randbits", "secrets.randbelow"}
)  # fmt: skip
RANDOM = frozenset(
    f"random.{name}"
    for name in ("random", "uniform", "randint", "randrange", "choice", "choices", "shuffle", "sample", "gauss",
                 "normalvariate", "betavariate", "expovariate", "getrandbits", "triangular")
)  # fmt: skip
NUMBERS = frozenset(
    f"random.{name}"
    for name in ("random", "uniform", "randint", "randrange", "gauss", "normalvariate", "betavariate", "expovariate",
                 "triangular")
)  # fmt: skip
ARRAYS = frozenset(
    f"numpy.random.{name}"
    for name in ("rand", "randn", "random", "random_sample", "uniform", "normal", "standard_normal", "randint",
                 "exponential", "gamma", "beta", "poisson", "binomial", "permutation", "laplace", "lognormal")
)  # fmt: skip
SEEDED = frozenset({"default_rng", "RandomState", "Generator", "SeedSequence", "PCG64", "Philox", "MT19937", "seed",
                    "get_state", "set_state"})  # fmt: skip


def check(event: ApiCall, context: Context) -> Iterator[Report]:
    """A clock or generator that is read inside a compiled function."""
    if not event.frame.compiled or event.frame.in_test() or not is_drawn(event.path):
        return
    yield Report(event.span, _message(event.path), steps(event.frame))


def _message(path: str) -> str:
    return f"`{path}` runs once, when the function is traced; each later call gets the same value"


def check_jitted(event: SiteSeen, context: Context) -> Iterator[Report]:
    """The same for what a jitted function itself draws, where its calls can hand the numbers over."""
    closure = behind(event.value)
    site = event.value.site
    if site.kind != "jit" or closure is None or closure.path != context.module.path or event.frame.in_test():
        return
    scope = scope_of(closure.function, context)
    drawn = reads_in(closure.function, lambda node: _is_number(node, scope))
    because = Step(site.path, site.span.line, f"`{closure.function.name}` is jitted")
    for call in drawn:
        name = fresh_name(context.module, "drawn")
        repair = as_arguments(event, [Captured(name, (call,))], context) if not _is_in_loop(call, context) else None
        if repair is not None and isinstance(call, n.Call):
            yield Report(call.span, _message(scope.chain(call.function) or ""), (because,), repair)


def scope_of(function: n.Function, context: Context) -> Bindings:
    """What names mean in a function's body."""
    start = function.body[0].span
    return bindings.scope_at(context.module, start.line, start.column)[0]


def _is_number(node: n.Expr, scope: Bindings) -> bool:
    path = scope.chain(node.function) if isinstance(node, n.Call) else None
    return path is not None and (path in NUMBERS or path in ARRAYS)


def _is_in_loop(node: n.Expr, context: Context) -> bool:
    """Whether the function draws several times."""
    path = enclosing(context.module, node.span)
    around = expressions_of(context.module, n.Comprehension)
    return any(isinstance(s, (n.For, n.While)) for s in path) or any(holds(other.span, node.span) for other in around)


def is_drawn(path: str) -> bool:
    """Whether each call of the host function gives something else."""
    module, _, name = path.rpartition(".")
    return path in CLOCKS or path in RANDOM or (module == "numpy.random" and name not in SEEDED)


CHECKS = {ApiCall: check, SiteSeen: check_jitted}
