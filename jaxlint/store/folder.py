"""A folder of entries that any number of runs read and write at once.

An entry is written whole or not at all and carries a checksum, so that a reader sees a right entry or none. What
cannot be read or written is as if it were not there: a store saves time and decides nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from jaxlint.source.whole import whole

GITIGNORE = "# Made by jaxlint.\n*\n"
TAG = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# This folder holds what jaxlint worked out before; `jaxlint clean` removes it.\n"
    "# See https://bford.info/cachedir/\n"
)
MARKS = {".gitignore": GITIGNORE, "CACHEDIR.TAG": TAG}
EDITION = re.compile(r"v\d[\w.+]*-[0-9a-f]{16}")

SWEPT = ".swept"
DAY = 24 * 60 * 60
KEPT_DAYS = 30
DIGEST_SIZE = 16


class Folder(Struct, frozen=True):
    """The entries of one edition: what another version of jaxlint or Python wrote lies beside it and is not seen."""

    root: Path
    edition: str

    def read(self, kind: str, key: bytes) -> bytes | None:
        """The content of an entry; None where there is none, or one that was damaged."""
        file = self._file(kind, key)
        try:
            with open(file, "rb") as opened:
                stored = opened.read()
                age = time.time() - os.fstat(opened.fileno()).st_mtime
        except OSError:
            return None
        content = stored[DIGEST_SIZE:]
        if stored[:DIGEST_SIZE] != _checksum(kind, key, content):
            return None
        if age > DAY:
            with contextlib.suppress(OSError):
                os.utime(file)  # what is used is kept
        return content

    def has(self, kind: str, key: bytes) -> bool:
        """Whether there is an entry, be it damaged."""
        return os.path.exists(self._file(kind, key))

    def write(self, kind: str, key: bytes, content: bytes) -> None:
        """Stores an entry, if it can be stored."""
        file = self._file(kind, key)
        with contextlib.suppress(OSError):
            if not os.path.isdir(os.path.dirname(file)):
                self._make(os.path.dirname(file))
            with whole(Path(file)) as (opened, _):
                opened.write(_checksum(kind, key, content) + content)

    def sweep(self) -> None:
        """Once a day, removes the entries that no run has used for a month, of all editions."""
        mark = self.root / SWEPT
        now = time.time()
        with contextlib.suppress(OSError):
            if not mark.exists() or now - mark.stat().st_mtime > DAY:
                mark.touch()
                _remove_older(self.root, now - KEPT_DAYS * DAY)

    def _file(self, kind: str, key: bytes) -> str:
        return os.path.join(self.root, self.edition, kind, key.hex() or "all")

    def _make(self, folder: str) -> None:
        """Makes the folders; into a root that is new go the marks that keep it out of repositories and backups."""
        if not self.root.exists():
            self.root.mkdir(parents=True, exist_ok=True)
            for name, content in MARKS.items():
                (self.root / name).write_text(content, "utf-8")
        os.makedirs(folder, exist_ok=True)


def remove(root: Path) -> bool:
    """Removes what jaxlint stored under `root`, and `root` when nothing else is in it. Returns whether there was any.

    Raises:
        OSError: something cannot be removed.
    """
    editions = list(_editions(root))
    for edition in editions:
        for file in _files(edition):
            file.unlink(missing_ok=True)
        _remove_empty(edition)
    for name, content in MARKS.items():
        file = root / name
        if file.is_file() and file.read_text("utf-8", "replace") == content:
            file.unlink()
    (root / SWEPT).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        root.rmdir()
    return bool(editions)


def _remove_older(root: Path, oldest: float) -> None:
    for edition in _editions(root):
        for file in _files(edition):
            with contextlib.suppress(OSError):
                if file.stat().st_mtime < oldest:
                    file.unlink()
        _remove_empty(edition)


def _editions(root: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for folder in sorted(root.iterdir()):
            if EDITION.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
                yield folder


def _files(edition: Path) -> Iterator[Path]:
    for folder in edition.iterdir():
        if folder.is_dir() and not folder.is_symlink():
            yield from folder.iterdir()


def _remove_empty(edition: Path) -> None:
    with contextlib.suppress(OSError):
        for folder in edition.iterdir():
            with contextlib.suppress(OSError):
                folder.rmdir()
        edition.rmdir()


def _checksum(kind: str, key: bytes, content: bytes) -> bytes:
    return blake2b(content, digest_size=DIGEST_SIZE, key=key, person=kind.encode()[:16]).digest()
