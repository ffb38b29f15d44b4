"""Functions in results: which they are, and the data that they hold.

A function that a call returns shows nothing until it is called. It need not be called where it is known to be the same
in both versions: a global of the file, which is judged by itself, a library's own function, or one with the same code.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from typing import Any

from jaxlint.verify.worker.capture import attributes, children, is_array, is_code

UNKNOWN = "unknown"
_MAX_PARTS = 200_000


class Functions:
    """The functions anywhere in a value, in the order in which they are met."""

    def __init__(self, value: Any, namespace: Mapping[str, Any]) -> None:
        self.marks: list[str] = []
        """One text for each, equal in both versions where the function is; UNKNOWN for what cannot be told."""
        self.data: list[Any] = []
        """What they hold: the contents of closures, defaults, instances of methods, arguments of partial calls."""
        self._names = {id(held): name for name, held in namespace.items() if is_code(held)}
        self._seen: dict[int, Any] = {}  # holds the values, so that no id is used again
        self._follow(value)

    def _follow(self, value: Any) -> None:
        waiting = [value]
        while waiting:
            part = waiting.pop()
            if id(part) in self._seen or is_array(part):
                continue
            self._seen[id(part)] = part
            if len(self._seen) > _MAX_PARTS:
                self.marks.append(UNKNOWN)
                return
            waiting.extend(self._function(part) if _is_function(part) else _parts(part))

    def _function(self, function: Any) -> list[Any]:
        """Notes a function; returns what is to be followed."""
        if id(function) in self._names:
            self.marks.append(f"global {self._names[id(function)]}")
            return []
        if isinstance(function, types.MethodType):
            self.data.append(function.__self__)
            return [function.__func__, function.__self__]
        if isinstance(function, functools.partial):
            self.data.append((function.args, function.keywords))
            return [function.func, function.args, function.keywords]
        if isinstance(function, types.FunctionType):
            self.marks.append(_code(function.__code__))
            held = [_content(cell) for cell in function.__closure__ or ()]
            held += [function.__defaults__, function.__kwdefaults__]
            self.data.append(held)
            return held
        known = isinstance(function, types.BuiltinFunctionType)
        self.marks.append(f"builtin {function.__qualname__}" if known else UNKNOWN)  # such as what `jax.jit` makes
        return []


def _is_function(value: Any) -> bool:
    return is_code(value) and not isinstance(value, (type, types.ModuleType))


def _parts(value: Any) -> Iterator[Any]:
    """What a value holds, functions included."""
    if isinstance(value, (type, types.ModuleType)):
        return
    for _, part in children(value):
        yield part
    for part in attributes(value).values():
        if is_code(part):
            yield part


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was assigned to it
        return None


def _code(code: types.CodeType) -> str:
    """Equal for code that does the same; where it stands does not count."""
    constants = [_code(one) if isinstance(one, types.CodeType) else (type(one), one) for one in code.co_consts]
    signature = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return repr((code.co_name, signature, names, code.co_code, constants))
