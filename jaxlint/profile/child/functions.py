"""Tells functions apart by their code: a lambda that is made anew is another object of the same function."""

from __future__ import annotations

import functools
import inspect
import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

from .stack import Places, closed_over, last_line

_LAYERS, _DEPTH = 20, 2


def layers(function: Any) -> Iterator[tuple[str, types.CodeType | None]]:
    """The wrappers of a function from outside in, and itself as the last: a name, and the code where there is one."""
    for _ in range(_LAYERS):
        if isinstance(function, functools.partial):
            yield "partial", None
            function = function.func
            continue
        if isinstance(function, types.MethodType):
            yield "method", None
            function = function.__func__
            continue
        code = _code(function)
        inner = _attribute(function, "__wrapped__")
        if code is None and inner is None:
            called = vars(type(function)).get("__call__")
            yield type(function).__qualname__, _code(called)
            return
        yield _name(function, code), code
        if not callable(inner):
            return
        function = inner


def described(function: Any, places: Places) -> dict[str, Any]:
    """The function as a record: its name with the transforms around it, its code's place, and a key for its code."""
    chain = list(layers(function))
    name, code = chain[-1]
    around = [outer for outer, own in chain[:-1] if own is None or places.is_jax(own.co_filename)]
    if code and places.is_jax(code.co_filename):  # JAX makes many operations out of one piece of code
        name = str(_attribute(function, "__name__") or name)
    label = name
    for outer in reversed(around):
        label = label if outer == "method" else f"{outer}({label})"
    return {
        "key": f"{name}|{_key(function, chain)}",
        "label": label,
        "name": name,
        "file": places.full(code.co_filename) if code else "",
        "line": code.co_firstlineno if code else 0,
        "last": last_line(code) if code else 0,
        "nested": bool(code) and "<locals>" in getattr(code, "co_qualname", ""),
        "origin": places.origin(code.co_filename) if code else "jax",
        "around": [outer for outer, _ in chain[:-1]],
    }


def _key(function: Any, chain: list[tuple[str, types.CodeType | None]], depth: int = 0) -> str:
    """The same for functions of the same code that close over functions of the same code."""
    key = "|".join(f"{n}@{c.co_filename}:{c.co_firstlineno}" if c else n for n, c in chain)
    if depth == _DEPTH:
        return key
    inner = itertools.islice(_enclosed(function), _LAYERS)
    return "&".join([key, *(_key(value, [*layers(value)], depth + 1) for value in inner)])


def _enclosed(function: Any) -> Iterator[Any]:
    """The functions that a function, or the one that it binds or wraps, found around it, alone or in a tuple."""
    for _ in range(_LAYERS):
        code = _attribute(function, "__code__")
        for name in getattr(code, "co_freevars", ()):
            value = closed_over(function, name)
            yield from filter(callable, value if isinstance(value, tuple) else (value,))
        function = _attribute(function, "func" if isinstance(function, functools.partial) else "__wrapped__")


def primitive_of(function: Any) -> str:
    """The primitive that a function of JAX's own runs by itself; empty for all other functions."""
    code = _code(function)
    return str(_attribute(function, "__name__")) if code and code.co_name == "prim_fun" else ""


def parameters(function: Any, count: int) -> list[str]:
    """The names of the first positional parameters; `args[2]` where they are gathered, `2` where nothing is known."""
    names: list[str] = []
    rest = ""
    try:
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is parameter.VAR_POSITIONAL:
                rest = parameter.name
            elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                names.append(parameter.name)
    except (TypeError, ValueError):
        pass
    gathered = (f"{rest}[{i}]" if rest else str(i) for i in range(count - len(names)))
    return [*names, *gathered][:count]


def _code(function: Any) -> types.CodeType | None:
    code = _attribute(function, "__code__")
    if not isinstance(code, types.CodeType):
        return None
    if code.co_name == "reraise_with_filtered_traceback":  # around each transform of JAX
        return _code(closed_over(function, "fun")) or code
    return code


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _name(function: Callable[..., Any], code: types.CodeType | None) -> str:
    """Of JAX's wrappers the transform: their own names are those of what they wrap."""
    if code is None:  # a jitted function has no code of its own
        return "jit"
    if _attribute(function, "__wrapped__") is None:
        return str(_attribute(function, "__name__") or code.co_name)  # a library may have renamed it
    outer, inside, _ = getattr(code, "co_qualname", "").partition(".<locals>")
    return outer if inside else code.co_name.removesuffix("_f")
