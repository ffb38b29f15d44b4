"""What the server remembers of one client: its open documents, what waits to be published, what it was told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from jaxlint.server.actions import Client
from jaxlint.server.check import Checked, Document
from jaxlint.server.checks import Checks
from jaxlint.server.diagnostics import diagnostics

PAUSE = 0.15
"""Seconds without typing after which a document is checked."""

_CELL = "vscode-notebook-cell:"  # a part of a program: alone it says too little


class Session:
    """Checks the documents of a client, and publishes for those that do not ask themselves."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._told: set[str] = set()
        self.checks = Checks()
        self.ended = False

    @property
    def client(self) -> Client:
        """What the client understands."""
        capabilities = self._server.client_capabilities
        encoding = self._server.workspace.position_encoding
        resolved = get_capability(capabilities, "text_document.code_action.resolve_support")
        return Client(
            encoding=str(getattr(encoding, "value", encoding) or "utf-16"),
            versions=bool(get_capability(capabilities, "workspace.workspace_edit.document_changes")),
            resolves=resolved is not None and "edit" in resolved.properties,
        )

    @property
    def asks(self) -> bool:
        """Whether the client asks for diagnostics; such a one is sent none."""
        return get_capability(self._server.client_capabilities, "text_document.diagnostic") is not None

    def document(self, uri: str) -> Document | None:
        """The version of a document that the client has now; None where it is not open, or no program."""
        found = self._server.workspace.text_documents.get(unquote(uri))  # pygls has them under such names
        if found is None or uri.startswith(_CELL):
            return None
        root = to_fs_path(self._server.workspace.root_uri or "") or "."
        return Document(uri, found.version, found.source, Path(root).absolute())

    async def checked(self, uri: str) -> Checked | None:
        """What is wrong with the version that is open at the end; None where none is open."""
        while document := self.document(uri):
            checked = await self.checks.of(document)
            if checked is not None and self.document(uri) == document:
                self._tell(checked.problems)
                return checked
        return None

    def changed(self, uri: str, pause: float = 0.0) -> None:
        """Publishes what is wrong with a document, unless it changes again within the pause."""
        self.settled(uri)
        if not self.asks:
            self._waiting[uri] = asyncio.ensure_future(self._publish(uri, pause))

    def settled(self, uri: str) -> None:
        """Nothing is to be published for a document any more."""
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()

    def closed(self, uri: str) -> None:
        """Takes back what was published for a document."""
        self.settled(uri)
        self.checks.forget(uri)
        if not self.asks:
            self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def configured(self) -> None:
        """Checks everything anew: a configuration has changed."""
        self.checks.forget()
        self._told.clear()
        for document in list(self._server.workspace.text_documents.values()):
            self.changed(document.uri)
        if get_capability(self._server.client_capabilities, "workspace.diagnostics.refresh_support"):
            self._server.workspace_diagnostic_refresh(None)

    def end(self) -> None:
        """Begins nothing any more."""
        for uri in list(self._waiting):
            self.settled(uri)
        self.checks.close()
        self.ended = True

    async def _publish(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        checked = await self.checked(uri)
        if checked is not None:
            found, version = diagnostics(checked, self.client.encoding), checked.document.version
            self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version))

    def _tell(self, problems: tuple[str, ...]) -> None:
        """Shows the user what is wrong with the settings or inside jaxlint, once."""
        for problem in problems:
            if problem not in self._told:
                self._told.add(problem)
                message = f"jaxlint: {problem}"
                self._server.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, message))
                self._server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, message))
