"""Writes a changed file back: the whole of it or nothing, with its mode kept and links followed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from jaxlint.source.whole import whole


class WriteError(Exception):
    """A file was not written; the message says why. The file is as it was."""


def replace(path: Path, before: bytes, after: bytes) -> None:
    """Replaces the content of a file that still holds `before`. Raises `WriteError`."""
    target = Path(os.path.realpath(path))
    try:
        if target.read_bytes() != before:
            raise WriteError("changed on disk in the meantime; run again")
        if not os.access(target, os.W_OK):
            raise WriteError("is read-only")
        _swap(target, after)
    except OSError as error:
        raise WriteError(f"cannot be written: {error.strerror or error}") from error


def create(path: Path, content: bytes) -> None:
    """Writes a file of results, over an old one if there is one. Raises `WriteError`."""
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():  # /dev/stdout, a pipe
            target.write_bytes(content)
        else:
            _swap(target, content)
    except OSError as error:
        raise WriteError(f"cannot be written: {error.strerror or error}") from error


def _swap(target: Path, content: bytes) -> None:
    with whole(target) as (file, name):
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        _keep_owner_and_mode(target, name)


def _keep_owner_and_mode(target: Path, name: str) -> None:
    try:
        status = target.stat()
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        return
    with contextlib.suppress(OSError, AttributeError):  # only some may give a file away
        os.chown(name, status.st_uid, status.st_gid)
    os.chmod(name, status.st_mode & 0o7777)
