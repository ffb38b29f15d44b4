"""One source file: its bytes, its text, and how to get from line and column to an offset and back."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from jaxlint.source.notebook.program import Program

LINE_END = re.compile(r"\r\n|\n|\r")

_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


class SourceError(Exception):
    """A file cannot be read as Python text; `message` says what is wrong with it, at `line` where that is known."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class SourceFile(Struct, frozen=True):
    """A Python file as it is on disk. `path` is how users see it; `text` keeps the line ends of the file.

    Of a notebook, `text` is that of the `program` which its code cells make.
    """

    path: str
    data: bytes
    text: str
    encoding: str
    program: Program | None = None

    @classmethod
    def read(cls, path: str, *, file: Path | None = None) -> SourceFile:
        """Reads `file` (or `path`) from disk. Raises `SourceError`."""
        try:
            data = (file or Path(path)).read_bytes()
        except OSError as error:
            raise SourceError(f"cannot be read: {error.strerror or error}") from error
        return cls.from_bytes(path, data)

    @classmethod
    def from_bytes(cls, path: str, data: bytes) -> SourceFile:
        """Decodes `data` as Python would (PEP 263), or reads it as a notebook. Raises `SourceError`."""
        if path.endswith(".ipynb"):
            return cls._notebook(path, data)
        encoding = _encoding(data)
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            line = len(LINE_END.findall(data[: error.start].decode("latin-1"))) + 1
            raise SourceError(
                f"is not valid {_spoken(encoding)}: byte 0x{data[error.start]:02x}; "
                "save it as UTF-8 or declare its encoding (PEP 263)",
                line,
            ) from None
        except (LookupError, UnicodeError) as error:
            raise SourceError(f"cannot be decoded as {encoding}: {error}") from None
        if "\0" in text:
            line = len(LINE_END.findall(text[: text.index("\0")])) + 1
            raise SourceError("contains a null byte, which Python does not allow", line)
        return cls(path, data, text, encoding)

    @classmethod
    def _notebook(cls, path: str, data: bytes) -> SourceFile:
        from jaxlint.source.notebook.cells import NotebookError, read
        from jaxlint.source.notebook.program import program

        encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"
        try:
            found = program(read(data.decode(encoding)))
        except UnicodeDecodeError as error:
            raise SourceError(f"is no notebook: it is not valid UTF-8 (byte 0x{data[error.start]:02x})") from None
        except NotebookError as error:
            raise SourceError(str(error)) from None
        return cls(path, data, found.text, encoding, found)

    @classmethod
    def from_text(cls, path: str, text: str) -> SourceFile:
        """A file that exists as text only, to be stored as UTF-8."""
        return cls(path, text.encode("utf-8", "surrogatepass"), text, "utf-8")

    def runnable(self, text: str) -> str:
        """What Python runs where this file says `text`: the same, but of a notebook what IPython would make of it."""
        if self.program is None:
            return text
        from jaxlint.source.notebook.runnable import runnable

        return runnable(self.program, text)

    def with_text(self, text: str) -> SourceFile:
        """The same file with another text, in the same encoding. Raises `SourceError` where it cannot hold it."""
        if self.program is not None:
            return self._with_cells(self.program, text)
        try:
            exact = self.text.encode(self.encoding) == self.data
            data = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            missing = text[error.start : error.end]
            raise SourceError(f"cannot be written: {self.encoding} has no `{missing}`") from None
        if not exact:
            raise SourceError(f"cannot be changed: writing {self.encoding} would alter bytes outside the change")
        return SourceFile(self.path, data, text, self.encoding)

    def _with_cells(self, own: Program, text: str) -> SourceFile:
        from jaxlint.source.notebook.cells import rewritten

        texts = own.texts(text)
        if texts is None:
            raise SourceError("cannot be changed: the change would reach from one cell into another")
        new = rewritten(self.data.decode(self.encoding), own.cells, texts)
        changed = SourceFile.from_bytes(self.path, new.encode(self.encoding, "surrogatepass"))
        if changed.text != own.ordered(text):
            raise SourceError("cannot be changed: a cell would no longer be Python by itself")
        return changed


class LineMap:
    """The lines of a text as Python counts them: they end with LF, CR LF or CR and with nothing else."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in LINE_END.finditer(text))]

    @cached_property
    def _contents(self) -> list[str]:
        return LINE_END.split(self.text)

    def __len__(self) -> int:
        return len(self.starts)

    def line(self, number: int) -> str:
        """The text of a line without its end; empty for a line that is not there."""
        return self._contents[number - 1] if 0 < number <= len(self.starts) else ""

    def whole(self) -> list[str]:
        """All lines, each with its end."""
        return [
            self.text[start:end] for start, end in zip(self.starts, [*self.starts[1:], len(self.text)], strict=True)
        ]

    def ending(self, number: int) -> str:
        """The line end that is in use at a line: its own, else the nearest above, else LF."""
        index = min(number, len(self.starts) - 1)
        if index < 1:
            return "\n"
        return self.text[self.starts[index - 1] + len(self._contents[index - 1]) : self.starts[index]]

    def offset(self, line: int, column: int) -> int:
        """Where a position is in the text. Raises `ValueError` for one that the text does not have."""
        if not (0 < line <= len(self.starts) and 0 < column <= len(self._contents[line - 1]) + 1):
            raise ValueError(f"line {line}, column {column} is outside the text")
        return self.starts[line - 1] + column - 1

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column (from 1) of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


def _encoding(data: bytes) -> str:
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            raise SourceError(f"is encoded as {name}, which Python does not read; save it as UTF-8")
    # Python looks for the declaration in the first two lines whatever ends them; the module looks for LF only.
    head = re.sub(rb"\r\n?", b"\n", data[:4096])
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(b"\n".join(head.split(b"\n")[:2])).readline)
    except SyntaxError as error:
        raise SourceError(_declaration_error(data, str(error.msg))) from None
    if not codecs.lookup(encoding)._is_text_encoding:
        raise SourceError(f"declares `{encoding}`, which is not an encoding of text")
    return encoding


def _declaration_error(data: bytes, message: str) -> str:
    if "unknown encoding" in message:
        return f"declares an {message.replace('unknown encoding:', 'unknown encoding,').strip()}"
    if "invalid or missing encoding declaration" in message:
        return "is not valid UTF-8 and declares no encoding; save it as UTF-8 or declare its encoding (PEP 263)"
    return f"has a wrong encoding declaration: {message}"


def _spoken(encoding: str) -> str:
    return "UTF-8" if encoding in {"utf-8", "utf-8-sig"} else encoding
