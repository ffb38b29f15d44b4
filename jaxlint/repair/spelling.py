"""How to write the name of an API function at a place of a file, and the import that the name may need."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from msgspec import Struct

from jaxlint.analysis import bindings
from jaxlint.analysis.bindings import BUILTINS, Bindings
from jaxlint.model import Edit, Span
from jaxlint.once import once
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_by
from jaxlint.repair.contents import all_names, global_names, names_in
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


def fresh_name(module: n.Module, wanted: str, at: Span | None = None) -> str:
    """`wanted`, or it with a number, so that nothing in the module has that name.

    For a name that a function binds at a place, nothing in that function, and nothing at the top of the module.
    """
    functions = bindings.scope_at(module, at.line, at.column)[1] if at is not None else ()
    known = names_in(functions[0]) | global_names(module) if functions else all_names(module)
    taken = known | BUILTINS
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


def needed_module(dotted: str) -> str:
    """The module that must have been imported for the dotted name to work."""
    if dotted.partition(".")[0] == "jax" and not any(f"{dotted}.".startswith(f"{package}.") for package in LAZY):
        return "jax"
    return dotted.rpartition(".")[0] or dotted


def _visible(
    module: n.Module, scope: Bindings, functions: tuple[n.Function, ...], at: Span, without: n.Import | None
) -> Iterator[tuple[str, str]]:
    """Names that surely stand for an outside path at a place: bound by plain statements that have run before."""
    bodies = [(_aliases(module), not functions), *((_bound(f.body), f is functions[-1]) for f in functions)]
    for bound, in_order in bodies:
        for statement, name in bound:
            if in_order and (statement.span.end_line, statement.span.end_column) > (at.line, at.column):
                break
            path = scope.path(name) if statement is not without else None
            if path is not None:
                yield name, path


@once
def _aliases(module: n.Module) -> tuple[tuple[n.Stmt, str], ...]:
    """What plain statements at the top of a module bind, of the names that stand for outside paths there."""
    scope = bindings.of_module(module)
    return tuple((statement, name) for statement, name in _bound(module.body) if scope.path(name) is not None)


def _bound(body: tuple[n.Stmt, ...]) -> Iterator[tuple[n.Stmt, str]]:
    plain = (statement for statement in body if isinstance(statement, (n.Import, n.Assign)))
    return ((statement, name) for statement in plain for name in bound_by(statement))


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
