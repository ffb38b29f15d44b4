"""What a project's own metadata says of the JAX it needs."""

from __future__ import annotations

import configparser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from jaxlint.config.file import ConfigError, toml
from jaxlint.config.targets import Target, from_requirements


def target_of_project(start: Path) -> Target | None:
    """The JAX versions asked for by the nearest project at or above a folder, or None where none says.

    The first of these that bounds JAX decides: the project's dependencies, its extras and groups (also in Poetry's
    spelling), setup.cfg, requirements files. The search ends at the root of the repository.
    """
    for folder in (start, *start.parents):
        for lines in _sources(folder):
            target = from_requirements(lines)
            if target:
                return target
        if (folder / ".git").exists():
            break
    return None


def _sources(folder: Path) -> Iterator[list[str]]:
    if (folder / "pyproject.toml").is_file():
        try:
            tables = toml(folder / "pyproject.toml")
        except ConfigError:  # the file is not ours: its faults are told by those who own it
            tables = {}
        project = _get(tables, "project")
        yield _strings(project.get("dependencies"))
        extras = [*_get(project, "optional-dependencies").values(), *_get(tables, "dependency-groups").values()]
        yield [line for group in extras for line in _strings(group)]
        yield _poetry(_get(_get(_get(tables, "tool"), "poetry"), "dependencies"))
    if (folder / "setup.cfg").is_file():
        yield _setup_cfg(folder / "setup.cfg")
    for file in (*sorted(folder.glob("requirements*.txt")), *sorted(folder.glob("requirements/*.txt"))):
        yield _lines(file)


def _get(table: Any, key: str) -> dict[str, Any]:
    value = table.get(key) if isinstance(table, dict) else None
    return value if isinstance(value, dict) else {}


def _strings(value: Any) -> list[str]:
    return [line for line in value if isinstance(line, str)] if isinstance(value, list) else []


def _poetry(dependencies: dict[str, Any]) -> list[str]:
    """`jax = "^0.4.30"`: a caret keeps the leftmost number that is not zero, a tilde keeps the second."""
    entry = dependencies.get("jax")
    text = entry.get("version") if isinstance(entry, dict) else entry
    if not isinstance(text, str):
        return []
    parts = [_caret(part.strip()) for part in text.split(",")]
    return ["jax" + ",".join(part for part in parts if part)]


def _caret(part: str) -> str:
    if part[:1] not in {"^", "~"} or part.startswith("~="):
        return "==" + part if part[:1].isdigit() else part.replace("*", "") if part == "*" else part
    version = part[1:]
    numbers = [int(number) for number in version.split(".") if number.isdigit()]
    keep = 1 if part[0] == "~" else next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
    keep = min(keep, len(numbers) - 1)
    if keep < 0:
        return ""
    return f">={version},<{'.'.join(map(str, [*numbers[:keep], numbers[keep] + 1]))}"


def _setup_cfg(file: Path) -> list[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(file, "utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError):
        return []
    values: list[str] = [parser.get("options", "install_requires", fallback="")]
    if parser.has_section("options.extras_require"):
        values += [value for _, value in parser.items("options.extras_require")]
    return _clean(line for value in values for line in value.replace(";\n", "\n").splitlines())


def _lines(file: Path) -> list[str]:
    try:
        return _clean(file.read_text("utf-8", "replace").splitlines())
    except OSError:
        return []


def _clean(lines: Iterable[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]
