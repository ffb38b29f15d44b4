"""The edits that make parameters of a transformed function static, in the form that its application is written in."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.analysis.context import Context, fix, insert
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.signature import constants
from jaxlint.analysis.values import Closure, Items, Option, Scalar, Site, Value
from jaxlint.model import Edit, Fix, Safety
from jaxlint.program import nodes as n
from jaxlint.repair.options import remove_option
from jaxlint.repair.spelling import spell
from jaxlint.versions import exists

FACTORY_SINCE = "0.8.1"
"""The first JAX release in which `@jax.jit(static_argnames=...)` works (facts of jax_api_changes.csv)."""

BROADCASTING = ("jax.pmap", "flax.nnx.pmap")
"""The transforms that have `static_broadcasted_argnums`."""


def make_static(site: Site, function: n.Function, names: Sequence[str], context: Context) -> list[Edit] | None:
    """Edits in the site's file, or None where the way it is written leaves no room.

    That is an alias, which other functions share, and options that stand in a variable.
    """
    if site.path != context.module.path or site.form == "alias" or not names:
        return None
    if site.kind == "pmap":
        return _broadcast(site, function, names, context)
    by_name, by_number = site.option_at("static_argnames"), site.option_at("static_argnums")
    if site.kind == "checkpoint" or _is_by_position(function, names) or (by_number is not None and by_name is None):
        return _with_items(site, context, "static_argnums", [str(number) for number in _numbers(function, names)])
    return _with_items(site, context, "static_argnames", [f'"{name}"' for name in names])


def _broadcast(site: Site, function: n.Function, names: Sequence[str], context: Context) -> list[Edit] | None:
    """`pmap` knows static parameters by number alone, and `in_axes` would have to leave them out."""
    numbers = _numbers(function, names)
    if site.transform not in BROADCASTING or len(numbers) < len(names) or site.option_at("in_axes") is not None:
        return None
    return _with_items(site, context, "static_broadcasted_argnums", [str(number) for number in numbers])


def _is_by_position(function: n.Function, names: Sequence[str]) -> bool:
    """Whether only a number can tell JAX which parameter is meant."""
    return any(p.name in names and p.kind == "positional-only" for p in function.parameters)


def _numbers(function: n.Function, names: Sequence[str]) -> list[int]:
    positions = {p.name: i for i, p in enumerate(function.parameters) if p.kind.startswith("positional")}
    return [positions[name] for name in names if name in positions]


def _with_items(site: Site, context: Context, option: str, items: Sequence[str]) -> list[Edit] | None:
    """Gives an option of the site more items than it has."""
    if not items:
        return None
    existing = site.option_at(option)
    if existing is not None:
        return _extended(existing, items, context)
    value = f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
    if site.form == "decorator":
        return _decorator(site, context, f"{option}={value}")
    if site.last_argument is None:
        return None
    end = site.last_argument
    return [insert(end.end_line, end.end_column, f", {option}={value}")]


def _decorator(site: Site, context: Context, option: str) -> list[Edit]:
    """`@jax.jit` becomes `@jax.jit(...)`, or `@partial(jax.jit, ...)` where a targeted version needs it."""
    name = context.text.at(site.name_span)
    if site.kind == "jit" and site.transform == "jax.jit" and exists(FACTORY_SINCE, context.target):
        return [Edit(site.span, f"{name}({option})")]
    partial = spell(context.module, "functools.partial", site.span)
    return [Edit(site.span, f"{partial.text}({name}, {option})"), *partial.edits]


def _extended(existing: Option, items: Sequence[str], context: Context) -> list[Edit] | None:
    """More items behind those that an option has: one value becomes a tuple, a display grows."""
    span, value = existing.span, existing.value
    written, more = context.text.at(span), ", ".join(items)
    if isinstance(value, Scalar) and value.kind in ("str", "int") and value.known:
        return [Edit(span, f"({written}, {more})")] if _text(value) not in items else None
    if not isinstance(value, Items) or not all(isinstance(i, Scalar) and i.known for i in value.items):
        return None
    if any(isinstance(i, Scalar) and _text(i) in items for i in value.items):
        return None  # static by then, but handed over by keyword
    if written[:1] not in tuple("([\"'0123456789-") and written:
        return None  # a name: others may read it
    closing = written[-1:] if written[-1:] in (")", "]") else ""  # a tuple's span leaves its parentheses out
    body = written[: len(written) - len(closing)].rstrip()
    separator = "" if not value.items else " " if body.endswith(",") else ", "
    trailing = "," if not value.items and closing != "]" and len(items) == 1 else ""
    return [Edit(span, f"{body}{separator}{more}{trailing}{closing}")]


def _text(value: Scalar) -> str:
    return f'"{value.const}"' if value.kind == "str" else str(value.const)


def left_traced(event: TransformCalled, name: str, context: Context) -> Fix | None:
    """Takes a parameter out of the static ones, where the application is in this file."""
    site = event.value.site
    if site.path != context.module.path:
        return None
    edits = _without(site, name, event.value.function, context)
    return fix(Safety.UNSAFE, f"leave `{name}` traced", edits) if edits else None


def _without(site: Site, name: str, function: Value, context: Context) -> list[Edit] | None:
    """The edits that take one name or its number out of the options."""
    names, numbers = site.option_at("static_argnames"), site.option_at("static_argnums")
    if names is not None and numbers is None:
        option, which = names, "static_argnames"
        kept = [f'"{text}"' for text in constants(names.value) or () if text != name]
    elif numbers is not None and names is None and isinstance(function, Closure):
        option, which = numbers, "static_argnums"
        positions = [p.name for p in function.function.parameters]
        given = [number for number in constants(numbers.value) or () if isinstance(number, int)]
        kept = [str(n_) for n_ in given if n_ >= len(positions) or positions[n_] != name]
    else:
        return None
    if not kept:
        return remove_option(site, which, context)
    # The span of a tuple leaves its parentheses out, that of a list holds the brackets.
    if context.text.at(option.span)[:1] == "[":
        return [Edit(option.span, f"[{', '.join(kept)}]")]
    return [Edit(option.span, ", ".join(kept) + ("," if len(kept) == 1 else ""))]
