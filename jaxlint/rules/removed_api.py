"""JAX901: a name, parameter, flag or form of call that an allowed version of JAX does not have (any more)."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, replace
from jaxlint.analysis.events import ApiUse
from jaxlint.model import Fix, Safety, Severity, Span
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.spelling import spell
from jaxlint.rules._api_changes import name_reports, parameter_reports, partial_reports
from jaxlint.versions import REMOVED, exists, flag_removed_in, version

RULE = Rule(
    code="JAX901",
    name="removed-api",
    summary="A name, parameter or flag that JAX has removed",
    severity=Severity.ERROR,
    fix=Safety.SAFE,
)

# Transforms called without the function that they transform, and the first release where that gives a decorator.
FACTORIES = {
    "jax.jit": "0.8.1",
    **dict.fromkeys(
        (
            "jax.checkpoint", "jax.custom_jvp", "jax.custom_vjp", "jax.grad", "jax.hessian", "jax.jacfwd", "jax.jacrev",
            "jax.named_call", "jax.pmap", "jax.remat", "jax.value_and_grad", "jax.vmap",
        ),
    ),
}  # fmt: skip


def check(use: ApiUse, context: Context) -> Iterator[Report]:
    """What the target lacks at one use of an outside name."""
    if use.guarded:
        return
    if use.path == "functools.partial" and use.call is not None:
        yield from partial_reports(use, use.call, REMOVED, context)
    if not use.path.startswith("jax."):
        return
    yield from name_reports(use, REMOVED, context)
    if use.call is not None:
        yield from parameter_reports(use, use.call, REMOVED, context)
        yield from _removed_flag(use, use.call, context)
        yield from _factory(use, use.call, context)


def _removed_flag(use: ApiUse, call: n.Call, context: Context) -> Iterator[Report]:
    """`jax.config.update("jax_spmd_mode", ...)`."""
    if not use.path.endswith("config.update") or not call.arguments:
        return
    flag = call.arguments[0].value
    if isinstance(flag, n.Constant) and isinstance(flag.value, str):
        removed = flag_removed_in(flag.value)
        if removed and version(context.target.maximum) >= version(removed):
            yield Report(flag.span, f"JAX {removed} removed the configuration flag `{flag.value}`")


def _factory(use: ApiUse, call: n.Call, context: Context) -> Iterator[Report]:
    """`@jax.jit(static_argnames=...)` where `jit` still wants the function."""
    if use.path not in FACTORIES or any(a.keyword is None or a.keyword in ("fun", "f", "fn") for a in call.arguments):
        return
    since = FACTORIES[use.path]
    if since is not None and exists(since, context.target):
        return
    when = "in no release of JAX" if since is None else f"only from JAX {since} on"
    name = context.text.at(call.function.span)
    message = f"`{use.path}` without the function makes a decorator {when}; write `functools.partial({name}, ...)`"
    yield Report(call.span, message, fix=_partial(call, name, context))


def _partial(call: n.Call, name: str, context: Context) -> Fix | None:
    """`functools.partial(jax.jit, ...)` in the place of `jax.jit(...)`."""
    end = call.function.span
    opening = Span(end.end_line, end.end_column, end.end_line, end.end_column + 1)
    if context.text.at(opening) != "(":
        return None
    if not call.arguments:
        return Fix(Safety.SAFE, f"Write `{name}`", (replace(call.span, name),))
    partial = spell(context.module, "functools.partial", call.span)
    edits = (
        replace(Span(end.line, end.column, end.end_line, end.end_column + 1), f"{partial.text}({name}, "),
        *partial.edits,
    )
    return Fix(Safety.SAFE, f"Write `{partial.text}({name}, ...)`", edits)


CHECKS = {ApiUse: check}
