"""JAX501 grad-int-input: a derivative with respect to integers, which JAX refuses."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.values import Array, Scalar, Value, leaves
from jaxlint.model import Edit, Fix, Safety, Severity, Span, Step
from jaxlint.program import nodes as n
from jaxlint.registry import Rule

RULE = Rule("JAX501", "grad-int-input", "a derivative with respect to an integer", Severity.ERROR, fix=Safety.SAFE)
INTEGERS = ("int", "uint", "bool")
REVERSE = frozenset({"jax.grad", "jax.value_and_grad", "jax.jacrev", "jax.jacfwd", "jax.hessian", "jax.jacobian"})


def check(event: TransformCalled, context: Context) -> Iterator[Report]:
    """Integer arguments at the differentiated positions."""
    site = event.value.site
    allowed = site.option("allow_int")
    if site.transform not in REVERSE or (isinstance(allowed, Scalar) and allowed.const is True):
        return
    for position, integer in integers(event):
        node = event.arguments.nodes[position] if position < len(event.arguments.nodes) else None
        described = integer.dtype if isinstance(integer, Array) and integer.dtype else "an integer"
        message = f"`{site.transform}` differentiates argument {position}, which is {described}: JAX wants floats here"
        span = _called_at(event)
        because = (Step(site.path, site.span.line, f"`{site.transform}` is applied here"),)
        yield Report(span, message, because, _as_float(node, context))
        return


def _called_at(event: TransformCalled) -> Span:
    """The call, or the application of the outermost transform that makes it."""
    outer = event.frame.outermost_call()
    if event.call is not None:
        return event.span
    return outer.call_span if outer is not None and outer.call_span is not None else event.value.site.span


def integers(event: TransformCalled) -> Iterator[tuple[int, Value]]:
    """The differentiated arguments that are, or hold, an integer, with that integer."""
    given = event.arguments.positional
    for position in _differentiated(event.value.site.option("argnums")):
        for leaf in leaves(given[position]) if position < len(given) else ():
            if _is_integer(leaf):
                yield position, leaf
                break


def _differentiated(argnums: Value | None) -> tuple[int, ...]:
    if argnums is None:
        return (0,)
    numbers = [leaf.const for leaf in leaves(argnums) if isinstance(leaf, Scalar)]
    return tuple(number for number in numbers if isinstance(number, int))


def _is_integer(value: Value) -> bool:
    if isinstance(value, Scalar):
        return value.kind in ("int", "bool") and value.known
    return isinstance(value, Array) and value.dtype is not None and value.dtype.startswith(INTEGERS)


def _as_float(node: n.Expr | None, context: Context) -> Fix | None:
    """`2` becomes `2.0`."""
    if isinstance(node, n.Unary) and isinstance(node.operand, n.Constant):
        node = node.operand
    if not isinstance(node, n.Constant) or node.kind != "int":
        return None
    text = context.text.at(node.span)
    return fix(Safety.SAFE, "pass a float", Edit(node.span, f"{text}.0")) if text.isdigit() else None


CHECKS = {TransformCalled: check}
