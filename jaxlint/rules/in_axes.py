"""JAX201 and JAX202: how many entries `in_axes` has, and whether it maps anything."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from jaxlint.analysis import mapping
from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import SiteSeen, TransformCalled, TransformMade
from jaxlint.analysis.signature import signature
from jaxlint.analysis.values import (
    Bound,
    Items,
    Option,
    Scalar,
    Transformed,
    Value,
)
from jaxlint.model import Edit, Fix, Safety, Severity, Step
from jaxlint.registry import Rule
from jaxlint.rules._in_axes import described, entries, is_map, rank_of, sequence_text

ARITY = Rule(
    "JAX201", "in-axes-arity", "`in_axes` has another length than the arguments", Severity.ERROR, fix=Safety.UNSAFE
)
ALL_NONE = Rule("JAX202", "in-axes-all-none", "`in_axes` maps nothing", Severity.ERROR)


def check_required(event: SiteSeen, context: Context) -> Iterator[Report]:
    """A mapped function that nothing visible calls: its entries against its parameters."""
    found = entries(event.value.site)
    known = signature(event.value.function)
    if found is None or known is None or not is_map(event.value.site) or known.maximum is None or event.calls:
        return
    option, given = found
    function = described(event.value.function)
    if known.required > len(given) and not _inner_is_wrong(event.value.function):
        yield _too_few(event.value, option, len(given), known.required, (), context)
    elif len(given) > known.maximum:
        most = _count(known.maximum, "argument")
        message = f"`in_axes` has {_count(len(given), 'entry')}, but `{function}` takes at most {most}"
        message += " beside those that `partial` binds" if isinstance(event.value.function, Bound) else ""
        yield Report(event.value.site.span, message)


def _have_axes(event: TransformCalled, given: tuple[Value, ...]) -> bool:
    """Whether the arguments may have the axes of their entries; else an entry is missing in front of them."""
    for value, axis in zip(event.arguments.positional, given, strict=False):
        for leaf, leaf_axis in mapping.paired(value, axis):
            at = mapping.number(leaf_axis)
            rank = 0 if isinstance(leaf, Scalar) else rank_of(leaf)
            if at is not None and rank is not None and not -rank <= at < rank:
                return False
    return True


def _inner_is_wrong(function: Value) -> bool:
    found = entries(function.site) if isinstance(function, Transformed) and is_map(function.site) else None
    known = signature(function)
    return found is not None and known is not None and known.required > len(found[1])


def _too_few(
    value: Transformed, option: Option, given: int, required: int, because: tuple[Step, ...], context: Context
) -> Report:
    """Fewer entries than the function has parameters without default: the specification is at fault."""
    function = described(value.function)
    message = f"`in_axes` has {_count(given, 'entry')}, but `{function}` needs {_count(required, 'argument')}"
    return Report(value.site.span, message, because, _extended(option, required - given, context), path=value.site.path)


def check_arity(event: TransformCalled, context: Context) -> Iterator[Report]:
    """The call passes another number of positional arguments than there are entries."""
    site = event.value.site
    found = entries(site)
    if found is None or not is_map(site) or not event.arguments.complete or event.call is None:
        return
    option, given = found
    known = signature(event.value.function)
    passed = len(event.arguments.positional)
    if passed == len(given) or (passed < len(given) and _by_name(event, passed, len(given))):
        return  # what is passed by name belongs to in-axes-kwargs
    if known is not None and len(given) < known.required <= passed and site.path == context.module.path:
        if _inner_is_wrong(event.value.function):
            return
        because = Step(event.frame.path, event.span.line, f"the call passes {_count(passed, 'positional argument')}")
        report = _too_few(event.value, option, len(given), known.required, (because,), context)
        yield report if _have_axes(event, given) else structs.replace(report, fix=None)
        return
    because = Step(site.path, option.span.line, f"`in_axes` has {_count(len(given), 'entry')}")
    message = (
        f"`in_axes` has {_count(len(given), 'entry')}, but the call passes {_count(passed, 'positional argument')}"
    )
    yield Report(event.span, message, (because,), _shortened(event, option, passed, context))


def _by_name(event: TransformCalled, passed: int, wanted: int) -> bool:
    known = signature(event.value.function)
    if known is None:
        return bool(event.arguments.keywords)
    names = {p.name for p in known.positional()[passed:wanted]}
    return any(name in names for name, _ in event.arguments.keywords)


def _count(number: int, what: str) -> str:
    plural = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{number} {what if number == 1 else plural}"


def _extended(option: Option, missing: int, context: Context) -> Fix | None:
    written = sequence_text(option, context)
    if written is None:
        return None
    opening, inner, closing = written
    added = ", ".join([inner.rstrip().removesuffix(",")] + ["None"] * missing)
    return fix(Safety.UNSAFE, "leave the other arguments unmapped", Edit(option.span, f"{opening}{added}{closing}"))


def _shortened(event: TransformCalled, option: Option, passed: int, context: Context) -> Fix | None:
    """Drops entries for parameters that the call leaves to their defaults."""
    site = event.value.site
    known = signature(event.value.function)
    if site.path != context.module.path or known is None or passed == 0:
        return None
    assert isinstance(option.value, Items)
    if passed > len(option.value.items) or passed < known.required:
        return None
    written = sequence_text(option, context)
    kept = option.value.items[:passed]
    texts = [str(item.const) if isinstance(item, Scalar) and item.kind in ("int", "none") else None for item in kept]
    if written is None or None in texts:
        return None
    inner = ", ".join(text for text in texts if text is not None) + ("," if passed == 1 else "")
    return fix(
        Safety.UNSAFE, "give one entry for each argument passed", Edit(option.span, f"{written[0]}{inner}{written[2]}")
    )


def check_all_none(event: TransformMade, context: Context) -> Iterator[Report]:
    """Every entry is None and no `axis_size` says how many copies are wanted."""
    site = event.value.site
    option = site.option_at("in_axes")
    if option is None or not is_map(site) or site.option("axis_size") is not None:
        return
    given = option.value.items if isinstance(option.value, Items) else (option.value,)
    if given and all(mapping.is_unmapped(entry) for entry in given):
        yield Report(
            site.span, "every entry of `in_axes` is None: nothing is mapped; map an argument or give `axis_size`"
        )


RULES = (
    (ARITY, {SiteSeen: check_required, TransformCalled: check_arity}),
    (ALL_NONE, {TransformMade: check_all_none}),
)
