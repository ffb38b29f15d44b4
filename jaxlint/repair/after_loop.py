"""Fetches what a loop collects from the device after the loop instead of in each round."""

from __future__ import annotations

from jaxlint.analysis.context import Context, fix
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_by, walk_statements
from jaxlint.repair.contents import expressions_of
from jaxlint.repair.hoist import enclosing, function_names, names_read
from jaxlint.repair.spelling import fresh_name, spell
from jaxlint.repair.text import insert_after

BUILTINS = ("float", "int")
METHODS = ("item", "tolist")


def fetched_after_loop(conversion: Span, context: Context) -> Fix | None:
    """`losses.append(float(loss))` keeps the arrays; `losses` is converted once the loop is done.

    Only for a list that the same function makes, and that the loop does nothing else with.
    """
    path = enclosing(context.module, conversion)
    call = _append(path[-1], conversion) if path else None
    if call is None or not isinstance(call.function, n.Attribute) or not isinstance(call.function.base, n.Name):
        return None
    name, given = call.function.base.name, call.arguments[0].value
    assert isinstance(given, n.Call)
    loop = _outermost_loop(path, name)
    if loop is None or not _is_made_by_display(path, loop, name, context) or _donates(context):
        return None
    fetch = spell(context.module, "jax.device_get", loop.span)
    value = fresh_name(context.module, "value")
    kept, element = _kept(given, value, context)
    fetched = f"{fetch.text}({name})"
    text = fetched if element is None else f"[{element} for {value} in {fetched}]"
    after = insert_after(loop.span, [f"{name} = {text}"], context)
    if after is None or kept is None:
        return None
    return fix(Safety.UNSAFE, "fetch the values after the loop", Edit(given.span, kept), after, fetch.edits)


def _append(statement: n.Stmt, conversion: Span) -> n.Call | None:
    """The call `name.append(conversion)` that is the whole statement."""
    call = statement.value if isinstance(statement, n.ExpressionStatement) else None
    if not isinstance(call, n.Call) or not isinstance(call.function, n.Attribute) or len(call.arguments) != 1:
        return None
    given = call.arguments[0]
    is_it = isinstance(given.value, n.Call) and given.value.span == conversion and not given.star
    return call if call.function.name == "append" and is_it else None


def _kept(given: n.Call, value: str, context: Context) -> tuple[str | None, str | None]:
    """What is kept in place of a conversion, and how a fetched `value` is converted (None: fetching is enough)."""
    function, text = given.function, context.text
    if isinstance(function, n.Attribute) and function.name in METHODS:
        return (text.at(function.base.span), f"{value}.{function.name}()") if not given.arguments else (None, None)
    if len(given.arguments) != 1 or given.arguments[0].keyword or given.arguments[0].star:
        return None, None
    kept = text.at(given.arguments[0].span)
    is_number = isinstance(function, n.Name) and function.name in BUILTINS
    return kept, f"{text.at(function.span)}({value})" if is_number else None


def _outermost_loop(path: list[n.Stmt], name: str) -> n.For | n.While | None:
    """The outermost loop of the function around that reads the list once and does not bind it."""
    start = max((i for i, s in enumerate(path) if isinstance(s, (n.FunctionDefinition, n.ClassDefinition))), default=-1)
    for statement in path[start + 1 :]:
        if isinstance(statement, (n.For, n.While)):
            reads = sum(read == name for read in names_read(statement))
            binds = any(name in bound_by(inner) for inner in walk_statements((statement,)))
            if reads == 1 and not binds and not statement.otherwise:
                return statement
    return None


def _is_made_by_display(path: list[n.Stmt], loop: n.Stmt, name: str, context: Context) -> bool:
    """Whether `name = []` before the loop is all that binds the name, so that nothing else holds the list."""
    functions = [statement for statement in path if isinstance(statement, n.FunctionDefinition)]
    body = functions[-1].function.body if functions else context.module.body
    inner = (statement.function for statement in walk_statements(body) if isinstance(statement, n.FunctionDefinition))
    lambdas = (node.function for node in expressions_of(context.module, n.Lambda))
    if any(name in function_names(function) for function in (*inner, *lambdas)):
        return False  # they may read the list while the loop runs
    binders = [statement for statement in walk_statements(body) if name in bound_by(statement)]
    if len(binders) != 1 or not isinstance(binders[0], n.Assign) or binders[0].span > loop.span:
        return False
    targets, value = binders[0].targets, binders[0].value
    pairs = list(_pairs(targets[0], value)) if len(targets) == 1 and value is not None else []
    return any(bound == name and isinstance(given, n.Sequence) and given.kind == "list" for bound, given in pairs)


def _pairs(target: n.Expr, value: n.Expr) -> list[tuple[str, n.Expr]]:
    if isinstance(target, n.Name):
        return [(target.name, value)]
    if isinstance(target, n.Sequence) and isinstance(value, n.Sequence) and len(target.elements) == len(value.elements):
        return [pair for one, other in zip(target.elements, value.elements, strict=True) for pair in _pairs(one, other)]
    return []


def _donates(context: Context) -> bool:
    """Whether some jit of the file donates: what is kept may be gone by the time that it is fetched."""
    calls = expressions_of(context.module, n.Call)
    return any((argument.keyword or "").startswith("donate") for call in calls for argument in call.arguments)
