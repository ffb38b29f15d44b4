"""JAX512 control-flow-signature: what `lax.scan`, `cond` and the loops are given is not what they take.

The conditions are those under which JAX 0.10.2 raises (`jax/_src/lax/control_flow`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from jaxlint.analysis.context import Context, Report, fix, insert
from jaxlint.analysis.differences import certain
from jaxlint.analysis.events import ControlFlowCall
from jaxlint.analysis.frames import steps
from jaxlint.analysis.returned import only_return
from jaxlint.analysis.signature import signature
from jaxlint.analysis.values import NONE, Array, Closure, Items, Mapping, Scalar, Value, leaves, options
from jaxlint.model import Edit, Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.contents import count_reads
from jaxlint.repair.division import as_floor_division
from jaxlint.repair.spelling import spell

RULE = Rule(
    "JAX512", "control-flow-signature", "a control-flow function is given what it cannot take", Severity.ERROR,
    fix=Safety.SAFE,
)  # fmt: skip

FUNCTIONS = {
    "scan": (("f", 2),), "fori_loop": (("body_fun", 2),), "while_loop": (("cond_fun", 1), ("body_fun", 1)),
    "map": (("f", 1),), "associative_scan": (("fn", 2),),
}  # fmt: skip
"""The functions that each takes, with the number of arguments that it hands them."""


Repair = Callable[[Closure, n.Expr, Value, Context], Fix | None]


def check(event: ControlFlowCall, context: Context) -> Iterator[Report]:
    """One call of a control-flow function; tests try what fails."""
    if event.frame.in_test():
        return
    for name, count in FUNCTIONS.get(event.kind, ()):
        yield from _arity(event, name, event.operands.get(name), count, context)
    look = {"cond": _cond, "switch": _switch, "scan": _scan, "while_loop": _while, "fori_loop": _bounds}.get(event.kind)
    if look is not None:
        yield from look(event, context)


def _arity(event: ControlFlowCall, name: str, function: Value | None, count: int, context: Context) -> Iterator[Report]:
    known = signature(function) if function is not None else None
    if known is None or known.function is None:
        return
    if not known.takes(count):
        is_short = known.maximum is not None and known.maximum < count
        wants = known.maximum if is_short else known.required
        message = f"`{event.path}` calls `{known.function.name}` with {_count(count)}, but it takes {wants}"
        is_one_short = event.kind in ("scan", "fori_loop") and wants == 1 and isinstance(function, Closure)
        repaired = _one_more(event, name, function, context) if is_one_short and isinstance(function, Closure) else None
        yield Report(event.span, message, steps(event.frame), repaired)


def _one_more(event: ControlFlowCall, name: str, closure: Closure, context: Context) -> Fix | None:
    """The parameter that a body leaves out because it does not use it: the round's number, or the round's input.

    A function that is called elsewhere too keeps its parameters, and the loop gets a function of both.
    """
    function = closure.function
    first = function.parameters[0] if len(function.parameters) == 1 else None
    if first is None or closure.path != context.module.path or first.kind.startswith("*") or first.name == "_":
        return None
    is_number = event.kind == "fori_loop"
    if not _is_ours(closure, context):
        return _wrapped(event.arguments.node(2 if is_number else 0, name), first.name, is_number, context)
    at = (first.span.line, first.span.column) if is_number else (first.span.end_line, first.span.end_column)
    if first.default is not None:
        return None
    return fix(Safety.SAFE, "take both arguments", insert(*at, "_, " if is_number else ", _"))


def _wrapped(node: n.Expr | None, name: str, is_number: bool, context: Context) -> Fix | None:
    if not isinstance(node, (n.Name, n.Attribute)):
        return None
    text = context.text.at(node.span)
    carry = name if name != text.partition(".")[0] else f"{name}_"
    parameters = f"_, {carry}" if is_number else f"{carry}, _"
    return fix(Safety.SAFE, "hand over a function of both", _replaced(node, f"lambda {parameters}: {text}({carry})"))


def _count(number: int) -> str:
    return f"{number} argument" + ("s" if number != 1 else "")


# cond


def _cond(event: ControlFlowCall, context: Context) -> Iterator[Report]:
    branches = [(name, event.operands.get(name)) for name in ("true_fun", "false_fun")]
    wrong = [name for name, value in branches if value is not None and _is_data(value)]
    if _is_old_form(event):
        return
    if wrong:
        names = " and ".join(f"`{name}`" for name in wrong)
        message = f"{names} of `{event.path}` must be functions; what stands here runs before the choice is made"
        yield Report(event.span, message, steps(event.frame), _as_functions(event, context))
        return
    given = event.operands.get("*operands")
    if isinstance(given, Items) and event.arguments.complete and event.arguments.keyword("operand") is None:
        for name, value in branches:
            yield from _arity(event, name, value, len(given.items), context)
    pred = event.operands.get("pred")
    if isinstance(pred, Array) and pred.shape:
        message = f"the predicate of `{event.path}` has shape {_shape(pred)}, but must be a scalar"
        yield Report(event.span, message, steps(event.frame))


def _switch(event: ControlFlowCall, context: Context) -> Iterator[Report]:
    """Each branch takes the operands; the first that does not is told of."""
    given, branches = event.operands.get("*operands"), event.operands.get("branches")
    if not isinstance(given, Items) or not isinstance(branches, Items) or not event.arguments.complete:
        return
    if event.arguments.keyword("operand") is None:
        wrong = (r for branch in branches.items for r in _arity(event, "branches", branch, len(given.items), context))
        yield from islice(wrong, 1)


def _is_data(value: Value) -> bool:
    """Whether a value surely cannot be called."""
    return all(isinstance(option, (Array, Scalar, Items, Mapping)) for option in options(value))


def _is_old_form(event: ControlFlowCall) -> bool:
    """`cond(pred, operand, function, operand, function)`, which JAX still takes."""
    given = event.arguments.positional
    named = any(name in ("true_operand", "false_operand") for name, _ in event.arguments.keywords)
    return named or (len(given) == 5 and not _is_data(given[2]) and not _is_data(given[4]))


def _as_functions(event: ControlFlowCall, context: Context) -> Fix | None:
    """`f(x), g(x)` become `f, g, x`; anything else goes into a lambda."""
    nodes = [event.arguments.node(position, name) for position, name in ((1, "true_fun"), (2, "false_fun"))]
    given = event.operands.get("*operands")
    found = [node for node in nodes if node is not None]
    if len(found) != 2 or given != Items("tuple", ()) or not event.arguments.complete:
        return None
    calls = [node for node in found if isinstance(node, n.Call) and _is_plain_call(node)]
    inner = {context.text.at(call.arguments_span).strip() for call in calls}
    edits = []
    if len(calls) == 2 and len(inner) == 1 and "" not in inner and len(event.arguments.positional) == 3:
        first, second = calls
        edits.append(_replaced(first, context.text.at(first.function.span)))
        edits.append(_replaced(second, f"{context.text.at(second.function.span)}, {inner.pop().rstrip(',')}"))
    else:
        edits.extend(_replaced(node, f"lambda: {context.text.at(node.span)}") for node in found)
    return fix(Safety.SAFE, "hand over functions", edits)


def _is_plain_call(call: n.Call) -> bool:
    simple = all(argument.keyword is None and not argument.star for argument in call.arguments)
    return simple and isinstance(call.function, (n.Name, n.Attribute))


# scan


def _scan(event: ControlFlowCall, context: Context) -> Iterator[Report]:
    result, function = event.first.get("f"), event.operands.get("f")
    if result is not None and function is not None and _is_no_pair(result):
        message = f"the body of `{event.path}` must return a pair, the new carry and the output of the step"
        yield _at_return(event, function, message, context, _paired)
    xs = event.operands.get("xs", NONE)
    if not event.arguments.complete:
        return
    if xs == NONE and event.operands.get("length", NONE) == NONE:
        yield Report(event.span, f"`{event.path}` is given neither `xs` nor `length`", steps(event.frame))
    arrays = [leaf for leaf in leaves(certain(xs)) if isinstance(leaf, Array)]
    sizes = sorted({leaf.shape[0] for leaf in arrays if leaf.shape and isinstance(leaf.shape[0], int)})
    if len(sizes) > 1:
        message = f"`{event.path}` runs over `xs` with leading axes of different sizes: {', '.join(map(str, sizes))}"
        yield Report(event.span, message, steps(event.frame))


def _is_no_pair(result: Value) -> bool:
    return all(_is_one_thing(option) for option in options(result))


def _is_one_thing(value: Value) -> bool:
    if isinstance(value, Array):
        return value.dtype is not None or value.shape is not None  # else no more than a guess
    if isinstance(value, Items):
        return len(value.items) != 2
    return isinstance(value, Scalar)


def _paired(function: Closure, value: n.Expr, result: Value, context: Context) -> Fix | None:
    if isinstance(result, Items):
        return None
    written = context.text.at(value.span)
    before = context.text.line(value.span.line)[: value.span.column - 1]
    bare = function.function.is_lambda and not before.endswith("(")
    paired = f"({written}, None)" if bare else f"{written}, None"
    return fix(_safety(function, context), "return the carry with an empty output", _replaced(value, paired))


# while_loop


def _while(event: ControlFlowCall, context: Context) -> Iterator[Report]:
    result, function = event.first.get("cond_fun"), event.operands.get("cond_fun")
    if result is None or function is None or (isinstance(result, Scalar) and result.kind == "bool"):
        return
    what = _no_truth(result)
    if what is not None and _is_truth(event.first.get("body_fun")):
        message = f"the condition of `{event.path}` comes before the body"
        yield Report(event.span, message, steps(event.frame), _exchanged(event, context))
    elif what is not None:
        message = f"the condition of `{event.path}` must be a boolean scalar, not {what}"
        yield _at_return(event, function, message, context, _reduced)


def _is_truth(value: Value | None) -> bool:
    return isinstance(value, Array) and value.dtype == "bool" and value.shape == ()


def _exchanged(event: ControlFlowCall, context: Context) -> Fix | None:
    """The functions in their order."""
    given = event.arguments.nodes[:2]
    first, second = given if len(given) == 2 else (None, None)
    if first is None or second is None or event.frame.path != context.module.path:
        return None
    texts = [context.text.at(node.span) for node in (first, second)]
    edits = [_replaced(first, texts[1]), _replaced(second, texts[0])]
    return fix(Safety.UNSAFE, "put the condition first", edits)


def _no_truth(value: Value) -> str | None:
    if isinstance(value, Array):
        if value.shape:
            return f"an array of shape {_shape(value)}"
        return value.dtype if value.dtype not in (None, "bool") else None
    if isinstance(value, Items):
        return f"a {value.kind}"
    return f"a Python {value.kind}" if isinstance(value, Scalar) and value.kind in ("none", "str") else None


def _reduced(function: Closure, value: n.Expr, result: Value, context: Context) -> Fix | None:
    """A comparison of arrays is reduced: go on while any element says so."""
    if not isinstance(result, Array) or result.dtype != "bool":
        return None
    reduce = spell(context.module, "jax.numpy.any", value.span)
    edit = _replaced(value, f"{reduce.text}({context.text.at(value.span)})")
    return fix(Safety.UNSAFE, "go on while any element says so", edit, reduce.edits)


# fori_loop


def _bounds(event: ControlFlowCall, context: Context) -> Iterator[Report]:
    lower, upper = (event.operands.get(name) for name in ("lower", "upper"))
    kinds = [_number(value) for value in (lower, upper)]
    if None in kinds or kinds[0] == kinds[1]:
        return
    position, name = (0, "lower") if kinds[0] == "float" else (1, "upper")
    types = f"`lower` is {_a(kinds[0])} and `upper` {_a(kinds[1])}"
    message = f"the bounds of `{event.path}` must have equal types, but {types}"
    node = event.arguments.node(position, name)
    repaired = as_floor_division(node, context) if node is not None else None
    yield Report(event.span, message, steps(event.frame), repaired)


def _a(kind: str | None) -> str:
    return "an int" if kind == "int" else f"a {kind}"


def _number(value: Value | None) -> str | None:
    if isinstance(value, Scalar):
        return value.kind if value.kind in ("int", "float") else None
    if isinstance(value, Array) and value.dtype is not None:
        return "float" if value.dtype.startswith(("float", "bfloat")) else "int" if "int" in value.dtype else None
    return None


# Places


def _at_return(event: ControlFlowCall, function: Value, message: str, context: Context, repair: Repair) -> Report:
    """The report where the function returns, if it does so at one place, else at the call."""
    found = only_return(function)
    if found is None:
        return Report(event.span, message, steps(event.frame))
    closure, value = found
    home = context if closure.path == context.module.path else context.files.context(closure.path)
    name = "f" if event.kind == "scan" else "cond_fun"
    repaired = repair(closure, value, event.first[name], home)
    return Report(value.span, message, steps(event.frame), repaired, path=closure.path)


def _safety(function: Closure, context: Context) -> Safety:
    """A function that is used elsewhere too may return there what it returns now."""
    return Safety.SAFE if _is_ours(function, context) else Safety.UNSAFE


def _is_ours(function: Closure, context: Context) -> bool:
    """Whether nothing else uses a function."""
    return function.function.is_lambda or count_reads(context.module, function.function.name) == 1


def _shape(value: Array) -> str:
    assert value.shape is not None
    dims = [str(dim) if dim is not None else "?" for dim in value.shape]
    return f"({dims[0]},)" if len(dims) == 1 else f"({', '.join(dims)})"


def _replaced(node: n.Expr, content: str) -> Edit:
    return Edit(node.span, content)


CHECKS = {ControlFlowCall: check}
