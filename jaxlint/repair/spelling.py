"""How to write the name of an API function at a place of a file, and the import that the name may need."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from msgspec import Struct

from jaxlint.analysis import bindings
from jaxlint.analysis.bindings import BUILTINS, Bindings
from jaxlint.model import Edit, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_by, children, expressions, walk_statements
from jaxlint.versions import prefixes

# Packages below `jax` that `import jax` does not load in every release that has them.
LAZY = ("jax.extend", "jax.experimental", "jax.scipy", "jax.export", "jax.example_libraries", "jax.tools")


CUSTOMARY = (("jax.numpy", "jnp"), ("numpy", "np"))
"""What everybody calls these packages."""


class Spelling(Struct, frozen=True):
    """`text` is how to write the name; `edits` add the import that it needs (none where it is there already)."""

    text: str
    edits: tuple[Edit, ...] = ()


def spell(module: n.Module, dotted: str, at: Span, without: n.Import | None = None) -> Spelling:
    """How to write the outside name `dotted` ('jax.tree.map', 'functools.partial') at a place of a module.

    The author's imports and aliases are used (`np.zeros` after `from jax import numpy as np`), names that are
    shadowed at the place are not, and equal needs give equal import edits. `without` is an import about to go.
    """
    scope, functions = bindings.scope_at(module, at.line, at.column)
    needed = needed_module(dotted)
    visible = _visible(module, scope, functions, at, without)
    fitting = [(name, path) for name, path in visible if dotted == path or dotted.startswith(path + ".")]
    if fitting:
        name, path = max(fitting, key=lambda pair: len(pair[1]))
        rest = dotted[len(path) :]
        if path.startswith(needed) or _loads(module, needed, at):
            return Spelling(name + rest)
        if path in prefixes(needed) and _root_is_free(module, scope, needed):
            return Spelling(name + rest, (_import_edit(module, f"import {needed}", at),))
    return _with_import(module, scope, needed, dotted, at)


def fresh_name(module: n.Module, wanted: str) -> str:
    """`wanted`, or it with a number, so that nothing in the module has that name."""
    taken = all_names(module) | BUILTINS
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def all_names(module: n.Module) -> frozenset[str]:
    """Every name that is bound or read anywhere in a module."""
    return frozenset(_names_in(module.body))


def count_reads(module: n.Module, name: str) -> int:
    """How often a name is read in a module, in whatever scope."""
    return sum(node.name == name for node in _reads(module.body))


def is_quoted(module: n.Module, name: str) -> bool:
    """Whether a string of the module is the name, as in `__all__` or for `getattr`."""
    return any(isinstance(node, n.Constant) and node.value == name for node in _nodes(module.body))


def _names_in(body: tuple[n.Stmt, ...]) -> Iterator[str]:
    for statement in _statements(body):
        yield from bound_by(statement)
        if isinstance(statement, n.Scope):
            yield from statement.names
        if isinstance(statement, n.FunctionDefinition):
            yield from (parameter.name for parameter in statement.function.parameters)
    for node in _nodes(body):
        if isinstance(node, n.Name):
            yield node.name
        elif isinstance(node, n.Lambda):
            yield from (parameter.name for parameter in node.function.parameters)


def _reads(body: tuple[n.Stmt, ...]) -> Iterator[n.Name]:
    written = {
        id(target) for statement in _statements(body) if isinstance(statement, n.Assign) for target in statement.targets
    }
    return (node for node in _nodes(body) if isinstance(node, n.Name) and id(node) not in written)


def _statements(body: tuple[n.Stmt, ...]) -> Iterator[n.Stmt]:
    """All statements, those of functions and classes included."""
    for statement in walk_statements(body):
        yield statement
        if isinstance(statement, n.ClassDefinition):
            yield from _statements(statement.definition.body)
        elif isinstance(statement, n.FunctionDefinition):
            yield from _statements(statement.function.body)


def all_expressions(module: n.Module) -> Iterator[n.Expr]:
    """All expressions of a module, those inside functions, classes, lambdas and decorators included."""
    return _nodes(module.body)


def all_statements(module: n.Module) -> Iterator[n.Stmt]:
    """All statements of a module, those of functions and classes included."""
    return _statements(module.body)


def _nodes(body: tuple[n.Stmt, ...]) -> Iterator[n.Expr]:
    """All expressions, those inside functions, classes and lambdas included."""
    for statement in _statements(body):
        stack: list[n.Expr] = list(expressions(statement))
        if isinstance(statement, n.ClassDefinition):
            stack.extend((*(base.value for base in statement.definition.bases), *statement.definition.decorators))
        elif isinstance(statement, n.FunctionDefinition):
            stack.extend(_header(statement.function))
        while stack:
            node = stack.pop()
            yield node
            if isinstance(node, n.Lambda):
                stack.extend(_header(node.function))
                yield from _nodes(node.function.body)
            stack.extend(children(node))


def _header(function: n.Function) -> Iterator[n.Expr]:
    yield from function.decorators
    for parameter in function.parameters:
        yield from (part for part in (parameter.annotation, parameter.default) if part is not None)
    if function.returns is not None:
        yield function.returns


def needed_module(dotted: str) -> str:
    """The module that must have been imported for the dotted name to work."""
    if dotted.partition(".")[0] == "jax" and not any(f"{dotted}.".startswith(f"{package}.") for package in LAZY):
        return "jax"
    return dotted.rpartition(".")[0] or dotted


def _visible(
    module: n.Module, scope: Bindings, functions: tuple[n.Function, ...], at: Span, without: n.Import | None
) -> Iterator[tuple[str, str]]:
    """Names that surely stand for an outside path at a place: bound by plain statements that have run before."""
    bodies = [(module.body, not functions), *((f.body, f is functions[-1]) for f in functions)]
    for body, in_order in bodies:
        for statement in body:
            if in_order and (statement.span.end_line, statement.span.end_column) > (at.line, at.column):
                break
            if statement is not without and isinstance(statement, (n.Import, n.Assign)):
                for name in bound_by(statement):
                    path = scope.path(name)
                    if path is not None:
                        yield name, path


def _loads(module: n.Module, needed: str, at: Span) -> bool:
    """Whether some plain import at the top of the module loads a module before a place is reached.

    Inside of functions, imports further down count too: they have run when the function is called.
    """
    around = (s for s in module.body if s.span.line <= at.line <= s.span.end_line)
    is_inside = any(isinstance(s, (n.FunctionDefinition, n.ClassDefinition)) for s in around)
    return any(
        needed in prefixes(entry.loads) or needed == entry.target
        for statement in module.body
        if isinstance(statement, n.Import) and not statement.level
        if is_inside or statement.span.line <= at.line
        for entry in statement.names
    )


def _with_import(module: n.Module, scope: Bindings, needed: str, dotted: str, at: Span) -> Spelling:
    for package, alias in CUSTOMARY:
        if dotted.startswith(f"{package}.") and _is_free(module, scope, alias):
            return Spelling(alias + dotted[len(package) :], (_import_edit(module, f"import {package} as {alias}", at),))
    if _root_is_free(module, scope, needed):
        return Spelling(dotted, (_import_edit(module, f"import {needed}", at),))
    alias = fresh_name(module, needed.replace(".", "_") + ("_" if "." not in needed else ""))
    text = alias + dotted[len(needed) :]
    return Spelling(text, (_import_edit(module, f"import {needed} as {alias}", at),))


def _is_free(module: n.Module, scope: Bindings, name: str) -> bool:
    return name not in all_names(module) and scope.owner(name) is None


def _root_is_free(module: n.Module, scope: Bindings, needed: str) -> bool:
    """Whether `import a.b` may bind `a` for the whole module, and `a` then means it at the place."""
    root = needed.partition(".")[0]
    owner = scope.owner(root)
    if owner is None:
        return True
    return owner.names[root] == root and scope.module().names.get(root, root) == root


def _import_edit(module: n.Module, statement: str, at: Span) -> Edit:
    """The insertion of an import beside those at the top of the module, so that it has run at a place."""
    line, separation = _import_place(module, _key(statement.split()[1]), at)
    return Edit(Span(line, 1, line, 1), f"{statement}\n{separation}")


def _import_place(module: n.Module, new: tuple[int, bool, str], at: Span) -> tuple[int, str]:
    """The line before which a new import goes, so that sorted imports stay sorted, and what separates it there.

    It stands before the place where it is needed, and before the first function or class, which may need it, too.
    """
    definitions = (s.span.line for s in module.body if isinstance(s, (n.FunctionDefinition, n.ClassDefinition)))
    end = min(at.line, next(definitions, at.line))
    top = [(i, entry) for i, entry in enumerate(module.body) if isinstance(entry, n.Import)]
    imports = [(i, entry) for i, entry in top if entry.span.line <= end]
    absolute = [(i, entry) for i, entry in imports if not _is_future(entry) and not entry.level]
    if not absolute:
        relative = next((entry for _, entry in imports if entry.level), None)
        return (relative.span.line, "\n") if relative is not None else (_first_line(module), "")
    earlier = [(i, entry) for i, entry in absolute if _key_of(entry)[0] == new[0] and _key_of(entry) <= new]
    later = [entry for _, entry in absolute if _key_of(entry) > new]
    if earlier:
        position, last = earlier[-1]
        following = module.body[position + 1] if position + 1 < len(module.body) else None
        if following is None or following.span.line > last.span.end_line:
            return last.span.end_line + 1, ""
    if not later:
        return absolute[0][1].span.line, ""
    is_apart = _key_of(later[0])[0] != new[0]
    return later[0].span.line, "\n" if is_apart and later[0] is absolute[0][1] else ""


def _key(dotted: str, *, is_from: bool = False) -> tuple[int, bool, str]:
    """How imports are sorted: the standard library before other packages, `import a` before `from a import b`."""
    return (0 if dotted.partition(".")[0] in sys.stdlib_module_names else 1, is_from, dotted)


def _key_of(statement: n.Import) -> tuple[int, bool, str]:
    first = statement.names[0]
    return _key(first.from_module or first.loads, is_from=first.from_module is not None)


def _first_line(module: n.Module) -> int:
    """The first line of a module without imports that is neither its docstring nor a `__future__` import."""
    for position, statement in enumerate(module.body):
        is_docstring = (
            position == 0 and isinstance(statement, n.ExpressionStatement) and isinstance(statement.value, n.Constant)
        )
        if not is_docstring and not (isinstance(statement, n.Import) and _is_future(statement)):
            return statement.span.line
    return module.body[-1].span.end_line + 1 if module.body else 1


def _is_future(statement: n.Import) -> bool:
    return statement.names[0].from_module == "__future__"
