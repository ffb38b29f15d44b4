"""Watches which statements and expressions of a file run, and which errors pass through it."""

from __future__ import annotations

import contextlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jaxlint.verify.jobs import Fault, Range

_HAS_MONITORING = sys.version_info >= (3, 12)


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

    def note(code: types.CodeType, found: Sequence[int]) -> None:
        hits.update(found)
        if outside is not None and not code.co_flags & inspect.CO_OPTIMIZED:
            outside.update(found)

    def each_line(frame: types.FrameType, event: str, about: Any) -> Any:
        if event == "line":
            note(frame.f_code, by_line.get(frame.f_lineno, ()))
        elif event == "opcode":
            note(frame.f_code, expressions.at(frame.f_code, frame.f_lasti))
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
        frame.f_trace_opcodes = not _HAS_MONITORING and expressions.are_in(frame.f_code)
        return each_line

    if not ranges and errors is None:
        yield
        return
    old = sys.gettrace()
    with _monitored(path, expressions, note):
        sys.settrace(each_call)
        try:
            yield
        finally:
            sys.settrace(old)


Note = Callable[[types.CodeType, Sequence[int]], None]


class _Expressions:
    """Which of the watched expressions an instruction belongs to, as the positions in compiled code tell."""

    def __init__(self, ranges: Sequence[Range]) -> None:
        self._watched = [
            (index, (part.first, part.columns[0]), (part.last, part.columns[1]))
            for index, part in enumerate(ranges)
            if part.columns is not None
        ]
        self._known: dict[types.CodeType, dict[int, list[int]]] = {}

    def __bool__(self) -> bool:
        return bool(self._watched)

    def are_in(self, code: types.CodeType) -> bool:
        """Whether some of its instructions belong to one."""
        return bool(self._watched) and bool(self._by_offset(code))

    def at(self, code: types.CodeType, offset: int) -> Sequence[int]:
        """The expressions that an instruction belongs to, by index."""
        return self._by_offset(code).get(offset, ())

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


@contextlib.contextmanager
def _monitored(path: str, expressions: _Expressions, note: Note) -> Iterator[None]:
    """Notes the instructions of the watched expressions by PEP 669.

    From Python 3.12 on `f_trace_opcodes` no longer reaches the call in which it is set (measured on 3.12.1 and 3.13.0).
    """
    if not _HAS_MONITORING or not expressions:
        yield
        return
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
    events = monitoring.events
    tool = next(number for number in (4, 3, 0, 1, 2, 5) if monitoring.get_tool(number) is None)
    watched: set[types.CodeType] = set()

    def start(code: types.CodeType, _: int) -> Any:
        if code.co_filename != path or not expressions.are_in(code):
            return monitoring.DISABLE
        watched.add(code)
        monitoring.set_local_events(tool, code, events.INSTRUCTION)
        return None

    def instruction(code: types.CodeType, offset: int) -> None:
        note(code, expressions.at(code, offset))

    monitoring.use_tool_id(tool, "jaxlint")
    monitoring.register_callback(tool, events.PY_START, start)
    monitoring.register_callback(tool, events.INSTRUCTION, instruction)
    monitoring.set_events(tool, events.PY_START)
    monitoring.restart_events()  # what was disabled in an earlier block may be of the file now
    try:
        yield
    finally:
        monitoring.set_events(tool, 0)
        for code in watched:
            monitoring.set_local_events(tool, code, 0)
        monitoring.free_tool_id(tool)
