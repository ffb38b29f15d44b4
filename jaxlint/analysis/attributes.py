"""What `base.name` gives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis import arrays, classes
from jaxlint.analysis.api import ARRAY_ATTRIBUTES, STATIC_ATTRIBUTES, canonical
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.key_parts import part_token
from jaxlint.analysis.values import (
    Api,
    Array,
    Bound,
    ClassValue,
    Closure,
    Generator,
    Instance,
    Items,
    Key,
    Many,
    Mapping,
    Method,
    ModuleValue,
    Scalar,
    Super,
    Transformed,
    Unknown,
    Value,
    with_trace,
)
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine

CONSTANTS = frozenset(
    f"{m}.{c}" for m in ("math", "numpy", "jax.numpy") for c in ("pi", "e", "inf", "nan", "tau", "euler_gamma")
)
NUMPY_NEWAXIS = frozenset({"numpy.newaxis", "jax.numpy.newaxis"})


def get(m: Machine, f: Frame, base: Value, name: str, e: n.Attribute) -> Value:
    """The attribute of one thing; static metadata of tracers is not traced."""
    match base:
        case Api():
            return _of_api(m, base, name)
        case Array():
            return _of_array(base, name)
        case Instance() | ClassValue():
            return classes.get_attribute(m, f, base, name, e)
        case Super():
            return classes.get_inherited(m, f, base, name, e)
        case ModuleValue():
            return _of_module(m, base, name)
        case Generator():
            return Api(f"{base.module}.{name}")
        case Unknown():
            return _of_unknown(base, name)
        case Key():
            return Unknown() if name in STATIC_ATTRIBUTES else Method(base, name, trace=base.trace)
        case Method(name="at[]"):
            return Method(base.owner, f"at[].{name}", trace=base.trace)
        case Items() | Many() | Mapping() | Scalar() if name in STATIC_ATTRIBUTES:
            return Unknown()
        case Transformed() if name == "__wrapped__":
            return base.function
        case Items() | Many() | Mapping() | Scalar() | Transformed():
            return Method(base, name, trace=base.trace)
        case Bound(function=Api(path="builtins.property")):
            return Method(base, name)
        case Closure() if name == "__wrapped__":
            return base
    return Unknown() if name in STATIC_ATTRIBUTES else Unknown(trace=base.trace)


def _of_api(m: Machine, base: Api, name: str) -> Value:
    path = canonical(f"{base.path}.{name}")
    if path in CONSTANTS:
        return Scalar("float")
    if path in NUMPY_NEWAXIS:
        return Scalar("none", None, True)
    scope = m.load(path)
    return ModuleValue(path, scope) if scope is not None else Api(path)


def _of_array(base: Array, name: str) -> Value:
    found = arrays.attribute(base, name)
    if name in STATIC_ATTRIBUTES:
        return found if found is not None else Unknown()
    if found is not None:
        return with_trace(found, base.trace)
    return Method(base, name, trace=base.trace)


def _of_module(m: Machine, base: ModuleValue, name: str) -> Value:
    path = f"{base.name}.{name}"
    if path in m.declared:
        return Api(path)
    if name in base.scope.names:
        return base.scope.names[name]
    scope = m.load(path)
    return ModuleValue(path, scope) if scope is not None else Unknown()


def _of_unknown(base: Unknown, name: str) -> Value:
    if name in STATIC_ATTRIBUTES:
        return Unknown()
    if name in ARRAY_ATTRIBUTES and base.trace is not None:
        return Method(base, name, trace=base.trace) if name == "at" else Array(trace=base.trace)
    trace = replace(base.trace, sure=False) if base.trace is not None else None
    return Unknown(trace=trace, token=part_token(base.token, ("attribute", name)))
