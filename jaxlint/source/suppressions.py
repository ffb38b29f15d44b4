"""Comments that silence findings: `# noqa`, `# jaxlint: ignore[...]` and their forms for a whole file."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator

from msgspec import Struct

from jaxlint.source.text import LINE_END

_CODES = r"(?P<codes>(?:[A-Z]+[0-9]+|JAX)\b(?:[,\s]+(?:[A-Z]+[0-9]+|JAX)\b)*)"
_NOQA = re.compile(rf"#\s*noqa(?::\s*{_CODES})?", re.IGNORECASE)
_FILE_NOQA = re.compile(rf"#\s*(?:flake8|ruff)\s*[:=]\s*noqa(?::\s*{_CODES})?", re.IGNORECASE)
_OWN = re.compile(r"#\s*jaxlint:\s*(?P<verb>ignore-file|ignore)(?![\w-])(?:\[(?P<codes>[^\]#]*)\])?")
_CODE = re.compile(r"[^\s,]+")
_LAYOUT = (tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_OURS = re.compile(r"noqa[^\r\n]*JAX|jaxlint:", re.IGNORECASE)
_MENTION = re.compile(r"noqa|jaxlint:", re.IGNORECASE)


class Directive(Struct, frozen=True):
    """One suppression in a comment.

    `codes` are the words as written, empty where everything is meant. It covers the lines `first` to `last`
    (the whole statement that it stands in), or the file. Columns count from 1, ends are exclusive.
    """

    codes: tuple[str, ...]
    own: bool
    whole_file: bool
    first: int
    last: int
    line: int
    column: int
    end_column: int
    codes_column: int
    codes_end_column: int
    comment_column: int
    comment_end_column: int


class _Comment(Struct, frozen=True):
    text: str
    line: int
    column: int
    alone: bool


def directives(text: str) -> tuple[Directive, ...]:
    """Every suppression of a text, in order. Text inside strings is none; a text that breaks off is read so far."""
    if not _MENTION.search(text):
        return ()
    return tuple(
        directive
        for comments, first, last in _statements(text)
        for comment in comments
        for directive in _in_comment(comment, first, last)
    )


def statement_ends(text: str) -> dict[int, int]:
    """Line → the last line of the statement that it belongs to, where a comment about it can stand."""
    found = ((first, last) for _, first, last in _statements(text))
    return {line: last for first, last in found for line in range(first, last + 1)}


def names_ours(text: str) -> bool:
    """Whether any suppression may name our rules; quick, and may say yes to one that is none."""
    return bool(_OURS.search(text))


def _statements(text: str) -> Iterator[tuple[list[_Comment], int, int]]:
    """The comments of each statement with its first and last line; a comment between statements is its own."""
    comments: list[_Comment] = []
    first = 0
    in_code = False
    for token in tokens(text):
        if token.type in _LAYOUT:
            continue
        if token.type == tokenize.COMMENT:
            alone = not token.line[: token.start[1]].strip()
            comments.append(_Comment(token.string, token.start[0], token.start[1] + 1, alone))
        first = first or token.start[0]
        in_code = in_code or token.type not in (tokenize.COMMENT, tokenize.NL)
        if token.type == tokenize.NEWLINE or (token.type == tokenize.NL and not in_code):
            yield comments, first, token.start[0]
            comments, first, in_code = [], 0, False
    if comments:
        yield comments, first, comments[-1].line


def tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a text in the lines that we count; those before the break of a text that breaks off."""
    lines = iter([line + "\n" for line in LINE_END.split(text)])
    try:
        yield from tokenize.generate_tokens(lambda: next(lines, ""))
    except (tokenize.TokenError, SyntaxError):
        return


def _in_comment(comment: _Comment, first: int, last: int) -> Iterator[Directive]:
    for match in _OWN.finditer(comment.text):
        yield _directive(comment, match, first, last, own=True, whole_file=match["verb"] == "ignore-file")
    file_noqa = _FILE_NOQA.match(comment.text) if comment.alone else None
    if file_noqa:
        yield _directive(comment, file_noqa, first, last, own=False, whole_file=True)
    for match in _NOQA.finditer(comment.text):
        yield _directive(comment, match, first, last, own=False, whole_file=False)


def _directive(
    comment: _Comment, match: re.Match[str], first: int, last: int, *, own: bool, whole_file: bool
) -> Directive:
    codes_start, codes_end = match.span("codes") if match["codes"] is not None else (match.end(), match.end())
    return Directive(
        codes=tuple(_CODE.findall(match["codes"] or "")),
        own=own,
        whole_file=whole_file,
        first=first,
        last=last,
        line=comment.line,
        column=comment.column + match.start(),
        end_column=comment.column + match.end(),
        codes_column=comment.column + codes_start,
        codes_end_column=comment.column + codes_end,
        comment_column=comment.column,
        comment_end_column=comment.column + len(comment.text),
    )
