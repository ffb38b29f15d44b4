"""Where a file stands: the name under which it is imported, and the folder that its imports start from."""

from __future__ import annotations

import importlib
import os
import sys
import types


class Place:
    """Where a file stands: its package, if it is in one, and the folder that its imports start from."""

    def __init__(self, path: str) -> None:
        self.path = path
        folder, file = os.path.split(os.path.abspath(path))
        parts = [] if file == "__init__.py" else [os.path.splitext(file)[0]]
        while os.path.exists(os.path.join(folder, "__init__.py")):
            folder, name = os.path.split(folder)
            parts.insert(0, name)
        self.root = folder
        self.package = ".".join(parts[:-1]) if len(parts) > 1 else ""
        self.name = ".".join(parts) if self.package else "__main__"

    def module(self) -> types.ModuleType:
        """A fresh, empty module for the file, entered under its name."""
        if self.package:
            importlib.import_module(self.package)
        module = types.ModuleType(self.name)
        module.__file__ = self.path
        module.__package__ = self.package or None
        sys.modules[self.name] = module
        return module

    def names(self, root: str) -> frozenset[str]:
        """Every dotted name by which the file may be called: as it is imported, and as it lies under `root`."""
        relative = os.path.relpath(os.path.realpath(self.path), os.path.realpath(root)) if root else ""
        parts = os.path.splitext(relative)[0].split(os.sep)
        if parts[-1] == "__init__":
            parts.pop()
        stem = os.path.splitext(os.path.basename(self.path))[0]
        outside = not root or ".." in parts
        return frozenset({self.name if self.package else stem, *([] if outside else [".".join(parts)])})
