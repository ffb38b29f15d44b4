"""The flake8 plugin: the same findings as the command, with selection and `# noqa` left to flake8.

flake8 does not fix, and sees one file at a time. Nothing heavy is imported until a file mentions JAX.
"""

from __future__ import annotations

import ast
import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jaxlint import __version__

if TYPE_CHECKING:
    from jaxlint.config.settings import Settings

Report = tuple[int, int, str, type[Any]]


class Plugin:
    """One file, as flake8 hands it over. Options are of the class, because flake8 sets them once for all files."""

    name = "flake8-jaxlint"
    version = __version__
    target_jax: ClassVar[str | None] = None

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._filename = filename
        self._text = "".join(lines)

    @staticmethod
    def add_options(manager: Any) -> None:
        """Declares the option, and to flake8 the rules that are off unless it is told to select them."""
        from jaxlint.registry import rules

        manager.add_option(
            "--jaxlint-target-jax",
            default=None,
            parse_from_config=True,
            metavar="VERSION",
            help="The JAX version the code runs with (default: what the project asks for, else the newest).",
        )
        manager.extend_default_ignore([rule.code for rule in rules() if not rule.on_by_default])

    @classmethod
    def parse_options(cls, options: Namespace) -> None:
        """Takes over what flake8 read from its command line and configuration."""
        cls.target_jax = options.jaxlint_target_jax

    def run(self) -> Iterator[Report]:
        """The findings as (line, column from 0, text, class)."""
        if "jax" not in self._text:
            return
        from jaxlint.config.file import ConfigError

        folder = Path(os.path.abspath(self._filename)).parent
        try:
            settings = _settings(folder, self.target_jax)
        except ConfigError as error:
            yield 1, 0, f"JAX000 {error}", Plugin
            return
        yield from self._findings(settings)

    def _findings(self, settings: Settings) -> Iterator[Report]:
        from jaxlint.engine import analysed
        from jaxlint.source.suppressed import silence
        from jaxlint.source.text import SourceFile

        source = SourceFile.from_text(self._filename, self._text)
        found, failures = analysed([source], settings, None)
        for failure in failures:
            yield 1, 0, f"JAX000 {failure.error}", Plugin
        for finding in silence(source.text, source.path, found, own_only=True):
            text = f"{finding.code} {finding.name}: {finding.message}"
            yield finding.span.line, finding.span.column - 1, text, Plugin


@cache
def _settings(folder: Path, target_jax: str | None) -> Settings:
    from jaxlint.config.settings import Options, settings_for

    return settings_for(folder, Options(target_jax=target_jax))
