"""Where names are bound: scopes that functions close over, and the attributes of objects."""

from __future__ import annotations

from jaxlint.analysis.values import Value


class Scope:
    """The names of a module, class body or function call. Looked up outwards through `parent`."""

    __slots__ = ("is_class", "names", "parent")

    def __init__(self, parent: Scope | None = None, *, is_class: bool = False) -> None:
        self.parent = parent
        self.is_class = is_class
        self.names: dict[str, Value] = {}

    def find(self, name: str) -> Scope | None:
        """The scope that binds `name` as seen from here: class bodies are not seen from inside their functions."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and not (scope.is_class and scope is not self):
                return scope
            scope = scope.parent
        return None


class Attributes:
    """The attributes of one object, shared by every value that refers to it."""

    __slots__ = ("names", "rebound")

    def __init__(self) -> None:
        self.names: dict[str, Value] = {}
        self.rebound: set[str] = set()  # attributes assigned outside `__init__`
