"""Control flow outside of jit: `scan`, `while_loop` and their like compile for the body functions they were given."""

from __future__ import annotations

import os
import types
from collections.abc import Callable
from typing import Any

PRIMITIVES = frozenset({"scan", "while", "cond"})
_FOLDER = os.path.join("lax", "control_flow") + os.sep
_KNOWN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "scan": (("f",), ("init", "xs")),
    "while_loop": (("cond_fun", "body_fun"), ("init_val",)),
    "fori_loop": (("body_fun",), ("lower", "upper", "init_val")),
    "map": (("f",), ("xs",)),
    "cond": (("true_fun", "false_fun"), ("pred", "operands")),
    "_cond": (("true_fun", "false_fun"), ("pred", "operands")),
    "switch": (("branches",), ("operands",)),
    "associative_scan": (("fn",), ("elems",)),
}
"""The parameters of each that hold functions, and those that hold data (JAX 0.4.30 to 0.10.2)."""


class Loop:
    """A call of such a function by the program."""

    def __init__(self, name: str, functions: tuple[Any, ...], data: dict[str, Any], identity: int) -> None:
        self.name, self.functions, self.data, self.identity = name, functions, data, identity


def loop(stack: list[types.FrameType], ours: Callable[[Any], bool]) -> Loop | None:
    """The outermost such call among frames of JAX, where it was given a function of the program's own."""
    for frame in reversed(stack):
        name = frame.f_code.co_name
        if name not in _KNOWN or _FOLDER not in frame.f_code.co_filename:
            continue
        known = frame.f_locals
        function_names, data_names = _KNOWN[name]
        if not all(each in known for each in function_names):  # `cond` of old JAX passes on to `_cond`
            continue
        functions: list[Any] = []
        for each in function_names:
            given = known[each]
            functions += given if isinstance(given, (list, tuple)) else [given]
        if any(map(ours, functions)):
            data = {each: known[each] for each in data_names if each in known}
            return Loop(f"lax.{name.lstrip('_')}", tuple(functions), data, id(frame))
    return None
