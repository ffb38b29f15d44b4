"""Runs a file's text as a program or as a module, statement by statement, and says how it ended."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations, and each version another way to ask for 64 bits.

from __future__ import annotations
import __future__

import ast
import asyncio
import contextlib
import inspect
import os
import sys
import traceback
import types
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import jax

from jaxlint.verify.jobs import Fault
from jaxlint.verify.worker import environment


def run(text: str, module: types.ModuleType, path: str, after_each: Callable[[ast.stmt], None] | None = None) -> None:
    """Execute the text in the module; `after_each` is called after each top-level statement.

    What a notebook awaits outside of functions is waited for, as IPython does.
    """
    tree = ast.parse(text)
    environ, reads_environ = dict(os.environ), True
    flags = _future_flags(tree) | (ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if path.endswith(".ipynb") else 0)
    if tree.body and ast.get_docstring(tree) is not None:
        module.__doc__ = ast.get_docstring(tree, clean=False)
    with contextlib.closing(_Loop()) as loop:
        for statement in tree.body:
            if reads_environ:
                environment.heed(environ)
                reads_environ = not environment.imports_jax(statement)
            part = ast.Module([statement], [])
            loop.wait_for(eval(compile(part, path, "exec", flags, dont_inherit=True), vars(module)))
            if after_each is not None:
                after_each(statement)


class _Loop:
    """The event loop of a program that awaits outside of functions, begun when it first does."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def wait_for(self, awaited: Coroutine[Any, Any, None] | None) -> None:
        """Run what a statement has left to be waited for, and the tasks that were begun before."""
        if awaited is not None:
            self._loop = self._loop or asyncio.new_event_loop()
            self._loop.run_until_complete(awaited)

    def close(self) -> None:
        """End the loop."""
        if self._loop is not None:
            self._loop.close()


def _future_flags(tree: ast.Module) -> int:
    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                flags |= getattr(__future__, alias.name).compiler_flag
    return flags


def settle() -> None:
    """Wait until everything that was started has been computed and printed."""
    with contextlib.suppress(Exception):
        jax.effects_barrier()
    sys.stdout.flush()


def fault_of(error: BaseException, path: str) -> Fault:
    """What went wrong, with the innermost line of the user's file."""
    line = None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == path:
            line = frame.lineno
    return Fault(type(error).__name__, str(error)[:2000], line)


def status_of(error: SystemExit) -> int:
    """The exit status that Python would give for it."""
    if error.code is None:
        return 0
    return int(error.code) if isinstance(error.code, int) else 1  # True is 1


@contextlib.contextmanager
def watched(
    path: str, ranges: Any, hits: set[int], errors: list[Fault] | None = None, outside: set[int] | None = None
) -> Iterator[None]:
    """Note which of the ranges of lines of the file are executed inside the block, and which errors pass through it.

    `outside` gets those that are executed as statements of the module or of a class, outside of functions.
    """
    by_line: dict[int, list[int]] = {}
    for index, part in enumerate(ranges):
        for line in range(part.first, part.last + 1):
            by_line.setdefault(line, []).append(index)
    passed: list[BaseException] = []  # kept alive, so that no error is counted twice and none is missed

    def each_line(frame: types.FrameType, event: str, about: Any) -> Any:
        if event == "line":
            found = by_line.get(frame.f_lineno, ())
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
        return each_line

    if not by_line and errors is None:
        yield
        return
    old = sys.gettrace()
    sys.settrace(each_call)
    try:
        yield
    finally:
        sys.settrace(old)
