"""All statements and expressions of a module, wherever they stand; gathered once, since every fix asks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeVar

from jaxlint.model import Span
from jaxlint.once import once
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_by, children, expressions, walk_statements

E = TypeVar("E", bound=n.Expr)


@once
def all_statements(module: n.Module) -> tuple[n.Stmt, ...]:
    """All statements, those of functions and classes included."""
    return tuple(_statements(module.body))


@once
def all_expressions(module: n.Module) -> tuple[n.Expr, ...]:
    """All expressions, those inside functions, classes, lambdas and decorators included."""
    return tuple(_nodes(module.body))


def expressions_of(module: n.Module, kind: type[E]) -> tuple[E, ...]:
    """All expressions of a kind, in the same order."""
    return _by_kind(module).get(kind, ())  # type: ignore[return-value]


def calls_named(module: n.Module, kind: type[n.Name] | type[n.Attribute], name: str) -> tuple[n.Call, ...]:
    """The calls `name(...)`, or `object.name(...)`."""
    return _calls(module).get((kind, name), ())


def expressions_inside(module: n.Module, span: Span) -> Iterator[n.Expr]:
    """The expressions that lie within a span, in the order of the text."""
    nodes, starts = _in_order(module)
    first = bisect_left(starts, (span.line, span.column))
    last = bisect_right(starts, (span.end_line, span.end_column))
    end = (span.end_line, span.end_column)
    return (node for node in nodes[first:last] if (node.span.end_line, node.span.end_column) <= end)


@once
def all_names(module: n.Module) -> frozenset[str]:
    """Every name that is bound or read anywhere."""
    return frozenset(_names(module.body))


@once
def names_in(function: n.Function) -> frozenset[str]:
    """Every name that is bound or read in a function and in those inside it."""
    return frozenset((*(parameter.name for parameter in function.parameters), *_names(function.body)))


@once
def global_names(module: n.Module) -> frozenset[str]:
    """The names that are bound at the top of a module."""
    return frozenset(name for statement in walk_statements(module.body) for name in bound_by(statement))


def count_reads(module: n.Module, name: str) -> int:
    """How often a name is read, in whatever scope."""
    return _reads(module)[name]


def is_quoted(module: n.Module, name: str) -> bool:
    """Whether a string is the name, as in `__all__` or for `getattr`."""
    return name in _strings(module)


@once
def _by_kind(module: n.Module) -> Mapping[type, tuple[n.Expr, ...]]:
    found: dict[type, list[n.Expr]] = {}
    for node in all_expressions(module):
        found.setdefault(type(node), []).append(node)
    return {kind: tuple(nodes) for kind, nodes in found.items()}


@once
def _calls(module: n.Module) -> Mapping[tuple[type, str], tuple[n.Call, ...]]:
    found: dict[tuple[type, str], list[n.Call]] = {}
    for call in expressions_of(module, n.Call):
        if isinstance(call.function, (n.Name, n.Attribute)):
            found.setdefault((type(call.function), call.function.name), []).append(call)
    return {key: tuple(calls) for key, calls in found.items()}


@once
def _in_order(module: n.Module) -> tuple[list[n.Expr], list[tuple[int, int]]]:
    """All expressions by where they begin, and where that is."""
    nodes = sorted(all_expressions(module), key=lambda node: (node.span.line, node.span.column))
    return nodes, [(node.span.line, node.span.column) for node in nodes]


@once
def _reads(module: n.Module) -> Counter[str]:
    assigned = (statement for statement in all_statements(module) if isinstance(statement, n.Assign))
    written = {id(target) for statement in assigned for target in statement.targets}
    return Counter(node.name for node in expressions_of(module, n.Name) if id(node) not in written)


@once
def _strings(module: n.Module) -> frozenset[str]:
    return frozenset(node.value for node in expressions_of(module, n.Constant) if isinstance(node.value, str))


def _names(body: tuple[n.Stmt, ...]) -> Iterator[str]:
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


def _statements(body: tuple[n.Stmt, ...]) -> Iterator[n.Stmt]:
    for statement in walk_statements(body):
        yield statement
        if isinstance(statement, n.ClassDefinition):
            yield from _statements(statement.definition.body)
        elif isinstance(statement, n.FunctionDefinition):
            yield from _statements(statement.function.body)


def _nodes(body: tuple[n.Stmt, ...]) -> Iterator[n.Expr]:
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
