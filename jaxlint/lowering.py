"""Lowered files from where they come soonest: the store, processes that lower many files, or the parser here."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import DecodeError

from jaxlint.meter import Meter
from jaxlint.store.store import Store, decoded_body

if TYPE_CHECKING:
    from jaxlint.program.nodes import Stmt

WORTH_PROCESSES = 500_000
"""How many characters of text are worth processes: each must import the parser, which takes as long as 5,000 lines."""


class Lowering:
    """Turns texts into statements, in as many processes as `jobs` says; made for one run."""

    def __init__(self, store: Store | None = None, meter: Meter | None = None, jobs: int = 1) -> None:
        self._store = store or Store()
        self._meter = meter or Meter()
        self._jobs = jobs
        self._ahead: dict[str, bytes] = {}

    def __call__(self, text: str) -> tuple[Stmt, ...]:
        """The statements of a text. Raises what `program.lower.statements` does."""
        with self._meter.stage("read lowered files"):
            known = self._store.body(text)
        if known is not None:
            self._meter.count("files taken from the store")
            return known
        self._meter.count("files lowered anew")
        with self._meter.stage("lower"):
            body = self._body(text)
        with self._meter.stage("store lowered files"):
            self._store.keep_body(text, body)
        return body

    def _body(self, text: str) -> tuple[Stmt, ...]:
        ahead = self._ahead.pop(text, None)
        if ahead is not None:
            with suppress(DecodeError, RecursionError):
                return decoded_body(ahead)
        from jaxlint.program.lower import statements

        return statements(text)

    def ahead(self, texts: Sequence[str]) -> None:
        """Lowers texts that will be asked for in processes of their own, where that is worth it."""
        if self._jobs == 1 or sum(map(len, texts)) < WORTH_PROCESSES:
            return
        missing = [text for text in texts if not self._store.has_body(text)]
        if sum(map(len, missing)) < WORTH_PROCESSES:
            return
        from jaxlint.program.processes import lowered

        with self._meter.stage("lower in processes"):
            self._ahead.update(lowered(missing, self._jobs))
