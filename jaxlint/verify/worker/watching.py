"""Watches which statements and expressions of a file run, and which errors pass through it."""

from __future__ import annotations

import contextlib
import inspect
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from jaxlint.verify.jobs import Fault, Range


@contextlib.contextmanager
def watched(
    path: str,
    ranges: Sequence[Range],
    hits: set[int],
    errors: list[Fault] | None = None,
    outside: set[int] | None = None,
) -> Iterator[None]:
    """Note which of the ranges of the file are executed inside the block, and which errors pass through it.

    `outside` gets those that are executed as statements of the module or of a class, outside of functions.
    """
    by_line: dict[int, list[int]] = {}
    for index, part in enumerate(ranges):
        for line in range(part.first, part.last + 1) if part.columns is None else ():
            by_line.setdefault(line, []).append(index)
    expressions = _Expressions(ranges)
    passed: list[BaseException] = []  # kept alive, so that no error is counted twice and none is missed

    def each_line(frame: types.FrameType, event: str, about: Any) -> Any:
        if event in ("line", "opcode"):
            found = by_line.get(frame.f_lineno, ()) if event == "line" else expressions.at(frame)
            hits.update(found)
            if outside is not None and not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
                outside.update(found)
        elif event == "exception" and errors is not None and is_new(about[1]):
            passed.append(about[1])
            errors.append(Fault(about[0].__name__, str(about[1])[:200], frame.f_lineno))
        return each_line

    def is_new(error: Any) -> bool:
        is_error = isinstance(error, Exception) and not isinstance(error, StopIteration)
        return is_error and all(error is not one for one in passed)

    def each_call(frame: types.FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != path:
            return None
        hits.update(by_line.get(frame.f_lineno, ()) if frame.f_code.co_name == "<lambda>" else ())
        frame.f_trace_opcodes = expressions.are_in(frame.f_code)
        return each_line

    if not ranges and errors is None:
        yield
        return
    old = sys.gettrace()
    sys.settrace(each_call)
    try:
        yield
    finally:
        sys.settrace(old)


class _Expressions:
    """Which of the watched expressions an instruction belongs to, as the positions in compiled code tell."""

    def __init__(self, ranges: Sequence[Range]) -> None:
        self._watched = [
            (index, (part.first, part.columns[0]), (part.last, part.columns[1]))
            for index, part in enumerate(ranges)
            if part.columns is not None
        ]
        self._known: dict[types.CodeType, dict[int, list[int]]] = {}

    def are_in(self, code: types.CodeType) -> bool:
        """Whether some of its instructions belong to one."""
        return bool(self._watched) and bool(self._by_offset(code))

    def at(self, frame: types.FrameType) -> Sequence[int]:
        """The expressions that the next instruction of a frame belongs to, by index."""
        return self._by_offset(frame.f_code).get(frame.f_lasti, ())

    def _by_offset(self, code: types.CodeType) -> dict[int, list[int]]:
        if code not in self._known:
            found = ((2 * place, self._around(where)) for place, where in enumerate(code.co_positions()))
            self._known[code] = {offset: inside for offset, inside in found if inside}
        return self._known[code]

    def _around(self, where: tuple[int | None, int | None, int | None, int | None]) -> list[int]:
        first, last, start, end = where
        if first is None or last is None or start is None or end is None:
            return []
        return [index for index, low, high in self._watched if low <= (first, start) and (last, end) <= high]
