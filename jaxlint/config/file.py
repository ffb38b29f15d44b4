"""The configuration file: `[tool.jaxlint]` in pyproject.toml, or jaxlint.toml; keys are spelled as in ruff."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Struct

T = TypeVar("T")

OutputFormat = Literal["text", "json", "sarif", "github", "gitlab", "junit"]
OUTPUT_FORMATS: tuple[str, ...] = get_args(OutputFormat)


class ConfigError(Exception):
    """The configuration is wrong; the message names file, key, what is wrong and the nearest right word."""


class VerifyTable(Struct, frozen=True, rename="kebab", kw_only=True):
    """What the table `verify` says: by `module:function` of a callable, that of the factory of its arguments,
    and the command to run for more.
    """

    examples: dict[str, str] = {}
    run: str | None = None


class ConfigFile(Struct, frozen=True, rename="kebab", kw_only=True):
    """What a file says; None and empty are what it leaves open. Meaning and defaults are in `settings`."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    target_jax: str | None = None
    fixable: tuple[str, ...] | None = None
    unfixable: tuple[str, ...] = ()
    wrappers: dict[str, str] = {}
    output_format: OutputFormat = "text"
    cache_dir: str | None = None
    baseline: str | None = None
    verify: VerifyTable = VerifyTable()


class Located(Struct, frozen=True):
    """A configuration with the place it comes from; without a file, the defaults in the folder `root`."""

    config: ConfigFile
    root: Path
    file: Path | None = None

    def where(self, key: str) -> str:
        """How an error names a key of this file."""
        return f"{self.file}: {_table(self.file)}{key}" if self.file else key


def find(start: Path) -> Located | None:
    """The nearest configuration at or above a folder; jaxlint.toml wins over pyproject.toml. Raises `ConfigError`."""
    for folder in (start, *start.parents):
        if (folder / "jaxlint.toml").is_file():
            return read(folder / "jaxlint.toml")
        pyproject = folder / "pyproject.toml"
        if pyproject.is_file():
            table = toml(pyproject).get("tool", {}).get("jaxlint")
            if table is not None:
                return Located(_decode(pyproject, table), folder, pyproject)
    return None


def read(file: Path) -> Located:
    """The configuration in a file that the user names. Raises `ConfigError`."""
    table = toml(file)
    if file.name == "pyproject.toml":
        table = table.get("tool", {}).get("jaxlint", {})
    return Located(_decode(file, table), file.parent.resolve(), file)


def toml(file: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises `ConfigError`."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: not valid TOML: {error}") from error


def nearest(word: str, words: Iterable[str]) -> str:
    """A hint at the word that was probably meant, or nothing."""
    near = get_close_matches(word.replace("_", "-"), list(words), n=1, cutoff=0.5)
    return f"; did you mean `{near[0]}`?" if near else ""


def checked(where: str, convert: Callable[[], T]) -> T:
    """Runs `convert`, and puts `where` in front of what it complains about."""
    try:
        return convert()
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from error


def _table(file: Path | None) -> str:
    return "tool.jaxlint." if file and file.name == "pyproject.toml" else ""


def _decode(file: Path, table: Any) -> ConfigFile:
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: tool.jaxlint must be a table, not {type(table).__name__}")
    _check_keys(f"{file}: unknown key `{_table(file)}", table, ConfigFile)
    if isinstance(table.get("verify"), dict):
        _check_keys(f"{file}: unknown key `{_table(file)}verify.", table["verify"], VerifyTable)
    try:
        return msgspec.convert(table, ConfigFile)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{file}: {_explain(_table(file), table, str(error))}") from error


def _check_keys(start: str, table: dict[str, Any], form: type[Struct]) -> None:
    keys = [field.encode_name for field in msgspec.structs.fields(form)]
    for key in table:
        if key not in keys:
            hint = nearest(key, keys) or f"; the keys are {', '.join(keys)}"
            raise ConfigError(f"{start}{key}`{hint}")


def _explain(prefix: str, table: dict[str, Any], message: str) -> str:
    what, _, path = message.rpartition(" - at `$.")
    key = path.rstrip("`")
    text = f"{prefix}{key}: {what[:1].lower()}{what[1:]}"
    if key == "output-format" and isinstance(table.get(key), str):
        hint = nearest(table[key], OUTPUT_FORMATS) or f"; use one of {', '.join(OUTPUT_FORMATS)}"
        return f"{prefix}{key}: unknown format `{table[key]}`{hint}"
    return text.replace("`array`", "a list").replace("`array | null`", "a list").replace("`object`", "a table")
