"""The versions of JAX that a program may be given as a reference: see `jobs.World`.

A world puts other functions in the place of public JAX functions while the user's code is imported and called, and
takes them away again. JAX's own modules import from one another privately and are not affected.
"""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations, and each version another way to ask for 64 bits.

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import jax
import jax.experimental

from jaxlint.verify.jobs import World
from jaxlint.verify.worker import eager, loops, neutral, removed


@contextlib.contextmanager
def inside(world: World, uses: removed.Uses | None = None) -> Iterator[None]:
    """Put the world's functions in place for the duration of the block; `uses` counts calls of removed ones."""
    if world is World.DOUBLE:
        with double(), patched(neutral.single_precision_draws()):
            yield
        return
    patches = {
        World.REAL: dict,
        World.RESTORED: lambda: removed.names(uses),
        World.EAGER: lambda: removed.names() | eager.functions(),
        World.LOOPS: lambda: removed.names() | eager.functions() | loops.functions(),
        World.NEUTRAL: lambda: removed.names() | neutral.functions(),
    }[world]()
    with patched(patches):
        yield


@contextlib.contextmanager
def patched(patches: dict[tuple[Any, str], Any]) -> Iterator[None]:
    """Set `owner.name` for the duration of the block."""
    missing = object()
    saved = {}
    for (owner, name), value in patches.items():
        space = _space(owner)
        saved[owner, name] = space.get(name, missing)
        space[name] = value
    try:
        yield
    finally:
        for (owner, name), value in saved.items():
            if value is missing:
                _space(owner).pop(name, None)
            else:
                _space(owner)[name] = value


def _space(owner: Any) -> dict[str, Any]:
    """Where the name is set: a module's globals, or for `sys` the table of imported modules."""
    return sys.modules if owner is sys else vars(owner)


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
