"""Writes what a loop made of its own variable back into the list or array that it runs over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

from jaxlint.analysis.context import Context
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.values import Array, Instance, Items, Many, Mapping, Unknown, Value, options
from jaxlint.model import Edit
from jaxlint.program import nodes as n
from jaxlint.repair.spelling import fresh_name


@dataclass(frozen=True, slots=True)
class WriteBack:
    """`header` makes the loop count its rounds; `statement` is what stores a new value of the variable."""

    header: tuple[Edit, ...]
    statement: Callable[[str], str]


def write_back(loop: n.For, name: str, frame: Frame, context: Context) -> WriteBack | None:
    """How to store a new value of a loop's variable, where what it is an element of is a known list, dict or array."""
    if is_async(loop, context):
        return None
    keyed = _keyed(loop, name)
    if keyed is not None:
        key, owner = keyed
        kinds = _kinds(owner, frame)
        return WriteBack((), lambda value: f"{written(owner)}[{key}] = {value}") if kinds == {"dict"} else None
    counted = counted_by(loop)
    target, iterable = counted[1:] if counted is not None else (loop.target, loop.iterable)
    found = _owner(target, iterable, name, frame)
    if found is None:
        return None
    index = counted[0] if counted is not None else fresh_name(context.module, "i")
    header = () if counted is not None else enumerated(loop, index, context)
    kinds, text = _kinds(found, frame), written(found)
    if kinds == {"list"}:
        return WriteBack(header, lambda value: f"{text}[{index}] = {value}")
    if kinds == {"array"} and (isinstance(found, n.Attribute) or text in frame.scope.names):
        return WriteBack(header, lambda value: f"{text} = {text}.at[{index}].set({value})")
    return None


def is_async(loop: n.For, context: Context) -> bool:
    """Whether the loop is an `async for`, which `enumerate` does not take."""
    return context.text.at(loop.span).startswith("async")


def _keyed(loop: n.For, name: str) -> tuple[str, n.Name | n.Attribute] | None:
    """Key and dict of `for key, x in xs.items()`."""
    match loop.target, loop.iterable:
        case (
            n.Sequence(elements=(n.Name(name=key), n.Name(name=bound))),
            n.Call(function=n.Attribute(base=(n.Name() | n.Attribute()) as owner, name="items"), arguments=()),
        ) if bound == name and _is_plain(owner):
            return key, owner
    return None


def _is_plain(node: n.Expr) -> TypeGuard[n.Name | n.Attribute]:
    """Whether an expression is a name, or an attribute of one."""
    return isinstance(node, n.Name) or (isinstance(node, n.Attribute) and isinstance(node.base, n.Name))


def written(owner: n.Name | n.Attribute) -> str:
    """The text of a plain owner."""
    if isinstance(owner, n.Name):
        return owner.name
    assert isinstance(owner.base, n.Name)
    return f"{owner.base.name}.{owner.name}"


def _kinds(owner: n.Name | n.Attribute, frame: Frame) -> set[str]:
    """What a plain owner may hold: 'list', 'dict', 'array', or '' for other things."""
    root = owner.name if isinstance(owner, n.Name) else written(owner).partition(".")[0]
    scope = frame.scope.find(root)
    value = scope.names[root] if scope is not None else Unknown()
    if isinstance(owner, n.Attribute):
        held = value.attributes.names.get(owner.name) if isinstance(value, Instance) else None
        value = held if held is not None else Unknown()
    return {_kind(option) for option in options(value)}


def counted_by(loop: n.For) -> tuple[str, n.Expr, n.Expr] | None:
    """Index, variable and iterable of `for i, x in enumerate(xs)`."""
    match loop.target:
        case n.Sequence(elements=(n.Name(name=index), target)):
            given = _arguments(loop.iterable, "enumerate")
            return (index, target, given[0].value) if len(given) == 1 else None
    return None


def counter(loop: n.For, context: Context) -> tuple[str, tuple[Edit, ...]]:
    """The integer that tells the rounds of a loop apart, and the edits that add one where there is none."""
    if isinstance(loop.target, n.Name) and _arguments(loop.iterable, "range"):
        if loop.target.name != "_":
            return loop.target.name, ()
        index = fresh_name(context.module, "i")
        return index, (Edit(loop.target.span, index),)
    counted = counted_by(loop)
    if counted is not None:
        return counted[0], ()
    index = fresh_name(context.module, "i")
    return index, enumerated(loop, index, context)


def _owner(target: n.Expr, iterable: n.Expr, name: str, frame: Frame) -> n.Name | n.Attribute | None:
    """The container that the variable `name` runs over, through `zip` too."""
    if isinstance(target, n.Name):
        return iterable if target.name == name and _is_plain(iterable) else None
    if not isinstance(target, n.Sequence) or frame.scope.find("zip") is not None:
        return None
    for element, argument in zip(target.elements, _arguments(iterable, "zip"), strict=False):
        if isinstance(element, n.Name) and element.name == name and _is_plain(argument.value):
            return argument.value if not argument.star else None
    return None


def _arguments(node: n.Expr, name: str) -> tuple[n.Argument, ...]:
    """The arguments of a call of the function `name`, else none."""
    is_call = isinstance(node, n.Call) and isinstance(node.function, n.Name) and node.function.name == name
    return node.arguments if is_call and isinstance(node, n.Call) else ()


def _kind(value: Value) -> str:
    if isinstance(value, (Items, Many)):
        return value.kind
    if isinstance(value, Mapping):
        return "dict"
    return "array" if isinstance(value, Array) and not value.host else ""


def enumerated(loop: n.For, index: str, context: Context) -> tuple[Edit, ...]:
    """`for x in xs` becomes `for i, x in enumerate(xs)`."""
    target, iterable = context.text.at(loop.target.span), context.text.at(loop.iterable.span)
    inner = target if isinstance(loop.target, n.Name) or target.startswith("(") else f"({target})"
    return (Edit(loop.target.span, f"{index}, {inner}"), Edit(loop.iterable.span, f"enumerate({iterable})"))
