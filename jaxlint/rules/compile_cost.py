"""JAX116 closed-over-constant, JAX117 unrolled-loop, JAX432 list-to-array: hints on what is slow to trace or move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from jaxlint.analysis.context import Context, Report, fix, insert
from jaxlint.analysis.events import ApiCall, Looped, SiteSeen
from jaxlint.analysis.frames import steps
from jaxlint.analysis.returned import behind
from jaxlint.analysis.values import Array, Items, Key, Many, Scalar, Value, is_traced, leaves
from jaxlint.model import Edit, Fix, Safety, Severity, Step
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_names, expressions, walk, walk_statements
from jaxlint.registry import Rule
from jaxlint.repair.hoist import function_names, names_read
from jaxlint.repair.loops import of_unrolled
from jaxlint.repair.parameters import Captured, as_arguments
from jaxlint.repair.spelling import spell

CONSTANT = Rule(
    "JAX116", "closed-over-constant", "a large array is compiled in as a constant", Severity.INFO, False, Safety.UNSAFE
)
UNROLLED = Rule(
    "JAX117", "unrolled-loop", "a Python loop is unrolled in the compiled code", Severity.INFO, False, Safety.UNSAFE
)
LISTS = Rule(
    "JAX432", "list-to-array", "a long list becomes a JAX array element by element", Severity.INFO, False, Safety.SAFE
)

NUMBERS = ("bool", "int", "float")
LARGE = 100_000
"""Elements from which on a constant slows compilation down."""

MANY_ROUNDS = 16
LONG_LIST = 256


def check_constant(event: SiteSeen, context: Context) -> Iterator[Report]:
    """An array that a jitted function reads from its surroundings."""
    closure = behind(event.value.function)
    if event.value.site.kind != "jit" or closure is None or event.frame.in_test() or event.frame.staged:
        return
    for name in sorted(function_names(closure.function)):
        scope = closure.scope.find(name)
        value = scope.names[name] if scope is not None else None
        if value is None or not any(_may_be_large(leaf) for leaf in leaves(value)):
            continue
        place = _first_read(closure.function, name)
        if place is not None:
            function, site = closure.function.name, event.value.site
            message = f"`{name}` is compiled into `{function}` as a constant; pass a large array as an argument"
            because = (Step(site.path, site.span.line, f"`{function}` is jitted"),)
            is_data = all(map(_is_data, leaves(value)))
            repair = as_arguments(event, [Captured(name, (place,))], context) if is_data else None
            yield Report(place.span, message, because, repair, path=closure.path)


def _may_be_large(value: Value) -> bool:
    """Whether an array has many elements, or an unknown number of them."""
    if not isinstance(value, Array) or value.trace is not None:
        return False
    if value.shape is None:
        return True
    dims = [dim if isinstance(dim, int) else LARGE for dim in value.shape]
    return bool(dims) and prod(dims) >= LARGE


def _is_data(leaf: Value) -> bool:
    """Whether jit takes a leaf as an argument."""
    return isinstance(leaf, (Array, Key)) or (isinstance(leaf, Scalar) and leaf.kind in (*NUMBERS, "complex", "none"))


def _first_read(function: n.Function, name: str) -> n.Name | None:
    for statement in walk_statements(function.body):
        for expression in expressions(statement):
            for node in walk(expression):
                if isinstance(node, n.Name) and node.name == name:
                    return node
    return None


def check_loop(event: Looped, context: Context) -> Iterator[Report]:
    """`for _ in range(n)` in a compiled function, where each round takes what the last one gave."""
    loop = event.statement
    if not event.frame.compiled or event.frame.in_test() or not _may_be_long(event.bounds):
        return
    carried = bound_names(loop.body) & {name for statement in loop.body for name in names_read(statement)}
    held = [names[name] for names in (event.before, event.after) for name in carried if name in names]
    if any(is_traced(leaf) for value in held for leaf in leaves(value)):
        message = "compile time grows with the rounds of this loop; use `lax.fori_loop` or `lax.scan`"
        yield Report(loop.iterable.span, message, steps(event.frame), of_unrolled(event, context))


def _may_be_long(bounds: tuple[Value, ...]) -> bool:
    last = bounds[1] if len(bounds) > 1 else bounds[0] if bounds else None
    if not isinstance(last, Scalar) or last.trace is not None:
        return False
    return not last.known or (isinstance(last.const, int) and last.const >= MANY_ROUNDS)


def check_list(event: ApiCall, context: Context) -> Iterator[Report]:
    """`jnp.array` of a list of Python numbers."""
    if event.path not in ("jax.numpy.array", "jax.numpy.asarray") or event.frame.compiled or event.frame.in_test():
        return
    given = event.arguments.get(0, "object")
    is_long = isinstance(given, Many) or (isinstance(given, Items) and len(given.items) >= LONG_LIST)
    if not is_long or not isinstance(given, (Items, Many)) or given.kind not in ("list", "tuple"):
        return
    elements = [given.element] if isinstance(given, Many) else given.items
    if all(isinstance(element, Scalar) and element.kind in NUMBERS for element in elements):
        message = "a list is taken element by element, ten times slower than NumPy does: `jnp.asarray(np.array(...))`"
        yield Report(event.span, message, (), _through_numpy(event.call, elements, context, sure=event.frame.known))


def _through_numpy(call: n.Call, elements: Sequence[Value], context: Context, *, sure: bool) -> Fix | None:
    """`jnp.asarray(np.array(...))`; JAX refuses integers that are too large, NumPy does not."""
    first, *others = call.arguments
    is_plain = first.keyword is None and all(argument.keyword == "dtype" for argument in others)
    if not is_plain or first.star or not isinstance(call.function, (n.Name, n.Attribute)):
        return None
    jnp, np = (spell(context.module, name, call.span) for name in ("jax.numpy.asarray", "numpy.array"))
    opened = Edit(call.function.span, f"{jnp.text}({np.text}")
    closed = insert(call.span.end_line, call.span.end_column, ")")
    is_safe = sure and all(isinstance(element, Scalar) and element.kind != "int" for element in elements)
    safety = Safety.SAFE if is_safe else Safety.UNSAFE
    return fix(safety, "build the array with NumPy", opened, closed, jnp.edits, np.edits)


RULES = (
    (CONSTANT, {SiteSeen: check_constant}),
    (UNROLLED, {Looped: check_loop}),
    (LISTS, {ApiCall: check_list}),
)
