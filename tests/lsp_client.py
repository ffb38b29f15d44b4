"""A client of the language server that waits for what it is sent."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import BaseLanguageClient

from jaxlint.source.text import LINE_END

TIMEOUT = 120.0
ROOT = Path(__file__).parents[1]


class Client(BaseLanguageClient):
    """What an editor does, with its own idea of the open texts."""

    def __init__(self) -> None:
        super().__init__("tests", "1")
        self.encoding = "utf-16"
        self.texts: dict[str, tuple[int, str]] = {}
        self.published: list[lsp.PublishDiagnosticsParams] = []
        self.messages: list[str] = []
        self.registered: list[str] = []
        self.news = asyncio.Condition()
        self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._heard(self.published, params))
        self.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda params: self._heard(self.messages, params.message))
        self.feature(lsp.WINDOW_LOG_MESSAGE)(lambda params: None)
        self.feature(lsp.CLIENT_REGISTER_CAPABILITY)(
            lambda params: self._heard(self.registered, params.registrations[0].method)
        )

    def _heard(self, where: list[Any], what: Any) -> None:
        where.append(what)
        asyncio.ensure_future(self._tell())  # noqa: RUF006

    async def _tell(self) -> None:
        async with self.news:
            self.news.notify_all()

    async def until(self, holds: Callable[[], Any]) -> Any:
        """Waits until something holds, which is asked whenever the server said anything."""
        async with self.news:
            await asyncio.wait_for(self.news.wait_for(holds), TIMEOUT)
        return holds()

    def open(self, uri: str, text: str) -> None:
        self.texts[uri] = (1, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "python", 1, text)))

    def change(self, uri: str, text: str) -> int:
        version = self.texts[uri][0] + 1
        self.texts[uri] = (version, text)
        identifier = lsp.VersionedTextDocumentIdentifier(version, uri)
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, [whole]))
        return version

    async def diagnostics(self, uri: str) -> list[lsp.Diagnostic]:
        """Those published for the version that is open."""
        version = self.texts[uri][0]
        found = await self.until(lambda: [p for p in self.published if p.uri == uri and p.version == version])
        return list(found[-1].diagnostics)

    async def codes(self, uri: str) -> list[str]:
        return [str(one.code) for one in await self.diagnostics(uri)]

    async def actions(self, uri: str, where: lsp.Range, only: list[str] | None = None) -> list[lsp.CodeAction]:
        context = lsp.CodeActionContext([], only)
        params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), where, context)
        found = await asyncio.wait_for(self.text_document_code_action_async(params), TIMEOUT)
        return [one for one in found or [] if isinstance(one, lsp.CodeAction)]

    def apply(self, edit: lsp.WorkspaceEdit) -> None:
        """Makes an edit in the open text, as an editor would, and sends the change."""
        (change,) = edit.document_changes or ()
        assert isinstance(change, lsp.TextDocumentEdit)
        uri = change.text_document.uri
        version, text = self.texts[uri]
        assert change.text_document.version == version
        self.change(uri, applied(text, [one for one in change.edits if isinstance(one, lsp.TextEdit)], self.encoding))

    def watched(self, file: Path) -> None:
        event = lsp.FileEvent(file.as_uri(), lsp.FileChangeType.Changed)
        self.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([event]))


def applied(text: str, edits: list[lsp.TextEdit], encoding: str) -> str:
    """The text after edits, by the words of the protocol: in bytes of the encoding, of the lines of the protocol."""
    codec, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
    starts = [0, *(match.end() for match in LINE_END.finditer(text))]

    def offset(position: lsp.Position) -> int:
        line = text[starts[position.line] :].encode(codec)
        return starts[position.line] + len(line[: position.character * size].decode(codec))

    placed = [(offset(one.range.start), offset(one.range.end), one.new_text) for one in edits]
    for start, end, new in sorted(placed, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def capabilities(encoding: str = "utf-16", *, pull: bool = False) -> lsp.ClientCapabilities:
    resolve = lsp.ClientCodeActionResolveOptions(["edit"])
    return lsp.ClientCapabilities(
        workspace=lsp.WorkspaceClientCapabilities(
            workspace_edit=lsp.WorkspaceEditClientCapabilities(document_changes=True),
            did_change_watched_files=lsp.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        ),
        text_document=lsp.TextDocumentClientCapabilities(
            code_action=lsp.CodeActionClientCapabilities(resolve_support=resolve),
            diagnostic=lsp.DiagnosticClientCapabilities() if pull else None,
        ),
        general=lsp.GeneralClientCapabilities(position_encodings=[lsp.PositionEncodingKind(encoding)]),
    )


@asynccontextmanager
async def connected(
    folder: Path, encoding: str = "utf-16", *, pull: bool = False, command: Sequence[str] = ("-m", "jaxlint", "server")
) -> AsyncIterator[Client]:
    """A client of a server of its own, which must end well and say nothing on standard error."""
    client = Client()
    client.encoding = encoding
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    await client.start_io(sys.executable, *command, cwd=folder, env=environment)
    assert client._server is not None and client._server.stderr is not None
    errors = asyncio.ensure_future(client._server.stderr.read())
    params = lsp.InitializeParams(capabilities(encoding, pull=pull), process_id=os.getpid(), root_uri=folder.as_uri())
    result = await asyncio.wait_for(client.initialize_async(params), TIMEOUT)
    assert result.capabilities.position_encoding == encoding
    client.initialized(lsp.InitializedParams())
    yield client
    await asyncio.wait_for(client.shutdown_async(None), TIMEOUT)
    client.exit(None)
    assert await asyncio.wait_for(client._server.wait(), TIMEOUT) == 0
    assert (await errors).decode() == ""
