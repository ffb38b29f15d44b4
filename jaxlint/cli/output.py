"""Where output goes and whether it has colour."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

import click

from jaxlint.fixes.write import WriteError, create


def wants_color(choice: str, stream: TextIO) -> bool:
    """Whether to colour what goes to a stream. An explicit choice wins, then NO_COLOR, FORCE_COLOR, the terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def emit(text: str, file: Path | None) -> None:
    """Writes results to a file, or to standard output. Raises `click.ClickException` where that fails."""
    if file is None:
        sys.stdout.write(text)
        return
    try:
        create(file, text.encode("utf-8", "backslashreplace"))
    except WriteError as error:
        raise click.ClickException(f"{file}: {error}") from error


def require_writable(file: Path) -> None:
    """Raises `click.UsageError` where results could not be written there, so that no long work is done in vain."""
    target = Path(os.path.realpath(file))
    if target.is_dir():
        raise click.UsageError(f"{file} is a folder; name a file")
    if not target.parent.is_dir():
        raise click.UsageError(f"{file} cannot be written: there is no folder {file.parent}")
    if not os.access(target if target.exists() and not target.is_file() else target.parent, os.W_OK):
        raise click.UsageError(f"{file} cannot be written: permission denied")


def note(text: str) -> None:
    """Says something beside the results."""
    print(f"jaxlint: {text}", file=sys.stderr)
