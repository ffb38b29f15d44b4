"""Who else holds an array that a function changes: its caller, or another name, attribute or container.

A new array that is bound to a name reaches none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from jaxlint.model import Span
from jaxlint.program import nodes as n
from jaxlint.program.names import children, expressions, target_names, walk, walk_statements
from jaxlint.repair.hoist import holds, names_read

STORING = frozenset({"append", "appendleft", "add", "extend", "insert", "put", "setdefault", "update", "setattr"})
"""Functions and methods that keep what they are given."""


class Reach(Enum):
    """How a new array, bound to a name in the place of a changed one, gets to who needs it."""

    WHOLE = "nobody else holds the old one, or the function gives the new one back"
    PART = "the function goes on with the new one, while somebody else still holds the old one"
    NONE = "nothing reads the new one"


def reach(name: str, function: n.Function | None, body: tuple[n.Stmt, ...], at: Span) -> Reach:
    """What becomes of a new array that the statement at `at` of a function (or module) body binds to a name."""
    if function is not None and name in function.outer:
        return Reach.WHOLE if not _is_shared(name, body) else Reach.PART
    is_parameter = function is not None and any(parameter.name == name for parameter in function.parameters)
    shared = _is_shared(name, body)
    if not is_parameter and not shared:
        return Reach.WHOLE
    if is_parameter and not shared and _is_given_back(name, body, at):
        return Reach.WHOLE
    return Reach.PART if _is_read_later(name, body, at) else Reach.NONE


def _is_shared(name: str, body: tuple[n.Stmt, ...]) -> bool:
    """Whether a name is bound to what something else holds, or what it holds is kept elsewhere too."""
    return any(_shares(statement, name) for statement in walk_statements(body))


def _shares(statement: n.Stmt, name: str) -> bool:
    match statement:
        case n.Assign(targets=targets, value=value) if value is not None:
            kept = any(held == name for held in _held_by(value))
            taken = isinstance(value, (n.Name, n.Attribute, n.Subscript)) and _is_bound_by(targets, name)
            return kept or taken or _is_unpacked(targets, value, name)
        case n.ExpressionStatement(value=n.Call(function=called, arguments=arguments)):
            stores = isinstance(called, (n.Name, n.Attribute)) and called.name in STORING
            return stores and any(held == name for argument in arguments for held in _held_by(argument.value))
    return False


def _is_bound_by(targets: tuple[n.Expr, ...], name: str) -> bool:
    return any(isinstance(target, n.Name) and target.name == name for target in targets)


def _is_unpacked(targets: tuple[n.Expr, ...], value: n.Expr, name: str) -> bool:
    """`a, b = c, d` and `a, b = state`."""
    for target in targets:
        if isinstance(target, n.Sequence) and name in set(target_names(target)):
            values = value.elements if isinstance(value, n.Sequence) else (value,) * len(target.elements)
            pairs = zip(target.elements, values, strict=False)
            if any(_is_bound_by((t,), name) and isinstance(v, (n.Name, n.Attribute, n.Subscript)) for t, v in pairs):
                return True
    return False


def _held_by(value: n.Expr) -> Iterator[str]:
    """The names whose things a value holds as they are."""
    if isinstance(value, n.Name):
        yield value.name
    elif isinstance(value, (n.Sequence, n.Dictionary, n.Starred, n.Conditional)):
        for child in children(value):
            yield from _held_by(child)
    elif isinstance(value, n.Call) and _is_class(value.function):
        for argument in value.arguments:
            yield from _held_by(argument.value)


def _is_class(function: n.Expr) -> bool:
    """Whether a call makes an object, as far as the name tells."""
    return isinstance(function, (n.Name, n.Attribute)) and function.name[:1].isupper()


def _is_given_back(name: str, body: tuple[n.Stmt, ...], at: Span) -> bool:
    """Whether each `return` behind a place gives the name back, as it is or in a container."""
    found = [s for s in walk_statements(body) if isinstance(s, n.Return) and s.span > at]
    return bool(found) and all(s.value is not None and name in set(_held_by(s.value)) for s in found)


def _is_read_later(name: str, body: tuple[n.Stmt, ...], at: Span) -> bool:
    """Whether a function reads a name behind a place, or in another round of the loop around it."""
    loops = [s for s in walk_statements(body) if isinstance(s, (n.For, n.While)) and holds(s.span, at)]
    start = loops[0].span if loops else at
    later = (s for s in walk_statements(body) if s.span > start and s.span != at)
    return any(name in set(_read_by(s)) for s in later)


def _read_by(statement: n.Stmt) -> Iterator[str]:
    """The names that a statement reads, the one that it stores an item in left out."""
    if isinstance(statement, (n.FunctionDefinition, n.ClassDefinition)):
        yield from names_read(statement)
    written: tuple[n.Expr, ...] = ()
    if isinstance(statement, n.Assign):
        written = statement.targets
    elif isinstance(statement, n.AugmentedAssign) and isinstance(statement.target, n.Subscript):
        written = (statement.target,)
    for expression in expressions(statement):
        if any(expression is target for target in written) and isinstance(expression, (n.Name, n.Subscript)):
            continue
        for node in walk(expression):
            if isinstance(node, n.Name):
                yield node.name
            elif isinstance(node, n.Lambda):
                yield from (name for inner in node.function.body for name in names_read(inner))
