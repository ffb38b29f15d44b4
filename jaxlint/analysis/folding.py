"""Findings that are one fault in many places of a file: one finding, at the first, with a fix for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from jaxlint.model import Edit, Finding, Fix, Safety, Span


def folded(findings: Sequence[Finding]) -> Finding:
    """The one finding for findings of the same fault, given in the order of the text."""
    first, others = findings[0], len(findings) - 1
    if not others:
        return first
    where = f"line {findings[1].span.line}" if others == 1 else f"{others} other places"
    message = f"{first.message} (here and in {where} of this file)"
    return structs.replace(first, message=message, fix=_together([one.fix for one in findings if one.fix is not None]))


def _together(fixes: Sequence[Fix]) -> Fix | None:
    """The surest fixes as one; what overlaps with an earlier one, or is less sure, waits until these are applied."""
    order = list(Safety)
    surest = min((fix.safety for fix in fixes), key=order.index, default=None)
    edits: list[Edit] = []
    taken: list[Fix] = []
    for fix in fixes:
        new = [edit for edit in fix.edits if edit not in edits]
        if fix.safety == surest and not any(_meet(one.span, other.span) for one in new for other in edits):
            edits += new
            taken.append(fix)
    return structs.replace(taken[0], edits=tuple(edits)) if taken else None


def _meet(one: Span, other: Span) -> bool:
    """Whether two edits touch: even insertions at one place have no order."""
    starts, ends = (one.line, one.column), (one.end_line, one.end_column)
    return starts <= (other.end_line, other.end_column) and (other.line, other.column) <= ends
