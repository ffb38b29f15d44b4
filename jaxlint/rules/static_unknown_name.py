"""JAX311 static-unknown-name: `static_argnames` or `static_argnums` point at no parameter; JAX raises at decoration."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import TransformMade
from jaxlint.analysis.signature import constants, signature, unknown_statics
from jaxlint.model import Edit, Fix, Safety, Severity, Span
from jaxlint.registry import Rule

RULE = Rule(
    "JAX311", "static-unknown-name", "a static name or number that the function has no parameter for", Severity.ERROR,
    fix=Safety.UNSAFE,
)  # fmt: skip


def check(event: TransformMade, context: Context) -> Iterator[Report]:
    """Names and numbers in the options of jit against the parameters."""
    site = event.value.site
    known = signature(event.value.function)
    if known is None or known.function is None or site.kind != "jit":
        return
    for name in unknown_statics(site, known):
        option = site.option_at("static_argnames")
        assert option is not None
        names = [p.name for p in known.parameters if p.kind not in ("*", "**")]
        near = difflib.get_close_matches(name, names, 1, 0.6)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        message = f"`{known.function.name}` has no parameter `{name}`, so JAX raises when it is jitted{hint}"
        yield Report(site.span, message, (), _rename(name, near, option.span, context) if near else None)
    yield from _numbers(event, context)


def _rename(name: str, near: list[str], span: Span, context: Context) -> Fix | None:
    written = context.text.at(span)
    for quote in ('"', "'"):
        if written.count(f"{quote}{name}{quote}") == 1:
            changed = written.replace(f"{quote}{name}{quote}", f"{quote}{near[0]}{quote}")
            return fix(Safety.UNSAFE, f"use the parameter's name `{near[0]}`", Edit(span, changed))
    return None


def _numbers(event: TransformMade, context: Context) -> Iterator[Report]:
    site = event.value.site
    known = signature(event.value.function)
    given = site.option("static_argnums")
    if given is None or known is None or known.function is None or known.maximum is None:
        return
    for number in constants(given) or ():
        if isinstance(number, int) and not -known.maximum <= number < known.maximum:
            message = (
                f"`{known.function.name}` takes {known.maximum} positional arguments, so there is no argument "
                f"{number} to be static"
            )
            yield Report(site.span, message)


CHECKS = {TransformMade: check}
