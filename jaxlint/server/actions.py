"""Code actions: the fix of a finding, all safe fixes, and the comment that suppresses a finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp
from msgspec import Struct

from jaxlint.engine import syntax_fault
from jaxlint.fixes.loop import text_with
from jaxlint.fixes.noqa import with_noqa
from jaxlint.model import Finding, Safety
from jaxlint.server.changes import changes
from jaxlint.server.check import Checked
from jaxlint.server.diagnostics import diagnostic, positions_of
from jaxlint.server.positions import Positions
from jaxlint.source.text import SourceError, SourceFile

FIX_ALL = "source.fixAll.jaxlint"


class Client(Struct, frozen=True):
    """What the client understands: the units of positions, edits of versions, and actions resolved later."""

    encoding: str = "utf-16"
    versions: bool = False
    resolves: bool = False


def asked(only: Sequence[str] | None, kind: str) -> bool:
    """Whether actions of a kind are wanted: the kinds given stand for those below them."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") or not one for one in only)


def quick_fixes(checked: Checked, where: lsp.Range, client: Client) -> list[lsp.CodeAction]:
    """The fixes of the findings in a range, the safe ones first, then the comments that suppress them."""
    positions = positions_of(checked, client.encoding)
    start, end = positions.place(where.start), positions.place(where.end)
    here = [one for one in checked.findings if _meets(one, start, end)]
    fixes = sorted(_fixes(checked, here), key=lambda pair: pair[1].fix is None or pair[1].fix.safety is not Safety.SAFE)
    noqa = _suppressions(checked, here)
    return list(_unique(_action(checked, *one, client, positions) for one in (*fixes, *noqa)))


def _meets(finding: Finding, start: tuple[int, int], end: tuple[int, int]) -> bool:
    span = finding.span
    return (span.line, span.column) <= end and start <= (span.end_line, span.end_column)


_Offer = tuple[str, Finding, str, bool]  # title, finding, the text afterwards, whether it is a fix


def _fixes(checked: Checked, findings: Sequence[Finding]) -> Iterator[_Offer]:
    source = checked.document.source
    for finding in findings:
        after = _fixed(source, finding) if checked.fixable(finding) else None
        if after is not None and finding.fix:
            unsafe = "" if finding.fix.safety is Safety.SAFE else " (unsafe)"
            yield f"{finding.code}: {finding.fix.message}{unsafe}", finding, after, True


def _fixed(source: SourceFile, finding: Finding) -> str | None:
    """The text with one fix, None where it cannot be made."""
    text, _ = text_with(source, [finding])
    try:
        return None if text == source.text or syntax_fault(source.with_text(text)) else text
    except SourceError:
        return None


def _suppressions(checked: Checked, findings: Sequence[Finding]) -> Iterator[_Offer]:
    text = checked.document.source.text
    for finding in findings:
        after = with_noqa(text, [finding])
        if after != text:
            yield f"{finding.code}: suppress here (# noqa: {finding.code})", finding, after, False


def _unique(actions: Iterator[lsp.CodeAction]) -> Iterator[lsp.CodeAction]:
    seen: list[tuple[str, lsp.WorkspaceEdit | None]] = []
    for action in actions:
        if (action.title, action.edit) not in seen:
            seen.append((action.title, action.edit))
            yield action


def _action(
    checked: Checked, title: str, finding: Finding, after: str, is_fix: bool, client: Client, positions: Positions
) -> lsp.CodeAction:
    safe = is_fix and finding.fix is not None and finding.fix.safety is Safety.SAFE
    return lsp.CodeAction(
        title=title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[diagnostic(checked, finding, positions)],
        is_preferred=True if safe else None,
        edit=_edit(checked, after, client, positions),
    )


def fix_all_action(checked: Checked) -> lsp.CodeAction:
    """The offer to apply all safe fixes; its edit is worked out when it is chosen."""
    data = {"uri": checked.document.uri, "version": checked.document.version}
    return lsp.CodeAction(title="jaxlint: apply all safe fixes", kind=FIX_ALL, data=data)


def has_safe_fix(checked: Checked) -> bool:
    """Whether there is anything that `fix_all_action` would do."""
    return any(map(checked.safely_fixable, checked.findings))


def edit(checked: Checked, after: str, client: Client) -> lsp.WorkspaceEdit:
    """What turns the version that was checked into another text."""
    return _edit(checked, after, client, positions_of(checked, client.encoding))


def _edit(checked: Checked, after: str, client: Client, positions: Positions) -> lsp.WorkspaceEdit:
    document = checked.document
    edits = [
        lsp.TextEdit(positions.between(one.start, one.end), one.content) for one in changes(document.source.text, after)
    ]
    if not client.versions:
        return lsp.WorkspaceEdit(changes={document.uri: edits})
    version = lsp.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
    return lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(version, edits)])
