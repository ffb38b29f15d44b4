"""JAX520 x64-dtype: 64-bit types that JAX quietly makes 32-bit ones, for `jax_enable_x64` is off."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix, insert
from jaxlint.analysis.events import ApiCall, MethodCall
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.values import Api, Array, Scalar, Value
from jaxlint.model import Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.program.names import walk
from jaxlint.registry import Rule
from jaxlint.repair.contents import all_expressions
from jaxlint.repair.spelling import spell

RULE = Rule("JAX520", "x64-dtype", "a 64-bit type while 64-bit types are off", Severity.WARNING, fix=Safety.UNSAFE)

WIDE = frozenset({"float64", "int64", "uint64", "complex128"})
TAKERS = ("jax.numpy.asarray", "jax.numpy.array")
QUESTIONS = ("finfo", "iinfo", "issubdtype", "dtype", "promote_types", "result_type", "can_cast")
NARROW = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}


def check_call(event: ApiCall, context: Context) -> Iterator[Report]:
    """`jnp.zeros(3, dtype=jnp.float64)`, and NumPy integers that do not fit."""
    if not event.path.startswith(("jax.numpy.", "jax.random.", "jax.nn.")) or _is_question(event.path):
        return
    dtype = next((name for name in map(_wide, event.arguments.all()) if name is not None), None)
    if dtype is not None and not _is_on(event.frame, context):
        yield _report(event, dtype, context)
    elif dtype is None and event.path in TAKERS and _overflows(event) and not _is_on(event.frame, context):
        message = "these integers need 64 bits, which are off: they wrap around, silently"
        yield Report(event.span, message, (), _enable(event.frame, context))


def check_method(event: MethodCall, context: Context) -> Iterator[Report]:
    """`x.astype(jnp.float64)` of a JAX array."""
    is_array = isinstance(event.owner, Array) and not event.owner.host
    if event.name not in ("astype", "view") or not is_array:
        return
    dtype = next((name for name in map(_wide, event.arguments.all()) if name is not None), None)
    if dtype is not None and not _is_on(event.frame, context):
        yield _report(event, dtype, context)


def _report(event: ApiCall | MethodCall, dtype: str, context: Context) -> Report:
    message = f"{dtype} is asked for, but 64-bit types are off: the result is {NARROW[dtype]}"
    return Report(event.span, message, (), _enable(event.frame, context))


def _is_question(path: str) -> bool:
    return path.rpartition(".")[2] in QUESTIONS


def _wide(value: Value) -> str | None:
    """The 64-bit dtype that a value names."""
    if isinstance(value, Scalar) and value.known and value.const in WIDE:
        return str(value.const)
    if isinstance(value, Api):
        module, _, name = value.path.rpartition(".")
        if module in ("jax.numpy", "numpy") and name in WIDE:
            return name
    return None


def _is_on(frame: Frame, context: Context) -> bool:
    """Whether the program may switch 64-bit types on, or nobody knows who runs this."""
    if not frame.known:
        return True
    modules = [context.files.context(path).module for path in {caller.path for caller in frame.chain()}]
    return any(_names_switch(node) for module in modules for node in all_expressions(module))


def _names_switch(node: n.Expr) -> bool:
    if isinstance(node, n.Constant):
        return node.value in ("jax_enable_x64", "JAX_ENABLE_X64")
    return isinstance(node, (n.Attribute, n.Name)) and "enable_x64" in node.name


def _overflows(event: ApiCall) -> bool:
    value = event.arguments.get(0, "object")
    node = event.arguments.node(0, "object")
    is_wide = isinstance(value, Array) and value.host and value.dtype in ("int64", "uint64")
    return is_wide and node is not None and any(_is_large(part) for part in walk(node))


def _is_large(node: n.Expr) -> bool:
    return isinstance(node, n.Constant) and isinstance(node.value, int) and abs(node.value) >= 2**31


def _enable(frame: Frame, context: Context) -> Fix | None:
    """Switches 64-bit types on behind the imports of the program's main module."""
    if frame.path != context.module.path or any(caller.path != frame.path for caller in frame.chain()):
        return None
    imports = [statement for statement in context.module.body if isinstance(statement, n.Import)]
    if not imports:
        return None
    config = spell(context.module, "jax.config.update", imports[-1].span)
    after = imports[-1].span.end_line + 1
    if after > len(context.text.lines):
        return None
    edit = insert(after, 1, f'\n{config.text}("jax_enable_x64", True)\n')
    return fix(Safety.UNSAFE, "switch 64-bit types on", edit, config.edits)


CHECKS = {ApiCall: check_call, MethodCall: check_method}
