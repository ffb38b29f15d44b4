"""Methods of arrays, containers, strings and unknown objects."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis import arrays, assignment
from jaxlint.analysis.api import ARRAY_METHODS, HOST_SYNC_METHODS
from jaxlint.analysis.events import Assigned, HostCall, MethodCall
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.operators import staged
from jaxlint.analysis.shapes import tell_shape_arguments
from jaxlint.analysis.values import (
    NONE,
    Array,
    Items,
    Key,
    Many,
    Mapping,
    Scalar,
    Trace,
    Transformed,
    Unknown,
    Value,
    deep_trace,
    element_of,
    join,
    join_traces,
    known,
    one_of,
    with_trace,
)
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine

MUTATORS = frozenset({"append", "extend", "insert", "update", "add", "pop", "remove", "clear", "setdefault", "popitem",
                      "sort", "reverse", "discard", "appendleft", "popleft"})  # fmt: skip


def call(m: Machine, f: Frame, owner: Value, name: str, arguments: Arguments, e: n.Call) -> Value:
    """The value of `owner.name(...)`."""
    result = _call(m, f, owner, name, arguments, e)
    m.emit(MethodCall(f, e.span, owner, name, arguments, e, result))
    if name in MUTATORS and not isinstance(owner, Array) and isinstance(e.function, n.Attribute):
        _mutated(m, f, owner, name, arguments, e)
    return result


def _call(m: Machine, f: Frame, owner: Value, name: str, arguments: Arguments, e: n.Call) -> Value:
    match owner:
        case Array():
            return _of_array(m, f, owner, name, arguments, e)
        case Mapping():
            return _of_mapping(owner, name, arguments)
        case Items() | Many():
            return _of_sequence(owner, name)
        case Scalar(kind="str"):
            return _of_text(owner, name)
        case Transformed():
            assignment.escape(m, owner)
            return Unknown()
        case Unknown():
            return _of_unknown(m, f, owner, name, arguments, e)
        case Key():
            return Unknown(trace=owner.trace)
    return Unknown(trace=owner.trace)


def _operands(owner: Value, arguments: Arguments) -> Trace | None:
    trace = owner.trace
    for value in arguments.all():
        trace = join_traces(trace, deep_trace(value))
    return trace


def _of_array(m: Machine, f: Frame, owner: Array, name: str, arguments: Arguments, e: n.Call) -> Value:
    trace = _operands(owner, arguments)
    if name.startswith("at[]."):
        return (
            staged(f, replace(owner, trace=None), trace) if name != "at[].get" else staged(f, Array(owner.dtype), trace)
        )
    if name in HOST_SYNC_METHODS and owner.trace is not None:
        m.emit(HostCall(f, e.span, owner, f".{name}()", e))
    if name == "block_until_ready":
        return owner
    tell_shape_arguments(m, f, f"method.{name}", arguments, e)
    result = arrays.method(owner, name, arguments.positional, dict(arguments.keywords), arguments.complete)
    return staged(f, result, trace) if result is not None else Unknown(trace=trace)


def _of_mapping(owner: Mapping, name: str, arguments: Arguments) -> Value:
    values = [value for _, value in owner.entries] or [owner.default]
    if name in ("get", "pop", "setdefault", "__getitem__"):
        key = arguments.get(0, "key")
        found = owner.get(key.const) if isinstance(key, Scalar) and key.known else None
        if found is not None:
            return with_trace(found, owner.trace)
        if owner.complete and owner.entries and not (isinstance(key, Scalar) and key.known):
            return with_trace(one_of(values), owner.trace)
        return Unknown(trace=owner.trace)
    if name == "keys":
        return Many("list", Scalar("str"))
    if name == "values":
        return (
            Items("list", tuple(values), trace=owner.trace)
            if owner.complete
            else Many("list", one_of(values), trace=owner.trace)
        )
    if name == "items":
        pairs = tuple(
            Items("tuple", (known(k) if isinstance(k, (str, int)) else Unknown(), v)) for k, v in owner.entries
        )
        if owner.complete:
            return Items("list", pairs)
        return Many("list", Items("tuple", (Unknown(), one_of([*values, owner.default]))))
    return owner if name == "copy" else NONE


def _of_sequence(owner: Items | Many, name: str) -> Value:
    if name in ("pop", "popleft"):
        return with_trace(element_of(owner), owner.trace)
    if name in ("index", "count"):
        return Scalar("int")
    return owner if name == "copy" else NONE


def _of_text(owner: Scalar, name: str) -> Value:
    if name.startswith(("is", "starts", "ends")):
        return Scalar("bool")
    if name in ("split", "rsplit", "splitlines"):
        return Many("list", Scalar("str"))
    return Scalar("str") if name not in ("count", "find", "index") else Scalar("int")


def _of_unknown(m: Machine, f: Frame, owner: Unknown, name: str, arguments: Arguments, e: n.Call) -> Value:
    from jaxlint.analysis import calls

    trace = _operands(owner, arguments)
    if name in HOST_SYNC_METHODS and owner.trace is not None and not arguments.positional:
        m.emit(HostCall(f, e.span, owner, f".{name}()", e))
    if name in ARRAY_METHODS and owner.trace is not None and owner.trace.sure:
        tell_shape_arguments(m, f, f"method.{name}", arguments, e)
        result = arrays.method(Array(), name, arguments.positional, dict(arguments.keywords), arguments.complete)
        return staged(f, result, trace) if result is not None else Array(trace=trace)
    return calls.call_unknown(m, f, owner, arguments, e.span)


def _mutated(m: Machine, f: Frame, owner: Value, name: str, arguments: Arguments, e: n.Call) -> None:
    assert isinstance(e.function, n.Attribute)
    base = e.function.base
    value = one_of(arguments.positional) if arguments.positional else Unknown()
    local = assignment._is_local(f, base)
    m.emit(Assigned(f, e.span, name, owner, value, e.function, e, local))
    assignment.escape(m, value)
    if isinstance(base, n.Name):
        scope = f.scope.find(base.name)
        if scope is not None:
            scope.names[base.name] = after_mutation(owner, name, value, arguments)


def after_mutation(owner: Value, name: str, value: Value, arguments: Arguments) -> Value:
    """A container after one of its mutating methods."""
    if isinstance(owner, (Items, Many)):
        if name in ("append", "add", "insert", "appendleft"):
            added = arguments.positional[-1] if arguments.positional else Unknown()
            empty = isinstance(owner, Items) and not owner.items
            return Many(owner.kind, added if empty else join(element_of(owner), added), trace=owner.trace)
        if name == "extend":
            empty = isinstance(owner, Items) and not owner.items
            added = element_of(value)
            return Many(owner.kind, added if empty else join(element_of(owner), added), trace=owner.trace)
        return Many(owner.kind, element_of(owner), trace=owner.trace)
    if isinstance(owner, Mapping):
        entries = dict(owner.entries)
        entries.update(dict(arguments.keywords))
        if isinstance(value, Mapping):
            entries.update(dict(value.entries))
        complete = owner.complete and name == "update" and (isinstance(value, Mapping) or not arguments.positional)
        return replace(owner, entries=tuple(entries.items()), complete=complete)
    return owner
