"""Rewrites Python branches on arrays as array operations: `jnp.where`, `&`, `jnp.minimum`, `is None`."""

from __future__ import annotations

from jaxlint.analysis.context import Context
from jaxlint.analysis.events import Branch
from jaxlint.model import Fix


def as_array_operation(event: Branch, context: Context) -> Fix | None:
    """The rewrite of a branch that is mechanical, if there is one."""
    return None
