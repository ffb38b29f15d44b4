"""JAX203 and JAX204: mapped axes against the shapes of the arguments."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis import mapping
from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.values import (
    Array,
)
from jaxlint.model import Edit, Fix, Safety, Severity
from jaxlint.registry import Rule
from jaxlint.repair.axes import axes_text, unmapped
from jaxlint.rules._in_axes import is_map, rank_of, site_step

RANK = Rule("JAX203", "in-axes-rank", "an axis that the argument does not have", Severity.ERROR, fix=Safety.UNSAFE)
SIZE = Rule("JAX204", "in-axes-size", "mapped axes of different sizes", Severity.ERROR, fix=Safety.UNSAFE)


def check_rank(event: TransformCalled, context: Context) -> Iterator[Report]:
    """An axis beyond the rank of a known array."""
    site = event.value.site
    if not is_map(site):
        return
    axes = mapping.axes(site, len(event.arguments.positional))
    for position, (value, axis) in enumerate(zip(event.arguments.positional, axes, strict=True)):
        for leaf, leaf_axis in mapping.paired(value, axis):
            at = mapping.number(leaf_axis)
            rank = rank_of(leaf)
            if at is None or rank is None or -rank <= at < rank:
                continue
            if rank == 0 and not isinstance(leaf, Array):
                continue  # mapped-non-array
            message = f"argument {position + 1} has rank {rank}, so it has no axis {at} to map"
            yield Report(event.span, message, site_step(event), _rank_fix(event, position, rank, context))
            return


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
    ranks = [rank_of(value) for value in event.arguments.positional]
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
            yield Report(event.span, message, site_step(event), _size_fix(event, seen, context))
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


RULES = ((RANK, {TransformCalled: check_rank}), (SIZE, {TransformCalled: check_size}))
