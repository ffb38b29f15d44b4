"""Evaluates expressions to abstract values and tells what Python does to tracers on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from jaxlint.analysis import arrays, attributes, calls, key_making, key_paths
from jaxlint.analysis.api import STATIC_ATTRIBUTES
from jaxlint.analysis.arrays.indexing import SliceValue
from jaxlint.analysis.branches import ask, asks_for_type, truth, truth_of
from jaxlint.analysis.events import DonatedRead, Formatted, Indexed, ShapeUse, StaticWanted
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.iteration import rounds
from jaxlint.analysis.key_parts import part_token
from jaxlint.analysis.operators import arithmetic, binary, compare, staged
from jaxlint.analysis.scope import Scope
from jaxlint.analysis.values import (
    Api,
    Array,
    Items,
    Key,
    Many,
    Mapping,
    Method,
    Scalar,
    Trace,
    Unknown,
    Value,
    deep_trace,
    element_of,
    is_traced,
    join,
    join_traces,
    known,
    leaves,
    one_of,
    options,
    with_trace,
)
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def evaluate(m: Machine, f: Frame, expression: n.Expr) -> Value:
    """The abstract value of an expression."""
    m.step()
    return _EVALUATORS[type(expression)](m, f, expression)


def _constant(m: Machine, f: Frame, e: n.Constant) -> Value:
    return Scalar(e.kind, e.value, e.kind not in ("complex", "bytes", "ellipsis"))


def _name(m: Machine, f: Frame, e: n.Name) -> Value:
    scope = f.scope.find(e.name)
    if scope is not None:
        value = scope.names[e.name]
        return value if value.donated is None else _donated(m, f, e, scope, value)
    if e.name == "__name__":
        return known("__main__")
    return Api(f"builtins.{e.name}") if e.name in BUILTINS else Unknown()


def handed_on(m: Machine, f: Frame, e: n.Expr) -> Value:
    """The value of an expression that is only bound or collected, as a donated array may be while nobody reads it."""
    if isinstance(e, n.Name):
        scope = f.scope.find(e.name)
        if scope is not None:
            return scope.names[e.name]
    return evaluate(m, f, e)


def _donated(m: Machine, f: Frame, e: n.Name, scope: Scope, value: Value) -> Value:
    """Tells that a donated value is read; a function that nothing visible calls may run before the donation."""
    assert value.donated is not None
    if f.known or scope is f.scope:
        m.emit(DonatedRead(f, e.span, e.name, value.donated))
    return replace(value, donated=None)


BUILTINS = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)


def _attribute(m: Machine, f: Frame, e: n.Attribute) -> Value:
    base = evaluate_base(m, f, e)
    return one_of(attributes.get(m, f, option, e.name, e) for option in options(base))


def evaluate_base(m: Machine, f: Frame, e: n.Attribute) -> Value:
    """The object whose attribute is read; of a donated array, metadata may be."""
    if e.name in READABLE_WHEN_DONATED and isinstance(e.base, n.Name):
        with m.silence():
            return evaluate(m, f, e.base)
    return evaluate(m, f, e.base)


READABLE_WHEN_DONATED = STATIC_ATTRIBUTES | {"is_deleted", "delete"}


def _subscript(m: Machine, f: Frame, e: n.Subscript) -> Value:
    base = evaluate(m, f, e.base)
    index = evaluate(m, f, e.index)
    _tell_slices(m, f, e, base, index)
    return one_of(_item(m, f, option, index, e) for option in options(base))


def _tell_slices(m: Machine, f: Frame, e: n.Subscript, base: Value, index: Value) -> None:
    """Tells of slices with bounds that are tracers, at the first: they must be static."""
    pairs = (
        zip(index.items, e.index.elements, strict=False)
        if isinstance(index, Items) and isinstance(e.index, n.Sequence)
        else [(index, e.index)]
    )
    for value, node in pairs:
        if isinstance(value, SliceValue) and isinstance(node, n.Slice):
            bounds = ((value.lower, node.lower), (value.upper, node.upper), (value.step, node.step))
            traced = [(b, at) for b, at in bounds if b is not None and at is not None and b.trace is not None]
            sure = [(bound, place) for bound, place in traced if is_traced(bound)]
            for bound, place in (sure or traced)[:1]:
                m.emit(ShapeUse(f, place.span, bound, "slice bound", "", e))


def _item(m: Machine, f: Frame, base: Value, index: Value, e: n.Subscript) -> Value:
    trace = join_traces(base.trace, deep_trace(index))
    if isinstance(base, Method) and base.name == "at":
        m.emit(Indexed(f, e.span, base.owner, index, e, written=True))
        return Method(with_trace(base.owner, deep_trace(index)), "at[]", trace=trace)
    if isinstance(base, (Array, Unknown)):
        m.emit(Indexed(f, e.span, base, index, e))
    if isinstance(base, Array) and base.host and base.trace is None:
        _tell_traced(m, f, index, e, "index of a NumPy array")
    match base:
        case Array():
            token = part_token(base.token, key_making.part_of(index, e.index))
            return staged(f, replace(arrays.subscript(base, index), token=token), trace)
        case Key():
            return key_making.item(base, index, e)
        case Items() | Many() | Mapping():
            return _container_item(m, f, base, index, e, trace)
        case Unknown():
            token = part_token(base.token, key_making.part_of(index, e.index))
            return Unknown(trace=base.trace, token=token)
        case Api():
            return base
        case Scalar(kind="str"):
            return Scalar("str", trace=base.trace)
    return Unknown(trace=trace)


A_KEY = "key of a dict"  # an unknown leaf of a pytree may be one


def _tell_traced(m: Machine, f: Frame, index: Value, e: n.Subscript, what: str, texts: bool = False) -> None:
    """Tells of a tracer as the index of what takes none; where all keys are `texts`, it is a text that went astray."""
    for leaf in leaves(index):
        if leaf.trace is None or not isinstance(leaf, (Array, Unknown, Scalar)):
            continue
        is_text = isinstance(leaf, Scalar) or (texts and isinstance(leaf, Unknown) and leaf.trace.sure)
        if is_text and leaf.trace.parameters:
            m.emit(StaticWanted(f, e.index.span, leaf, "looked up"))
        elif isinstance(leaf, Array) or (what != A_KEY and isinstance(leaf, Unknown)):
            m.emit(ShapeUse(f, e.index.span, leaf, what, "", e))
        return


def _container_item(m: Machine, f: Frame, base: Value, index: Value, e: n.Subscript, trace: Trace | None) -> Value:
    if isinstance(base, Mapping):
        texts = bool(base.entries) and all(isinstance(key, str) for key, _ in base.entries)
        _tell_traced(m, f, index, e, A_KEY, texts)
        found = base.get(index.const) if isinstance(index, Scalar) and index.known else None
        if found is not None:
            return with_trace(found, base.trace)
        return with_trace(one_of([v for _, v in base.entries] or [base.default]), base.trace)
    if (
        not isinstance(index, SliceValue)
        and base.trace is None
        and isinstance(index, (Array, Unknown))
        and index.trace is not None
    ):
        m.emit(ShapeUse(f, e.index.span, index, f"index of a Python {getattr(base, 'kind', 'list')}", "", e))
        return with_trace(element_of(base), index.trace)
    if isinstance(base, Items) and isinstance(index, Scalar) and index.known and isinstance(index.const, int):
        if -len(base.items) <= index.const < len(base.items):
            return with_trace(base.items[index.const], base.trace)
        return Unknown(trace=base.trace)
    if isinstance(index, SliceValue):
        return _container_slice(base, index)
    return with_trace(element_of(base), base.trace)


def _container_slice(base: Value, index: SliceValue) -> Value:
    bounds = [_bound(part) for part in (index.lower, index.upper, index.step)]
    if isinstance(base, Items) and "unknown" not in bounds:
        lower, upper, step = (bound if isinstance(bound, int) else None for bound in bounds)
        return replace(base, items=base.items[lower : upper : step or None])
    kind = base.kind if isinstance(base, (Items, Many)) else "list"
    return Many(kind, element_of(base), trace=base.trace)


def _bound(part: Value | None) -> int | str | None:
    """A slice bound: an integer, None where it is left out, or 'unknown'."""
    if part is None:
        return None
    return part.const if isinstance(part, Scalar) and part.known and isinstance(part.const, int) else "unknown"


def _slice(m: Machine, f: Frame, e: n.Slice) -> Value:
    lower, upper, step = (None if part is None else evaluate(m, f, part) for part in (e.lower, e.upper, e.step))
    return SliceValue(lower, upper, step)


def _sequence(m: Machine, f: Frame, e: n.Sequence) -> Value:
    items: list[Value] = []
    open_part: Value | None = None
    for element in e.elements:
        value = handed_on(m, f, element) if not isinstance(element, n.Starred) else evaluate(m, f, element.value)
        if not isinstance(element, n.Starred):
            items.append(value)
        elif isinstance(value, Items):
            items.extend(value.items)
        else:
            part = one_of(rounds(m, f, value))
            open_part = part if open_part is None else join(open_part, part)
    if open_part is not None:
        return Many(e.kind, one_of([open_part, *items]))
    return Items(e.kind, tuple(items))


def _starred(m: Machine, f: Frame, e: n.Starred) -> Value:
    return evaluate(m, f, e.value)


def _dictionary(m: Machine, f: Frame, e: n.Dictionary) -> Value:
    entries: dict[Any, Value] = {}
    complete = True
    rest: list[Value] = []
    for key, value in e.items:
        found = evaluate(m, f, value)
        if key is None:
            if isinstance(found, Mapping):
                entries.update(found.entries)
                complete &= found.complete
            else:
                complete = False
            continue
        constant = evaluate(m, f, key)
        if isinstance(constant, Scalar) and constant.known:
            entries[constant.const] = found
        else:
            complete = False
            rest.append(found)
    return Mapping(tuple(entries.items()), complete, one_of(rest))


def _unary(m: Machine, f: Frame, e: n.Unary) -> Value:
    if e.operator == "not":
        answer = truth(m, f, e.operand, "not", e)
        return Scalar("bool") if answer is None else known(answer)
    operand = evaluate(m, f, e.operand)
    return arithmetic(f, [operand], lambda: arrays.unary(e.operator, operand))


def _binary(m: Machine, f: Frame, e: n.Binary) -> Value:
    left, right = evaluate(m, f, e.left), evaluate(m, f, e.right)
    return binary(f, e.operator, left, right)


def _compare(m: Machine, f: Frame, e: n.Compare) -> Value:
    left = evaluate(m, f, e.left)
    results: list[Value] = []
    for number, (operator, node) in enumerate(e.rest):
        right = evaluate(m, f, node)
        result = compare(m, f, operator, left, right, e)
        if number < len(e.rest) - 1:
            ask(m, f, result, "chained comparison", e, e)
        results.append(result)
        left = right
    if len(results) == 1:
        return results[0]
    answers = [truth_of(result) for result in results]
    if False in answers:
        return known(False)
    return one_of(results)


def _boolean(m: Machine, f: Frame, e: n.Boolean) -> Value:
    left = evaluate(m, f, e.left)
    ask(m, f, left, e.operator, e.left, e)
    answer = truth_of(left)
    if answer is not None:
        return left if answer is (e.operator == "or") else evaluate(m, f, e.right)
    with m.doubt(asks_for_type(e.left)):
        right = evaluate(m, f, e.right)
    return join(left, right)


def _conditional(m: Machine, f: Frame, e: n.Conditional) -> Value:
    from jaxlint.analysis.branches import narrowed

    answer = truth(m, f, e.test, "conditional", e)
    names = dict(f.scope.names)

    def way(outcome: bool, part: n.Expr) -> Value:
        f.scope.names = dict(names)
        narrowed(m, f, e.test, outcome)
        return evaluate(m, f, part)

    parts = ((True, e.body), (False, e.otherwise))
    value = key_paths.alternatives(m, [partial(way, *pair) for pair in parts if answer is None or answer is pair[0]])
    f.scope.names = names
    return value


def _lambda(m: Machine, f: Frame, e: n.Lambda) -> Value:
    return calls.make_closure(m, f, e.function)


def _comprehension(m: Machine, f: Frame, e: n.Comprehension) -> Value:
    from jaxlint.analysis.assignment import escape

    outer = f.scope
    f.scope = Scope(outer)
    f.loop_spans.append(e.span)
    try:
        found = _rounds_of(m, f, e, e.generators)
    finally:
        f.scope = outer
        f.loop_spans.pop()
    for value in found:
        escape(m, value)
    if e.kind == "dict":
        entries = {pair.items[0]: pair.items[1] for pair in found if isinstance(pair, Items)}
        constants = {k.const: v for k, v in entries.items() if isinstance(k, Scalar) and k.known}
        return Mapping(tuple(constants.items()), False, one_of(entries.values()))
    kind = "list" if e.kind == "generator" else e.kind
    if len(e.generators) == 1 and not e.generators[0].conditions and e.kind != "set":
        iterable = e.generators[0].iterable
        if isinstance(iterable, n.Sequence) and len(iterable.elements) == len(found):
            return Items(kind, tuple(found))
    return Many(kind, one_of(found))


def _rounds_of(m: Machine, f: Frame, e: n.Comprehension, generators: tuple[n.Generator, ...]) -> list[Value]:
    from jaxlint.analysis.assignment import assign

    if not generators:
        value = evaluate(m, f, e.element)
        return [value] if e.key is None else [Items("tuple", (evaluate(m, f, e.key), value))]
    generator = generators[0]
    iterable = (
        _outermost_iterable(m, f, generator) if generator is e.generators[0] else evaluate(m, f, generator.iterable)
    )
    found: list[Value] = []
    for element in rounds(m, f, iterable, generator.iterable):
        assign(m, f, generator.target, element, e)
        for condition in generator.conditions:
            truth(m, f, condition, "comprehension", e)
        found.extend(_rounds_of(m, f, e, generators[1:]))
    return found


def _outermost_iterable(m: Machine, f: Frame, generator: n.Generator) -> Value:
    """The first iterable of a comprehension is evaluated once, outside of its loop."""
    span = f.loop_spans.pop()
    try:
        return evaluate(m, f, generator.iterable)
    finally:
        f.loop_spans.append(span)


def _formatted(m: Machine, f: Frame, e: n.FormattedString) -> Value:
    values = tuple(evaluate(m, f, part) for part in e.parts)
    m.emit(Formatted(f, e.span, values, e))
    trace: Trace | None = None
    for value in values:
        trace = join_traces(trace, deep_trace(value))
    return Scalar("str", trace=replace(trace, sure=False) if trace is not None else None)


def _named(m: Machine, f: Frame, e: n.NamedExpression) -> Value:
    from jaxlint.analysis.assignment import assign

    value = evaluate(m, f, e.value)
    assign(m, f, e.target, value, e)
    return value


def _yield(m: Machine, f: Frame, e: n.Yield) -> Value:
    if e.value is not None:
        value = evaluate(m, f, e.value)
        if e.kind == "await":
            return value
        f.returns.append(Many("list", value) if e.kind == "yield" else value)
        from jaxlint.analysis.assignment import escape

        escape(m, value)
    return Unknown()


def _call(m: Machine, f: Frame, e: n.Call) -> Value:
    return calls.evaluate_call(m, f, e)


_EVALUATORS: dict[type, Callable[[Any, Any, Any], Value]] = {
    n.Constant: _constant, n.Name: _name, n.Attribute: _attribute, n.Call: _call, n.Subscript: _subscript,
    n.Slice: _slice, n.Sequence: _sequence, n.Starred: _starred, n.Dictionary: _dictionary, n.Unary: _unary,
    n.Binary: _binary, n.Compare: _compare, n.Boolean: _boolean, n.Conditional: _conditional, n.Lambda: _lambda,
    n.Comprehension: _comprehension, n.FormattedString: _formatted, n.NamedExpression: _named, n.Yield: _yield,
}  # fmt: skip
