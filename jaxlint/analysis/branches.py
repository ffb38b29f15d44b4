"""Truth: what Python asks of a value at `if`, `while`, `and`, and what the answer says about names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from jaxlint.analysis.events import Branch
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.values import (
    CALLABLE,
    Api,
    Array,
    Items,
    OneOf,
    Scalar,
    Unknown,
    Value,
    is_traced,
    leaves,
    one_of,
    options,
)
from jaxlint.program import nodes as n
from jaxlint.program.names import walk

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def truth(m: Machine, f: Frame, test: n.Expr, form: str, statement: n.Stmt | n.Expr) -> bool | None:
    """Evaluates a test as Python does, asking each operand that decides; None when the answer is not known."""
    from jaxlint.analysis.expressions import evaluate

    if isinstance(test, n.Unary) and test.operator == "not":
        answer = truth(m, f, test.operand, form, statement)
        return None if answer is None else not answer
    if isinstance(test, n.Boolean):
        return _boolean(m, f, test, form, statement)
    value = evaluate(m, f, test)
    ask(m, f, value, form, test, statement)
    return truth_of(value)


def _boolean(m: Machine, f: Frame, test: n.Boolean, form: str, statement: n.Stmt | n.Expr) -> bool | None:
    decides = test.operator == "or"
    left = truth(m, f, test.left, form, statement)
    if left is decides:
        return decides
    names = dict(f.scope.names)
    narrowed(m, f, test.left, not decides)
    with m.doubt(left is None and asks_for_type(test.left)):
        right = truth(m, f, test.right, form, statement)
    f.scope.names.update({name: names[name] for name in names})
    if right is decides:
        return decides
    return right if left is not None else None


def ask(m: Machine, f: Frame, value: Value, form: str, expression: n.Expr, statement: n.Stmt | n.Expr) -> None:
    """Tells that Python asks for the truth of `value`; once a statement has failed, nothing more is told of it."""
    if f.failed == statement.span or all(option.trace is None for option in options(value)):
        return
    value = one_of(map(_as_flag, options(value)))
    m.emit(Branch(f, expression.span, value, form, expression, statement))
    if any(isinstance(option, Array) and is_traced(option) for option in options(value)):
        f.failed = statement.span


FLAG_NAME = re.compile(r"(is_)?(training|train)|deterministic|verbose|debug|inference|(use|should|return|with)_\w+")
"""What flags are called by convention; neither containers nor None go by these names."""


def _as_flag(value: Value) -> Value:
    """A traced parameter of which nothing is known but its name, which is that of a flag."""
    trace = value.trace
    if not isinstance(value, Unknown) or trace is None or not trace.sure or len(trace.parameters) != 1:
        return value
    (parameter,) = trace.parameters
    is_flag = FLAG_NAME.fullmatch(parameter.name) is not None
    return Array("bool", (), python="bool", trace=trace) if is_flag else value


def asks_how_it_runs(m: Machine, f: Frame, test: n.Expr) -> bool:
    """Whether a test looks for tracers (`is_tracer(x)`), or at a switch of the module that is set elsewhere.

    What stands behind it is meant for the one or the other way of running, which is not told apart here.
    """
    read = m.tests.get(id(test))
    if read is None:
        read = m.tests[id(test)] = Test(test)  # which keeps the node, and so its identity
    return read.asks_for_tracers or any(_is_switch(f, name) for name in read.names)


def asks_for_type(test: n.Expr) -> bool:
    """Whether a test is `isinstance(...)` or `not isinstance(...)`: what stands beside it is meant for some types."""
    while isinstance(test, n.Unary) and test.operator == "not":
        test = test.operand
    return isinstance(test, n.Call) and isinstance(test.function, n.Name) and test.function.name == "isinstance"


class Test:
    """What a test says whenever it is run: the names it reads, and whether it looks for tracers."""

    __slots__ = ("asks_for_tracers", "names", "node")

    def __init__(self, node: n.Expr) -> None:
        inside = list(walk(node))
        self.node = node
        self.names = tuple(part.name for part in inside if isinstance(part, n.Name))
        self.asks_for_tracers = any(map(_asks_for_tracers, inside))


def _asks_for_tracers(node: n.Expr) -> bool:
    if isinstance(node, n.Call):
        return isinstance(node.function, (n.Name, n.Attribute)) and "tracer" in node.function.name.lower()
    return isinstance(node, n.Attribute) and node.name == "Tracer"


def _is_switch(f: Frame, name: str) -> bool:
    scope = f.scope.find(name)
    value = scope.names[name] if scope is not None and scope is not f.scope and scope.parent is None else None
    return isinstance(value, Scalar) and value.kind == "bool" and not value.known


def truth_of(value: Value) -> bool | None:
    """The truth of a value, where it is known."""
    if isinstance(value, Scalar) and value.known:
        return value.kind != "none" and bool(value.const)
    if isinstance(value, CALLABLE):
        return True
    if isinstance(value, Items) and value.trace is None:
        return bool(value.items)
    if isinstance(value, OneOf):
        answers = {truth_of(option) for option in value.options}
        return answers.pop() if len(answers) == 1 else None
    return None


def is_none(value: Value) -> bool | None:
    """Whether a value is None, where that is known."""
    answers = {_is_none(option) for option in options(value)}
    return answers.pop() if len(answers) == 1 else None


def _is_none(value: Value) -> bool | None:
    if isinstance(value, Scalar) and value.kind == "none":
        return True
    return None if isinstance(value, (Unknown, Api)) else False


def narrowed(m: Machine, f: Frame, test: n.Expr, outcome: bool) -> None:
    """Uses what a test says: `x is None`, `x is not None`, `x`, `not x`, and conjunctions of them."""
    match test:
        case n.Unary(operator="not", operand=operand):
            narrowed(m, f, operand, not outcome)
        case n.Boolean(operator=operator, left=left, right=right) if (operator == "and") is outcome:
            narrowed(m, f, left, outcome)
            narrowed(m, f, right, outcome)
        case n.Compare(left=n.Name(name=name), rest=((operator, n.Constant(kind="none")),)):
            if operator in ("is", "is not", "==", "!="):
                _narrow(f, name, keep_none=(operator in ("is", "==")) is outcome)
        case n.Name(name=name) if outcome:
            _narrow(f, name, keep_none=False)
        case n.Call(function=n.Name(name="isinstance"), arguments=(n.Argument(value=n.Name(name=name)), kinds)):
            _narrow_kind(m, f, name, kinds.value, outcome)


def _narrow_kind(m: Machine, f: Frame, name: str, kinds: n.Expr, outcome: bool) -> None:
    """Keeps what an `isinstance` test lets through."""
    from jaxlint.analysis.expressions import evaluate
    from jaxlint.analysis.handlers import is_a

    value = f.scope.names.get(name)
    classes = list(leaves(evaluate(m, f, kinds))) if isinstance(value, (OneOf, Unknown)) else []
    if type(value) is Unknown and outcome:
        f.scope.names[name] = _instance_of(classes) or value
    elif isinstance(value, OneOf):
        kept = [o for o in value.options if _is_one(o, classes, is_a) in (outcome, None)]
        if kept:
            f.scope.names[name] = one_of(kept)


def _instance_of(classes: list[Value]) -> Value | None:
    """What an unknown value is that is a Python number or string: no tracer is one."""
    kinds = [kind.path.removeprefix("builtins.") if isinstance(kind, Api) else "" for kind in classes]
    if not kinds or not all(kind in ("bool", "complex", "float", "int", "str") for kind in kinds):
        return None
    return one_of(Scalar(kind=kind) for kind in kinds)


def _is_one(value: Value, classes: list[Value], is_a: Callable[[Value, Value], bool | None]) -> bool | None:
    answers = [is_a(value, kind) for kind in classes]
    return True if True in answers else None if None in answers else False


def _narrow(f: Frame, name: str, *, keep_none: bool) -> None:
    value = f.scope.names.get(name)
    if isinstance(value, OneOf):
        kept = [option for option in value.options if (_is_none(option) is True) is keep_none]
        if kept:
            f.scope.names[name] = one_of(kept)
