"""JAX420 donate-reuse and JAX421 donate-unusable: arrays that are read after they were given away, or given in vain."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.donation import donated_arguments, donates, unusable
from jaxlint.analysis.events import DonatedRead, TransformCalled
from jaxlint.analysis.signature import signature
from jaxlint.analysis.values import Array, Site, Value
from jaxlint.model import Fix, Safety, Severity, Step
from jaxlint.registry import Rule
from jaxlint.repair.hoist import holds
from jaxlint.repair.options import remove_option
from jaxlint.rules.vmap_of_jit import described

REUSE = Rule("JAX420", "donate-reuse", "a donated array is read", Severity.ERROR, fix=Safety.UNSAFE)
UNUSABLE = Rule(
    "JAX421", "donate-unusable", "no output can use the memory of a donated array", Severity.WARNING, fix=Safety.SAFE
)


def check_reuse(event: DonatedRead, context: Context) -> Iterator[Report]:
    """A name that is read after its arrays were donated."""
    donation = event.donation
    again = donation.path == event.frame.path and holds(donation.span, event.span)
    when = "in an earlier round of the loop" if again else f"on line {donation.span.line}"
    message = f"`{event.name}` was donated {when}, so its memory is gone; bind the name to the result, or do not donate"
    because = (
        Step(donation.site.path, donation.site.span.line, f"`{donates(donation.site)}` is said here"),
        Step(donation.path, donation.span.line, f"`{event.name}` is donated"),
    )
    yield Report(event.span, message, because, without(donation.site, context, Safety.UNSAFE))


def without(site: Site, context: Context, safety: Safety) -> Fix | None:
    """Takes the donation away where it is the only one."""
    option = donates(site)
    edits = remove_option(site, option, context) if option is not None else None
    return fix(safety, "do not donate", edits) if edits else None


def check_unusable(event: TransformCalled, context: Context) -> Iterator[Report]:
    """Donated arguments whose size no output has."""
    site = event.value.site
    if donates(site) is None or event.frame.staged or event.frame.mapped or event.frame.in_test():
        return
    donated = [value for value, _ in donated_arguments(site, signature(event.value.function), event.arguments)]
    useless = [array for value in donated if (array := unusable(value, event.result)) is not None]
    if not useless:
        return
    shown = _described(useless[0])
    name = described(event.value.function)
    message = f"`{name}` is given {shown} to reuse, but no output has that size: JAX warns"
    because = (Step(event.frame.path, event.span.line, f"{event.frame.described} calls `{name}` with it"),)
    all_in_vain = len(useless) == len(donated)
    repaired = without(site, context, Safety.SAFE) if all_in_vain else None
    yield Report(site.span, message, because, repaired, path=site.path)


def _described(value: Value) -> str:
    assert isinstance(value, Array) and value.shape is not None
    return f"{value.dtype}[{','.join(map(str, value.shape))}]"


RULES = ((REUSE, {DonatedRead: check_reuse}), (UNUSABLE, {TransformCalled: check_unusable}))
