"""Runs a file's text as a program or as a module, statement by statement, and says how it ended."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations, and each version another way to ask for 64 bits.

from __future__ import annotations
import __future__

import ast
import asyncio
import contextlib
import os
import sys
import traceback
import types
from collections.abc import Callable, Coroutine
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
