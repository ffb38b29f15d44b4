"""JAX205: arguments by name, which `in_axes` does not count."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import PartialMade, TransformCalled
from jaxlint.analysis.signature import signature
from jaxlint.analysis.values import (
    Array,
    Items,
    Option,
    Transformed,
    Value,
    leaves,
)
from jaxlint.model import Edit, Fix, Safety, Severity, Span
from jaxlint.registry import Rule
from jaxlint.rules._in_axes import entries, sequence_text, site_step

KWARGS = Rule(
    "JAX205", "in-axes-kwargs", "a keyword argument is mapped along axis 0", Severity.WARNING, fix=Safety.UNSAFE
)


def check_kwargs(event: TransformCalled, context: Context) -> Iterator[Report]:
    """An argument passed by name is mapped along axis 0, whatever its entry in `in_axes` says."""
    site = event.value.site
    found = entries(site)
    known = signature(event.value.function)
    if found is None or known is None or site.transform != "jax.vmap" or not event.arguments.keywords:
        return
    option, given = found
    names = [p.name for p in known.positional()]
    written = {name for name, _ in event.arguments.keyword_nodes}
    for name, value in event.arguments.keywords:
        position = names.index(name) if name in names else None
        if position is None or name not in written:
            continue
        if position < len(given):
            what = "its entry in `in_axes` is not used: entries count positional arguments only"
        elif position >= len(given) and _is_array(value):
            what = "it is mapped along axis 0, although `in_axes` has no entry for it"
        else:
            continue
        message = f"`{name}` is passed by name; {what}"
        yield Report(
            _keyword_span(event, name), message, site_step(event), _positional(event, option, name, position, context)
        )
        return


def _is_array(value: Value) -> bool:
    return any(isinstance(leaf, Array) for leaf in leaves(value))


def _keyword_span(event: TransformCalled, name: str) -> Span:
    return next((a.span for key, a in event.arguments.keyword_nodes if key == name), event.span)


def _positional(event: TransformCalled, option: Option, name: str, position: int, context: Context) -> Fix | None:
    """Passes the argument by position; a shared one gets the entry None."""
    argument = next((a for key, a in event.arguments.keyword_nodes if key == name), None)
    site = event.value.site
    if argument is None or position != len(event.arguments.positional) or site.path != context.module.path:
        return None
    edits = [Edit(argument.span, context.text.at(argument.value.span))]
    assert isinstance(option.value, Items)
    if position == len(option.value.items):
        written = sequence_text(option, context)
        if written is None:
            return None
        inner = written[1].rstrip().removesuffix(",")
        edits.append(Edit(option.span, f"{written[0]}{inner}, None{written[2]}"))
    return fix(Safety.UNSAFE, f"pass `{name}` by position", edits)


def check_partial(event: PartialMade, context: Context) -> Iterator[Report]:
    """`partial(mapped, name=value)`: the bound argument is not one of those that `in_axes` counts."""
    function = event.value.function
    if not isinstance(function, Transformed) or function.site.transform != "jax.vmap":
        return
    found = entries(function.site)
    known = signature(function)
    if found is None or known is None:
        return
    names = [p.name for p in known.positional()]
    for name, _ in event.value.keywords:
        if name in names and names.index(name) < len(found[1]):
            message = f"`{name}` is bound by name, but the entries of `in_axes` count positional arguments only"
            yield Report(event.span, message, (), _as_lambda(event, names, context))
            return


def _as_lambda(event: PartialMade, names: list[str], context: Context) -> Fix | None:
    """A lambda that passes every argument by position."""
    if event.value.arguments or any(argument.star for argument in event.call.arguments):
        return None
    bound = {a.keyword: context.text.at(a.value.span) for a in event.call.arguments if a.keyword is not None}
    free = [name for name in names if name not in bound]
    function = context.text.at(event.call.arguments[0].value.span)
    passed = ", ".join(bound.get(name, name) for name in names)
    return fix(
        Safety.UNSAFE,
        "pass the argument by position",
        Edit(event.span, f"lambda {', '.join(free)}: {function}({passed})"),
    )


RULES = ((KWARGS, {TransformCalled: check_kwargs, PartialMade: check_partial}),)
