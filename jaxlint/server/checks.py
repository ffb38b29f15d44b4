"""Checks of documents, one after the other in a thread, so that the server goes on listening."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from jaxlint.server.check import Checked, Document, check

T = TypeVar("T")

STACK = 64 << 20
"""Bytes of stack: the parsers of deeply nested programs need more than a thread has on some systems."""


class Checks:
    """Each version of a document is checked once; one that a newer version has overtaken is not begun any more."""

    def __init__(self) -> None:
        threading.stack_size(STACK)
        self._thread = ThreadPoolExecutor(1, "jaxlint")
        self._latest: dict[str, tuple[Document, asyncio.Future[Checked | None]]] = {}

    async def of(self, document: Document) -> Checked | None:
        """What is wrong with a document, None where a newer version of it was asked for in the meantime."""
        known = self._latest.get(document.uri)
        if known is None or known[0] != document:
            known = (document, asyncio.ensure_future(self.run(lambda: self._checked(document))))
            self._latest[document.uri] = known
        return await asyncio.shield(known[1])

    async def run(self, work: Callable[[], T]) -> T:
        """Does other work in the same thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def forget(self, uri: str | None = None) -> None:
        """What is known of a document, or of all, holds no longer."""
        if uri is None:
            self._latest.clear()
        else:
            self._latest.pop(uri, None)

    def close(self) -> None:
        """Begins nothing any more."""
        self._latest.clear()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _checked(self, document: Document) -> Checked | None:
        latest = self._latest.get(document.uri)
        return check(document) if latest is not None and latest[0] == document else None
