"""Which names a function body binds, as Python's own scope rules say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from jaxlint.program import nodes as n


def bound_names(body: tuple[n.Stmt, ...]) -> frozenset[str]:
    """The names that the statements bind in their scope (parameters not included)."""
    return frozenset(_bound(body)) - outer_names(body)


def statement_names(body: tuple[n.Stmt, ...]) -> frozenset[str]:
    """The same without those that `:=` binds, which costs a walk through all expressions."""
    found = (name for statement in walk_statements(body) for name in bound_by(statement))
    return frozenset(found) - outer_names(body)


def outer_names(body: tuple[n.Stmt, ...]) -> frozenset[str]:
    """The names declared `global` or `nonlocal`."""
    return frozenset(name for s in walk_statements(body) if isinstance(s, n.Scope) for name in s.names)


def walk_statements(body: tuple[n.Stmt, ...]) -> Iterator[n.Stmt]:
    """All statements of a body, not those of the functions and classes defined in it."""
    for statement in body:
        yield statement
        for block in blocks(statement):
            yield from walk_statements(block)


def blocks(statement: n.Stmt) -> Iterator[tuple[n.Stmt, ...]]:
    """The bodies that belong to the same scope as the statement."""
    if isinstance(statement, (n.If, n.While, n.For)):
        yield statement.body
        yield statement.otherwise
    elif isinstance(statement, n.With):
        yield statement.body
    elif isinstance(statement, n.Try):
        yield statement.body
        yield from (handler.body for handler in statement.handlers)
        yield statement.otherwise
        yield statement.final
    elif isinstance(statement, n.Match):
        yield from (case.body for case in statement.cases)


def last_statements(body: tuple[n.Stmt, ...]) -> Iterator[n.Stmt]:
    """The statements behind which nothing of a body runs: each `return`, and what the body ends with."""
    for statement in walk_statements(body[:-1]):
        if isinstance(statement, n.Return):
            yield statement
    last = body[-1]
    if isinstance(last, (n.If, n.With)):
        for block in blocks(last):
            yield from last_statements(block) if block else ()
    elif isinstance(last, (n.For, n.While, n.Try, n.Match)):
        yield from (inner for inner in walk_statements((last,)) if isinstance(inner, n.Return))
    else:
        yield last


def target_names(target: n.Expr) -> Iterator[str]:
    """The names that an assignment target binds."""
    if isinstance(target, n.Name):
        yield target.name
    elif isinstance(target, n.Starred):
        yield from target_names(target.value)
    elif isinstance(target, n.Sequence):
        for element in target.elements:
            yield from target_names(element)


def _bound(body: tuple[n.Stmt, ...]) -> Iterator[str]:
    for statement in walk_statements(body):
        yield from bound_by(statement)
        for expression in expressions(statement):
            yield from _walrus(expression)


def bound_by(statement: n.Stmt) -> Iterator[str]:
    """The names that one statement binds by itself: not its blocks, not `:=` in its expressions."""
    match statement:
        case n.Assign(targets=targets):
            for target in targets:
                yield from target_names(target)
        case n.AugmentedAssign(target=target) | n.For(target=target):
            yield from target_names(target)
        case n.FunctionDefinition(function=function):
            yield function.name
        case n.ClassDefinition(definition=definition):
            yield definition.name
        case n.Import(names=names):
            yield from (name.bound for name in names)
        case n.With(items=items):
            for _, bound in items:
                if bound is not None:
                    yield from target_names(bound)
        case n.Try(handlers=handlers):
            yield from (handler.name for handler in handlers if handler.name is not None)
        case n.Match(cases=cases):
            yield from (name for case in cases for name in case.binds)


def _walrus(expression: n.Expr) -> Iterator[str]:
    for node in walk(expression):
        if isinstance(node, n.NamedExpression):
            yield from target_names(node.target)


def expressions(statement: n.Stmt) -> Iterator[n.Expr]:
    """The expressions that stand directly in a statement."""
    return iter(_direct(statement))


def _direct(node: n.Expr | n.Stmt) -> list[n.Expr]:
    found: list[n.Expr] = []
    for field in FIELDS[type(node)]:
        _collect(getattr(node, field), found)
    return found


def _collect(value: object, found: list[n.Expr]) -> None:
    kind = type(value)
    if kind in EXPRESSIONS:
        found.append(value)  # type: ignore[arg-type]
    elif kind is tuple:
        for item in value:  # type: ignore[attr-defined]
            _collect(item, found)
    elif kind is n.Argument:
        found.append(value.value)  # type: ignore[attr-defined]
    elif isinstance(value, n.Generator):
        found += (value.target, value.iterable, *value.conditions)
    elif isinstance(value, (n.Handler, n.Case)):
        _collect(value.type if isinstance(value, n.Handler) else value.guard, found)


def children(expression: n.Expr) -> Iterator[n.Expr]:
    """The expressions directly inside an expression; a lambda's body is not."""
    return iter(_direct(expression))


def walk(expression: n.Expr) -> Iterator[n.Expr]:
    """The expression and all inside it, in the order of the text; not into lambdas."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        found = _direct(node)
        found.reverse()
        waiting += found


def _holds_expressions(annotation: str) -> bool:
    return any(part in annotation for part in ("Expr", "Argument", "Generator", "Handler", "Case"))


EXPRESSIONS = frozenset(get_args(n.Expr))

FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(field for field, annotation in kind.__annotations__.items() if _holds_expressions(annotation))
    for kind in (*EXPRESSIONS, *get_args(n.Stmt))
}
"""The fields of a node in which expressions stand directly; those of a function or class are not the statement's."""
