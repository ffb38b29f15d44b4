"""JAX301 traced-branch, JAX302 traced-while and JAX310 missing-static-argnames share one analysis.

A flag that callers pass as a Python bool wants to be static; a condition on numbers wants `jnp.where` or `lax.cond`.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.api import is_dtype
from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import Branch, SiteSeen, StaticWanted, TransformCalled
from jaxlint.analysis.frames import Frame, is_test_path, steps
from jaxlint.analysis.signature import signature, static_parameters
from jaxlint.analysis.values import (
    NONE,
    Api,
    Array,
    Bound,
    Closure,
    Scalar,
    Site,
    TracedParameter,
    Transformed,
    Unknown,
    Value,
    is_traced,
    options,
)
from jaxlint.model import Fix, Safety, Severity, Span
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.conditions import as_array_operation
from jaxlint.repair.loops import as_while_loop
from jaxlint.repair.statics import make_static

BRANCH = Rule("JAX301", "traced-branch", "Python branches on a traced value", Severity.ERROR, fix=Safety.SAFE)
WHILE = Rule("JAX302", "traced-while", "a Python `while` tests a traced value", Severity.ERROR, fix=Safety.UNSAFE)
STATIC = Rule(
    "JAX310",
    "missing-static-argnames",
    "a parameter that Python decides by is not static",
    Severity.ERROR,
    fix=Safety.SAFE,
)

FORMS = {
    "if": "`if` asks", "assert": "`assert` asks", "conditional": "the conditional expression asks", "and": "`and` asks",
    "or": "`or` asks", "not": "`not` asks", "chained comparison": "the chained comparison asks",
    "comprehension": "the comprehension's condition asks", "min": "`min` asks", "max": "`max` asks",
    "sorted": "`sorted` asks", "in": "`in` asks", "bool": "`bool()` asks", "any": "`any` asks", "all": "`all` asks",
    "case": "`case` asks", "while": "`while` asks",
}  # fmt: skip

FUNCTIONS = ("jax.lax.", "jax.nn.", "jax.numpy.", "jax.scipy.")


def is_abstract(frame: Frame) -> bool:
    """Whether some transform runs this code: nothing is a tracer elsewhere.

    What another file's tests run under a transform is taken to pass them.
    """
    is_tested = any(outer.path != frame.path and is_test_path(outer.path) for outer in frame.chain())
    return not is_tested and any(outer.site is not None for outer in frame.chain())


def traced(event: Branch) -> Array | None:
    """The option of the tested value that surely is a tracer, the truth of which cannot be asked."""
    may_be_static = not isinstance(event.expression, n.Compare) and any(
        isinstance(o, Scalar) and o.kind == "bool" and o.trace is None for o in options(event.value)
    )
    value = event.value if is_abstract(event.frame) and not may_be_static else NONE
    return next((o for o in options(value) if isinstance(o, Array) and is_traced(o) and not _in_arguments(o)), None)


def _in_arguments(value: Array) -> bool:
    """Whether a value came through `*args`: wrappers that hand everything on say elsewhere what is static."""
    parameters = value.trace.parameters if value.trace is not None else ()
    names = ((p.name, q) for p in parameters for q in p.function.parameters)
    return any(q.name == name and q.kind.startswith("*") for name, q in names)


def flags(value: Array) -> frozenset[TracedParameter]:
    """The parameters to make static when the tested value is a Python flag that went through a transform."""
    assert value.trace is not None
    parameters = value.trace.parameters
    is_flag = value.python == "bool" and not value.trace.staged
    return parameters if is_flag and parameters and all(takes_statics(p) for p in parameters) else frozenset()


def takes_statics(parameter: TracedParameter) -> bool:
    """Whether the transform that traces the parameter can keep it static."""
    return parameter.site.kind in ("jit", "checkpoint", "pmap")


def to_make_static(value: Value) -> frozenset[TracedParameter]:
    """The parameters that make a size or count static when they are.

    None where it was computed from arrays: those cannot be hashed, and jnp operations are staged whatever they get.
    """
    if value.trace is None or value.trace.staged:
        return frozenset()
    is_python = isinstance(value, Array) and (value.python is not None or (value.weak is True and value.shape == ()))
    parameters = value.trace.parameters if is_python or isinstance(value, Unknown) else frozenset()
    return parameters if all(map(takes_statics, parameters)) else frozenset()


def check_branch(event: Branch, context: Context) -> Iterator[Report]:
    """A Python branch on a tracer that is no flag."""
    value = traced(event)
    if value is None or event.form == "while" or flags(value):
        return
    written = context.text.at(event.span)
    message = f"{FORMS[event.form]} for the truth of `{_short(written)}`, which is traced"
    yield Report(event.span, message, steps(event.frame), as_array_operation(event, context))


def check_while(event: Branch, context: Context) -> Iterator[Report]:
    """A `while` on a tracer."""
    value = traced(event)
    if value is None or event.form != "while" or flags(value):
        return
    message = (
        f"`while` asks for the truth of `{_short(context.text.at(event.span))}`, which is traced; use `lax.while_loop`"
    )
    yield Report(event.span, message, steps(event.frame), as_while_loop(event, context))


def check_flag(event: Branch, context: Context) -> Iterator[Report]:
    """A branch on a flag that should be static."""
    value = traced(event)
    wanted = flags(value) if value is not None else frozenset()
    if wanted:
        yield static_report(event.span, wanted, "decides a branch", event, context)


def check_wanted(event: StaticWanted, context: Context) -> Iterator[Report]:
    """A parameter used as only a static one can be."""
    assert event.value.trace is not None
    wanted = frozenset(p for p in event.value.trace.parameters if takes_statics(p))
    if wanted and is_abstract(event.frame):
        yield static_report(event.span, wanted, f"is {event.use}", event, context)


def static_report(
    span: Span, wanted: frozenset[TracedParameter], use: str, event: Branch | StaticWanted, context: Context
) -> Report:
    """The report that names the parameters to make static."""
    names = ", ".join(sorted(f"`{p.name}`" for p in wanted))
    where = ", ".join(sorted({f"`{p.function.name}`" for p in wanted}))
    message = f"{names} of {where} {use}, but is traced; make it static"
    return Report(span, message, steps(event.frame), static_fix(wanted, context))


def static_fix(wanted: frozenset[TracedParameter], context: Context, safety: Safety = Safety.SAFE) -> Fix | None:
    """Makes the parameters static where they are traced."""
    sites = {p.site for p in wanted}
    if len(sites) != 1:
        return None
    site = next(iter(sites))
    function = next(iter(wanted)).function
    names = sorted({p.name for p in wanted})
    edits = make_static(site, function, names, context)
    return fix(safety, f"make {', '.join(f'`{name}`' for name in names)} static", edits) if edits else None


def check_callable(event: TransformCalled, context: Context) -> Iterator[Report]:
    """A function passed to a jitted function as an ordinary argument."""
    site = event.value.site
    known = signature(event.value.function)
    if known is None or not _is_ours(site, context):
        return
    statics = static_parameters(site, known)
    for name, value in statics.traced(known, event.arguments) if statics is not None else ():
        if _is_function(value):
            yield from _given(event.value, name, "a function", event.frame, context)


def check_texts(event: SiteSeen, context: Context) -> Iterator[Report]:
    """A text or dtype passed to a jitted function, which does nothing with it that tells so."""
    for name, value in event.texts.items():
        if name not in event.told and _is_ours(event.value.site, context):
            what = "a dtype" if isinstance(value, Api) else "a text"
            yield from _given(event.value, name, what, event.frame, context)


def _is_ours(site: Site, context: Context) -> bool:
    return site.transform == "jax.jit" and site.path == context.module.path


def _given(value: Transformed, name: str, what: str, frame: Frame, context: Context) -> Iterator[Report]:
    known = signature(value.function)
    if known is not None and known.function is not None:
        wanted = frozenset({TracedParameter(value.site, known.function, name)})
        message = f"`{name}` of `{known.function.name}` is given {what}, which cannot be traced; make it static"
        yield Report(value.site.span, message, steps(frame), static_fix(wanted, context))


def _is_function(value: Value) -> bool:
    if isinstance(value, Api):
        return value.path.startswith(FUNCTIONS) and not is_dtype(value.path)
    return isinstance(value, (Closure, Bound, Transformed))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."


RULES = (
    (BRANCH, {Branch: check_branch}),
    (WHILE, {Branch: check_while}),
    (STATIC, {Branch: check_flag, StaticWanted: check_wanted, TransformCalled: check_callable, SiteSeen: check_texts}),
)
