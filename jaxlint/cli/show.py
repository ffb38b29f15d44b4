"""What `check` would look at and with which settings, instead of checking."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from jaxlint.cli.job import Job
from jaxlint.config.scope import scope
from jaxlint.config.settings import Settings, settings_for
from jaxlint.source.files import common_root, shown


def files(job: Job) -> Iterator[str]:
    """The files that would be checked, one a line. Raises `ConfigError`."""
    if job.stdin_name:
        yield job.stdin_name
        return
    _, found = scope(job.paths, settings_for(common_root(job.paths), job.options), job.options)
    yield from map(shown, found.files)


def settings(job: Job) -> Iterator[str]:
    """The settings that hold, as lines of TOML in the words of the configuration. Raises `ConfigError`."""
    settings = settings_for(common_root([job.stdin_name] if job.stdin_name else job.paths), job.options)
    yield f"# settings of {shown(settings.root)}"
    if settings.target.minimum != settings.target.maximum:  # what the project's metadata asks for, which no key can say
        yield f"# JAX {settings.target.minimum} to {settings.target.maximum}, as the project's metadata asks for"
    for key, value in _values(settings).items():
        yield f"{key} = {msgspec.json.encode(value).decode()}"
    yield from _table("per-file-ignores", {one.pattern: sorted(one.codes) for one in settings.per_file_ignores})
    yield from _table("wrappers", settings.wrappers)
    yield from _table("verify.examples", settings.verify.factories)


def _values(settings: Settings) -> dict[str, object]:
    values: dict[str, object] = {
        "select": sorted(settings.enabled),
        "fixable": sorted(settings.fixable),
        "exclude": list(settings.files.exclude),
        "force-exclude": settings.files.force_exclude,
        "respect-gitignore": settings.files.respect_gitignore,
        "output-format": settings.output_format,
    }
    if settings.target.minimum == settings.target.maximum:
        values["target-jax"] = settings.target.minimum
    if settings.baseline:
        values["baseline"] = str(settings.baseline)
    return values


def _table(name: str, entries: dict[str, object] | dict[str, list[str]] | dict[str, str]) -> Iterator[str]:
    if entries:
        yield f"\n[{name}]"
    for key, value in entries.items():
        yield f"{msgspec.json.encode(key).decode()} = {msgspec.json.encode(value).decode()}"
