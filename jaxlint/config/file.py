"""The configuration file: `[tool.jaxlint]` in pyproject.toml, or jaxlint.toml; keys are spelled as in ruff."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from jaxlint.config.extend import merged
from jaxlint.config.form import OUTPUT_FORMATS, ConfigFile, VerifyTable

T = TypeVar("T")


class ConfigError(Exception):
    """The configuration is wrong; the message names file, key, what is wrong and the nearest right word."""


class Located(Struct, frozen=True):
    """A configuration with the place it comes from; without a file, the defaults in the folder `root`.

    `config` is what holds, with all that the file extends; `layers` are the files as they are written, the most basic
    first; `origins` has the file that sets each key, those of tables that are joined as `table.key`.
    """

    config: ConfigFile
    root: Path
    file: Path | None = None
    layers: tuple[tuple[Path, ConfigFile], ...] = ()
    origins: dict[str, Path] = {}

    def where(self, key: str, file: Path | None = None) -> str:
        """How an error names a key, in the file that sets it or in the one given."""
        file = file or self.origins.get(key) or self.origins.get(key.partition(".")[0], self.file)
        return f"{file}: {_table(file)}{key}" if file else key

    def folder(self, key: str) -> Path:
        """The folder that a path is relative to: that of the file that sets the key."""
        return self.origins[key].parent.resolve() if key in self.origins else self.root


def find(start: Path) -> Located | None:
    """The nearest configuration at or above a folder; jaxlint.toml wins over pyproject.toml. Raises `ConfigError`."""
    for folder in (start, *start.parents):
        file = config_in(folder)
        if file is not None:
            return read(file)
    return None


def config_in(folder: Path) -> Path | None:
    """The configuration file in a folder. Raises `ConfigError` where pyproject.toml cannot be read."""
    if (folder / "jaxlint.toml").is_file():
        return folder / "jaxlint.toml"
    pyproject = folder / "pyproject.toml"
    return pyproject if pyproject.is_file() and _own_table(pyproject) is not None else None


def read(file: Path) -> Located:
    """The configuration in a file, with what it extends. Raises `ConfigError`."""
    return _read(file, ())


def _read(file: Path, above: tuple[Path, ...]) -> Located:
    real = file.resolve()
    if real in above:
        raise ConfigError(f"{above[-1]}: {_table(above[-1])}extend: {file} extends this file in turn")
    table = _own_table(file) if file.name == "pyproject.toml" else toml(file)
    table = {} if table is None else table
    own = _decode(file, table)
    inner = [f"verify.{key}" for key in table.get("verify", ())]
    origins, layers = dict.fromkeys([*table, *inner], file), ((file, own),)
    if own.extend is None:
        return Located(own, file.parent.resolve(), file, layers, origins)
    other = file.parent / Path(own.extend).expanduser()
    if not other.is_file():
        raise ConfigError(f"{file}: {_table(file)}extend: there is no file {other}")
    base = _read(other, (*above, real))
    config = merged(base.config, own, table.keys())
    return Located(config, file.parent.resolve(), file, (*base.layers, *layers), {**base.origins, **origins})


def toml(file: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises `ConfigError`."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: not valid TOML: {error}") from error


def _own_table(pyproject: Path) -> Any:
    """What stands at `tool.jaxlint`, or None."""
    tool = toml(pyproject).get("tool")
    return tool.get("jaxlint") if isinstance(tool, dict) else None


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
