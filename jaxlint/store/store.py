"""The kinds of what is stored, each with its key and its form."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from jaxlint.model import Finding
from jaxlint.registry import Rule
from jaxlint.store.edition import edition
from jaxlint.store.folder import DIGEST_SIZE, Folder

if TYPE_CHECKING:
    from jaxlint.program.nodes import Stmt

Body = tuple["Stmt", ...]


class Store(Struct, frozen=True):
    """What was worked out before; without a folder it knows nothing and keeps nothing."""

    folder: Folder | None = None

    @classmethod
    def at(cls, root: Path) -> Store:
        """The store in a folder, which need not exist yet."""
        return cls(Folder(root, edition()))

    def rules(self) -> tuple[Rule, ...] | None:
        """What the rules say of themselves, without importing them."""
        found: tuple[Rule, ...] | None = self._read("rules", b"", tuple[Rule, ...])
        return found

    def keep_rules(self, rules: tuple[Rule, ...]) -> None:
        """Stores what the rules say of themselves."""
        self._write("rules", b"", rules)

    def parses(self, text: str) -> bool:
        """Whether this text is known to be valid Python."""
        return self.folder is not None and self.folder.read("valid", _name(text)) is not None

    def keep_parses(self, text: str) -> None:
        """Stores that this text is valid Python."""
        if self.folder is not None:
            self.folder.write("valid", _name(text), b"")

    def body(self, text: str) -> Body | None:
        """The lowered statements of this text."""
        found: Body | None = self._read("bodies", _name(text), _body_type()) if self.folder is not None else None
        return found

    def has_body(self, text: str) -> bool:
        """Whether there seems to be one."""
        return self.folder is not None and self.folder.has("bodies", _name(text))

    def keep_body(self, text: str, body: Body) -> None:
        """Stores the lowered statements of this text."""
        self._write("bodies", _name(text), body)

    def findings(self, key: bytes) -> tuple[Finding, ...] | None:
        """The findings of a whole run over the files and settings that the key stands for."""
        found: tuple[Finding, ...] | None = self._read("runs", key, tuple[Finding, ...])
        return found

    def keep_findings(self, key: bytes, findings: tuple[Finding, ...]) -> None:
        """Stores the findings of a whole run."""
        self._write("runs", key, findings)
        if self.folder is not None:
            self.folder.sweep()

    def _read(self, kind: str, key: bytes, form: Any) -> Any:
        stored = self.folder.read(kind, key) if self.folder is not None else None
        if stored is None:
            return None
        try:
            return _decoder(form).decode(stored)
        except (msgspec.DecodeError, RecursionError):
            return None

    def _write(self, kind: str, key: bytes, value: object) -> None:
        if self.folder is None:
            return
        content = encoded(value)
        if content is not None:
            self.folder.write(kind, key, content)


def encoded(value: object) -> bytes | None:
    """The stored form; None for a lone surrogate or what is nested too deeply, which is worked out anew each time."""
    try:
        return msgspec.msgpack.encode(value)
    except (UnicodeEncodeError, RecursionError, OverflowError):
        return None


def decoded_body(content: bytes) -> Body:
    """The statements of which this is the stored form. Raises `msgspec.DecodeError` or `RecursionError`."""
    body: Body = _decoder(_body_type()).decode(content)
    return body


def digest(*parts: bytes) -> bytes:
    """A name for contents; parts do not run into each other."""
    whole = blake2b(digest_size=DIGEST_SIZE)
    for part in parts:
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.digest()


def digest_of(values: Iterable[object]) -> bytes:
    """A name for values that msgpack can write; sets in any order."""
    return digest(*(msgspec.msgpack.encode(value, order="deterministic") for value in values))


def _name(text: str) -> bytes:
    return digest(text.encode("utf-8", "surrogatepass"))


@cache
def _decoder(form: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(form)


@cache
def _body_type() -> Any:
    from jaxlint.program.nodes import Stmt

    return tuple[Stmt, ...]
