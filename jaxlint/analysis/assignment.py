"""Binds targets: names, attributes, items, and the parts of what is unpacked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis import arrays, evidence
from jaxlint.analysis.events import Assigned
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.key_parts import part_token
from jaxlint.analysis.values import (
    Array,
    Bound,
    ClassValue,
    Instance,
    Items,
    Key,
    Many,
    Mapping,
    ModuleValue,
    OneOf,
    Scalar,
    Transformed,
    Unknown,
    Value,
    element_of,
    join,
    known,
    parts,
    with_trace,
)
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def assign(
    m: Machine, f: Frame, target: n.Expr, value: Value, statement: n.Stmt | n.Expr, augmented: str | None = None
) -> None:
    """Binds one target to a value."""
    match target:
        case n.Name(name=name):
            _assign_name(m, f, target, name, value, statement, augmented)
        case n.Attribute():
            _assign_attribute(m, f, target, value, statement, augmented)
        case n.Subscript():
            _assign_item(m, f, target, value, statement, augmented)
        case n.Starred(value=inner):
            assign(m, f, inner, value, statement)
        case n.Sequence(elements=elements):
            for element, part in zip(elements, unpack(value, elements), strict=True):
                assign(m, f, element, part, statement)


def _assign_name(
    m: Machine, f: Frame, target: n.Expr, name: str, value: Value, statement: n.Stmt | n.Expr, augmented: str | None
) -> None:
    if f.function is not None and name in f.function.outer:
        scope = f.scope.parent.find(name) if f.scope.parent is not None else None
        m.emit(Assigned(f, target.span, "name", None, value, target, statement, False, augmented))
        escape(m, value)
        if scope is not None:
            scope.names[name] = join(scope.names[name], value)
        return
    if augmented is not None:
        m.emit(Assigned(f, target.span, "name", None, value, target, statement, True, augmented))
    f.scope.names[name] = _named(value, name)


def _named(value: Value, name: str) -> Value:
    """A key is called by the name that holds it."""
    if isinstance(value, (Key, Unknown)) and value.token is not None and value.token.name != name:
        return replace(value, token=replace(value.token, name=name))
    return value


def _assign_attribute(
    m: Machine, f: Frame, target: n.Attribute, value: Value, statement: n.Stmt | n.Expr, augmented: str | None
) -> None:
    from jaxlint.analysis.expressions import evaluate

    owner = evaluate(m, f, target.base)
    local = _is_local(f, target.base)
    m.emit(Assigned(f, target.span, "attribute", owner, value, target, statement, local, augmented))
    escape(m, value)
    if isinstance(owner, Instance):
        _set_attribute(f, owner, target.name, value)
    elif isinstance(owner, (ClassValue, ModuleValue)):
        owner.scope.names[target.name] = value


def _set_attribute(f: Frame, owner: Instance, name: str, value: Value) -> None:
    attributes = owner.attributes
    if f.function is not None and f.function.name in ("__init__", "__post_init__", "setup"):
        attributes.names[name] = value
        return
    attributes.rebound.add(name)
    old = attributes.names.get(name)
    attributes.names[name] = value if old is None else join(old, value)


def _assign_item(
    m: Machine, f: Frame, target: n.Subscript, value: Value, statement: n.Stmt | n.Expr, augmented: str | None
) -> None:
    from jaxlint.analysis.expressions import evaluate

    owner = evaluate(m, f, target.base)
    index = evaluate(m, f, target.index)
    local = _is_local(f, target.base)
    m.emit(Assigned(f, target.span, "item", owner, value, target, statement, local, augmented))
    escape(m, value)
    if isinstance(target.base, n.Name) and target.base.name in f.scope.names:
        f.scope.names[target.base.name] = with_item(owner, index, value)
    elif isinstance(target.base, n.Attribute):
        holder = evaluate(m, f, target.base.base)
        if isinstance(holder, Instance):
            _set_attribute(f, holder, target.base.name, with_item(owner, index, value))


def with_item(owner: Value, index: Value, value: Value) -> Value:
    """A container after `owner[index] = value`."""
    if isinstance(owner, Mapping):
        if isinstance(index, Scalar) and index.known:
            entries = [(key, old) for key, old in owner.entries if key != index.const]
            return replace(owner, entries=(*entries, (index.const, value)))
        return replace(
            owner, complete=False, default=join(owner.default, value) if owner.entries or not owner.complete else value
        )
    if isinstance(owner, Items):
        if (
            isinstance(index, Scalar)
            and index.known
            and isinstance(index.const, int)
            and -len(owner.items) <= index.const < len(owner.items)
        ):
            items = list(owner.items)
            items[index.const] = value
            return replace(owner, items=tuple(items))
        return Many(owner.kind, join(element_of(owner), value) if owner.items else value, trace=owner.trace)
    if isinstance(owner, Many):
        return replace(owner, element=join(owner.element, value))
    return owner


def _is_local(f: Frame, base: n.Expr) -> bool:
    """Whether the object at the root of `base` belongs to this call: bound here and not a parameter."""
    root = base
    while isinstance(root, (n.Attribute, n.Subscript)):
        root = root.base
    if not isinstance(root, n.Name) or f.function is None:
        return f.function is None
    is_parameter = any(parameter.name == root.name for parameter in f.function.parameters)
    return root.name in f.function.bound and not is_parameter


def unpack(value: Value, elements: tuple[n.Expr, ...]) -> list[Value]:
    """The values that unpacking `value` into the targets gives."""
    star = next((i for i, e in enumerate(elements) if isinstance(e, n.Starred)), None)
    if isinstance(value, Items) and star is None and len(value.items) == len(elements):
        return [with_trace(item, value.trace) for item in value.items]
    if isinstance(value, Items) and star is not None and len(value.items) >= len(elements) - 1:
        behind = len(elements) - star - 1
        items = value.items
        middle = Items("list", items[star : len(items) - behind], trace=value.trace)
        found = [*items[:star], middle, *items[len(items) - behind :]]
        return [with_trace(item, value.trace) for item in found]
    count = len(elements)
    behind = count if star is None else star
    return [
        _part(value, i if i <= behind else i - count, isinstance(e, n.Starred), count) for i, e in enumerate(elements)
    ]


def _part(value: Value, index: int, starred: bool, count: int) -> Value:
    if isinstance(value, Key):
        size = value.batch[0] if value.batch else None
        at = index + size if index < 0 and isinstance(size, int) else index
        token = part_token(value.token, ("slice", index, (index + 1 - count) or None) if starred else at)
        batch = value.batch if starred else (value.batch[1:] if value.batch else ())
        return Key(token, batch, trace=value.trace)
    if isinstance(value, Array):
        row = arrays.subscript(value, known(index))
        part: Value = with_trace(replace(row, token=part_token(value.token, index)), value.trace)
    elif isinstance(value, Unknown):
        part = Unknown(trace=value.trace, token=part_token(value.token, index))
    elif isinstance(value, OneOf):
        part = Unknown(trace=value.trace)
    else:
        part = with_trace(element_of(value), value.trace)
    return Many("list", part) if starred else part


def annotated(m: Machine, f: Frame, value: Value, annotation: n.Expr) -> Value:
    """The value with what its annotation adds."""
    return (
        evidence.annotated_value(m, f, annotation) or value
        if isinstance(value, Unknown) and value.trace is None
        else value
    )


def escape(m: Machine, value: Value) -> None:
    """Notes that a transformed function leaves the hands of the function that made it."""
    if isinstance(value, Transformed):
        record = m.record(value)
        if record is not None and not record.escapes:
            record.escapes = True
            escape(m, value.function)
    elif isinstance(value, Bound):
        for part in (value.function, *value.arguments, *(v for _, v in value.keywords)):
            escape(m, part)
    else:
        for part in parts(value):
            escape(m, part)
