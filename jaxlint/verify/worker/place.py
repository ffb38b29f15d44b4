"""Where a file stands: the name under which it is imported, and the folder that its imports start from."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import os
import sys
import types
from collections.abc import Callable, Iterator

from jaxlint.verify.worker import overlay

_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_DEEPEST = 12


class Place:
    """A file as Python would import or start it.

    `dotted` is its name as a module, `package` what its relative imports start from, and `root` the folder from which
    both are found. `name` is what it is run as: `__main__` when it is no part of a package, or has a part for that.
    """

    def __init__(self, path: str, text: str = "") -> None:
        self.path = path
        folder, file = os.path.split(os.path.abspath(path))
        tree = _parsed(text)
        stem = os.path.splitext(file)[0]
        parts = [] if stem == "__init__" else [stem]
        for _ in range(_depth(folder, _level(tree))):
            folder, name = os.path.split(folder)
            parts.insert(0, name)
        self.root = folder
        self.dotted = ".".join(parts) or stem
        self._is_package = stem == "__init__" and bool(parts)
        self.package = ".".join(parts if self._is_package else parts[:-1])
        self.name = "__main__" if not self.package or stem == "__main__" or _is_program(tree) else self.dotted

    def load(self, run: Callable[[types.ModuleType], None]) -> None:
        """Have `run` execute the file as a module, entered under its name. Raises what importing its package raises.

        Where its package imports the file itself, that is when it is executed: both hold the same module.
        """
        parent = self.dotted.rpartition(".")[0] if self._is_package else self.package
        ran: list[str] = []

        def run_once(module: types.ModuleType) -> None:
            ran.append(module.__name__)
            run(module)

        hooked = overlay.executed_by(self.path, run_once) if self.name != "__main__" else contextlib.nullcontext()
        with hooked:
            if parent:
                importlib.import_module(parent)
            if self.dotted not in ran:
                module = self._module()
                sys.modules[self.name] = module
                run(module)
                self._bind(parent, module)

    def _module(self) -> types.ModuleType:
        """A fresh, empty module for the file."""
        within = [os.path.dirname(os.path.abspath(self.path))] if self._is_package else None
        spec = importlib.util.spec_from_file_location(self.dotted, self.path, submodule_search_locations=within)
        if self.name == "__main__" or spec is None:
            module = types.ModuleType(self.name)
            module.__file__ = self.path
            module.__package__ = self.package or None
            return module
        return importlib.util.module_from_spec(spec)

    def _bind(self, parent: str, module: types.ModuleType) -> None:
        """As an import does, so that the package has the module under its name."""
        if self.name != "__main__" and parent in sys.modules:
            setattr(sys.modules[parent], self.dotted.rpartition(".")[2], module)

    def names(self, root: str) -> frozenset[str]:
        """Every dotted name by which the file may be called: as it is imported, and as it lies under `root`."""
        relative = os.path.relpath(os.path.realpath(self.path), os.path.realpath(root)) if root else ".."
        parts = os.path.splitext(relative)[0].split(os.sep)
        if parts[-1] == "__init__":
            parts.pop()
        return frozenset({self.dotted, *([] if ".." in parts else [".".join(parts)])})

    def more_folders(self) -> Iterator[str]:
        """Where imports may be found that are not found otherwise: beside the file, and in its project."""
        folder = os.path.dirname(os.path.abspath(self.path))
        yield folder
        for above in _above(folder):
            if _is_project(above):
                yield from (above, os.path.join(above, "src"))
                return


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _level(tree: ast.Module) -> int:
    """How many packages above itself the file's relative imports reach for; 0 when it has none."""
    return max((node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), default=0)


def _is_program(tree: ast.Module) -> bool:
    """Whether the file has a part that runs only when it is started."""
    tests = (node.test for node in tree.body if isinstance(node, ast.If))
    parts = [{part.id for part in ast.walk(test) if isinstance(part, ast.Name)} for test in tests]
    return any("__name__" in names for names in parts)


def _depth(folder: str, level: int) -> int:
    """How many folders up the file's outermost package is.

    A chain of `__init__.py` is a package; what Python would find it under may lie further up, for packages without that
    file, as it does for files that import relatively and have none.
    """
    above = list(_above(folder))
    regular = next((n for n, one in enumerate(above) if not os.path.exists(os.path.join(one, "__init__.py"))), 0)
    if not regular and not level:
        return 0
    found = next((n for n, one in enumerate(above, 1) if _is_found(one)), 0)
    depth = max(regular, found)
    if depth >= level:
        return depth
    project = next((n for n, one in enumerate(above) if _is_project(one) or os.path.basename(one) == "src"), 0)
    return max(project, level)


def _above(folder: str) -> Iterator[str]:
    """The folder and those above it."""
    for _ in range(_DEEPEST):
        yield folder
        folder, old = os.path.dirname(folder), folder
        if folder == old:
            return


def _is_found(folder: str) -> bool:
    """Whether Python finds the folder as a package of its name: on its path, or by the hook of an editable install."""
    name = os.path.basename(folder)
    try:
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
    except (ImportError, ValueError, AttributeError):
        return False
    places = list(spec.submodule_search_locations or ()) if spec else []
    return any(os.path.realpath(place) == os.path.realpath(folder) for place in places)


def _is_project(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, mark)) for mark in _MARKS)
