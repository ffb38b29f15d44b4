"""Lines of a cell that IPython understands and Python does not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from jaxlint.source.text import LINE_END

# What follows one of these in its first line is Python; after any other it is something else.
PYTHON_CELLS = ("capture", "memit", "prun", "time", "timeit")

# What the rest of a program does not depend on. Of all others it may: `%run`, `%cd` and `%%writefile` are among them.
_IDLE = frozenset({
    "alias", "autoreload", "autosave", "bash", "cat", "clear", "colors", "conda", "config", "cp", "history", "html",
    "javascript", "js", "latex", "ll", "load_ext", "ls", "lsmagic", "mamba", "markdown", "matplotlib", "memit", "mkdir",
    "notebook", "pdef", "pdoc", "pfile", "pinfo", "pinfo2", "pip", "pprint", "precision", "psearch", "psource", "pwd",
    "reload_ext", "rm", "sh", "svg", "sx", "system", "tensorboard", "timeit", "uv", "wandb", "watermark", "who",
    "who_ls", "whos", "xmode",
})  # fmt: skip

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
# Magics that run the Python behind them, with their options.
_RUNNING = re.compile(
    r"""%(?:time\s+|timeit\s+(?:-[nrp]\s*\d+\s+|-[tcqv]\s+)*|memit\s+(?:-[rt]\s*\d+\s+|-[ic]\s+)*
    |prun\s+(?:-[lsTD]\s*\S+\s+|-[qr]\s+)*)(?=[^\s-])""",
    re.VERBOSE,
)
_LINE = re.compile(r"(?:[^\\\r\n]|\\(?:\r\n|[\s\S])?)*(?:\r\n|\n|\r)?")


class Magic(Struct, frozen=True):
    """Where a magic stands in a cell (offsets); in front of `start` may stand what its result is assigned to.

    From `code` to the end stands the Python that it runs, as `%time f(x)` does.
    """

    start: int
    end: int
    code: int
    assigned: bool = False


def is_other_language(cell: str) -> bool:
    """Whether the whole cell is given to something else than Python, as by `%%bash`."""
    first = cell.lstrip()
    return first.startswith("%%") and not re.match(rf"%%({'|'.join(PYTHON_CELLS)})\b", first)


def is_idle(line: str) -> bool:
    """Whether a program goes on in the same way without the magic of this line.

    Shell commands change the outside world only, which is taken as it is found.
    """
    line = line.strip()
    if line.startswith("%%") and not is_other_language(line):
        return True
    name = re.match(r"%{1,2}(\w*)", line)
    return name[1] in _IDLE if name else line.startswith(("!", "?")) or line.endswith("?")


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
        return Magic(assigned.end(1), end, end, assigned=True)
    start = end - len(cell[start:end].lstrip(" \t"))
    running = _RUNNING.match(cell, start, end)
    return Magic(start, end, running.end() if running else end)


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
