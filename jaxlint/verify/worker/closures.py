"""Functions that functions of the file have made, made again of the other version's code."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

_LOCALS = ".<locals>."


def rebuilt(
    function: types.FunctionType, source: dict[str, Any], target: dict[str, Any], inner: Callable[[Any], Any]
) -> types.FunctionType | None:
    """The same closure over the code that the target's maker has in its place; None where that is not to be found.

    `source` and `target` are module globals, `inner` copies what the closure holds.
    """
    maker, _, path = function.__qualname__.partition(_LOCALS)
    old, new = (_codes_at(_code_of(namespace, maker), path) for namespace in (source, target))
    if old.count(function.__code__) != 1 or len(old) != len(new):
        return None
    code = new[old.index(function.__code__)]
    if code.co_freevars != function.__code__.co_freevars:
        return None
    cells = tuple(types.CellType(inner(cell.cell_contents)) for cell in function.__closure__ or ())
    made = types.FunctionType(code, target, function.__name__, inner(function.__defaults__), cells)
    made.__kwdefaults__ = inner(function.__kwdefaults__)
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def _code_of(namespace: dict[str, Any], name: str) -> types.CodeType | None:
    first, *rest = name.split(".")
    value = namespace.get(first)
    for part in rest:
        value = vars(value).get(part) if isinstance(value, type) else None
    value = inspect.unwrap(value) if callable(value) else value
    return value.__code__ if inspect.isfunction(value) else None


def _codes_at(code: types.CodeType | None, path: str) -> list[types.CodeType]:
    """All codes of the last name of a path within a function's, where the way there is the only one."""
    *outer, last = path.split(_LOCALS)
    for name in outer:
        inner = _inside(code, name)
        code = inner[0] if len(inner) == 1 else None
    return _inside(code, last)


def _inside(code: types.CodeType | None, name: str) -> list[types.CodeType]:
    constants = code.co_consts if code else ()
    return [part for part in constants if isinstance(part, types.CodeType) and part.co_name == name]
