"""Where a function value returns: the statements of the project function behind it."""

from __future__ import annotations

from dataclasses import replace

from jaxlint.analysis.values import Bound, Closure, Transformed, Value
from jaxlint.program import nodes as n
from jaxlint.program.names import walk_statements


def behind(function: Value) -> Closure | None:
    """The project function that is run, through transforms and bound arguments."""
    while isinstance(function, (Transformed, Bound)):
        function = function.function
    return function if isinstance(function, Closure) else None


def rewritten(value: Transformed, function: n.Function) -> Transformed:
    """The transforms of a closure (nothing else is in between), of another function in its place."""
    inner = value.function
    if isinstance(inner, Transformed):
        return replace(value, function=rewritten(inner, function))
    return replace(value, function=replace(inner, function=function)) if isinstance(inner, Closure) else value


def returns(function: n.Function) -> list[n.Return]:
    """The return statements of a function; a lambda has one."""
    return [statement for statement in walk_statements(function.body) if isinstance(statement, n.Return)]


def only_return(function: Value) -> tuple[Closure, n.Expr] | None:
    """The function with what it returns, where it returns at one place only."""
    closure = behind(function)
    if closure is None:
        return None
    found = returns(closure.function)
    if len(found) != 1 or found[0].value is None:
        return None
    return closure, found[0].value
