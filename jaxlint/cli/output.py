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


def note(text: str) -> None:
    """Says something beside the results."""
    print(f"jaxlint: {text}", file=sys.stderr)
