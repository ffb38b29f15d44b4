"""What a program writes into its environment for JAX, which reads that when it is imported.

Here it is imported before the program begins, so that its configuration follows what the program writes until its own
import.
"""

# mypy: disable-error-code="no-untyped-call"
# JAX has functions without annotations.

from __future__ import annotations

import ast
import contextlib
import os
from collections.abc import Mapping

import jax

PREFIX = "JAX_"
TRUE = ("1", "true", "t", "yes", "y", "on")  # as jax._src.config reads them (JAX 0.4.30 to 0.12)


def heed(before: Mapping[str, str]) -> None:
    """Configures JAX by those of its variables that are not as they were `before`."""
    for name, text in os.environ.items():
        if name.startswith(PREFIX) and before.get(name) != text and name.lower() in jax.config.values:
            with contextlib.suppress(ValueError, TypeError):  # JAX itself would stop at such a value
                jax.config.update(name.lower(), _meant(text, jax.config.values[name.lower()]))


def _meant(text: str, current: object) -> object:
    if isinstance(current, bool):
        return text.lower() in TRUE
    return int(text) if isinstance(current, int) else text


def imports_jax(statement: ast.stmt) -> bool:
    """Whether a statement, or one inside it, imports JAX by name."""
    for node in ast.walk(statement):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names.append(node.module or "")
        if any(name.partition(".")[0] == "jax" for name in names):
            return True
    return False
