"""JAX110 jit-in-loop and JAX111 jit-in-function: a compiled function that is made anew, and compiled anew, each time.

jit's cache is keyed by the function object: `jit(f)` of a module-level `f` compiles once however often it is written,
a lambda, nested function, partial, bound method or composition such as `grad(f)` is a new object each time.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix, insert
from jaxlint.analysis.events import SiteSeen
from jaxlint.analysis.values import Bound, Closure, Instance, Transformed, Value
from jaxlint.model import Edit, Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.hoist import definition_to_module, enclosing, out_of_loop, to_module
from jaxlint.repair.unbound import without_partial
from jaxlint.repair.uncapture import out_of_loop_with_arguments, to_module_with_arguments
from jaxlint.rules.vmap_of_jit import described

LOOP = Rule(
    "JAX110", "jit-in-loop", "a function compiled anew in each round of a loop", Severity.WARNING, fix=Safety.SAFE
)
FUNCTION = Rule(
    "JAX111", "jit-in-function", "a function compiled anew at each call", Severity.WARNING, fix=Safety.UNSAFE
)

RUN_ONCE = ("main", "train", "test", "bench", "profile", "demo", "example", "run_experiment", "plot", "eval", "fit")
"""Functions whose names begin so are entry points: what they compile is compiled once a run."""

LOADERS = ("load", "save", "restore", "init", "setup", "build", "from_")
"""Methods of libraries whose names begin so are mostly called once for an object."""


def is_rebuilt(event: SiteSeen) -> bool:
    """Whether a fresh function is compiled, used here and now, and thrown away."""
    compiles = event.value.site.kind in ("jit", "pmap")
    outside = event.frame.compiled or event.frame.mapped or event.frame.in_test()
    return compiles and event.fresh and not event.escapes and not event.broken and not outside


def check_loop(event: SiteSeen, context: Context) -> Iterator[Report]:
    """jit of a fresh function in a loop, called once each round."""
    if not event.loops or not is_rebuilt(event) or not is_used_once(event):
        return
    what = kind_of(event.value.function)
    message = (
        f"{what} is a new function in each round of the loop, so `{event.value.site.transform}` compiles it each time"
    )
    yield Report(event.value.site.span, message, (), _loop_fix(event, context))


def is_used_once(event: SiteSeen) -> bool:
    """Called where it stands, or a name that is called without a loop of its own."""
    return event.immediate or (event.eager_calls in (1, 2) and not event.calls_in_loop)


def check_function(event: SiteSeen, context: Context) -> Iterator[Report]:
    """jit of a fresh function inside a function that is called again and again."""
    function = event.frame.function
    if event.loops or function is None or not is_rebuilt(event) or event.calls_in_loop:
        return
    runs_once = function.name.lower().lstrip("_").startswith(RUN_ONCE) or function.name == "__init__"
    if runs_once and not event.repeated:
        return
    if not event.immediate and not _is_used_locally(event):
        return
    if not is_called_repeatedly(event):
        return
    what = kind_of(event.value.function)
    message = (
        f"{what} is a new function at each call of `{function.name}`, "
        f"so `{event.value.site.transform}` compiles it each time; make the compiled function once"
    )
    yield Report(event.value.site.span, message, (), _function_fix(event, context))


def _is_used_locally(event: SiteSeen) -> bool:
    return event.eager_calls > 0


def is_called_repeatedly(event: SiteSeen) -> bool:
    """Whether visible code runs the function in a loop or more than once, or it is a method or library function."""
    frame = event.frame
    if not frame.known:
        loads = frame.function is not None and frame.function.name.lstrip("_").startswith(LOADERS)
        return frame.owner is not None and isinstance(event.value.function, Closure) and not loads
    return event.repeated or event.eager_calls > 2


def kind_of(function: Value) -> str:
    """What kind of fresh function it is."""
    if isinstance(function, Closure):
        if function.function.is_lambda:
            return "the lambda"
        if isinstance(function.owner, Instance):
            return f"the bound method `{function.function.name}`"
        return f"`{function.function.name}`"
    if isinstance(function, Transformed):
        return f"`{function.site.transform.removeprefix('jax.')}({described(function.function)})`"
    return "the partial" if isinstance(function, Bound) else "the function"


def _name(event: SiteSeen) -> str:
    base = described(event.value.function).strip("<>")
    kinds = []
    function = event.value.function
    while isinstance(function, Transformed):
        kinds.append(function.site.kind)
        function = function.function
    return "_".join([base if base != "lambda" else "compiled", *(kinds or ["jit"])]) if base != "lambda" else "compiled"


def _loop_fix(event: SiteSeen, context: Context) -> Fix | None:
    moved = out_of_loop(event.node, _name(event), context) if isinstance(event.node, n.Call) else None
    if moved is not None:
        return fix(Safety.SAFE, "build the compiled function once, before the loop", moved[1])
    return without_partial(event, context) or out_of_loop_with_arguments(event, _name(event), context)


def _function_fix(event: SiteSeen, context: Context) -> Fix | None:
    if isinstance(event.node, n.Call):
        moved = to_module(event.node, _name(event), context)
        if moved is not None:
            return fix(Safety.UNSAFE, "build the compiled function once, at module level", moved[1])
        found = _stored_on_self(event, event.node, context)
        return found or without_partial(event, context) or to_module_with_arguments(event, _name(event), context)
    if isinstance(event.node, n.Function):
        edits = definition_to_module(event.node, context)
        if edits is not None:
            return fix(Safety.UNSAFE, "define the compiled function once, at module level", edits)
        return to_module_with_arguments(event, _name(event), context)
    return None


def _stored_on_self(event: SiteSeen, node: n.Call, context: Context) -> Fix | None:
    """`jax.jit(self.update)(...)` becomes an attribute made in `__init__`."""
    function = event.value.function
    written = context.text.at(node.span)
    if not isinstance(function, Closure) or not isinstance(function.owner, Instance) or "self." not in written:
        return None
    path = enclosing(context.module, node.span)
    cls = next((s for s in path if isinstance(s, n.ClassDefinition)), None)
    if cls is None:
        return None
    init = next(
        (
            s.function
            for s in cls.definition.body
            if isinstance(s, n.FunctionDefinition) and s.function.name == "__init__"
        ),
        None,
    )
    if init is None or not init.body or init.parameters[0].name != "self":
        return None
    name = f"_{function.function.name.lstrip('_')}_jit"
    last = init.body[-1].span
    indentation = context.text.indentation(init.body[0].span.line)
    stored = insert(last.end_line, last.end_column, f"\n{indentation}self.{name} = {written}")
    return fix(
        Safety.UNSAFE,
        f"compile `{function.function.name}` once, in `__init__`",
        stored,
        Edit(node.span, f"self.{name}"),
    )


RULES = ((LOOP, {SiteSeen: check_loop}), (FUNCTION, {SiteSeen: check_function}))
