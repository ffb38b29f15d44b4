"""Which folder the store of a run is."""

from __future__ import annotations

from pathlib import Path

NAME = ".jaxlint_cache"
ROOT_MARKS = ("pyproject.toml", "jaxlint.toml", ".git", ".hg")


def default_folder(configured: Path | None) -> Path:
    """Beside the configuration, else in the project's root: the nearest folder at or above the working folder that
    has a project file or a repository, else the working folder itself."""
    return (configured or _root(Path.cwd())) / NAME


def _root(start: Path) -> Path:
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in ROOT_MARKS):
            return folder
    return start
