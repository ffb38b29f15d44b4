"""Looks up what JAX removed, deprecated and renamed, in the tables of `jaxlint/data` (see their README)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files

from msgspec import Struct
from packaging.version import Version

from jaxlint.config.targets import Target

REMOVED = "removed"
DEPRECATED = "deprecated"


class Change(Struct, frozen=True):
    """A name that JAX removed or deprecated: a 'symbol', a 'module' with all below it, or a path to 'import' only.

    Versions are '' where there is none. `drop_in` says that `replacement` can stand in the name's place.
    """

    name: str
    kind: str
    deprecated_in: str
    removed_in: str
    returned_in: str
    replacement: str
    replacement_since: str
    drop_in: bool
    note: str


class ParameterChange(Struct, frozen=True):
    """A parameter of `function` that changed; `change` says how ('renamed', 'removed', 'positional-only', ...)."""

    function: str
    parameter: str
    change: str
    deprecated_in: str
    changed_in: str
    replacement: str
    drop_in: bool
    note: str


@lru_cache(maxsize=1024)
def version(text: str) -> Version:
    """A version as the tables write it: '<=0.4.12', '0.4.25-0.4.29' (by the later end) or plain."""
    return Version(text.removeprefix("<=").rpartition("-")[2])


def find(path: str) -> Change | None:
    """The change that the longest prefix of a dotted path underwent, import paths aside."""
    if not path.startswith("jax."):
        return None
    table = _changes()
    for prefix in prefixes(path):
        change = table.get(prefix)
        if change is not None and change.kind != "import":
            return change
    return None


def find_module(path: str) -> Change | None:
    """The change of a module that is imported by this path: of itself, or of one that it lies in."""
    table = _changes()
    for prefix in prefixes(path):
        change = table.get(prefix)
        if change is not None and change.kind != "symbol":
            return change
    return None


def status(change: Change, target: Target) -> str | None:
    """What the change means for the target: REMOVED once any allowed version lacks the name, DEPRECATED, or None.

    A name that came back (with another meaning, for all we know) is not reported to those who may have that version.
    """
    newest = version(target.maximum)
    if change.returned_in and newest >= version(change.returned_in):
        return None
    if change.removed_in and newest >= version(change.removed_in):
        return REMOVED
    if change.deprecated_in and newest >= version(change.deprecated_in):
        return DEPRECATED
    return None


def exists(since: str, target: Target) -> bool:
    """Whether every allowed version has what came with release `since` ('' = always there)."""
    return not since or version(target.minimum) >= version(since)


def is_usable(dotted: str, since: str, target: Target) -> bool:
    """Whether a replacement that came with `since` is there, and undisputed, in every allowed version."""
    change = find(dotted)
    return exists(since, target) and (change is None or status(change, target) is None)


def everywhere(change: Change) -> str | None:
    """Another replacement that works in every release, where the table names one."""
    match = re.match(r"(jax[\w.]+) works in every version", change.note)
    return match[1] if match else None


def parameter_changes(function: str) -> tuple[ParameterChange, ...]:
    """What changed among the parameters of a function."""
    return _parameters().get(function, ())


@cache
def changed_parameters() -> frozenset[str]:
    """The names of all parameters that changed, of whatever function."""
    return frozenset(change.parameter for entries in _parameters().values() for change in entries)


def flag_removed_in(flag: str) -> str | None:
    """The release that no longer knows a configuration flag, or None for those still there and unknown ones."""
    return _removed_flags().get(flag)


def prefixes(path: str) -> Iterator[str]:
    """A dotted path and what is left of it, longest first."""
    while path:
        yield path
        path = path.rpartition(".")[0]


def changes() -> Mapping[str, Change]:
    """All changes by name."""
    return _changes()


@cache
def _changes() -> dict[str, Change]:
    return {
        row["qualified_name"]: Change(
            row["qualified_name"], row["kind"], row["deprecated_in"], row["removed_in"], row["returned_in"],
            row["replacement"], row["replacement_since"], row["mechanical"] == "yes", row["note"],
        )
        for row in _rows("api_changes.csv")
    }  # fmt: skip


@cache
def _parameters() -> dict[str, tuple[ParameterChange, ...]]:
    found: dict[str, list[ParameterChange]] = {}
    for row in _rows("parameter_changes.csv"):
        for parameter in row["parameter"].split(", "):
            change = ParameterChange(
                row["function"], parameter, row["change"], row["deprecated_in"], row["changed_in"],
                row["replacement"], row["mechanical"] == "yes", row["note"],
            )  # fmt: skip
            found.setdefault(change.function, []).append(change)
    return {function: tuple(entries) for function, entries in found.items()}


@cache
def _removed_flags() -> dict[str, str]:
    return {row["flag"]: row["removed_in"] for row in _rows("config_flags.csv") if row["removed_in"]}


def _rows(name: str) -> Iterator[dict[str, str]]:
    with files("jaxlint.data").joinpath(name).open(encoding="utf-8") as file:
        yield from csv.DictReader(file)
