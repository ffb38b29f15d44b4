"""Which files a run looks at, and with which settings each."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from jaxlint.config.settings import Options, Settings, with_nested
from jaxlint.source.files import Found, discover, excluded


def scope(paths: Sequence[str], settings: Settings, options: Options) -> tuple[Settings, Found]:
    """The files under `paths`, and the settings with those of nearer configurations. Raises `ConfigError`.

    What a nearer configuration excludes is left out; files that are named are taken all the same unless that is forced.
    """
    found = discover(paths, settings.files)
    settings = with_nested(settings, found.files, options)
    named = {os.path.abspath(path) for path in paths}
    out: set[Path] = set()
    for inner in settings.nested:
        own = [file for file in found.files if settings.of(file) is inner]
        asked = [file for file in own if inner.files.force_exclude or os.path.abspath(file) not in named]
        out.update(excluded(asked, inner.files))
    return settings, structs.replace(found, files=tuple(file for file in found.files if file not in out))
