"""Functions outside the project: what a call of NumPy, JAX and its random numbers gives, and what it tells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis import arrays, calls, classes, key_making, keys
from jaxlint.analysis.api import (
    CALLBACKS,
    KEY_MAKERS,
    KEY_READERS,
    NUMPY_ON_TRACERS,
    SAMPLERS,
    STATIC_FUNCTIONS,
)
from jaxlint.analysis.events import ApiCall, HostCall
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.handlers import HANDLERS
from jaxlint.analysis.operators import staged
from jaxlint.analysis.shapes import tell_shape_arguments
from jaxlint.analysis.tracing import outer_trace
from jaxlint.analysis.values import (
    Array,
    Key,
    Scalar,
    Unknown,
    Value,
    leaves,
    with_trace,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def call(m: Machine, f: Frame, path: str, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """The value of a call of an outside function."""
    result = _call(m, f, path, arguments, e, where)
    if path.startswith("jax.tree_util.register"):
        for value in arguments.all():
            classes.note_open(m, value)
    if e is not None:
        m.emit(ApiCall(f, where, path, arguments, e, result))
    return result


def _call(m: Machine, f: Frame, path: str, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    handler = HANDLERS.get(path)
    if handler is not None:
        return handler(m, f, arguments, e, where)
    if path.startswith("jax.random."):
        return _random(m, f, path, arguments, e, where)
    if path in STATIC_FUNCTIONS or path.startswith(("jax.ShapeDtypeStruct", "jax.config")):
        return Unknown()
    if path.startswith(("numpy.", "math.", "scipy.")):
        return _host_function(m, f, path, arguments, e, where)
    if path.startswith("jax."):
        return _jax_function(m, f, path, arguments, e, where)
    if path in CALLBACKS or path in KEY_READERS:
        return Unknown()
    return calls.call_unknown(m, f, Unknown(), arguments, where)


def _jax_function(m: Machine, f: Frame, path: str, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    tell_shape_arguments(m, f, path, arguments, e)
    if path in CALLBACKS:
        return staged(f, Unknown(), outer_trace(arguments))
    result = arrays.call(path, arguments.positional, dict(arguments.keywords), arguments.complete)
    trace = outer_trace(arguments)
    if result is None and path.startswith(("jax.numpy.", "jax.nn.", "jax.lax.", "jax.scipy.")):
        result = Unknown() if path.startswith("jax.nn.initializers") else Array()
    if result is None:
        if path not in KEY_READERS:
            for value in arguments.all():
                keys.weak(m, f, value, where)
        if path.startswith(("jax.tree.", "jax.tree_util.")):
            return Unknown(trace=trace)
        return Unknown(trace=replace(trace, sure=False) if trace is not None else None)
    if isinstance(result, Array):
        return staged(f, result, trace)
    return with_trace(result, trace)


INTEGER_MATH = frozenset({"floor", "ceil", "trunc", "gcd", "lcm", "comb", "perm", "factorial", "isqrt", "prod"})


def _host_function(m: Machine, f: Frame, path: str, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    name = path.rpartition(".")[2]
    on_tracers = path.startswith("numpy.") and path.count(".") == 1 and name in NUMPY_ON_TRACERS
    trace = outer_trace(arguments)
    result = arrays.call(path, arguments.positional, dict(arguments.keywords), arguments.complete)
    if trace is None and path.startswith("math."):
        return Scalar("int" if name in INTEGER_MATH else "bool" if name.startswith("is") else "float")
    if trace is None:
        return result if result is not None else Unknown()
    if on_tracers:
        base = arrays.call(f"jax.{path}", arguments.positional, dict(arguments.keywords), arguments.complete)
        return with_trace(base if base is not None else Array(), trace)
    if e is not None:
        for value in arguments.all():
            tracer = next((leaf for leaf in leaves(value) if leaf.trace is not None), None)
            if tracer is not None:
                m.emit(HostCall(f, where, tracer, path, e))
                break
    return with_trace(result if result is not None else Unknown(), None if m.refusals else trace)


def _random(m: Machine, f: Frame, path: str, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    name = path.removeprefix("jax.random.")
    if path in KEY_MAKERS:
        return key_making.make(m, f, arguments, e, where)
    tell_shape_arguments(m, f, path, arguments, e)
    if name == "split":
        return staged(f, key_making.split(m, f, arguments, where), None)
    if name == "fold_in":
        return staged(f, key_making.fold(m, f, arguments, where), None)
    if name == "clone":
        return Key(m.token("key", where), (), trace=outer_trace(arguments))
    if name in SAMPLERS:
        keys.sample(m, f, arguments, where)
        result = arrays.call(path, arguments.positional, dict(arguments.keywords), arguments.complete) or Array()
        return staged(f, result, outer_trace(arguments))
    if name == "wrap_key_data":
        return Key(m.token("key", where), None, trace=outer_trace(arguments))
    return Unknown(trace=outer_trace(arguments))
