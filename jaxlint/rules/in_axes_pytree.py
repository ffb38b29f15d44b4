"""JAX206: entries of the wrong type or structure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jaxlint.analysis import mapping
from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import TransformCalled, TransformMade
from jaxlint.analysis.values import (
    Items,
    Mapping,
    Option,
    Scalar,
    Value,
)
from jaxlint.model import Edit, Fix, Safety, Severity
from jaxlint.registry import Rule
from jaxlint.rules._in_axes import entries, is_map, site_step

PYTREE = Rule(
    "JAX206", "in-axes-pytree", "an `in_axes` entry of the wrong type or structure", Severity.ERROR, fix=Safety.UNSAFE
)

FALSE_OUTSIDE_STRINGS = re.compile(r"""\"[^"\n]*\"|'[^'\n]*'|\bFalse\b""")


def check_pytree(event: TransformMade, context: Context) -> Iterator[Report]:
    """Entries that are neither integers, None nor containers of them."""
    site = event.value.site
    option = site.option_at("in_axes")
    if option is None or not is_map(site):
        return
    wrong = next(
        (e for e in _entry_leaves(option.value) if isinstance(e, Scalar) and e.kind in ("bool", "float", "str")), None
    )
    if wrong is None:
        return
    shown = repr(wrong.const) if wrong.known else wrong.kind
    message = f"`in_axes` may hold integers and None, but holds {shown}"
    yield Report(site.span, message, (), _none_for_false(option, context))


def _entry_leaves(value: Value) -> Iterator[Value]:
    if isinstance(value, Items):
        for item in value.items:
            yield from _entry_leaves(item)
    elif isinstance(value, Mapping):
        for _, item in value.entries:
            yield from _entry_leaves(item)
    else:
        yield value


def _none_for_false(option: Option, context: Context) -> Fix | None:
    text = context.text.at(option.span)
    constants = FALSE_OUTSIDE_STRINGS.findall(text)
    if "False" not in constants or "True" in text or "#" in text:
        return None
    written = FALSE_OUTSIDE_STRINGS.sub(lambda match: "None" if match[0] == "False" else match[0], text)
    return fix(Safety.UNSAFE, "write None", Edit(option.span, written))


def check_structure(event: TransformCalled, context: Context) -> Iterator[Report]:
    """A container of axes for an argument that is another container, or an array."""
    site = event.value.site
    found = entries(site)
    if found is None or not is_map(site) or event.frame.in_test():
        return
    for position, (axis, value) in enumerate(zip(found[1], event.arguments.positional, strict=False)):
        wrong = mapping.misfit(axis, value)
        if wrong is not None:
            message = (
                f"`in_axes` has {mapping.shown(wrong[0])} for argument {position + 1}, "
                f"which has {mapping.shown(wrong[1])} there"
            )
            yield Report(event.span, message, site_step(event))
            return


RULES = ((PYTREE, {TransformMade: check_pytree, TransformCalled: check_structure}),)
