"""JAX201–JAX206: what `in_axes` says against the function and the arguments of the call."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from jaxlint.analysis import mapping
from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import PartialMade, SiteSeen, TransformCalled, TransformMade
from jaxlint.analysis.signature import signature
from jaxlint.analysis.values import (
    Array,
    Bound,
    Closure,
    Items,
    Mapping,
    Option,
    Scalar,
    Site,
    Transformed,
    Value,
    leaves,
)
from jaxlint.model import Edit, Fix, Safety, Severity, Span, Step
from jaxlint.registry import Rule
from jaxlint.repair.axes import axes_text, unmapped

ARITY = Rule(
    "JAX201", "in-axes-arity", "`in_axes` has another length than the arguments", Severity.ERROR, fix=Safety.UNSAFE
)
ALL_NONE = Rule("JAX202", "in-axes-all-none", "`in_axes` maps nothing", Severity.ERROR)
RANK = Rule("JAX203", "in-axes-rank", "an axis that the argument does not have", Severity.ERROR, fix=Safety.UNSAFE)
SIZE = Rule("JAX204", "in-axes-size", "mapped axes of different sizes", Severity.ERROR, fix=Safety.UNSAFE)
KWARGS = Rule(
    "JAX205", "in-axes-kwargs", "a keyword argument is mapped along axis 0", Severity.WARNING, fix=Safety.UNSAFE
)
PYTREE = Rule(
    "JAX206", "in-axes-pytree", "an `in_axes` entry of the wrong type or structure", Severity.ERROR, fix=Safety.UNSAFE
)


FALSE_OUTSIDE_STRINGS = re.compile(r"""\"[^"\n]*\"|'[^'\n]*'|\bFalse\b""")


def is_map(site: Site) -> bool:
    """Whether a site is one of JAX's own maps, whose rules are known."""
    return site.transform in ("jax.vmap", "jax.pmap")


def entries(site: Site) -> tuple[Option, tuple[Value, ...]] | None:
    """The `in_axes` option with its entries, where it is a tuple or list of known length."""
    option = site.option_at("in_axes")
    if option is None or not isinstance(option.value, Items) or option.value.kind == "set":
        return None
    return option, option.value.items


# Arity


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
        yield Report(event.value.site.span, message)


def _have_axes(event: TransformCalled, given: tuple[Value, ...]) -> bool:
    """Whether the arguments may have the axes of their entries; else an entry is missing in front of them."""
    for value, axis in zip(event.arguments.positional, given, strict=False):
        for leaf, leaf_axis in mapping.paired(value, axis):
            at = mapping.number(leaf_axis)
            rank = 0 if isinstance(leaf, Scalar) else _rank(leaf)
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
    written = _sequence_text(option, context)
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
    written = _sequence_text(option, context)
    kept = option.value.items[:passed]
    texts = [str(item.const) if isinstance(item, Scalar) and item.kind in ("int", "none") else None for item in kept]
    if written is None or None in texts:
        return None
    inner = ", ".join(text for text in texts if text is not None) + ("," if passed == 1 else "")
    return fix(
        Safety.UNSAFE, "give one entry for each argument passed", Edit(option.span, f"{written[0]}{inner}{written[2]}")
    )


def _sequence_text(option: Option, context: Context) -> tuple[str, str, str] | None:
    """A tuple's or list's text as opening, inside, closing; a tuple's span leaves its parentheses out."""
    text = context.text.at(option.span)
    if "\n" in text or "#" in text:
        return None
    if text[:1] in "([" and text[-1:] in ")]":
        return text[0], text[1:-1], text[-1]
    return "", text, ""


def described(function: Value) -> str:
    """A function's name for a message."""
    if isinstance(function, Closure):
        return function.function.name
    return described(function.function) if isinstance(function, (Transformed, Bound)) else "the function"


# All None


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


# Rank and size


def check_rank(event: TransformCalled, context: Context) -> Iterator[Report]:
    """An axis beyond the rank of a known array."""
    site = event.value.site
    if not is_map(site):
        return
    axes = mapping.axes(site, len(event.arguments.positional))
    for position, (value, axis) in enumerate(zip(event.arguments.positional, axes, strict=True)):
        for leaf, leaf_axis in mapping.paired(value, axis):
            at = mapping.number(leaf_axis)
            rank = _rank(leaf)
            if at is None or rank is None or -rank <= at < rank:
                continue
            if rank == 0 and not isinstance(leaf, Array):
                continue  # mapped-non-array
            message = f"argument {position + 1} has rank {rank}, so it has no axis {at} to map"
            yield Report(event.span, message, _site_step(event), _rank_fix(event, position, rank, context))
            return


def _rank(value: Value) -> int | None:
    return len(value.shape) if isinstance(value, Array) and value.shape is not None else None


def _site_step(event: TransformCalled) -> tuple[Step, ...]:
    site = event.value.site
    return (Step(site.path, site.span.line, f"`{described(event.value.function)}` is mapped here"),)


def _rank_fix(event: TransformCalled, position: int, rank: int, context: Context) -> Fix | None:
    """A vector given to `in_axes=1` is mapped along its only axis."""
    site = event.value.site
    option = site.option_at("in_axes")
    if rank == 0:
        return unmapped(event, context)
    if option is None or rank != 1 or site.path != context.module.path:
        return None
    axes = [mapping.number(axis) for axis in mapping.axes(site, len(event.arguments.positional))]
    if any(axis is None for axis in axes):
        return None
    ranks = [_rank(value) for value in event.arguments.positional]
    wanted = [0 if ranks[i] == 1 else axis for i, axis in enumerate(axes)]
    return fix(Safety.UNSAFE, "map the vector along axis 0", Edit(option.span, axes_text(option, wanted, context)))


def check_size(event: TransformCalled, context: Context) -> Iterator[Report]:
    """Two mapped axes with different known sizes."""
    site = event.value.site
    if not is_map(site):
        return
    axes = mapping.axes(site, len(event.arguments.positional))
    seen = [(p, a, s) for p, a, s in mapping.sizes(event.arguments, axes) if isinstance(s, int)]
    for position, axis, size in seen[1:]:
        if size != seen[0][2]:
            first = seen[0]
            message = (
                f"the mapped axes have different sizes: {first[2]} (argument {first[0] + 1}, axis {first[1]}) "
                f"and {size} (argument {position + 1}, axis {axis})"
            )
            yield Report(event.span, message, _site_step(event), _size_fix(event, seen, context))
            return


def _size_fix(event: TransformCalled, seen: list[tuple[int, int, int]], context: Context) -> Fix | None:
    """Another axis of the one argument that does not fit the others; `seen` has position, axis and size of each."""
    for position, _, size in reversed(seen):
        others = {other for at, _, other in seen if at != position}
        fits_not = len(others) == 1 and size not in others
        made = _axis_of_size(event, others.pop(), position, context) if fits_not else None
        if made is not None:
            return made
    return None


def _axis_of_size(event: TransformCalled, size: int, position: int, context: Context) -> Fix | None:
    """The only axis of an argument that has the size wanted."""
    site = event.value.site
    option = site.option_at("in_axes")
    value = event.arguments.positional[position]
    if option is None or site.path != context.module.path or not isinstance(value, Array) or value.shape is None:
        return None
    fitting = [i for i, dim in enumerate(value.shape) if dim == size]
    if len(fitting) != 1:
        return None
    axes = [mapping.number(axis) for axis in mapping.axes(site, len(event.arguments.positional))]
    unmapped = [mapping.is_unmapped(axis) for axis in mapping.axes(site, len(event.arguments.positional))]
    if any(axis is None and not none for axis, none in zip(axes, unmapped, strict=True)):
        return None
    axes[position] = fitting[0]
    return fix(
        Safety.UNSAFE,
        f"map axis {fitting[0]} of argument {position + 1}",
        Edit(option.span, axes_text(option, axes, context)),
    )


# Keywords


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
            _keyword_span(event, name), message, _site_step(event), _positional(event, option, name, position, context)
        )
        return


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
        written = _sequence_text(option, context)
        if written is None:
            return None
        inner = written[1].rstrip().removesuffix(",")
        edits.append(Edit(option.span, f"{written[0]}{inner}, None{written[2]}"))
    return fix(Safety.UNSAFE, f"pass `{name}` by position", edits)


# Types


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
            yield Report(event.span, message, _site_step(event))
            return


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


RULES = (
    (ARITY, {SiteSeen: check_required, TransformCalled: check_arity}),
    (ALL_NONE, {TransformMade: check_all_none}),
    (RANK, {TransformCalled: check_rank}),
    (SIZE, {TransformCalled: check_size}),
    (KWARGS, {TransformCalled: check_kwargs, PartialMade: check_partial}),
    (PYTREE, {TransformMade: check_pytree, TransformCalled: check_structure}),
)
