"""The edits that make parameters of a transformed function static, in the form that its application is written in."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.analysis.context import Context, insert
from jaxlint.analysis.values import Items, Scalar, Site
from jaxlint.model import Edit, Span
from jaxlint.program import nodes as n
from jaxlint.repair.spelling import spell
from jaxlint.versions import exists

FACTORY_SINCE = "0.8.1"
"""The first JAX release in which `@jax.jit(static_argnames=...)` works (facts of jax_api_changes.csv)."""


def make_static(site: Site, function: n.Function, names: Sequence[str], context: Context) -> list[Edit] | None:
    """Edits in the site's file, or None where the way it is written leaves no room (an alias, options in a variable)."""
    if site.path != context.module.path or site.form == "alias" or not names:
        return None
    if site.kind == "checkpoint":
        numbers = _numbers(function, names)
        return _with_option(site, context, "static_argnums", f"({', '.join(map(str, numbers))},)")
    existing = site.option_at("static_argnames")
    if existing is not None:
        return _extended(existing.value, existing.span, names, context)
    if site.option_at("static_argnums") is not None and site.form != "decorator":
        return _extended_numbers(site, function, names, context)
    quoted = ", ".join(f'"{name}"' for name in names)
    return _with_option(site, context, "static_argnames", f"({quoted},)" if len(names) == 1 else f"({quoted})")


def _numbers(function: n.Function, names: Sequence[str]) -> list[int]:
    positions = {p.name: i for i, p in enumerate(function.parameters)}
    return [positions[name] for name in names if name in positions]


def _with_option(site: Site, context: Context, option: str, value: str) -> list[Edit] | None:
    if site.option_at(option) is not None:
        return None
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


def _extended(value: object, span: Span, names: Sequence[str], context: Context) -> list[Edit] | None:
    quoted = ", ".join(f'"{name}"' for name in names)
    if isinstance(value, Scalar) and value.kind == "str":
        return [Edit(span, f"({context.text.at(span)}, {quoted})")]
    if isinstance(value, Items) and value.items:
        written = context.text.at(span)
        closing = written[-1] if written[-1] in ")]" else ""
        if not closing:  # a tuple's span leaves its parentheses out
            trailing = "" if not written.rstrip().endswith(",") else " "
            separator = trailing or ", "
            return [insert(span.end_line, span.end_column, f"{separator}{quoted}")]
        body = written[:-1].rstrip()
        separator = " " if body.endswith(",") else ", "
        return [Edit(span, f"{body}{separator}{quoted}{closing}")]
    return None


def _extended_numbers(site: Site, function: n.Function, names: Sequence[str], context: Context) -> list[Edit] | None:
    existing = site.option_at("static_argnums")
    assert existing is not None
    numbers = ", ".join(map(str, _numbers(function, names)))
    if isinstance(existing.value, Scalar):
        return [Edit(existing.span, f"({context.text.at(existing.span)}, {numbers})")]
    written = context.text.at(existing.span)
    separator = " " if written.rstrip(")]").rstrip().endswith(",") else ", "
    if written[-1] in ")]":
        return [Edit(existing.span, f"{written[:-1].rstrip()}{separator}{numbers}{written[-1]}")]
    return [insert(existing.span.end_line, existing.span.end_column, f"{separator}{numbers}")]
