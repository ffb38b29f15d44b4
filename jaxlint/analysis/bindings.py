"""What a name stands for in a scope, as far as imports and plain aliases say, by Python's scope rules.

A table says for each name of a scope the dotted path of the outside world that *every* binding of the name gives,
or None where something else is bound or the bindings differ. It knows no order: a name that is an import here and
an array there is nobody's.
"""

from __future__ import annotations

import builtins
from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter

from jaxlint.once import once
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_by, target_names, walk_statements

BUILTINS = frozenset(dir(builtins))


class Bindings:
    """The names of one scope and, through `parent`, of those around it."""

    __slots__ = ("is_class", "names", "parent", "stars")

    def __init__(self, parent: Bindings | None = None, *, is_class: bool = False) -> None:
        self.parent = parent
        self.is_class = is_class
        self.names: dict[str, str | None] = {}
        self.stars: list[str] = []

    def owner(self, name: str) -> Bindings | None:
        """The scope that binds `name` as seen from here; class bodies are not seen from inside their functions."""
        scope: Bindings | None = self
        while scope is not None:
            if name in scope.names and not (scope.is_class and scope is not self):
                return scope
            scope = scope.parent
        return None

    def path(self, name: str) -> str | None:
        """The dotted path that `name` stands for here, or None."""
        owner = self.owner(name)
        if owner is not None:
            return owner.names[name]
        stars = self.module().stars
        return f"{stars[0]}.{name}" if len(stars) == 1 and name not in BUILTINS else None

    def module(self) -> Bindings:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def chain(self, expression: n.Expr) -> str | None:
        """The dotted path of a name or a chain of attributes, or None."""
        attributes: list[str] = []
        while isinstance(expression, n.Attribute):
            attributes.append(expression.name)
            expression = expression.base
        if not isinstance(expression, n.Name):
            return None
        root = self.path(expression.name)
        return None if root is None else ".".join((root, *reversed(attributes)))

    def bind(self, name: str, path: str | None) -> None:
        """One more binding of a name: it keeps its path only if all bindings give the same."""
        self.names[name] = path if self.names.get(name, path) == path else None


def of_module(module: n.Module) -> Bindings:
    """The names of a module."""
    return _fill(Bindings(), module.body)


def of_class(definition: n.Class, parent: Bindings) -> Bindings:
    """The names of a class body."""
    return _fill(Bindings(parent, is_class=True), definition.body)


def of_function(function: n.Function, parent: Bindings) -> Bindings:
    """The names of a function or lambda, its parameters included."""
    scope = Bindings(parent)
    for parameter in function.parameters:
        scope.names[parameter.name] = None
    _fill(scope, function.body, function.outer)
    for name in function.bound:
        scope.names.setdefault(name, None)
    return scope


def of_comprehension(node: n.Comprehension, parent: Bindings) -> Bindings:
    """The names of a comprehension."""
    scope = Bindings(parent)
    for generator in node.generators:
        for name in target_names(generator.target):
            scope.names[name] = None
    return scope


def scope_at(module: n.Module, line: int, column: int) -> tuple[Bindings, tuple[n.Function, ...]]:
    """The innermost scope around a position and the functions around it, outermost first."""
    path = list(_scopes(module).path(line, column))
    functions = tuple(node for node in path if isinstance(node, n.Function))
    if any(function.outer for function in functions):  # what it binds outside is not known to other places
        return _bindings(path, of_module(module)), functions
    return _scopes(module).bindings(path), functions


_Scope = n.Class | n.Function


def _bindings(path: list[_Scope], scope: Bindings) -> Bindings:
    for node in path:
        scope = of_class(node, scope) if isinstance(node, n.Class) else of_function(node, scope)
    return scope


class _Scopes:
    """The functions and classes of a module by place, and what names mean in them; each is looked at once."""

    def __init__(self, module: n.Module) -> None:
        self._module = module  # whose nodes live as long as their identities are remembered
        self._outermost = of_module(module)
        self._inside: dict[int, list[tuple[tuple[int, int], _Scope]]] = {}
        self._bindings: dict[int, Bindings] = {}

    def path(self, line: int, column: int) -> Iterator[_Scope]:
        """The functions and classes whose bodies hold a position, outermost first."""
        node = self._at(self._module, (line, column))
        while node is not None:
            yield node
            node = self._at(node, (line, column))

    def bindings(self, path: list[_Scope]) -> Bindings:
        """What names mean inside the last of these, each of which stands in the one before."""
        scope = self._outermost
        for node in path:
            if id(node) not in self._bindings:
                self._bindings[id(node)] = _bindings([node], scope)
            scope = self._bindings[id(node)]
        return scope

    def _at(self, node: n.Module | _Scope, place: tuple[int, int]) -> _Scope | None:
        if id(node) not in self._inside:
            self._inside[id(node)] = list(_inner(node.body))
        inside = self._inside[id(node)]
        index = bisect_right(inside, place, key=itemgetter(0)) - 1
        found = inside[index][1] if index >= 0 else None
        return found if found is not None and place < (found.span.end_line, found.span.end_column) else None


_scopes = once(_Scopes)


def _inner(body: tuple[n.Stmt, ...]) -> Iterator[tuple[tuple[int, int], _Scope]]:
    """The functions and classes of a body in their order, through blocks, with where the body of each begins."""
    for statement in walk_statements(body):
        inner: _Scope
        if isinstance(statement, n.FunctionDefinition):
            inner = statement.function
        elif isinstance(statement, n.ClassDefinition):
            inner = statement.definition
        else:
            continue
        if inner.body:
            yield (inner.body[0].span.line, inner.body[0].span.column), inner


def _fill(scope: Bindings, body: tuple[n.Stmt, ...], outer: frozenset[str] = frozenset()) -> Bindings:
    """Enters what the statements of a body bind; names declared global or nonlocal go to the scope that has them."""
    placeholders: set[str] = set()
    for statement in walk_statements(body):
        if isinstance(statement, n.Import):
            for name, path in _imported(statement, scope):
                _home(scope, name, outer).bind(name, path)
        elif isinstance(statement, n.Assign):
            if isinstance(statement.value, n.Constant) and statement.value.kind == "none":
                # `jax = None` where the import failed: who uses the name afterwards means the import.
                placeholders.update(name for target in statement.targets for name in target_names(target))
            elif statement.value is not None:
                path = scope.chain(statement.value)
                for target in statement.targets:
                    for name in target_names(target):
                        _home(scope, name, outer).bind(name, path if isinstance(target, n.Name) else None)
        else:
            for name in bound_by(statement):
                _home(scope, name, outer).bind(name, None)
    for name in placeholders:
        _home(scope, name, outer).names.setdefault(name, None)
    return scope


def _home(scope: Bindings, name: str, outer: frozenset[str]) -> Bindings:
    if name not in outer:
        return scope
    return (scope.parent.owner(name) if scope.parent is not None else None) or scope.module()


def _imported(statement: n.Import, scope: Bindings) -> Iterator[tuple[str, str | None]]:
    for entry in statement.names:
        if entry.bound != "*":
            yield entry.bound, entry.target if not statement.level else None
        elif not statement.level:
            scope.module().stars.append(entry.target)
        else:
            scope.module().stars.extend(("", ""))  # names of unknown origin: nothing can be told by absence
