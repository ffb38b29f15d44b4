"""The language server, asked by a client over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from hypothesis import given
from hypothesis import strategies as st
from lsp_client import Client, applied, connected
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from jaxlint.model import Span
from jaxlint.server.changes import changes
from jaxlint.server.positions import Positions

WRONG = 'import jax\n\n\ndef f(x):\n    return x\n\n\ng = ["é𝕏e\u0301", jax.vmap(jax.jit(f))]\n'
ENCODINGS = ["utf-8", "utf-16", "utf-32"]


def uri_of(folder: Path, text: str = "", name: str = "a.py") -> str:
    file = folder / name
    file.write_text(text)
    return file.as_uri()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_fault_is_seen_fixed_and_gone(tmp_path: Path, encoding: str) -> None:
    async def session() -> None:
        async with connected(tmp_path, encoding) as client:
            uri = uri_of(tmp_path)
            client.open(uri, "import jax\n")
            assert await client.codes(uri) == []
            client.change(uri, WRONG)
            (found,) = await client.diagnostics(uri)
            assert (found.code, found.source, found.severity) == ("JAX101", "jaxlint", lsp.DiagnosticSeverity.Warning)
            assert found.code_description and found.code_description.href.endswith("/vmap-of-jit.md")
            width = {"utf-8": 9, "utf-16": 5, "utf-32": 4}[encoding]
            assert found.range.start == lsp.Position(7, len('g = ["') + width + len('", '))
            fixes = await client.actions(uri, found.range)
            assert fixes[0].is_preferred and fixes[0].edit
            assert fixes[1].title == "JAX101: suppress here (# noqa: JAX101)"
            client.apply(fixes[0].edit)
            assert await client.codes(uri) == []
            assert 'é𝕏e\u0301", jax.jit(jax.vmap(jax.jit(f)))]' in client.texts[uri][1]

    asyncio.run(session())


def test_all_safe_fixes_and_the_comment_that_suppresses(tmp_path: Path) -> None:
    many = "import jax\n\n\ndef f(x):\n    return x\n\n\na = jax.vmap(\n    jax.jit(f)\n)\nb = jax.vmap(jax.jit(f))\n"

    async def session() -> None:
        async with connected(tmp_path) as client:
            uri = uri_of(tmp_path)
            client.open(uri, many)
            first, second = await client.diagnostics(uri)
            (fix_all,) = await client.actions(uri, second.range, ["source.fixAll"])
            assert fix_all.kind == "source.fixAll.jaxlint" and fix_all.edit is None
            noqa = (await client.actions(uri, first.range))[1]
            assert noqa.edit
            client.apply(noqa.edit)
            assert ")  # noqa: JAX101\nb" in client.texts[uri][1]
            with pytest.raises(JsonRpcException):  # it speaks of the version before
                await client.code_action_resolve_async(fix_all)
            (left,) = await client.diagnostics(uri)
            (fix_all,) = await client.actions(uri, left.range, ["source.fixAll"])
            resolved = await client.code_action_resolve_async(fix_all)
            assert resolved.edit
            client.apply(resolved.edit)
            assert await client.codes(uri) == []
            page = await client.text_document_hover_async(
                lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(9, 12))
            )
            assert page and isinstance(page.contents, lsp.MarkupContent) and "vmap-of-jit" in page.contents.value

    asyncio.run(session())


def test_configuration_is_read_anew_and_its_errors_are_shown(tmp_path: Path) -> None:
    async def again(client: Client, uri: str, text: str) -> list[str]:
        seen = len(client.published)
        (tmp_path / "jaxlint.toml").write_text(text)
        client.watched(tmp_path / "jaxlint.toml")
        await client.until(lambda: len(client.published) > seen)
        return await client.codes(uri)

    async def session() -> None:
        async with connected(tmp_path) as client:
            uri = uri_of(tmp_path, name="é %41.py")
            client.open(uri, WRONG)
            assert await client.codes(uri) == ["JAX101"]
            await client.until(lambda: client.registered == ["workspace/didChangeWatchedFiles"])
            assert await again(client, uri, 'ignore = ["JAX101"]') == []
            assert await again(client, uri, 'selct = ["JAX101"]') == []
            assert any("did you mean `select`" in message for message in client.messages)
            assert await again(client, uri, 'exclude = ["é %41.py"]') == []
            assert await again(client, uri, "") == ["JAX101"]

    asyncio.run(session())


def test_odd_documents_are_no_trouble(tmp_path: Path) -> None:
    async def session() -> None:
        async with connected(tmp_path) as client:
            inner = tmp_path / "gone" / "deep"
            odd = ["untitled:Untitled-1", "file:///", (inner / "a.py").as_uri(), "weird:x y", inner.as_uri()]
            for uri in odd:
                client.open(uri, WRONG)
                assert await client.codes(uri) == ["JAX101"], uri
            for text in ("", "\0", "\ufeff", "def", "(" * 5000, "x = '\\ud800'", "# -*- coding: rot13 -*-\nx = 1\n"):
                client.change(odd[0], text)
                await client.diagnostics(odd[0])
            client.change(odd[0], "def f(:\n")
            assert await client.codes(odd[0]) == ["JAX000"]
            client.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(odd[0])))
            await client.until(lambda: client.published[-1].uri == odd[0] and not client.published[-1].diagnostics)
            assert client.messages == []

    asyncio.run(session())


def test_a_client_that_asks_is_answered_and_sent_nothing(tmp_path: Path) -> None:
    async def session() -> None:
        async with connected(tmp_path, pull=True) as client:
            uri = uri_of(tmp_path)
            client.open(uri, "import jax\n")
            for text in ("import", WRONG):
                client.change(uri, text)
            report = await client.text_document_diagnostic_async(
                lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
            )
            assert isinstance(report, lsp.RelatedFullDocumentDiagnosticReport)
            assert [one.code for one in report.items] == ["JAX101"]
            assert client.published == []

    asyncio.run(session())


BROKEN = """
import jaxlint.server.check
def lint(*_):
    raise RuntimeError("a rule broke")
jaxlint.server.check.lint = lint
from jaxlint.cli.main import main
main(["server", "--stdio"])
"""


def test_an_internal_error_is_told_once_and_the_server_lives_on(tmp_path: Path) -> None:
    async def session() -> None:
        async with connected(tmp_path, command=("-c", BROKEN)) as client:
            uri = uri_of(tmp_path)
            client.open(uri, WRONG)
            assert await client.codes(uri) == []
            client.change(uri, "import jax\n")
            assert await client.codes(uri) == []
            assert [message for message in client.messages if "a rule broke" in message] == client.messages[:1]

    asyncio.run(session())


def test_only_the_last_version_counts_and_requests_can_be_cancelled(tmp_path: Path) -> None:
    async def session() -> None:
        async with connected(tmp_path) as client:
            uri = uri_of(tmp_path)
            client.open(uri, "")
            for end in range(1, len(WRONG) + 1):
                client.change(uri, WRONG[:end])
            place = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(7, 16))
            hovering = client.text_document_hover_async(place)
            asked = asyncio.ensure_future(hovering)
            client.cancel_request(lsp.CancelParams(10**6))
            assert await client.codes(uri) == ["JAX101"]
            versions = [one.version or 0 for one in client.published]
            assert versions == sorted(versions) and versions[-1] == len(WRONG) + 1
            assert await asked

    asyncio.run(session())


def test_the_server_ends_with_its_editor(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    first = {"id": 1, "method": "initialize", "params": {"processId": gone.pid, "capabilities": {}}}
    with subprocess.Popen(
        [sys.executable, "-m", "jaxlint", "server"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as server:
        assert server.stdin
        server.stdin.write(raw(first, {"method": "initialized", "params": {}}))
        server.stdin.flush()
        assert server.wait(timeout=120) == 1  # its input is still open


def raw(*messages: dict[str, Any]) -> bytes:
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    return b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)


START = raw(
    {"id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}},
    {"method": "initialized", "params": {}},
)
END = raw({"id": 9, "method": "shutdown"}, {"method": "exit"})


@pytest.mark.parametrize(("sent", "status"), [(b"", 1), (START, 1), (START + END, 0), (raw({"method": "exit"}), 1)])
def test_the_server_ends_with_its_input(sent: bytes, status: int) -> None:
    done = subprocess.run([sys.executable, "-m", "jaxlint", "server"], input=sent, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (status, b"")


def test_a_request_that_is_cancelled_is_answered_so(tmp_path: Path) -> None:
    document = {"uri": (tmp_path / "a.py").as_uri(), "languageId": "python", "version": 1, "text": WRONG * 20}
    place = {"textDocument": {"uri": document["uri"]}, "position": {"line": 7, "character": 16}}
    work = raw(
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
        {"id": 5, "method": "textDocument/hover", "params": place},
        {"method": "$/cancelRequest", "params": {"id": 5}},
    )
    done = subprocess.run(
        [sys.executable, "-m", "jaxlint", "server"], input=START + work + END, capture_output=True, timeout=120
    )
    assert b'"code": -32800' in done.stdout or b'"code":-32800' in done.stdout
    assert (done.returncode, done.stderr) == (0, b"")


def test_each_folder_has_its_own_configuration(tmp_path: Path) -> None:
    async def session() -> None:
        async with connected(tmp_path) as client:
            for name, config, expected in (("one", 'ignore = ["JAX101"]', []), ("two", "", ["JAX101"])):
                (tmp_path / name).mkdir()
                (tmp_path / name / "jaxlint.toml").write_text(config)
                uri = (tmp_path / name / "a.py").as_uri()
                client.open(uri, WRONG)
                assert await client.codes(uri) == expected

    asyncio.run(session())


def test_without_the_extra_the_command_names_it() -> None:
    program = "import sys; sys.modules['pygls'] = None; from jaxlint.cli.main import main; main(['server'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "pip install 'flake8-jaxlint[lsp]'" in done.stderr


CHARACTERS = st.sampled_from("a\t\f\r\n\r\n é€𝕏\u0301\u2028\x1c\x85b")
TEXTS = st.lists(CHARACTERS | st.just("\r\n"), max_size=30).map("".join)


@given(TEXTS, TEXTS, st.sampled_from(ENCODINGS), st.booleans())
def test_edits_make_one_text_of_another(before: str, after: str, encoding: str, marked: bool) -> None:
    positions = Positions(before, encoding, marked=marked)
    edits = [lsp.TextEdit(positions.between(one.start, one.end), one.content) for one in changes(before, after)]
    mark = "\ufeff" if marked else ""
    assert applied(mark + before, edits, encoding) == mark + after
    assert sum(one.range.start == one.range.end and not one.new_text for one in edits) == 0


@given(TEXTS, st.sampled_from(ENCODINGS), st.booleans(), st.data())
def test_positions_lead_back(text: str, encoding: str, marked: bool, data: st.DataObject) -> None:
    positions = Positions(text, encoding, marked=marked)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    line = data.draw(st.integers(1, len(lines)))
    column = data.draw(st.integers(1, len(lines[line - 1]) + 1))
    there = positions.range(Span(line, column, line, column))
    assert positions.place(there.start) == (line, column)
