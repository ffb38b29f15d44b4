"""Judges changes of JAX programs by running both versions, in child processes.

Importing this package imports neither JAX nor NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxlint.verify.change import Change
    from jaxlint.verify.pool import Unavailable
    from jaxlint.verify.verifier import Verifier, compare

__all__ = ["Change", "Unavailable", "Verifier", "compare"]


def __getattr__(name: str) -> Any:
    if name == "Change":
        from jaxlint.verify import change

        return change.Change
    if name == "Unavailable":
        from jaxlint.verify import pool

        return pool.Unavailable
    if name in ("Verifier", "compare"):
        from jaxlint.verify import verifier

        return getattr(verifier, name)
    raise AttributeError(name)
