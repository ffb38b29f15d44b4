"""What the rules on `in_axes` share: which maps they judge, and how they speak of functions and sites."""

from __future__ import annotations

from jaxlint.analysis.context import Context
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.values import (
    Array,
    Bound,
    Closure,
    Items,
    Option,
    Site,
    Transformed,
    Value,
)
from jaxlint.model import Step


def is_map(site: Site) -> bool:
    """Whether a site is one of JAX's own maps, whose rules are known."""
    return site.transform in ("jax.vmap", "jax.pmap")


def entries(site: Site) -> tuple[Option, tuple[Value, ...]] | None:
    """The `in_axes` option with its entries, where it is a tuple or list of known length."""
    option = site.option_at("in_axes")
    if option is None or not isinstance(option.value, Items) or option.value.kind == "set":
        return None
    return option, option.value.items


def described(function: Value) -> str:
    """A function's name for a message."""
    if isinstance(function, Closure):
        return function.function.name
    return described(function.function) if isinstance(function, (Transformed, Bound)) else "the function"


def rank_of(value: Value) -> int | None:
    """How many axes a value has, None where that is not known."""
    return len(value.shape) if isinstance(value, Array) and value.shape is not None else None


def site_step(event: TransformCalled) -> tuple[Step, ...]:
    """Where the function that is called was mapped, as the explanation of a finding."""
    site = event.value.site
    return (Step(site.path, site.span.line, f"`{described(event.value.function)}` is mapped here"),)


def sequence_text(option: Option, context: Context) -> tuple[str, str, str] | None:
    """A tuple's or list's text as opening, inside, closing; a tuple's span leaves its parentheses out."""
    text = context.text.at(option.span)
    if "\n" in text or "#" in text:
        return None
    if text[:1] in "([" and text[-1:] in ")]":
        return text[0], text[1:-1], text[-1]
    return "", text, ""
