"""JAX209 unbound-axis: a collective names an axis that no map around it declares."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import ApiCall
from jaxlint.analysis.frames import Frame, steps
from jaxlint.analysis.values import Items, Scalar, Site, Value
from jaxlint.model import Fix, Safety, Severity
from jaxlint.registry import Rule
from jaxlint.repair.options import add_option

RULE = Rule("JAX209", "unbound-axis", "a collective over an axis that no map declares", Severity.ERROR, fix=Safety.SAFE)

COLLECTIVES = {
    **{f"jax.lax.{name}": 1 for name in ("psum", "pmean", "pmax", "pmin", "all_gather", "psum_scatter", "all_to_all",
                                         "ppermute", "pshuffle", "pswapaxes")},
    "jax.lax.axis_index": 0,
    "jax.lax.axis_size": 0,
}  # fmt: skip
"""Where each takes `axis_name`."""

MAPS = ("vmap", "pmap")
OTHER_MAPS = ("shard_map", "xmap", "plain", "custom", "abstract", "vectorize")


def check(event: ApiCall, context: Context) -> Iterator[Report]:
    """A collective whose whole chain of calls is visible."""
    position = COLLECTIVES.get(event.path)
    given = event.arguments.get(position, "axis_name") if position is not None else None
    if not isinstance(given, Scalar) or given.kind != "str" or not given.known or not event.frame.known:
        return
    sites = [frame.site for frame in event.frame.chain() if frame.site is not None]
    declared = [_declared(site) for site in sites]
    if None in declared or any(given.const in names for names in declared if names) or _is_tried(event.frame):
        return
    message = f"`{event.path}` names the axis {given.const!r}, which no map around it declares"
    yield Report(event.span, message, steps(event.frame), _declare(sites, str(given.const), context))


def _declared(site: Site) -> tuple[object, ...] | None:
    """The axis names that a transform declares, None where they are not known."""
    if site.kind in OTHER_MAPS or not site.transform.startswith("jax."):
        return None
    option: Value | None = site.option("axis_name")
    if option is None:
        return ()
    items = option.items if isinstance(option, Items) else (option,)
    names = tuple(item.const for item in items if isinstance(item, Scalar) and item.known)
    return names if len(names) == len(items) else None


def _is_tried(frame: Frame) -> bool:
    """Whether a caller asks by trying."""
    return any(caller.tried for caller in frame.chain())


def _declare(sites: list[Site], name: str, context: Context) -> Fix | None:
    """Names the axis where the innermost map without a name is applied."""
    site = next((site for site in sites if site.kind in MAPS and site.option("axis_name") is None), None)
    edits = add_option(site, f'axis_name="{name}"', context) if site is not None else None
    return fix(Safety.SAFE, f"name the mapped axis {name!r}", edits) if edits else None


CHECKS = {ApiCall: check}
