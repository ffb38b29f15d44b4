"""JAX903: `jax.make_mesh` without `axis_types`, whose default became Explicit, in code for automatic axes."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import ApiUse
from jaxlint.analysis.uses import api_uses
from jaxlint.model import Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.calls import add_argument, argument_text
from jaxlint.repair.spelling import spell
from jaxlint.repair.text import operand
from jaxlint.versions import exists, version

RULE = Rule(
    code="JAX903",
    name="mesh-axis-types",
    summary="`jax.make_mesh` without `axis_types` makes explicit axes from JAX 0.9.0 on",
    severity=Severity.WARNING,
    fix=Safety.UNSAFE,
)

EXPLICIT_SINCE = "0.9.0"
AXIS_TYPE_SINCE = "0.5.3"
# Code for automatic axes: with explicit ones it fails where the arrays' own shardings differ from what it says.
PLACING = ("jax.shard_map", "jax.experimental.shard_map.shard_map", "jax.lax.with_sharding_constraint")
# Code that is written for explicit axes.
EXPLICIT = (
    "jax.sharding.reshard",
    "jax.sharding.explicit_axes",
    "jax.sharding.auto_axes",
    "jax.sharding.get_abstract_mesh",
)


def check(use: ApiUse, context: Context) -> Iterator[Report]:
    """A mesh made without saying what its axes are, in a file that relies on automatic ones."""
    if use.path != "jax.make_mesh" or use.call is None or use.guarded:
        return
    if version(context.target.maximum) < version(EXPLICIT_SINCE) or not _leaves_types_open(use.call):
        return
    paths = {other.path for other in api_uses(context.module)}
    if paths.intersection(PLACING) and not paths.intersection(EXPLICIT):
        told = (
            f"from JAX {EXPLICIT_SINCE} on the axes of this mesh are Explicit: operations check the shardings of their"
            " arrays; say `axis_types` (the default was AxisType.Auto)"
        )
        yield Report(use.call.span, told, fix=_fix(use.call, context))


def _leaves_types_open(call: n.Call) -> bool:
    """Whether a call surely gives no `axis_types`, its third parameter."""
    if any(argument.star or argument.keyword == "axis_types" for argument in call.arguments):
        return False
    return sum(argument.keyword is None for argument in call.arguments) < 3


def _fix(call: n.Call, context: Context) -> Fix | None:
    """Asks for automatic axes, as many as the mesh has."""
    names = _axis_names(call)
    if names is None or not exists(AXIS_TYPE_SINCE, context.target):
        return None
    auto = spell(context.module, "jax.sharding.AxisType", call.span)
    types = f"({auto.text}.Auto,)"
    value = names.value
    if not isinstance(value, n.Sequence):
        types += f" * len({argument_text(names, context)})"
    elif any(isinstance(element, n.Starred) for element in value.elements):
        types += f" * len({operand(argument_text(names, context), value)})"
    elif len(value.elements) > 1:
        types += f" * {len(value.elements)}"
    added = add_argument(call, f"axis_types={types}", context)
    return fix(Safety.UNSAFE, f"Add `axis_types={types}`", added, auto.edits)


def _axis_names(call: n.Call) -> n.Argument | None:
    """The argument that names the axes, if looking at it again costs nothing."""
    given = [argument for argument in call.arguments if argument.keyword == "axis_names"]
    positional = [argument for argument in call.arguments if argument.keyword is None]
    found = given[0] if given else positional[1] if len(positional) > 1 else None
    if found is None or not isinstance(found.value, (n.Sequence, n.Name, n.Attribute)):
        return None
    return found


CHECKS = {ApiUse: check}
