"""JAX314 static-donate: an argument cannot be both static and donated."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import TransformMade
from jaxlint.analysis.signature import constants, signature, static_parameters
from jaxlint.analysis.values import Items
from jaxlint.model import Severity
from jaxlint.registry import Rule

RULE = Rule("JAX314", "static-donate", "an argument is both static and donated", Severity.ERROR)


def check(event: TransformMade, context: Context) -> Iterator[Report]:
    """The options of one application against each other."""
    site, known = event.value.site, signature(event.value.function)
    numbers = constants(site.option("donate_argnums") or Items("tuple", ()))
    names = constants(site.option("donate_argnames") or Items("tuple", ()))
    statics = static_parameters(site, known)
    if statics is None or numbers is None or names is None:
        return
    for number in numbers:
        name = known.name_at(number) if known is not None and isinstance(number, int) else None
        if isinstance(number, int) and statics.holds(number, name):
            shown = f"`{name}`" if name is not None else f"argument {number}"
            yield Report(site.span, f"{shown} is both static and donated; a static argument is no array to give away")
            return
    for given in names:
        if isinstance(given, str) and statics.holds(None, given):
            yield Report(site.span, f"`{given}` is both static and donated; a static argument is no array to give away")
            return


CHECKS = {TransformMade: check}
