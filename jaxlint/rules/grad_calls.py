"""JAX502 grad-nonscalar, JAX504 has-aux and JAX505 grad-kwargs: what a derivative wants of function and call."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix, insert
from jaxlint.analysis.events import TransformCalled
from jaxlint.analysis.signature import signature
from jaxlint.analysis.values import Array, Items, Scalar, Site, Value, options
from jaxlint.model import Edit, Fix, Safety, Severity, Span, Step
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.auxiliary import with_aux
from jaxlint.repair.calls import argument_text
from jaxlint.repair.hoist import enclosing
from jaxlint.repair.options import call_at
from jaxlint.rules.grad_int_input import integers
from jaxlint.rules.vmap_of_jit import described

NONSCALAR = Rule(
    "JAX502", "grad-nonscalar", "a gradient of a function that does not return one real number", Severity.ERROR,
    fix=Safety.UNSAFE,
)  # fmt: skip
AUX = Rule("JAX504", "has-aux", "`has_aux` does not fit the function or the result", Severity.ERROR, fix=Safety.SAFE)
KWARGS = Rule(
    "JAX505", "grad-kwargs", "the differentiated argument is passed by keyword", Severity.ERROR, fix=Safety.SAFE
)

GRADIENTS = ("grad", "value_and_grad")
DERIVATIVES = (*GRADIENTS, "jacfwd", "jacrev", "hessian")


def check_result(event: TransformCalled, context: Context) -> Iterator[Report]:
    """The function's own result, against what a gradient takes."""
    site = event.value.site
    if site.kind not in GRADIENTS or event.body is None or _has_aux(site) is not False or event.frame.in_test():
        return
    problems = [_no_real_number(option) for option in options(event.body)]
    if None in problems or any(True for _ in integers(event)):
        return  # JAX refuses integer arguments first: grad-int-input
    name = described(event.value.function)
    message = f"`{site.transform}` needs a function that returns one real number, but `{name}` returns {problems[0]}"
    yield Report(site.span, message, _called(event), _told_of_aux(event, context), path=site.path)


def _has_aux(site: Site) -> bool | None:
    """What the option says, None where it is not known."""
    given = site.option("has_aux")
    if given is None:
        return False
    return bool(given.const) if isinstance(given, Scalar) and given.known else None


def _no_real_number(value: Value) -> str | None:
    match value:
        case Items(kind=kind, items=items):
            return f"a {kind} of {len(items)}"
        case Array(shape=shape) if shape:
            dims = ", ".join("?" if dim is None else str(dim) for dim in shape)
            return f"an array of shape ({dims}{',' if len(shape) == 1 else ''})"
        case Array(dtype=str(dtype)) if dtype.startswith(("int", "uint", "bool")):
            return f"{dtype}"
        case Scalar(kind="none"):
            return "None"
    return None


def _called(event: TransformCalled) -> tuple[Step, ...]:
    site = event.value.site
    if event.call is None or site.span in (event.span, event.call.function.span):
        return ()
    return (Step(event.frame.path, event.span.line, f"{event.frame.described} calls what `{site.transform}` gives"),)


def _told_of_aux(event: TransformCalled, context: Context) -> Fix | None:
    """A pair whose first part may be the loss: the second is auxiliary."""
    body = event.body
    if not isinstance(body, Items) or len(body.items) != 2 or _no_real_number(body.items[0]) is not None:
        return None
    return with_aux(event, context)


def check_aux(event: TransformCalled, context: Context) -> Iterator[Report]:
    """`has_aux=True` for a function that returns no pair; the pair of pairs unpacked as three."""
    site = event.value.site
    if site.kind not in GRADIENTS or not _has_aux(site) or event.frame.in_test():
        return
    if event.body is not None and all(_is_no_pair(option) for option in options(event.body)):
        name = described(event.value.function)
        message = f"with `has_aux=True` the function must return a pair, but `{name}` does not"
        yield Report(site.span, message, _called(event), path=site.path)
    targets = _unpacked(event, context)
    if site.kind == "value_and_grad" and targets is not None and len(targets) == 3:
        message = f"`{site.transform}` with `has_aux=True` returns `((value, aux), gradient)`: two values, not three"
        first, second = targets[0].span, targets[1].span
        grouped = [insert(first.line, first.column, "("), insert(second.end_line, second.end_column, ")")]
        plain = all(isinstance(target, n.Name) for target in targets)
        whole = Span(first.line, first.column, targets[2].span.end_line, targets[2].span.end_column)
        yield Report(whole, message, (), fix(Safety.SAFE, "unpack the pair of pairs", grouped) if plain else None)


def _is_no_pair(value: Value) -> bool:
    if isinstance(value, Array):
        return value.dtype is not None or value.shape is not None
    if isinstance(value, Items):
        return len(value.items) != 2
    return isinstance(value, Scalar)


def _unpacked(event: TransformCalled, context: Context) -> tuple[n.Expr, ...] | None:
    """The targets that the statement of the call unpacks the result into."""
    if event.call is None:
        return None
    path = enclosing(context.module, event.span)
    statement = path[-1] if path else None
    if not isinstance(statement, n.Assign) or statement.value is not event.call or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, n.Sequence) or any(isinstance(element, n.Starred) for element in target.elements):
        return None
    return target.elements


def check_kwargs(event: TransformCalled, context: Context) -> Iterator[Report]:
    """Fewer positional arguments than the numbers of the differentiated ones ask for."""
    site, given = event.value.site, event.arguments
    if site.kind not in DERIVATIVES or not site.transform.startswith("jax."):
        return
    if not given.complete or not given.keywords:
        return
    numbers = _numbers(site)
    if not numbers or min(numbers) < 0 or max(numbers) < len(given.positional):
        return
    known = signature(event.value.function)
    names = [known.name_at(number) if known is not None else None for number in numbers]
    passed = {name for name, _ in given.keywords}
    name = next((name for number, name in zip(numbers, names, strict=True) if number >= len(given.positional)), None)
    if name is not None and name not in passed:
        return  # another error: the argument is missing
    described_name = f"`{name}`" if name is not None else "the argument"
    message = f"`{site.transform}` differentiates {described_name}, which must be passed by position, not by keyword"
    because = (Step(site.path, site.span.line, f"`{site.transform}` is applied here"),)
    yield Report(event.span, message, because, _by_position(event, max(numbers), context))


def _numbers(site: Site) -> list[int]:
    given = site.option("argnums")
    if given is None:
        return [0]
    items = given.items if isinstance(given, Items) else (given,)
    found = [item.const for item in items if isinstance(item, Scalar) and item.known]
    numbers = [number for number in found if isinstance(number, int)]
    return numbers if len(numbers) == len(items) else []


def _by_position(event: TransformCalled, last: int, context: Context) -> Fix | None:
    """Passes what comes up to the last differentiated argument by position."""
    call = event.call or call_at(event.span, context)
    known = signature(event.value.function)
    if call is None or known is None or any(argument.star for argument in call.arguments):
        return None
    by_name = {argument.keyword: argument for argument in call.arguments if argument.keyword is not None}
    count = len(call.arguments) - len(by_name)
    wanted = [known.name_at(position) for position in range(count, last + 1)]
    if any(name not in by_name for name in wanted):
        return None
    moved = [by_name[name] for name in wanted if name is not None]
    if list(call.arguments[count : count + len(moved)]) == moved:
        edits = [Edit(argument.span, argument_text(argument, context)) for argument in moved]
        return fix(Safety.SAFE, "pass it by position", edits)
    rest = [argument for argument in call.arguments if argument not in moved]
    texts = [context.text.at(argument.span) for argument in rest]
    texts[count:count] = [argument_text(argument, context) for argument in moved]
    first, end = call.arguments[0].span, call.arguments[-1].span
    whole = Span(first.line, first.column, end.end_line, end.end_column)
    if first.line != end.end_line:
        return None
    return fix(Safety.SAFE, "pass it by position", Edit(whole, ", ".join(texts)))


RULES = (
    (NONSCALAR, {TransformCalled: check_result}),
    (AUX, {TransformCalled: check_aux}),
    (KWARGS, {TransformCalled: check_kwargs}),
)
