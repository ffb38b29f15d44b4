"""JAX503 where-grad-nan: `where` hides a NaN from the value, but not from the gradient.

The derivative of the branch that is not selected is multiplied by zero, and 0 * inf is NaN. The argument of the risky
operation must be guarded too.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import ApiCall
from jaxlint.analysis.frames import steps
from jaxlint.analysis.values import Value, leaves
from jaxlint.model import Edit, Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.program.names import walk
from jaxlint.registry import Rule
from jaxlint.repair.division import bound_to

RULE = Rule("JAX503", "where-grad-nan", "a guarded branch whose gradient is NaN", Severity.ERROR, fix=Safety.SAFE)

DERIVATIVES = ("grad", "value_and_grad", "jacrev", "jacfwd", "hessian")
RISKY = frozenset({"sqrt", "log", "log2", "log10", "rsqrt", "reciprocal", "cbrt"})


def check(event: ApiCall, context: Context) -> Iterator[Report]:
    """`jnp.where(x > 0, jnp.sqrt(x), 0.0)` under a derivative."""
    if event.path != "jax.numpy.where" or len(event.arguments.positional) != 3 or event.arguments.keywords:
        return
    test, *branches = event.arguments.nodes
    guarded = _guarded(test, context)
    if guarded is None:
        return
    for number, branch in enumerate(branches):
        found = next(_risky(branch, guarded, context), None) if branch is not None else None
        if found is not None and _is_differentiated(event.arguments.positional[number + 1]):
            shown, source = context.text.at(found.span), context.text.at(_test(test).span)
            message = f"where `{source}` decides otherwise, the branch's gradient is NaN: guard `{shown}` in it too"
            yield Report(event.span, message, steps(event.frame), _guard_twice(event, found, number, context))
            return


def _is_differentiated(value: Value) -> bool:
    return any(
        leaf.trace is not None and any(parameter.site.kind in DERIVATIVES for parameter in leaf.trace.parameters)
        for leaf in leaves(value)
    )


def _test(node: n.Expr | None) -> n.Expr:
    assert node is not None
    return node


def _guarded(test: n.Expr | None, context: Context) -> str | None:
    """The text of what the condition compares with zero."""
    if isinstance(test, n.Name):
        test = bound_to(test, context)
    if not isinstance(test, n.Compare) or len(test.rest) != 1:
        return None
    (operator, right), left = test.rest[0], test.left
    if operator not in ("==", "!=", ">", "<", ">=", "<="):
        return None
    for side, other in ((left, right), (right, left)):
        if isinstance(other, n.Constant) and other.value == 0 and not isinstance(side, n.Constant):
            return context.text.at(side.span)
    return None


def _risky(branch: n.Expr, guarded: str, context: Context) -> Iterator[n.Expr]:
    """The operands that make the branch or its derivative infinite where they are zero."""
    for node in walk(branch):
        if isinstance(node, n.Binary) and node.operator == "/" and context.text.at(node.right.span) == guarded:
            yield node.right
        elif isinstance(node, n.Binary) and node.operator == "**" and context.text.at(node.left.span) == guarded:
            if isinstance(node.right, n.Constant) and isinstance(node.right.value, float) and node.right.value < 1:
                yield node.left
        elif isinstance(node, n.Call) and _name(node.function) in RISKY and len(node.arguments) == 1:
            argument = node.arguments[0].value
            if context.text.at(argument.span) == guarded:
                yield argument


def _name(function: n.Expr) -> str:
    return function.name if isinstance(function, (n.Attribute, n.Name)) else ""


def _guard_twice(event: ApiCall, found: n.Expr, number: int, context: Context) -> Fix | None:
    """The argument becomes 1 where the branch is not taken."""
    test = context.text.at(_test(event.arguments.nodes[0]).span)
    where, text = context.text.at(event.call.function.span), context.text.at(found.span)
    parts = (text, "1.0") if number == 0 else ("1.0", text)
    if "\n" in test + where + text:
        return None
    return fix(Safety.SAFE, "guard the argument as well", Edit(found.span, f"{where}({test}, {', '.join(parts)})"))


CHECKS = {ApiCall: check}
