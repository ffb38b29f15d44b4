"""JAX306 bool-mask-index: results whose size depends on values cannot be compiled."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import ApiCall, Indexed
from jaxlint.analysis.frames import steps
from jaxlint.analysis.values import Array, Items, Unknown, Value, is_traced, leaves
from jaxlint.model import Edit, Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.program.names import expressions, walk
from jaxlint.registry import Rule
from jaxlint.repair.calls import add_argument
from jaxlint.repair.hoist import enclosing
from jaxlint.repair.options import call_around
from jaxlint.repair.spelling import spell
from jaxlint.repair.text import operand

RULE = Rule(
    "JAX306", "bool-mask-index", "a mask or search whose result has no static size", Severity.ERROR, fix=Safety.UNSAFE
)

REDUCTIONS = frozenset({"mean", "prod", "any", "all", "std", "var"})
UPDATES = {"set": "", "add": "+", "multiply": "*", "mul": "*", "divide": "/", "power": "**", "subtract": "-"}

SEARCHES = {
    **{f"jax.numpy.{name}": "size"
       for name in ("unique", "unique_values", "nonzero", "flatnonzero", "argwhere", "where", "union1d", "setdiff1d",
                    "intersect1d", "extract", "compress")},
    "jax.numpy.bincount": "length", "jax.numpy.roots": "strip_zeros",
}  # fmt: skip
"""Functions whose result's size depends on values unless this is given (measured, JAX 0.10.2)."""


def check_index(event: Indexed, context: Context) -> Iterator[Report]:
    """`x[mask]` and `x.at[mask]` with a traced mask."""
    indices = event.index.items if isinstance(event.index, Items) else (event.index,)
    is_array = isinstance(event.base, Array) or (isinstance(event.base, Unknown) and is_traced(event.base))
    if not is_array or not any(map(_is_mask, indices)):
        return
    mask = context.text.at(event.node.index.span)
    message = f"`{mask}` is a traced boolean mask: the size of what it selects is not known when compiling"
    yield Report(event.span, message, steps(event.frame), _selected(event, context))


def _is_mask(value: Value) -> bool:
    return isinstance(value, Array) and value.dtype == "bool" and value.shape != () and is_traced(value)


def _selected(event: Indexed, context: Context) -> Fix | None:
    """`x.at[m].set(v)` becomes `jnp.where(m, v, x)`, and `x[m].mean()` becomes `x.mean(where=m)`."""
    if isinstance(event.index, Items) or not _covers(event.index, event.base):
        return None
    call = call_around(event.node.span, context)
    if call is None or not isinstance(call.function, n.Attribute) or call.function.base.span != event.node.span:
        return None
    if event.written:
        return _updated(event, call, call.function.name, context)
    if call.arguments:
        return None
    mask, base = (context.text.at(part.span) for part in (event.node.index, event.node.base))
    if call.function.name == "sum":
        where = spell(context.module, "jax.numpy.where", event.span)
        edit = Edit(event.node.span, f"{where.text}({mask}, {base}, 0)")
        return fix(Safety.UNSAFE, "select with `where`", edit, where.edits)
    if call.function.name in REDUCTIONS:
        edits = [Edit(event.node.span, base), add_argument(call, f"where={mask}", context)]
        return fix(Safety.UNSAFE, "reduce with `where=`", edits)
    return None


def _covers(mask: Value, array: Value) -> bool:
    """Whether the mask may have an entry for each element, and not one for each row."""
    if not isinstance(mask, Array) or not isinstance(array, Array) or mask.shape is None or array.shape is None:
        return True
    return len(mask.shape) == len(array.shape)


def _updated(event: Indexed, call: n.Call, method: str, context: Context) -> Fix | None:
    at, operator = event.node.base, UPDATES.get(method)
    if operator is None or len(call.arguments) != 1 or not isinstance(at, n.Attribute):
        return None
    given = call.arguments[0]
    if not isinstance(given.value, (n.Constant, n.Unary)):
        return None  # an array would have to be as long as the selection
    where = spell(context.module, "jax.numpy.where", event.span)
    mask, value, array = (context.text.at(span) for span in (event.node.index.span, given.span, at.base.span))
    base = operand(array, at.base)
    new = value if not operator else f"{base} {operator} {value}"
    edit = Edit(call.span, f"{where.text}({mask}, {new}, {array})")
    return fix(Safety.UNSAFE, "select with `where`", edit, where.edits)


def _is_first(event: ApiCall, context: Context) -> bool:
    path = enclosing(context.module, event.span)
    names = {path.rpartition(".")[2] for path in SEARCHES}
    for expression in expressions(path[-1]) if path else ():
        for node in walk(expression):
            if isinstance(node, n.Call) and isinstance(node.function, n.Attribute) and node.function.name in names:
                return node.span == event.span
    return True


def check_search(event: ApiCall, context: Context) -> Iterator[Report]:
    """`jnp.nonzero(x)` and its like without `size`."""
    given = event.arguments
    needed = SEARCHES.get(event.path)
    if needed is None or not given.complete or given.keyword(needed) is not None:
        return
    if event.path == "jax.numpy.where" and len(given.positional) + len(given.keywords) != 1:
        return
    if event.path == "jax.numpy.unique" and len(given.positional) > 5:
        return
    if not _is_first(event, context):
        return  # the statement has failed before
    if any(
        is_traced(leaf) and isinstance(leaf, (Array, Unknown)) for value in given.positional for leaf in leaves(value)
    ):
        message = f"`{event.path}` of a tracer needs `{needed}=`: how much it finds is not known when compiling"
        yield Report(event.span, message, steps(event.frame))


CHECKS = {Indexed: check_index, ApiCall: check_search}
