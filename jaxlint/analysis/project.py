"""The files under analysis as modules: lowered when first asked for, found by the name that imports use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from jaxlint.program.nodes import Module, Stmt


class Source(Protocol):
    """A decoded file."""

    @property
    def path(self) -> str:
        """The path as users see it."""

    @property
    def text(self) -> str:
        """The decoded text, line ends as they are."""


class Lower(Protocol):
    """Turns texts into statements."""

    def __call__(self, text: str) -> tuple[Stmt, ...]:
        """The statements of a text."""

    def ahead(self, texts: Sequence[str]) -> None:
        """Is told which texts will be asked for."""


OUTSIDE = frozenset({"jax", "jaxlib", "numpy", "scipy", "functools", "math"})
"""Packages that the API table describes: what it says of them holds, whatever their sources say."""


class Project(Mapping[str, "Module"]):
    """Modules by dotted name. A file that cannot be lowered is told to `on_failure` and is absent from then on."""

    def __init__(self, sources: Sequence[Source], lower: Lower, on_failure: Callable[[str, Exception], None]) -> None:
        self._lower = lower
        self._sources: dict[str, Source] = {}
        self._modules: dict[str, Module | None] = {}
        self._on_failure = on_failure
        for source in sources:
            name = module_name(source.path)
            is_free = name not in self._sources and name not in OUTSIDE
            self._sources[name if is_free else source.path] = source

    def __getitem__(self, name: str) -> Module:
        if name not in self._modules:
            source = self._sources[name]
            self._modules[name] = self._lowered(name, source)
        module = self._modules[name]
        if module is None:
            raise KeyError(name)
        return module

    def _lowered(self, name: str, source: Source) -> Module | None:
        from jaxlint.program.nodes import Module

        try:
            return Module(source.path, name, self._lower(source.text))
        except Exception as error:  # libcst gives up on some valid programs in ways of its own
            self._on_failure(source.path, error)
            return None

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def is_outside(self, name: str) -> bool:
        """Whether an import of `name` leaves the project."""
        return name not in self._sources

    def named(self) -> Iterator[tuple[str, Source]]:
        """All files with their module names."""
        yield from self._sources.items()


def is_described(path: str) -> bool:
    """Whether a file is part of a package that the API table describes; a module `math.py` of the user's is not."""
    name = module_name(path)
    package = name.partition(".")[0]
    return package in OUTSIDE and (name != package or os.path.basename(path) == "__init__.py")


def module_name(path: str) -> str:
    """The dotted name under which a file is imported: its folders count as long as they are packages."""
    folder, file = os.path.split(path)
    parts = [] if file == "__init__.py" else [file.removesuffix(".py").removesuffix(".pyi")]
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        if not package:
            break
        parts.insert(0, package)
    return ".".join(parts) or path
