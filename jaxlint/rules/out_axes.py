"""JAX207 out-axes: `out_axes` says None for an output that differs from row to row, or does not fit the outputs."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis import mapping
from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.values import Array, Items, Option, Scalar, Value
from jaxlint.model import Edit, Fix, Safety, Severity, Step
from jaxlint.registry import Rule
from jaxlint.rules._in_axes import described, is_map

RULE = Rule("JAX207", "out-axes", "`out_axes` does not fit the outputs", Severity.ERROR, fix=Safety.UNSAFE)


def check(event: TransformCalled, context: Context) -> Iterator[Report]:
    """The outputs as the mapped function gave them, against `out_axes`."""
    site = event.value.site
    option = site.option_at("out_axes")
    if option is None or not is_map(site) or event.body is None:
        return
    where = event.span if event.call is not None else site.span
    because = (
        Step(site.path, option.span.line, f"`{described(event.value.function)}` is mapped with these `out_axes`"),
    )
    result = event.body
    wrong = mapping.misfit(option.value, result)
    if wrong is not None:
        yield Report(where, _misfit(option.value, *wrong), because)
        return
    pairs = list(mapping.paired(result, option.value))
    beyond = next((found for found in map(_beyond, pairs) if found is not None), None)
    if beyond is not None:
        yield Report(where, beyond, because)
        return
    if site.option("axis_name") is not None:
        return  # a collective such as `psum` over the axis makes an output the same in each row
    for number, (leaf, axis) in enumerate(pairs):
        if mapping.is_unmapped(axis) and _is_batched(leaf, site):
            message = f"output {number + 1} depends on a mapped argument, but its entry in `out_axes` is None"
            yield Report(where, message, because, _mapped(event, option, number, context))
            return


def _misfit(option: Value, axis: Value, value: Value) -> str:
    if axis is option and isinstance(axis, Items) and isinstance(value, Items) and axis.kind == value.kind:
        return f"`out_axes` has {len(axis.items)} entries, but the function returns {len(value.items)} values"
    return f"`out_axes` has {mapping.shown(axis)} where the function returns {mapping.shown(value)}"


def _beyond(pair: tuple[Value, Value]) -> str | None:
    """What is wrong with an output's entry that names an axis which the stacked output does not have."""
    leaf, entry = pair
    axis = mapping.number(entry)
    shape = () if isinstance(leaf, Scalar) and leaf.kind != "none" else leaf.shape if isinstance(leaf, Array) else None
    if axis is None or shape is None or -len(shape) - 1 <= axis <= len(shape):
        return None
    return f"an output has rank {len(shape)}, and {len(shape) + 1} when its rows are stacked: it has no axis {axis}"


def _is_batched(value: Value, site: object) -> bool:
    """Whether the output surely comes from a mapped argument of this very map."""
    if not isinstance(value, Array) or value.trace is None or not value.trace.sure:
        return False
    return any(parameter.site == site for parameter in value.trace.parameters)


def _mapped(event: TransformCalled, option: Option, number: int, context: Context) -> Fix | None:
    if event.value.site.path != context.module.path:
        return None
    if mapping.is_unmapped(option.value):
        return fix(Safety.UNSAFE, "put the mapped axis at 0", Edit(option.span, "0"))
    entries = option.value.items if isinstance(option.value, Items) else ()
    texts = [str(entry.const) for entry in entries if isinstance(entry, Scalar) and entry.kind in ("int", "none")]
    if len(texts) != len(entries) or number >= len(texts):
        return None
    texts[number] = "0"
    written = context.text.at(option.span)
    inner = ", ".join(texts) + ("," if len(texts) == 1 else "")
    changed = inner if written[:1] not in "([" else f"{written[0]}{inner}{written[-1]}"
    return fix(Safety.UNSAFE, "put the mapped axis at 0", Edit(option.span, changed))


CHECKS = {TransformCalled: check}
