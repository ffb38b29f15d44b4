"""Lines of a cell that IPython understands and Python does not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from jaxlint.source.text import LINE_END

# What follows one of these in its first line is Python; after any other it is something else.
PYTHON_CELLS = ("capture", "prun", "time", "timeit", "python", "python3")

_TOKEN = re.compile(
    r"""
    (?P<string>(?i:[rbuft]{0,2})(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"
        |'(?:\\.|[^\\'\r\n])*'|"(?:\\.|[^\\"\r\n])*"))
    |(?P<comment>\#[^\r\n]*)
    |(?P<join>\\(?:\r\n|\n|\r))
    |(?P<open>[(\[{])|(?P<close>[)\]}])
    |(?P<end>\r\n|\n|\r)
    |(?P<other>[^'"\#\\()\[\]{}\r\n]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_MAGIC = re.compile(r"[ \t]*(?:[%!?]|[,;/](?=\w))")
_ASSIGNED = re.compile(r"([ \t]*[^\W\d][\w.,\[\] \t]*=[ \t]*)[%!](?!=)")
_HELP = re.compile(r"[ \t]*[\w.*\[\]]+[ \t]*\?{1,2}[ \t]*(?=[\r\n]|$)")
_LINE = re.compile(r"(?:[^\\\r\n]|\\(?:\r\n|[\s\S])?)*(?:\r\n|\n|\r)?")


class Magic(Struct, frozen=True):
    """Where a magic stands in a cell (offsets); in front of `start` may stand what its result is assigned to."""

    start: int
    end: int
    assigned: bool = False


def is_other_language(cell: str) -> bool:
    """Whether the whole cell is given to something else than Python, as by `%%bash`."""
    first = cell.lstrip()
    return first.startswith("%%") and not re.match(rf"%%({'|'.join(PYTHON_CELLS)})\b", first)


def magics(cell: str) -> list[Magic]:
    """The magics of a cell, each with all its lines, without the end of the last one."""
    return list(_magics(cell))


def _magics(cell: str) -> Iterator[Magic]:
    position = 0
    while position < len(cell):
        found = _magic_at(cell, position)
        if found is None:
            position = _statement_end(cell, position)
        else:
            yield found
            end = LINE_END.match(cell, found.end)
            position = end.end() if end else len(cell)


def _magic_at(cell: str, start: int) -> Magic | None:
    assigned = _ASSIGNED.match(cell, start)
    if assigned is None and not _MAGIC.match(cell, start) and not _HELP.match(cell, start):
        return None
    line = _LINE.match(cell, start)
    assert line is not None
    end = start + len(line[0].rstrip("\r\n"))
    if assigned is not None:
        return Magic(assigned.end(1), end, assigned=True)
    return Magic(end - len(cell[start:end].lstrip(" \t")), end)


def _statement_end(cell: str, position: int) -> int:
    """Where the logical line that begins here ends, its line end included."""
    depth = 0
    while position < len(cell):
        match = _TOKEN.match(cell, position)
        assert match is not None  # the last alternative takes any character
        position = match.end()
        depth += (match.lastgroup == "open") - (match.lastgroup == "close" and depth > 0)
        if match.lastgroup == "end" and depth == 0:
            break
    return position
