"""A list of findings that are known and not to be reported, so that old code can be taken over as it is.

A finding is known by its file, its rule and the text of its line, not by the line's number: it stays known when other
lines move it, and is new again when its own line is changed. Of equal ones as many are known as were written down.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from jaxlint.engine import Linted, Loaded
from jaxlint.model import Finding
from jaxlint.report.report import texts
from jaxlint.source.text import LineMap

_VERSION = 1


class BaselineError(Exception):
    """The file cannot be read as a baseline; the message names it and says what to do."""


class Known(Struct, frozen=True, order=True):
    """How many findings of one rule are known on lines of one text in one file (a path from the baseline's folder)."""

    path: str
    code: str
    line: str
    count: int = 1


class _File(Struct, frozen=True):
    version: int
    findings: tuple[Known, ...]


class Baseline(Struct, frozen=True):
    """The known findings, by file, rule and text of the line; `folder` is where the paths start."""

    folder: Path
    counts: Mapping[tuple[str, str, str], int] = {}

    def unknown(self, findings: Iterable[Finding], texts: Mapping[str, str]) -> tuple[Finding, ...]:
        """The findings that are not known. `texts` are those of the files, by the findings' paths."""
        left = Counter(self.counts)
        new = []
        for finding, key in _keys(findings, texts, self.folder):
            left[key] -= 1
            if left[key] < 0:
                new.append(finding)
        return tuple(new)


def only_new(linted: Linted, loaded: Loaded, known: Baseline | None) -> Linted:
    """What was found in sources without what is known."""
    if known is None:
        return linted
    return Linted(known.unknown(linted.findings, texts(loaded.sources, linted.findings)), linted.failures)


def read(file: Path) -> Baseline:
    """The baseline in a file. Raises `BaselineError`."""
    try:
        found = msgspec.json.decode(file.read_bytes(), type=_File)
    except OSError as error:
        hint = "; `--write-baseline` makes it" if isinstance(error, FileNotFoundError) else ""
        raise BaselineError(f"{file}: cannot be read: {error.strerror or error}{hint}") from error
    except msgspec.DecodeError as error:
        raise BaselineError(f"{file}: this is no baseline ({error}); write it anew with `--write-baseline`") from error
    if found.version != _VERSION:
        raise BaselineError(f"{file}: version {found.version} of baselines is not known here; write it anew")
    return Baseline(_folder(file), {(known.path, known.code, known.line): known.count for known in found.findings})


def rendered(findings: Sequence[Finding], texts: Mapping[str, str], file: Path) -> str:
    """The text of a baseline that knows these findings, to be written to `file`: sorted, one finding a line."""
    counts = Counter(key for _, key in _keys(findings, texts, _folder(file)))
    known = sorted(Known(*key, count) for key, count in counts.items())
    lines = ",\n  ".join(msgspec.json.encode(one).decode() for one in known)
    return f'{{"version": {_VERSION}, "findings": [\n  {lines}\n]}}\n' if known else _EMPTY


_EMPTY = f'{{"version": {_VERSION}, "findings": []}}\n'


def _folder(file: Path) -> Path:
    return Path(os.path.abspath(file)).parent


def _keys(
    findings: Iterable[Finding], texts: Mapping[str, str], folder: Path
) -> Iterator[tuple[Finding, tuple[str, str, str]]]:
    lines: dict[str, LineMap] = {}
    for finding in findings:
        if finding.path not in lines:
            lines[finding.path] = LineMap(texts.get(finding.path, ""))
        text, number = lines[finding.path], finding.span.line
        path = Path(os.path.relpath(os.path.abspath(finding.path), folder)).as_posix()
        yield finding, (path, finding.code, text.line(number).strip() if number <= len(text) else "")
