"""Donated arguments: which of them a call of a compiled function takes away from its caller.

JAX 0.10.2 deletes a donated buffer where an output has its size in bytes; one that no output can use stays alive,
and JAX warns. Under an outer jit donation is ignored; eager derivatives keep residuals of every size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from jaxlint.analysis.differences import certain
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.signature import Signature, constants, signature
from jaxlint.analysis.values import (
    Array,
    Donation,
    Instance,
    Items,
    Many,
    Mapping,
    Site,
    Transformed,
    Unknown,
    Value,
    leaves,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine
    from jaxlint.analysis.scope import Scope

DERIVATIVES = frozenset({"grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "vjp", "jvp", "linearize"})


def donates(site: Site) -> str | None:
    """The option by which a site donates, None where it does not."""
    return next((name for name, _ in site.options if name in ("donate_argnums", "donate_argnames", "donate")), None)


def donated_arguments(site: Site, known: Signature | None, given: Arguments) -> Iterator[tuple[Value, n.Expr | None]]:
    """The donated arguments of a call with their expressions; none where the options are not constants."""
    numbers = constants(site.option("donate_argnums") or Items("tuple", ()))
    names = constants(site.option("donate_argnames") or Items("tuple", ()))
    every = constants(site.option("donate") or Items("tuple", ()))
    if numbers is None or names is None or every is None:
        return
    for position, value in enumerate(given.positional):
        name = known.name_at(position) if known is not None else None
        by_rule = "all" in every or ("all-except-first" in every and position > 0)
        by_number = position in numbers or (position - len(given.positional)) in numbers
        if by_number or by_rule or (name is not None and name in names):
            yield value, given.nodes[position] if position < len(given.nodes) else None
    by_number_names = {known.name_at(i) for i in numbers if isinstance(i, int)} if known is not None else set()
    for name, value in given.keywords:
        if name in names or name in by_number_names or "all" in every:
            yield value, next((argument.value for key, argument in given.keyword_nodes if key == name), None)


def unusable(donated: Value, result: Value) -> Array | None:
    """A donated array that surely has the size of no output; None where all may be used or sizes are not known."""
    outputs = [size(leaf) for leaf in leaves(certain(result))]
    if None in outputs:
        return None
    for leaf in leaves(certain(donated)):
        if isinstance(leaf, Array) and not leaf.host and size(leaf) is not None and size(leaf) not in outputs:
            return leaf
    return None


def size(value: Value) -> int | None:
    """The bytes of an array, None where they are not known."""
    if not isinstance(value, Array) or value.shape is None or value.dtype is None:
        return None
    dims = [dim for dim in value.shape if isinstance(dim, int)]
    bits = re.search(r"(\d+)", value.dtype)
    if len(dims) != len(value.shape):
        return None
    return prod(dims) * (int(bits[1]) // 8 if bits is not None else 1)


def mark(m: Machine, f: Frame, function: Transformed, given: Arguments, result: Value, where: Span) -> None:
    """Notes on the caller's names that what they hold was given away."""
    option = donates(function.site)
    if option is None or f.staged or m.quiet:
        return
    is_differentiated = any(site.kind in DERIVATIVES for site in f.mapped)
    for value, node in donated_arguments(function.site, signature(function.function), given):
        scope = _own_scope(f, node.name) if isinstance(node, n.Name) else None
        if scope is None or not isinstance(node, n.Name) or not _is_on_device(value):
            continue
        held = scope.names[node.name]
        if not _is_on_device(held):
            continue
        if not is_differentiated and unusable(value, result) is not None:
            continue
        scope.names[node.name] = replace(held, donated=Donation(function.site, f.path, where))


def _own_scope(f: Frame, name: str) -> Scope | None:
    """The scope of the call in progress that binds a name; a comprehension has one of its own in it."""
    scope = f.scope.find(name)
    if scope is None or scope is f.scope:
        return scope
    function = f.function
    is_own = function is None or name in function.bound or any(p.name == name for p in function.parameters)
    return scope if scope is f.scope.parent and f.loop_spans and is_own else None


def _is_on_device(value: Value) -> bool:
    """Whether a value may hold device arrays; NumPy's arrays and Python's numbers are copied, not given away."""
    if isinstance(value, Array):
        return not value.host
    if isinstance(value, (Items, Many, Mapping)):
        return any(_is_on_device(leaf) for leaf in leaves(value))
    return isinstance(value, (Unknown, Instance))
