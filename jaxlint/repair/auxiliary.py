"""Says `has_aux=True` of a derivative, and lets the calls take apart what it then gives.

`jax.grad` then gives `(gradient, aux)` and `jax.value_and_grad` gives `((value, aux), gradient)`; a call whose result
goes where it cannot be seen leaves no room for a fix.
"""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.analysis.context import Context, fix, insert
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.values import Array, Scalar, Site
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_by
from jaxlint.repair.contents import all_statements, calls_named, count_reads, expressions_of, is_quoted
from jaxlint.repair.hoist import enclosing
from jaxlint.repair.options import add_option
from jaxlint.repair.spelling import fresh_name


def with_aux(event: TransformCalled, context: Context) -> Fix | None:
    """The option, with all calls of the derivative; None where one of them cannot be rewritten."""
    site = event.value.site
    option = add_option(site, "has_aux=True", context)
    calls = _calls(site, context)
    edits = [_taken_apart(event, call, context) for call in calls or ()]
    if option is None or not edits or any(edit is None for edit in edits):
        return None
    return fix(Safety.UNSAFE, "say that the second output is auxiliary", option, *(e for e in edits if e is not None))


def _calls(site: Site, context: Context) -> Sequence[n.Call] | None:
    """All calls of a derivative; None where its name is used for anything else."""
    if site.path != context.module.path:
        return None
    immediate = [call for call in expressions_of(context.module, n.Call) if call.function.span == site.span]
    if immediate:
        return immediate
    if site.form != "call":
        defined = (s.function for s in all_statements(context.module) if isinstance(s, n.FunctionDefinition))
        function = next((f for f in defined if any(d.span == site.span for d in f.decorators)), None)
        return (
            _calls_of(n.Name, function.name, context)
            if function is not None and len(function.decorators) == 1
            else None
        )
    path = enclosing(context.module, site.span)
    match path[-1] if path else None:
        case n.Assign(targets=(n.Name(name=name),), value=value) if _is_compiled(value, site):
            return _calls_of(n.Name, name, context)
        case n.Assign(targets=(n.Attribute(base=n.Name(), name=name),), value=value) if _is_compiled(value, site):
            return _calls_of(n.Attribute, name, context)
    return None


def _is_compiled(value: n.Expr | None, site: Site) -> bool:
    """Whether an expression is the application, as it is or in `jax.jit(...)`."""
    while isinstance(value, n.Call) and value.span != site.span:
        function = value.function
        is_jit = isinstance(function, (n.Name, n.Attribute)) and function.name in ("jit", "filter_jit")
        if not is_jit or not value.arguments or value.arguments[0].keyword is not None:
            return False
        value = value.arguments[0].value
    return value is not None


def _calls_of(kind: type[n.Name] | type[n.Attribute], name: str, context: Context) -> Sequence[n.Call] | None:
    """The calls by a name, where it is bound once and used for nothing else."""
    calls = calls_named(context.module, kind, name)
    if is_quoted(context.module, name):
        return None
    if kind is n.Name:
        bindings = sum(_binds(statement, name) for statement in all_statements(context.module))
        return calls if bindings == 1 and count_reads(context.module, name) == len(calls) else None
    uses = sum(node.name == name for node in expressions_of(context.module, n.Attribute))
    return calls if uses == len(calls) + 1 else None


def _binds(statement: n.Stmt, name: str) -> bool:
    return name in set(bound_by(statement))


def _taken_apart(event: TransformCalled, call: n.Call, context: Context) -> list[Edit] | None:
    """The edits at one call that keep what its result was."""
    path = enclosing(context.module, call.span)
    statement = path[-1] if path else None
    is_whole = isinstance(statement, n.Assign) and statement.value is call and len(statement.targets) == 1
    target = statement.targets[0] if isinstance(statement, n.Assign) and is_whole else None
    aux = fresh_name(context.module, "aux", call.span)
    if event.value.site.kind == "value_and_grad":
        return _pair_of_pairs(target, aux)
    if isinstance(target, n.Sequence):
        return _gradients(event, target, aux)
    if isinstance(target, n.Name) and isinstance(statement, n.Assign) and statement.annotation is None:
        return [insert(target.span.end_line, target.span.end_column, f", {aux}")]
    return [insert(call.span.end_line, call.span.end_column, "[0]")]


def _pair_of_pairs(target: n.Expr | None, aux: str) -> list[Edit] | None:
    """`value, gradient` becomes `(value, aux), gradient`."""
    elements = target.elements if isinstance(target, n.Sequence) else ()
    if any(isinstance(element, n.Starred) for element in elements):
        return None
    if len(elements) == 2:
        first = elements[0]
        return [] if isinstance(first, n.Sequence) else _grouped(first.span, first.span, f", {aux})")
    return _grouped(elements[0].span, elements[1].span, ")") if len(elements) == 3 else None


def _gradients(event: TransformCalled, target: n.Sequence, aux: str) -> list[Edit] | None:
    """`first, second` of two gradients becomes `(first, second), aux`; of one array it is `gradient, aux` already."""
    argnums, given = event.value.site.option("argnums"), event.arguments.positional
    is_one = (argnums is None or isinstance(argnums, Scalar)) and bool(given) and isinstance(given[0], (Array, Scalar))
    elements = target.elements
    if is_one and len(elements) == 2:
        return []
    if argnums is None or isinstance(argnums, Scalar) or any(isinstance(element, n.Starred) for element in elements):
        return None
    return _grouped(elements[0].span, elements[-1].span, f"), {aux}")


def _grouped(first: Span, last: Span, end: str) -> list[Edit]:
    return [insert(first.line, first.column, "("), insert(last.end_line, last.end_column, end)]
