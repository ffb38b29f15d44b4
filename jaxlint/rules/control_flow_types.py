"""JAX510 scan-carry-type and JAX511 cond-branch-type: types that control flow keeps must be equal.

A carry that starts from a Python number is weakly typed, and JAX promotes it to what the body gives; a literal that
a branch of `cond` returns is not promoted (JAX 0.10.2).
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.differences import Difference, Path, as_array, described, difference
from jaxlint.analysis.events import ControlFlowCall
from jaxlint.analysis.frames import steps
from jaxlint.analysis.returned import only_return
from jaxlint.analysis.values import Array, Items, Value, options
from jaxlint.model import Edit, Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.contents import count_reads
from jaxlint.repair.division import bound_to
from jaxlint.repair.spelling import spell
from jaxlint.repair.text import operand

CARRY = Rule("JAX510", "scan-carry-type", "a loop's carry changes its type", Severity.ERROR, fix=Safety.UNSAFE)
BRANCH = Rule("JAX511", "cond-branch-type", "branches return different types", Severity.ERROR, fix=Safety.SAFE)

LOOPS = {"scan": ("f", 1, "init"), "fori_loop": ("body_fun", 3, "init_val"), "while_loop": ("body_fun", 2, "init_val")}


def check_carry(event: ControlFlowCall, context: Context) -> Iterator[Report]:
    """What the body gives back of the first carry, against it."""
    if event.kind not in LOOPS or event.frame.in_test():
        return
    function, position, name = LOOPS[event.kind]
    carry, result = event.operands.get(name), event.first.get(function)
    if event.kind == "scan":
        result = result.items[0] if isinstance(result, Items) and len(result.items) == 2 else None
    if carry is None or result is None:
        return
    found = difference(carry, result)
    if found is None or _is_promoted(found):
        return
    types = f"starts as {described(found.left)}, but the body gives {described(found.right)}"
    message = f"the carry of `{event.path}` {types}"
    repaired = _started_as(event.arguments.node(position, name), found, context)
    yield Report(event.span, message + _place(found.path), steps(event.frame), repaired)


def _place(path: Path) -> str:
    return f" (at {''.join(f'[{part!r}]' for part in path)})" if path else ""


def _is_promoted(found: Difference) -> bool:
    """Whether JAX gives the carry the dtype that the body gives: it starts weak, and the other is no lesser kind."""
    left, right = found.left, found.right
    if found.kind != "dtype" or not isinstance(left, Array) or not isinstance(right, Array):
        return False
    return left.weak is not False and _kind(right) >= _kind(left)


def _kind(value: Array) -> int:
    kinds = ("bool", "int", "float", "complex")
    dtype = (value.dtype or "").removeprefix("u").removeprefix("b" if (value.dtype or "").startswith("bf") else "")
    return next((number for number, kind in enumerate(kinds) if dtype.startswith(kind)), 0)


def _started_as(node: n.Expr | None, found: Difference, context: Context) -> Fix | None:
    """Starts the carry with the dtype that the body gives."""
    if (
        node is None
        or found.kind != "dtype"
        or not isinstance(found.right, Array)
        or found.right.dtype in (None, "bool")
    ):
        return None
    if isinstance(node, n.Name):
        node = bound_to(node, context) if count_reads(context.module, node.name) == 1 else None
    leaf = node_at(node, found.path) if node is not None else None
    if leaf is None:
        return None
    dtype = spell(context.module, f"jax.numpy.{found.right.dtype}", leaf.span)
    edit = _with_dtype(leaf, dtype.text, context)
    return fix(Safety.UNSAFE, f"start with {found.right.dtype}", edit, dtype.edits)


def _with_dtype(leaf: n.Expr, dtype: str, context: Context) -> Edit:
    if isinstance(leaf, n.Call):
        function = leaf.function
        if isinstance(function, n.Attribute) and function.name.startswith(("int", "uint", "float", "bfloat")):
            return Edit(function.span, dtype)
        given = next((argument for argument in leaf.arguments if argument.keyword == "dtype"), None)
        if given is not None:
            return Edit(given.value.span, dtype)
    if isinstance(leaf, n.Constant) or (isinstance(leaf, n.Unary) and isinstance(leaf.operand, n.Constant)):
        return Edit(leaf.span, f"{dtype}({context.text.at(leaf.span)})")
    return Edit(leaf.span, f"{operand(context.text.at(leaf.span), leaf)}.astype({dtype})")


def node_at(node: n.Expr, path: Path) -> n.Expr | None:
    """The expression of one leaf, as far as the pytree is written out."""
    for part in path:
        if isinstance(node, n.Sequence) and isinstance(part, int) and part < len(node.elements):
            node = node.elements[part]
        elif isinstance(node, n.Dictionary):
            found = [value for key, value in node.items if isinstance(key, n.Constant) and key.value == part]
            if len(found) != 1:
                return None
            node = found[0]
        else:
            return None
    return node if not isinstance(node, n.Starred) else None


def check_branches(event: ControlFlowCall, context: Context) -> Iterator[Report]:
    """What the branches of `cond` and `switch` give, against each other."""
    pairs = list(_branches(event))
    if len(pairs) < 2 or event.frame.in_test():
        return
    (first_function, first), *others = pairs
    for function, result in others:
        found = difference(first, result)
        if found is None or any(len(list(options(value))) > 1 for value in (first, result)):
            continue
        message = f"one branch of `{event.path}` gives {described(found.left)}, another {described(found.right)}"
        repaired = _as_float(((first_function, found.left), (function, found.right)), found, context)
        yield Report(event.span, message + _place(found.path), steps(event.frame), repaired)
        return


def _branches(event: ControlFlowCall) -> Iterator[tuple[Value, Value]]:
    """The functions with what they give."""
    if event.kind == "cond":
        for name in ("true_fun", "false_fun"):
            if name in event.operands and name in event.results:
                yield event.operands[name], event.results[name]
    elif event.kind == "switch":
        functions, results = event.operands.get("branches"), event.results.get("branches")
        if isinstance(functions, Items) and isinstance(results, Items) and len(functions.items) == len(results.items):
            yield from zip(functions.items, results.items, strict=True)


def _as_float(sides: tuple[tuple[Value, Value], ...], found: Difference, context: Context) -> Fix | None:
    """An integer literal beside a float becomes a float literal."""
    if found.kind != "dtype" or not any(_is_float(value) for _, value in sides):
        return None
    for function, value in sides:
        returned = only_return(function)
        if _is_float(value) or returned is None or returned[0].path != context.module.path:
            continue
        node = node_at(returned[1], found.path)
        if isinstance(node, n.Unary) and isinstance(node.operand, n.Constant):
            node = node.operand
        text = context.text.at(node.span) if node is not None else ""
        if node is not None and text.isdigit():
            return fix(Safety.SAFE, "return a float literal", Edit(node.span, f"{text}.0"))
    return None


def _is_float(value: Value) -> bool:
    array = as_array(value)
    return isinstance(array, Array) and (array.dtype or "").startswith(("float", "bfloat"))


RULES = ((CARRY, {ControlFlowCall: check_carry}), (BRANCH, {ControlFlowCall: check_branches}))
