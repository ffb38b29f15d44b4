"""The versions of JAX that a program may be given as a reference: see `jobs.World`.

A world puts other functions in the place of public JAX functions while the user's code is imported and called, and
takes them away again. JAX's own modules import from one another privately and are not affected.
"""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations, and each version another way to ask for 64 bits.

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.experimental

from jaxlint.verify.jobs import World
from jaxlint.verify.worker import eager, lenient, loops, neutral, removed


@contextlib.contextmanager
def inside(world: World, uses: removed.Uses | None = None) -> Iterator[None]:
    """Put the world's functions in place for the duration of the block; `uses` counts calls of removed ones."""
    if world is World.WIDE:
        with double():
            yield
        return
    if world is World.DOUBLE:
        with double(), patched(neutral.single_precision_draws()):
            yield
        return
    patches = {
        World.REAL: dict,
        World.RESTORED: lambda: removed.names(uses),
        World.EAGER: lambda: removed.names() | eager.functions(),
        World.LOOPS: lambda: removed.names() | eager.functions() | loops.functions(),
        World.LENIENT: lambda: removed.names() | eager.functions() | loops.functions() | lenient.functions(),
        World.NEUTRAL: lambda: removed.names() | neutral.functions(),
        World.NEUTRAL_LOOPS: lambda: removed.names() | eager.functions() | loops.functions() | neutral.functions(),
    }[world]()
    with patched(patches):
        yield


@contextlib.contextmanager
def patched(patches: dict[tuple[Any, str], Any]) -> Iterator[None]:
    """Set `owner.name` for the duration of the block."""
    missing = object()
    saved = {}
    for (owner, name), value in patches.items():
        saved[owner, name] = _space(owner).get(name, missing)
        _put(owner, name, value)
    try:
        yield
    finally:
        for (owner, name), value in saved.items():
            if value is not missing:
                _put(owner, name, value)
            elif name in _space(owner):
                _take(owner, name)


def _space(owner: Any) -> Mapping[str, Any]:
    """Where the name is set: a module's globals, a class's own names, or for `sys` the table of imported modules."""
    return sys.modules if owner is sys else vars(owner)


def _put(owner: Any, name: str, value: Any) -> None:
    if isinstance(owner, type):
        setattr(owner, name, value)
    else:  # past what a module may do at an assignment
        (sys.modules if owner is sys else vars(owner))[name] = value


def _take(owner: Any, name: str) -> None:
    if isinstance(owner, type):
        delattr(owner, name)
    else:
        (sys.modules if owner is sys else vars(owner)).pop(name)


@contextlib.contextmanager
def double() -> Iterator[None]:
    """64-bit numbers, whichever way this JAX version has to ask for them."""
    if hasattr(jax, "enable_x64"):
        with jax.enable_x64(True):
            yield
    else:
        with jax.experimental.enable_x64():
            yield


@contextlib.contextmanager
def single_precision() -> Iterator[None]:
    """32-bit numbers inside a block of `double`."""
    if hasattr(jax, "enable_x64"):
        with jax.enable_x64(False):
            yield
    else:
        with jax.experimental.disable_x64():
            yield
