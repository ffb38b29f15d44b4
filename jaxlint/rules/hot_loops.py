"""JAX103 unjitted-hot-loop, JAX114 shape-retrace, JAX115 python-scalar-retrace, JAX431 host-sync-in-loop: hints."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import ApiCall, FunctionCalled, MethodCall, TransformCalled
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.returned import behind
from jaxlint.analysis.values import Array, Bound, Items, Key, Scalar, Transformed, Value, leaves
from jaxlint.model import Edit, Fix, Safety, Severity, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_names, expressions, target_names, walk, walk_statements
from jaxlint.registry import Rule
from jaxlint.repair.after_loop import fetched_after_loop
from jaxlint.repair.compiled import can_be_decorated, compiled_once, jitted, only_computes
from jaxlint.repair.division import bound_to
from jaxlint.repair.hoist import enclosing, free_names, function_names
from jaxlint.repair.spelling import spell
from jaxlint.rules.vmap_of_jit import described

UNJITTED = Rule(
    "JAX103", "unjitted-hot-loop", "a loop runs array operations one by one", Severity.INFO, False, Safety.UNSAFE
)
SHAPE = Rule("JAX114", "shape-retrace", "the last slice of a loop has another shape", Severity.INFO, False)
SCALAR = Rule(
    "JAX115", "python-scalar-retrace", "a Python number becomes an array in the second round", Severity.INFO, False,
    Safety.SAFE,
)  # fmt: skip
SYNC = Rule("JAX431", "host-sync-in-loop", "each round waits for the device", Severity.INFO, False, Safety.UNSAFE)

DERIVATIVES = ("vmap", "grad", "value_and_grad", "jacfwd", "jacrev", "hessian")
FEW_OPERATIONS = 4
CONVERSIONS = ("builtins.float", "builtins.int", "numpy.asarray", "numpy.array", "jax.device_get")


def is_eager(frame: Frame) -> bool:
    """Whether the code runs op by op, on a path that visible code takes."""
    return frame.known and not frame.compiled and not frame.mapped and not frame.in_test()


def loop_around(span: Span, context: Context) -> n.For | n.While | None:
    """The innermost loop statement around a place."""
    path = enclosing(context.module, span)
    return next((statement for statement in reversed(path) if isinstance(statement, (n.For, n.While))), None)


# unjitted-hot-loop


def check_transform(event: TransformCalled, context: Context) -> Iterator[Report]:
    """An eager map or derivative that is called in each round."""
    site = event.value.site
    if event.call is None or not event.frame.loops or not is_eager(event.frame) or site.kind not in DERIVATIVES:
        return
    if _is_jitted(event.value.function):
        return  # vmap-of-jit, grad-of-jit
    message = f"`{site.transform}` runs op by op in each round of the loop; jit it, or the loop's step"
    yield Report(event.span, message, (), _compiled_transform(event, context))


def _compiled_transform(event: TransformCalled, context: Context) -> Fix | None:
    name = f"{described(event.value.function).strip('<>')}_{event.value.site.kind}"
    closure = behind(event.value.function)
    if closure is None or not _takes_arrays(event.arguments) or not only_computes(closure.function):
        return None
    if _reads_what_changes(closure.function, event.span, context) or not event.can_be_jitted():
        return None
    return compiled_once(event.value.site, name, context)


def _takes_arrays(arguments: Arguments) -> bool:
    """Whether jit surely takes the arguments."""
    kinds = ("bool", "int", "float", "complex")
    found = [leaf for value in arguments.all() for leaf in leaves(value)]
    return arguments.complete and all(
        isinstance(leaf, (Array, Key)) or (isinstance(leaf, Scalar) and leaf.kind in kinds) for leaf in found
    )


def _reads_what_changes(function: n.Function, call: Span, context: Context) -> bool:
    """Whether the function reads names that the loops around its call bind: compiled, it would not see them change."""
    loops = [statement for statement in enclosing(context.module, call) if isinstance(statement, (n.For, n.While))]
    return bool(bound_names(tuple(loops)) & function_names(function))


def _is_jitted(function: Value) -> bool:
    while isinstance(function, (Transformed, Bound)):
        if isinstance(function, Transformed) and function.site.kind == "jit":
            return True
        function = function.function
    return False


def check_function(event: FunctionCalled, context: Context) -> Iterator[Report]:
    """A step of several operations whose result goes into the next round."""
    if not event.frame.loops or not is_eager(event.frame):
        return
    path = enclosing(context.module, event.span)
    statement = path[-1] if path else None
    if not isinstance(statement, n.Assign) or statement.value is not event.call:
        return
    bound = {name for target in statement.targets for name in target_names(target)}
    has_arrays = any(isinstance(leaf, Array) and not leaf.host for leaf in leaves(event.result))
    function = event.function.function
    if has_arrays and bound & free_names(event.call) and _operations(function) >= FEW_OPERATIONS:
        message = f"`{function.name}` runs op by op in each round; jit it, or put the loop into `lax.scan` inside a jit"
        can_be_jitted = (
            event.function.path == context.module.path
            and can_be_decorated(function, context)
            and only_computes(function)
            and _takes_arrays(event.arguments)
            and not _reads_what_changes(function, event.span, context)
            and event.can_be_jitted()
        )
        yield Report(event.span, message, (), jitted(function, context) if can_be_jitted else None)


def _operations(function: n.Function) -> int:
    nodes = (
        node
        for statement in walk_statements(function.body)
        for expression in expressions(statement)
        for node in walk(expression)
    )
    found = list(nodes)
    if any(isinstance(node, (n.Attribute, n.Name)) and node.name in ("jit", "filter_jit") for node in found):
        return 0
    return sum(isinstance(node, (n.Binary, n.Call)) for node in found)


# shape-retrace


def check_slices(event: TransformCalled, context: Context) -> Iterator[Report]:
    """`data[lo : lo + size]` for `lo in range(0, n, size)`, given to a jitted function."""
    if event.call is None or event.value.site.kind != "jit" or not event.frame.loops or event.frame.compiled:
        return
    loop = loop_around(event.span, context)
    if not isinstance(loop, n.For) or not isinstance(loop.target, n.Name) or not isinstance(loop.iterable, n.Call):
        return
    step = loop.iterable.arguments[2].value if len(loop.iterable.arguments) == 3 else None
    if step is None or not isinstance(loop.iterable.function, n.Name) or loop.iterable.function.name != "range":
        return
    for argument in event.call.arguments:
        if _is_batch(argument.value, loop.target.name, context.text.at(step.span), context):
            message = "the last slice may be shorter, and the function then compiles again: pad it or drop it"
            yield Report(event.span, message)
            return


def _is_batch(node: n.Expr, name: str, step: str, context: Context) -> bool:
    part = node.index if isinstance(node, n.Subscript) else None
    if isinstance(part, n.Sequence) and part.elements:
        part = part.elements[0]
    if not isinstance(part, n.Slice) or not isinstance(part.lower, n.Name) or part.lower.name != name:
        return False
    upper = part.upper
    return isinstance(upper, n.Binary) and upper.operator == "+" and context.text.at(upper.right.span) == step


# python-scalar-retrace


def check_scalar(event: TransformCalled, context: Context) -> Iterator[Report]:
    """`avg = 0.0` before a loop, then `avg = jitted(avg, x)` in it."""
    if event.call is None or event.value.site.kind != "jit" or not event.frame.loops or event.frame.compiled:
        return
    path = enclosing(context.module, event.span)
    statement = path[-1] if path else None
    if not isinstance(statement, n.Assign) or statement.value is not event.call or len(statement.targets) != 1:
        return
    for target, result in _bound(statement.targets[0], event.result):
        for value, node in zip(event.arguments.positional, event.arguments.nodes, strict=False):
            is_same = isinstance(node, n.Name) and node.name == target
            if is_same and isinstance(value, Scalar) and isinstance(result, Array) and _is_another(value, result):
                message = f"`{target}` is a Python {value.kind} first and an array then: the function compiles twice"
                assert isinstance(node, n.Name)
                yield Report(event.span, message, (), _as_array(node, result, context))


def _is_another(first: Scalar, result: Array) -> bool:
    """Whether a number is traced anew once it is an array: one with the weak type of the number is the same to JAX.

    Measured, JAX 0.10.2: `x * 0.9 + 1.0` of a Python float is traced once, `x * 0.9 + jnp.ones(())` twice.
    """
    stays = result.weak is True and result.shape == () and (result.dtype or "").startswith(first.kind)
    return first.kind in ("int", "float") and not stays


def _bound(target: n.Expr, result: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(target, n.Name):
        yield target.name, result
    elif isinstance(target, n.Sequence) and isinstance(result, Items) and len(target.elements) == len(result.items):
        for element, item in zip(target.elements, result.items, strict=True):
            yield from _bound(element, item)


def _as_array(name: n.Name, result: Array, context: Context) -> Fix | None:
    """The number that the name starts with, as an array of the type that comes back."""
    start = bound_to(name, context)
    if not isinstance(start, n.Constant) or result.dtype is None or result.shape != ():
        return None
    dtype = spell(context.module, f"jax.numpy.{result.dtype}", start.span)
    edit = Edit(start.span, f"{dtype.text}({context.text.at(start.span)})")
    return fix(Safety.SAFE, f"start with {result.dtype}", edit, dtype.edits)


# host-sync-in-loop


def check_conversion(event: ApiCall, context: Context) -> Iterator[Report]:
    """`float(loss)` in each round."""
    if event.path in CONVERSIONS and event.arguments.positional:
        yield from _synced(event.frame, event.span, event.arguments.positional[0], context)


def check_method(event: MethodCall, context: Context) -> Iterator[Report]:
    """`loss.item()` in each round."""
    if event.name in ("item", "tolist", "block_until_ready"):
        yield from _synced(event.frame, event.span, event.owner, context)


def _synced(frame: Frame, span: Span, value: Value, context: Context) -> Iterator[Report]:
    is_array = isinstance(value, Array) and not value.host and value.trace is None
    if not is_array or not frame.loops or frame.compiled or frame.in_test():
        return
    path = enclosing(context.module, span)
    start = max((i for i, statement in enumerate(path) if isinstance(statement, (n.For, n.While))), default=None)
    if start is None or any(isinstance(statement, n.If) for statement in path[start:]):
        return
    message = "each round waits for the device here; fetch the values after the loop, or every few rounds"
    yield Report(span, message, (), fetched_after_loop(span, context))


RULES = (
    (UNJITTED, {TransformCalled: check_transform, FunctionCalled: check_function}),
    (SHAPE, {TransformCalled: check_slices}),
    (SCALAR, {TransformCalled: check_scalar}),
    (SYNC, {ApiCall: check_conversion, MethodCall: check_method}),
)
