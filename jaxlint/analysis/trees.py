"""Values as pytrees: a change made to each leaf, with the containers rebuilt around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from jaxlint.analysis.scope import Attributes
from jaxlint.analysis.values import Instance, Items, Many, Mapping, OneOf, Scalar, Unknown, Value, one_of

DEEPEST = 4  # objects may refer to themselves


def tree_map(change: Callable[[Value], Value], value: Value, depth: int = DEEPEST) -> Value:
    """The value with `change` made to its leaves; an object becomes another one, as JAX rebuilds it."""
    match value:
        case Items():
            return replace(value, items=tuple(tree_map(change, item, depth) for item in value.items))
        case Many():
            return replace(value, element=tree_map(change, value.element, depth))
        case Mapping():
            return replace(value, entries=tuple((k, tree_map(change, held, depth)) for k, held in value.entries))
        case OneOf():
            return one_of(tree_map(change, option, depth) for option in value.options)
        case Instance():
            return _rebuilt(change, value, depth) if depth else Unknown(trace=value.trace)
    return change(value)


def _rebuilt(change: Callable[[Value], Value], value: Instance, depth: int) -> Instance:
    made = Attributes()
    made.rebound = value.attributes.rebound
    for name, held in value.attributes.names.items():
        # A number may be a static field, which stays, or a leaf, which becomes an array.
        made.names[name] = Unknown() if isinstance(held, Scalar) else tree_map(change, held, depth - 1)
    return replace(value, attributes=made)
