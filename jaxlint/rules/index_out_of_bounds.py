"""JAX521 index-out-of-bounds: JAX clamps reads, drops writes, and never raises for an index that is too large."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.differences import certain
from jaxlint.analysis.events import ApiCall, Indexed
from jaxlint.analysis.values import Array, Items, Scalar, Value
from jaxlint.model import Severity, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import expressions, walk
from jaxlint.registry import Rule
from jaxlint.repair.hoist import enclosing, holds
from jaxlint.repair.options import call_around

RULE = Rule("JAX521", "index-out-of-bounds", "a constant index beyond the end of an array", Severity.ERROR)


def check_index(event: Indexed, context: Context) -> Iterator[Report]:
    """`x[5]` of five elements, and `x[i + 1]` in a loop over all of them."""
    base = event.base
    if not isinstance(base, Array) or base.host or not base.shape or (event.written and _has_mode(event, context)):
        return
    effect = "the update is dropped" if event.written else "the last element is read"
    indices = event.index.items if isinstance(event.index, Items) else (event.index,)
    if all(isinstance(index, Scalar) and index.kind == "int" for index in indices):
        for axis, (index, size) in enumerate(zip(indices, base.shape, strict=False)):
            if isinstance(index, Scalar) and _is_outside(index, size):
                message = f"index {index.const} is out of bounds for axis {axis} of size {size}: {effect}, silently"
                yield Report(event.span, message)
                return
    if not event.written and _passes_the_end(event.node, context):
        written = context.text.at(event.node.index.span)
        message = f"in the last round `{written}` is the size of the array: {effect}, silently"
        yield Report(event.span, message)


def _has_mode(event: Indexed, context: Context) -> bool:
    """Whether `.at[...]` is told what to do beyond the end."""
    method = call_around(event.node.span, context)
    return method is not None and any(argument.keyword == "mode" for argument in method.arguments)


def _is_outside(index: Scalar, size: object) -> bool:
    if not index.known or not isinstance(index.const, int) or not isinstance(size, int):
        return False
    return size > 0 and not -size <= index.const < size  # of nothing, JAX raises


def _passes_the_end(node: n.Subscript, context: Context) -> bool:
    """`x[i + 1]` where `i` runs over `range(x.shape[0])` or `range(len(x))`, without a condition."""
    index = node.index
    if not isinstance(index, n.Binary) or index.operator != "+" or not isinstance(index.left, n.Name):
        return False
    if not isinstance(index.right, n.Constant) or not isinstance(index.right.value, int) or index.right.value < 1:
        return False
    runs_over = _range_of(index.left.name, node.span, context)
    array = context.text.at(node.base.span)
    return runs_over is not None and runs_over in (f"{array}.shape[0]", f"len({array})")


def _range_of(name: str, inner: Span, context: Context) -> str | None:
    """The text of `n` where the innermost loop binds the name by `range(n)` and nothing in it decides."""
    path = enclosing(context.module, inner)
    statement = path[-1] if path else None
    loops: list[tuple[n.Expr, n.Expr]] = []
    for node in _expressions(statement):
        if isinstance(node, n.Comprehension) and holds(node.span, inner):
            if len(node.generators) != 1 or node.generators[0].conditions or _decides(node.element):
                return None
            loops.append((node.generators[0].target, node.generators[0].iterable))
    for outer in path:
        if isinstance(outer, n.For):
            loops.append((outer.target, outer.iterable))
        if isinstance(outer, (n.If, n.While, n.Try, n.Match)):
            return None
    if statement is not None and any(_decides(node) for node in _expressions(statement)):
        return None
    found = [iterable for target, iterable in loops if isinstance(target, n.Name) and target.name == name]
    call = found[0] if len(found) == 1 else None
    if not isinstance(call, n.Call) or not isinstance(call.function, n.Name) or call.function.name != "range":
        return None
    return context.text.at(call.arguments[0].value.span) if len(call.arguments) == 1 else None


def _expressions(statement: n.Stmt | None) -> Iterator[n.Expr]:
    if statement is not None:
        for expression in expressions(statement):
            yield from walk(expression)


def _decides(node: n.Expr) -> bool:
    return any(isinstance(part, (n.Conditional, n.Boolean)) for part in walk(node))


def check_slice(event: ApiCall, context: Context) -> Iterator[Report]:
    """`lax.dynamic_slice` with constants whose end lies behind the array's."""
    if event.path != "jax.lax.dynamic_slice":
        return
    names = ("operand", "start_indices", "slice_sizes")
    array, starts, sizes = (event.arguments.get(position, name) for position, name in enumerate(names))
    if not isinstance(array, Array) or array.shape is None:
        return
    if not isinstance(starts, Items) or not isinstance(sizes, Items):
        return
    for start, size, dim in zip(map(_number, starts.items), map(_number, sizes.items), array.shape, strict=False):
        if start is not None and size is not None and isinstance(dim, int) and start + size > dim:
            message = f"a slice of {size} from {start} ends behind the {dim} elements: its start is moved, silently"
            yield Report(event.span, message)
            return


def _number(value: Value) -> int | None:
    found = certain(value)
    return found.const if isinstance(found, Scalar) and found.known and isinstance(found.const, int) else None


CHECKS = {Indexed: check_index, ApiCall: check_slice}
