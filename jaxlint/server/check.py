"""One version of a document and what is wrong with it: what `jaxlint check` says of a file with this text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from pygls.uris import to_fs_path

from jaxlint import baseline
from jaxlint.baseline import BaselineError
from jaxlint.config.file import ConfigError
from jaxlint.config.settings import Options, Settings, settings_for
from jaxlint.engine import Linted, Loaded, lint
from jaxlint.fixes.loop import fix_all
from jaxlint.model import Finding, Safety
from jaxlint.server.positions import BOM
from jaxlint.source.files import excluded, shown
from jaxlint.source.text import SourceFile


class Document(Struct, frozen=True):
    """A version of a document as the client has it. `root` is the folder of documents that are no files yet."""

    uri: str
    version: int | None
    text: str
    root: Path

    @property
    def file(self) -> Path:
        """Where it is, or where it might be."""
        path = to_fs_path(self.uri) if self.uri.startswith("file:") else None
        return Path(path) if path else self.root / "untitled.py"

    @property
    def marked(self) -> bool:
        """Whether the client keeps a byte order mark in the text."""
        return self.text.startswith(BOM)

    @property
    def source(self) -> SourceFile:
        """The text that Python reads."""
        return SourceFile.from_text(shown(self.file), self.text.removeprefix(BOM))


class Checked(Struct, frozen=True):
    """What was found in a version of a document; `problems` are for the user: wrong settings, internal failures."""

    document: Document
    findings: tuple[Finding, ...] = ()
    settings: Settings | None = None
    problems: tuple[str, ...] = ()

    def fixable(self, finding: Finding) -> bool:
        """Whether a finding has a fix that may be applied."""
        allowed = self.settings is not None and finding.code in self.settings.fixable
        return allowed and finding.fix is not None and finding.fix.safety is not Safety.DISPLAY

    def safely_fixable(self, finding: Finding) -> bool:
        """Whether a finding has a safe fix that may be applied."""
        return self.fixable(finding) and finding.fix is not None and finding.fix.safety is Safety.SAFE


def check(document: Document) -> Checked:
    """Lints a document under the configuration nearest to it, which is read anew. Raises nothing."""
    try:
        settings = settings_for(document.file.parent, Options())
        if excluded([document.file], settings.files):
            return Checked(document, settings=settings)
        linted = _lint(_loaded(document.source, document.file), settings)
    except (ConfigError, BaselineError) as error:
        return Checked(document, problems=(str(error),))
    except Exception as error:  # the server outlives what goes wrong with one document
        return Checked(document, problems=(_internal(document, error),))
    return Checked(document, linted.findings, settings, tuple(map(str, linted.failures)))


def fixed(checked: Checked) -> str:
    """The text of a document with all safe fixes, to the fixed point. Raises what `check` would tell as problems."""
    settings, source = checked.settings, checked.document.source
    if settings is None:
        return source.text

    def choose(_: Loaded, findings: Sequence[Finding]) -> list[Finding]:
        return list(filter(checked.safely_fixable, findings))

    start = _loaded(source, checked.document.file)
    first = Linted(checked.findings)
    done = fix_all(start, lambda loaded: first if loaded is start else _lint(loaded, settings), choose)
    return done.loaded.sources[0].text


def _loaded(source: SourceFile, file: Path) -> Loaded:
    return Loaded((source,), {source.path: file})


def _lint(loaded: Loaded, settings: Settings) -> Linted:
    known = baseline.read(settings.baseline) if settings.baseline else None
    return baseline.only_new(lint(loaded, settings), loaded, known)


def _internal(document: Document, error: Exception) -> str:
    return f"{document.file}: internal error, not linted: {type(error).__name__}: {error} (please report this)"
