"""How a function's body uses one of its parameters."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.program import nodes as n
from jaxlint.program.names import children, expressions
from jaxlint.repair.hoist import inner_blocks


def is_only_arithmetic(function: n.Function, name: str) -> bool:
    """Whether a parameter is only read as a number that may be traced: in arithmetic, or as the index of an array.

    Tests, loops, calls, container displays and nested functions count as other uses.
    """
    uses = list(_uses(function.body, name))
    return bool(uses) and all(use == "arithmetic" for use in uses)


def _uses(body: tuple[n.Stmt, ...], name: str) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, n.FunctionDefinition):
            yield from ("other" for use in _uses(statement.function.body, name))
            continue
        bound = {id(target) for target in statement.targets} if isinstance(statement, n.Assign) else set()
        for expression in (e for e in expressions(statement) if not (id(e) in bound and isinstance(e, n.Name))):
            kind = "arithmetic" if isinstance(statement, (n.Return, n.Assign, n.AugmentedAssign)) else "other"
            yield from _in(expression, name, kind, top=True)
        for block in inner_blocks(statement):
            yield from _uses(block, name)


def _in(expression: n.Expr, name: str, kind: str, *, top: bool = False) -> Iterator[str]:
    if isinstance(expression, n.Name):
        if expression.name == name:
            yield "other" if top else kind
    elif isinstance(expression, n.Lambda):
        yield from ("other" for use in _uses(expression.function.body, name))
    elif isinstance(expression, n.Subscript):
        yield from _in(expression.base, name, "other")
        yield from _in(expression.index, name, kind)
    elif isinstance(expression, n.Conditional):
        yield from _in(expression.test, name, "other")
        yield from _in(expression.body, name, kind)
        yield from _in(expression.otherwise, name, kind)
    elif isinstance(expression, n.Call):
        # `jnp.exp(2 * rate)` needs a number, `f(rate)` may need anything.
        for child in children(expression):
            yield from _in(child, name, "arithmetic" if isinstance(child, (n.Binary, n.Unary)) else "other")
    else:
        inner = kind if isinstance(expression, (n.Binary, n.Unary, n.Sequence)) else "other"
        for child in children(expression):
            yield from _in(child, name, inner)
