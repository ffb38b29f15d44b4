"""The configurations of folders inside the one that a run starts from."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from jaxlint.config.file import ConfigError, Located, config_in, read


def nested(files: Iterable[Path], root: Path) -> list[Located]:
    """The configurations in the folders of the files and above them, as far as the root, which is not asked.

    A pyproject.toml that is not valid TOML is passed over: test data may hold one. Raises `ConfigError` for what is
    wrong in a configuration of jaxlint.
    """
    found = (_config_in(Path(folder)) for folder in sorted(_folders(files, str(root))))
    return [read(file) for file in found if file is not None]


def _folders(files: Iterable[Path], root: str) -> set[str]:
    seen: set[str] = set()
    inside = root.rstrip(os.sep) + os.sep
    for folder in {os.path.dirname(os.path.abspath(file)) for file in files}:
        while folder.startswith(inside) and folder not in seen:
            seen.add(folder)
            folder = os.path.dirname(folder)
    return seen


def _config_in(folder: Path) -> Path | None:
    try:
        return config_in(folder)
    except ConfigError:
        return None
