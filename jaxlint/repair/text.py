"""Pieces of text for fixes: parentheses where an operand needs them, whole statements in and out."""

from __future__ import annotations

from jaxlint.analysis.context import Context, Text
from jaxlint.model import Edit, Span
from jaxlint.program import nodes as n

ATOMS = (n.Name, n.Attribute, n.Call, n.Subscript, n.Comprehension, n.Dictionary)


def operand(text: str, node: n.Expr) -> str:
    """The text of an expression so that `.name`, `[...]` or `(...)` may follow it.

    Args:
        text: what stands in the file for `node`, with or without parentheses around it.
    """
    if isinstance(node, ATOMS) and not isinstance(node, n.Comprehension):
        return text
    if isinstance(node, (n.Comprehension, n.Sequence)) and text[:1] + text[-1:] in ("[]", "{}"):
        return text
    if isinstance(node, n.Constant) and node.kind in ("str", "bytes", "none", "bool", "ellipsis"):
        return text
    return text if _is_wrapped(text) else f"({text})"


def _is_wrapped(text: str) -> bool:
    """Whether one pair of parentheses holds the whole text (strings with parentheses make this say no)."""
    if not (text.startswith("(") and text.endswith(")")) or "'" in text or '"' in text or "#" in text:
        return False
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position < len(text) - 1:
            return False
    return True


def is_line_start(text: Text, line: int, column: int) -> bool:
    """Whether only white space stands before a position in its line."""
    return not text.line(line)[: column - 1].strip()


def insert_before(statement: Span, lines: list[str], context: Context) -> Edit | None:
    """Whole statements put before one, at its indentation; None where it does not start its line (`if x: y = 1`)."""
    if not is_line_start(context.text, statement.line, statement.column):
        return None
    indentation = context.text.indentation(statement.line)
    content = "".join(f"{line}\n{indentation}" for line in lines)
    return Edit(Span(statement.line, statement.column, statement.line, statement.column), content)


def insert_after(statement: Span, lines: list[str], context: Context) -> Edit | None:
    """Whole statements put behind one, at its indentation, after the comment of its last line."""
    rest = context.text.line(statement.end_line)[statement.end_column - 1 :].strip()
    if not is_line_start(context.text, statement.line, statement.column) or (rest and not rest.startswith("#")):
        return None
    indentation = context.text.indentation(statement.line)
    end = len(context.text.line(statement.end_line)) + 1
    content = "".join(f"\n{indentation}{line}" for line in lines)
    return Edit(Span(statement.end_line, end, statement.end_line, end), content)
