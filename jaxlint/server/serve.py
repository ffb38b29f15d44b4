"""The server's end of the protocol: which request is answered by what."""

from __future__ import annotations

import logging
import os
import sys
from typing import BinaryIO

from lsprotocol import types as lsp
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcContentModified
from pygls.lsp.server import LanguageServer

from jaxlint import __version__
from jaxlint.server.actions import FIX_ALL, asked, edit, fix_all_action, has_safe_fix, quick_fixes
from jaxlint.server.check import Checked, fixed
from jaxlint.server.diagnostics import diagnostics
from jaxlint.server.hover import hover
from jaxlint.server.parent import watch
from jaxlint.server.session import PAUSE, Session

WATCHED = "**/{pyproject,jaxlint}.toml"


def serve() -> int:
    """Serves on standard input and output until the client says `exit`, or is gone; the exit status of the protocol."""
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_news)
    output = _protocol_output()
    server, session = make_server()
    server.start_io(sys.stdin.buffer, output)
    return 0 if session.ended else 1


def _protocol_output() -> BinaryIO:
    """Standard output for the protocol alone: what anything prints goes to standard error."""
    sys.stdout.flush()
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return output


def _is_news(record: logging.LogRecord) -> bool:
    """What to write to standard error: not that a request was overtaken by a change, or by its own answer."""
    overtaken = record.exc_info is not None and isinstance(record.exc_info[1], JsonRpcContentModified)
    return not overtaken and not str(record.msg).startswith("Cancel notification for unknown")


def make_server() -> tuple[LanguageServer, Session]:
    """A server that nobody is connected to yet, and what it will remember."""
    # Whole texts, since positions of changes would have to be read with other line ends than the protocol's.
    server = LanguageServer("jaxlint", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
    session = Session(server)
    _follow_client(server, session)
    _follow_documents(server, session)
    _answer(server, session)
    _offer_actions(server, session)
    return server, session


def _follow_client(server: LanguageServer, session: Session) -> None:
    @server.feature(lsp.INITIALIZED)
    def initialized(_: lsp.InitializedParams) -> None:
        watch(server.process_id)
        dynamic = "workspace.did_change_watched_files.dynamic_registration"
        if get_capability(server.client_capabilities, dynamic):
            options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(WATCHED)])
            name = lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
            server.client_register_capability(
                lsp.RegistrationParams([lsp.Registration("configuration", name, options)])
            )

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(_: lsp.DidChangeWatchedFilesParams) -> None:
        session.configured()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(_: lsp.DidChangeConfigurationParams) -> None:
        session.configured()

    @server.feature(lsp.SHUTDOWN)
    def shutdown(*_: object) -> None:
        session.end()


def _follow_documents(server: LanguageServer, session: Session) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        session.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        session.changed(params.text_document.uri, PAUSE)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        session.checks.forget(params.text_document.uri)
        session.changed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        session.closed(params.text_document.uri)


def _answer(server: LanguageServer, session: Session) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, lsp.DiagnosticOptions(False, False, "jaxlint"))
    async def diagnostic(params: lsp.DocumentDiagnosticParams) -> lsp.RelatedFullDocumentDiagnosticReport:
        checked = await session.checked(params.text_document.uri)
        found = diagnostics(checked, session.client.encoding) if checked else []
        return lsp.RelatedFullDocumentDiagnosticReport(found)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        checked = await session.checked(params.text_document.uri)
        return hover(checked, params.position, session.client.encoding) if checked else None


def _offer_actions(server: LanguageServer, session: Session) -> None:
    kinds = [lsp.CodeActionKind.QuickFix, FIX_ALL]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(kinds, resolve_provider=True))
    async def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        checked = await _unmoved(session, params.text_document.uri)
        client, only, offers = session.client, params.context.only, list[lsp.CodeAction]()
        if checked and asked(only, lsp.CodeActionKind.QuickFix):
            offers += await session.checks.run(lambda: quick_fixes(checked, params.range, client))
        if checked and asked(only, FIX_ALL) and has_safe_fix(checked):
            offer = fix_all_action(checked)
            offers.append(offer if client.resolves else await _resolved(session, offer, checked))
        return offers

    @server.feature(lsp.CODE_ACTION_RESOLVE)
    async def resolve(action: lsp.CodeAction) -> lsp.CodeAction:
        if action.edit is not None:
            return action
        data = action.data if isinstance(action.data, dict) else vars(action.data or object)
        checked = await session.checked(str(data.get("uri")))
        if checked is None or checked.document.version != data.get("version"):
            raise JsonRpcContentModified("the document has changed since this was offered")
        return await _resolved(session, action, checked)


async def _resolved(session: Session, action: lsp.CodeAction, checked: Checked) -> lsp.CodeAction:
    after = await session.checks.run(lambda: fixed(checked))
    if session.document(checked.document.uri) != checked.document:
        raise JsonRpcContentModified("the document has changed in the meantime")
    action.edit = edit(checked, after, session.client)
    return action


async def _unmoved(session: Session, uri: str) -> Checked | None:
    """What is wrong with the version that a request speaks of."""
    document = session.document(uri)
    checked = await session.checked(uri)
    if checked is not None and checked.document != document:
        raise JsonRpcContentModified("the document has changed in the meantime")
    return checked
