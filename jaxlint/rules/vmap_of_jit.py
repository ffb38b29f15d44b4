"""JAX101 vmap-of-jit and JAX102 grad-of-jit: an eager transform around a compiled function.

The inner jit is traced anew at each call of the eager transform, and runs through batching or differentiation rules
one operation at a time; under an outer jit it costs nothing. Measured ratios: facts on the pages of the rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix, insert
from jaxlint.analysis.events import SiteSeen
from jaxlint.analysis.signature import Signature, Statics, signature, static_parameters
from jaxlint.analysis.values import Bound, Closure, Site, Transformed, Value
from jaxlint.model import Edit, Fix, Safety, Severity, Step
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.hoist import to_module
from jaxlint.repair.spelling import spell

VMAP = Rule("JAX101", "vmap-of-jit", "an eager vmap around a jitted function", Severity.WARNING, fix=Safety.SAFE)
GRAD = Rule("JAX102", "grad-of-jit", "an eager derivative of a jitted function", Severity.WARNING, fix=Safety.SAFE)

DERIVATIVES = frozenset({"grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "jvp", "vjp", "linearize"})
BOUND_ONCE = frozenset({"__init__", "__post_init__", "setup"})


def check_vmap(event: SiteSeen, context: Context) -> Iterator[Report]:
    """An eager `vmap` under which a jitted function ran."""
    if event.value.site.kind == "vmap" and is_eager(event):
        yield report(event, context)


def check_grad(event: SiteSeen, context: Context) -> Iterator[Report]:
    """An eager derivative under which a jitted function ran."""
    if event.value.site.kind in DERIVATIVES and is_eager(event):
        yield report(event, context)


def is_eager(event: SiteSeen) -> bool:
    """Whether visible code calls the result outside any jit, or binds it once for others to call."""
    if not event.inner or event.broken:
        return False
    if event.eager_calls:
        # Applied, called and forgotten once, it costs no more than compiling would; donation bites even then.
        return event.repeated or not event.immediate or any(_donates(inner.site) for inner in event.inner)
    if event.staged_calls or event.mapped_calls or event.test_calls or event.frame.in_test() or event.frame.staged:
        return False
    return is_bound_once(event)


def is_bound_once(event: SiteSeen) -> bool:
    """Whether the transform is applied at module or class level, or in `__init__`: not in a loop, not per call."""
    function = event.frame.function
    return not event.loops and (function is None or function.name in BOUND_ONCE)


def report(event: SiteSeen, context: Context) -> Report:
    """The report with the jitted functions that it is about."""
    site = event.value.site
    names = ", ".join(sorted({f"`{described(inner.function)}`" for inner in event.inner}))
    because = tuple(
        Step(inner.site.path, inner.site.span.line, f"`{described(inner.function)}` is jitted") for inner in event.inner
    )
    compiler = event.inner[0].site.transform
    message = f"`{site.transform}` runs the jitted {names} eagerly, op by op at each call; put `{compiler}` outermost"
    return Report(site.span, message, because, repair(event, context))


def described(function: Value) -> str:
    """A function's name for a message."""
    if isinstance(function, Closure):
        return function.function.name
    return described(function.function) if isinstance(function, (Transformed, Bound)) else "function"


def repair(event: SiteSeen, context: Context) -> Fix | None:
    """Wraps the eager transform in jit where it is bound once, or binds the wrapped form at module level."""
    if event.value.site.kind in ("jvp", "vjp", "linearize") or any(_donates(i.site) for i in event.inner):
        return None
    if not all(site.transform.startswith("jax.") for site in (event.value.site, *(i.site for i in event.inner))):
        return None  # other packages' transforms take what `jax.jit` does not
    statics = outer_statics(event)
    if statics is None or not event.stays_traceable():
        return None
    jit = spell(context.module, "jax.jit", event.value.site.span)
    safety = Safety.SAFE if is_simple(event) else Safety.UNSAFE
    if isinstance(event.node, n.Function):
        return _decorated(event, context, jit.text, list(jit.edits), safety) if not statics else None
    if is_bound_once(event):
        span = event.value.site.span
        written = f"{jit.text}({context.text.at(span)}{statics})"
        return fix(safety, "compile the transformed function as a whole", Edit(span, written), jit.edits)
    return _hoisted(event, context, jit.text, list(jit.edits), statics)


def is_simple(event: SiteSeen) -> bool:
    """Whether the transform stands directly on a function that is compiled as a whole, with nothing but arrays."""
    inner = event.value.function
    return (
        is_bound_once(event)
        and isinstance(inner, Transformed)
        and inner.site.kind == "jit"
        and not _options(inner.site)
    )


def _options(site: Site) -> bool:
    return any(name.startswith(("static", "donate")) for name, _ in site.options)


def _donates(site: Site) -> bool:
    return any(name.startswith("donate") for name, _ in site.options)


def outer_statics(event: SiteSeen) -> str | None:
    """The static arguments to repeat on the outer jit, as text; None where they cannot be carried over."""
    direct = event.value.function
    for inner in event.inner:
        statics = static_parameters(inner.site, signature(inner.function))
        if statics is None:
            return None
        if not statics.positions and not statics.names:
            continue
        if inner != direct and (not isinstance(direct, Transformed) or inner.site != direct.site):
            return None
        return _repeated(statics, signature(inner.function))
    return ""


def _repeated(statics: Statics, known: Signature | None) -> str:
    """The options that say the same on the outer jit: names where a parameter has no number, else numbers.

    JAX works out numbers from names, and names from numbers, only where one of the two is given.
    """
    by_number = {known.name_at(number) for number in statics.positions} if known is not None else set()
    numbers = f", static_argnums={tuple(sorted(statics.positions))}" if statics.positions else ""
    if not statics.names - by_number:
        return numbers
    quoted = [f'"{name}"' for name in sorted(statics.names)]
    names = f", static_argnames={quoted[0]}" if len(quoted) == 1 else f", static_argnames=({', '.join(quoted)})"
    return names if known is not None else names + numbers


def _decorated(event: SiteSeen, context: Context, jit: str, imports: list[Edit], safety: Safety) -> Fix | None:
    span = event.value.site.span
    line = context.text.line(span.line)
    indentation = context.text.indentation(span.line)
    if not line[len(indentation) :].startswith("@"):
        return None
    edit = insert(span.line, len(indentation) + 1, f"@{jit}\n{indentation}")
    return fix(safety, "compile the transformed function as a whole", edit, imports)


def _hoisted(event: SiteSeen, context: Context, jit: str, imports: list[Edit], statics: str) -> Fix | None:
    if not isinstance(event.node, n.Call):
        return None
    name = f"{described(event.value.function).strip('<>')}_{event.value.site.kind}"
    moved = to_module(event.node, name, context, lambda text: f"{jit}({text}{statics})")
    return (
        fix(Safety.UNSAFE, "bind the compiled form once, outside the function", moved[1], imports)
        if moved is not None
        else None
    )


RULES = ((VMAP, {SiteSeen: check_vmap}), (GRAD, {SiteSeen: check_grad}))
