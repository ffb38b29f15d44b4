"""The user's own modules around the file, which each version of it imports anew.

What they took from the file (`from .m import f`) is else that of the version which was there when they were imported.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import types
from collections.abc import Iterator
from typing import Any

from jaxlint.verify.worker.place import Place

Version = dict[str, types.ModuleType]
"""The modules that one version of the file has imported, by name."""


class Family:
    """Modules that are imported from now on and are of the file's package, or of no installed one."""

    def __init__(self, place: Place) -> None:
        self._known = frozenset(sys.modules) - {place.name}
        self._name = place.name
        self._top = place.dotted.partition(".")[0] if place.package else ""
        self._python = os.path.join(os.path.realpath(sysconfig.get_paths()["stdlib"]), "")
        self._current: Version = {}

    def fresh(self) -> Version:
        """A new version, which is in use from now on: none of these modules is imported yet."""
        version: Version = {}
        self.use(version)
        return version

    def use(self, version: Version) -> None:
        """From now on imports give the modules of this version, and more are taken into it as they come."""
        if version is self._current:
            return
        self.note()
        for name in self._current.keys() - {"__main__"}:  # which there must always be
            sys.modules.pop(name, None)
        sys.modules.update(version)
        self._current = version

    def note(self) -> None:
        """Take what has been imported meanwhile into the version in use."""
        more = {name: sys.modules[name] for name in sys.modules.keys() - self._known}
        self._current.update({name: module for name, module in more.items() if self._is_own(name, module)})

    def _is_own(self, name: str, module: types.ModuleType) -> bool:
        file, top = getattr(module, "__file__", None) or "", name.partition(".")[0]
        if top == "jaxlint" or (file and not file.endswith(".py")):
            return False  # what is compiled cannot be loaded twice
        if name == self._name or top == self._top:
            return True
        return file != "" and "-packages" + os.sep not in file and not os.path.realpath(file).startswith(self._python)


def pairs(source: Version, target: Version) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The globals of the modules that both have."""
    return ((vars(module), vars(target[name])) for name, module in source.items() if name in target)
