"""Uses of one key that are right: alternatives of which one is taken, and equal numbers that are wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jaxlint.analysis.context import Context
from jaxlint.analysis.frames import Frame, Use
from jaxlint.model import Span
from jaxlint.program import nodes as n
from jaxlint.program.names import expressions, target_names, walk, walk_statements

SELECTIONS = frozenset({"where", "select", "select_n"})
REORDERINGS = frozenset({"choice", "permutation", "shuffle"})
"""Samplers that take the data: equal keys draw equal rows, as is wanted of inputs and their labels."""

LEAFWISE = frozenset({"map", "tree_map", "map_with_path", "tree_map_with_path"})


_MAKER = re.compile(r"^_*(?:re)?(?:set|init|start|create|make)", re.IGNORECASE)
_EQUAL = re.compile(
    r"(?!.*(?:not|shape|dtype|struct))(?:.*all_?close|.*array_?equal|is_?close|assert.*(?:equal|close))", re.IGNORECASE
)
_FORMS = frozenset({"shape", "dtype", "ndim", "size", "aval"})
"""What equal arrays have in common with others."""


def is_meant(old: Use, new: Use, context: Context) -> bool:
    """Whether two uses of one key are meant to give the same numbers, or never both count."""
    one, other = meeting(old, new)
    if one is None or other is None:
        return False
    frame, first, second = one[0], one[1], other[1]
    context = context.files.context(frame.path)
    if first == second:
        return (
            _takes_one_element(new, context)
            or _reorders_leaves(frame, first, new, context)
            or _reorders_elements(frame, new, context)
        )
    body = body_of(frame, context)
    left, right = call_at(body, first), call_at(body, second)
    if left is None or right is None:
        return False
    if are_selected(body, first, second) or _is_forgotten(body, first, second):
        return True
    if _is_bound(body, left) and _is_bound(body, right):
        return True
    if _are_compared(body, first, second) or _are_expected(body, first, second):
        return True
    if _are_parts(body, left, right, context) or _starts_again(body, second, new, context):
        return True
    same_draw = old.places[0].span == new.places[0].span and old.places[0].frame.path == new.places[0].frame.path
    if same_draw:
        return _are_variants(left, right, context) or _are_subtracted(body, first, second)
    return _are_aligned(left, right, context)


def meeting(old: Use, new: Use) -> tuple[tuple[Frame, Span] | None, tuple[Frame, Span] | None]:
    """Where each of two uses stands in the innermost call that both are part of."""
    for place in new.places:
        for other in old.places:
            if other.frame.number == place.frame.number:
                return (other.frame, other.span), (place.frame, place.span)
    return None, None


def body_of(frame: Frame, context: Context) -> tuple[n.Stmt, ...]:
    """The statements of a call in progress."""
    return frame.function.body if frame.function is not None else context.module.body


def call_at(body: tuple[n.Stmt, ...], span: Span) -> n.Call | None:
    """The call that stands at a place."""
    return next((node for node in nodes(body) if isinstance(node, n.Call) and node.span == span), None)


def nodes(body: tuple[n.Stmt, ...]) -> Iterator[n.Expr]:
    """The expressions of the statements, not those of functions defined in them."""
    for statement in walk_statements(body):
        for expression in expressions(statement):
            yield from walk(expression)


def are_selected(body: tuple[n.Stmt, ...], first: Span, second: Span) -> bool:
    """Whether a `where` takes what comes of the one or of the other."""
    one, other = tainted(body, first), tainted(body, second)
    calls = (node for node in nodes(body) if isinstance(node, n.Call) and len(node.arguments) >= 3)
    selections = (call for call in calls if _last_name(call.function) in SELECTIONS)
    return any(_meet(one, other, call.arguments[1].value, call.arguments[2].value) for call in selections)


class Tainted:
    """What depends on the value of one expression: the names that hold it or something made of it."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.names: set[str] = set()

    def reaches(self, expression: n.Expr) -> bool:
        """Whether an expression depends on the value."""
        return any(node.span == self.span or _reads(node, self.names) for node in walk(expression))


def _reads(node: n.Expr, names: set[str]) -> bool:
    return isinstance(node, n.Name) and node.name in names


def tainted(body: tuple[n.Stmt, ...], span: Span) -> Tainted:
    """What depends on the expression at `span`, as far as assignments in the order of the text tell."""
    found = Tainted(span)
    for statement in walk_statements(body):
        if isinstance(statement, n.Assign) and statement.value is not None:
            reached = found.reaches(statement.value)
            for target in statement.targets:
                for name in target_names(target):
                    (found.names.add if reached else found.names.discard)(name)
        elif isinstance(statement, n.AugmentedAssign) and found.reaches(statement.value):
            found.names.update(target_names(statement.target))
    return found


def _is_forgotten(body: tuple[n.Stmt, ...], first: Span, second: Span) -> bool:
    """Whether the function returns with the second use and nothing of the first, which served another way out."""
    found = Tainted(first)
    for statement in walk_statements(body):
        inside = [node for expression in expressions(statement) for node in walk(expression)]
        here = any(node.span == second for node in inside)
        reached = any(node.span == first or _reads(node, found.names) for node in inside)
        if here:
            return isinstance(statement, n.Return) and not reached and bool(found.names)
        if isinstance(statement, n.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], n.Name):
            (found.names.add if reached else found.names.discard)(statement.targets[0].name)
        elif reached and statement.span > first:
            return False
    return False


def _is_bound(body: tuple[n.Stmt, ...], call: n.Call) -> bool:
    """Whether a function is called that holds its key: `draw = partial(f, key=key)` says that all calls share it."""
    name = _last_name(call.function) if isinstance(call.function, n.Name) else None
    for statement in walk_statements(body):
        if isinstance(statement, n.Assign) and isinstance(statement.value, n.Call):
            names = {name for target in statement.targets for name in target_names(target)}
            if name in names and _last_name(statement.value.function) == "partial":
                return True
    return False


def _last_name(function: n.Expr) -> str:
    return function.name if isinstance(function, (n.Name, n.Attribute)) else ""


def _takes_one_element(use: Use, context: Context) -> bool:
    """Whether each round of a loop takes another element of one draw: `normal(key, (8,))[i]`."""
    place = use.places[0]
    body = body_of(place.frame, context.files.context(place.frame.path))
    return any(
        isinstance(node, n.Subscript) and node.base.span == place.span and not isinstance(node.index, n.Constant)
        for node in nodes(body)
    )


def _reorders_leaves(frame: Frame, span: Span, use: Use, context: Context) -> bool:
    """Whether the leaves of one tree are reordered alike: `jax.tree.map(lambda x: permutation(key, x), batch)`."""
    mapped, place = call_at(body_of(frame, context), span), use.places[0]
    draw = call_at(body_of(place.frame, context.files.context(place.frame.path)), place.span)
    is_tree = mapped is not None and _last_name(mapped.function) in LEAFWISE
    return is_tree and draw is not None and _last_name(draw.function) in REORDERINGS


def _reorders_elements(frame: Frame, use: Use, context: Context) -> bool:
    """Whether the arrays of a list are reordered alike: `[permutation(key, array) for array in arrays]`."""
    body = body_of(frame, context)
    draw = call_at(body, use.places[0].span) if use.places[0].frame.number == frame.number else None
    if draw is None or _last_name(draw.function) not in REORDERINGS:
        return False
    given = next((a.value for i, a in enumerate(draw.arguments) if i == 1 or a.keyword in ("a", "x")), None)
    return isinstance(given, n.Name) and given.name in set(_loop_names(body))


def _loop_names(body: tuple[n.Stmt, ...]) -> Iterator[str]:
    """The names that loops and comprehensions bind to one element after the other."""
    for statement in walk_statements(body):
        if isinstance(statement, n.For):
            yield from target_names(statement.target)
    for node in nodes(body):
        if isinstance(node, n.Comprehension):
            for generator in node.generators:
                yield from target_names(generator.target)


def _are_parts(body: tuple[n.Stmt, ...], left: n.Call, right: n.Call, context: Context) -> bool:
    """Whether one split is written twice to take another part of it each time: `split(key)[0]` and `split(key)[1]`."""
    if _last_name(left.function) != "split" or context.text.at(left.span) != context.text.at(right.span):
        return False
    one, other = _taken_of(body, left), _taken_of(body, right)
    return one is not None and other is not None and one != other


def _taken_of(body: tuple[n.Stmt, ...], call: n.Call) -> object:
    """The constant index that stands behind a call."""
    found = (node for node in nodes(body) if isinstance(node, n.Subscript) and node.base.span == call.span)
    index = next((node.index for node in found), None)
    return index.value if isinstance(index, n.Constant) and isinstance(index.value, int) else None


def _starts_again(body: tuple[n.Stmt, ...], second: Span, use: Use, context: Context) -> bool:
    """Whether a name is given once more what it was made with: `state = reset(key)`, written twice."""
    if use.places[0].span == second:
        return False
    written = [s for s in walk_statements(body) if isinstance(s, n.Assign) and isinstance(s.value, n.Call)]
    again = next((s for s in written if s.value is not None and s.value.span == second), None)
    if again is None or not isinstance(again.value, n.Call) or not _MAKER.search(_last_name(again.value.function)):
        return False
    text = context.text.at(again.span)
    return any(s.span < again.span and context.text.at(s.span) == text for s in written)


def _are_variants(left: n.Call, right: n.Call, context: Context) -> bool:
    """Whether one function is called in two ways, such as `f(key)` and `jit(f)(key)`: their results are compared."""
    return context.text.at(left.function.span) != context.text.at(right.function.span)


def _are_subtracted(body: tuple[n.Stmt, ...], first: Span, second: Span) -> bool:
    """Whether the difference of two runs with equal numbers is taken: common random numbers."""
    one, other = tainted(body, first), tainted(body, second)
    found = (node for node in nodes(body) if isinstance(node, n.Binary) and node.operator == "-")
    return any(_meet(one, other, node.left, node.right) for node in found)


def _are_compared(body: tuple[n.Stmt, ...], first: Span, second: Span) -> bool:
    """Whether what comes of both must be the same: a test of two ways to the same numbers.

    That the program only asks whether it is the same, as `print((a == b).all())` does, may be to show the fault.
    """
    one, other = tainted(body, first), tainted(body, second)
    return any(_meet(one, other, left, right) for node in _asserted(body) for left, right in _compared(node))


def _are_expected(body: tuple[n.Stmt, ...], first: Span, second: Span) -> bool:
    """Whether both are drawn where a test says what it expects."""
    spans = {node.span for node in _asserted(body)}
    return first in spans and second in spans


def _asserted(body: tuple[n.Stmt, ...]) -> Iterator[n.Expr]:
    """The expressions within `assert` statements and calls of functions that assert."""
    for statement in walk_statements(body):
        if isinstance(statement, n.Assert):
            yield from walk(statement.test)
    for node in nodes(body):
        if isinstance(node, n.Call) and re.search("assert|assume$", _last_name(node.function).lower()):
            yield from walk(node)


def _compared(node: n.Expr) -> Iterator[tuple[n.Expr, n.Expr]]:
    """What an expression asks whether it is equal."""
    if isinstance(node, n.Compare) and len(node.rest) == 1 and node.rest[0][0] == "==":
        yield node.left, node.rest[0][1]
    if isinstance(node, n.Call) and _EQUAL.match(_last_name(node.function)) and len(node.arguments) >= 2:
        yield node.arguments[0].value, node.arguments[1].value


def _meet(one: Tainted, other: Tainted, left: n.Expr, right: n.Expr) -> bool:
    """Whether one value is on one side alone, and the other on the other."""
    if any(isinstance(side, n.Attribute) and side.name in _FORMS for side in (left, right)):
        return False
    return any(
        one.reaches(a) and other.reaches(b) and not one.reaches(b) and not other.reaches(a)
        for a, b in ((left, right), (right, left))
    )


def _are_aligned(left: n.Call, right: n.Call, context: Context) -> bool:
    """Whether two arrays are reordered alike: the same sampler with the same arguments but for the data."""
    if _last_name(left.function) != _last_name(right.function) or _last_name(left.function) not in REORDERINGS:
        return False
    return _but_data(left, context) == _but_data(right, context)


def _but_data(call: n.Call, context: Context) -> list[str]:
    rest = (a for position, a in enumerate(call.arguments) if position != 1 and a.keyword not in ("a", "x"))
    return [context.text.at(argument.span) for argument in rest]
