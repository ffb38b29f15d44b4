"""Calls: evaluates arguments, finds what is called, and runs the functions of the project."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from jaxlint.analysis import (
    applying,
    attributes,
    classes,
    control_flow,
    evidence,
    functions,
    key_making,
    key_paths,
    keys,
    layers,
    methods,
    transforms,
)
from jaxlint.analysis.events import FunctionCalled
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.scope import Scope
from jaxlint.analysis.values import (
    Api,
    Array,
    Bound,
    ClassValue,
    Closure,
    Factory,
    Generator,
    Instance,
    Items,
    Key,
    Layer,
    Many,
    Mapping,
    Method,
    OneOf,
    Trace,
    Transformed,
    Unknown,
    Value,
    deep_trace,
    is_traced,
    join_traces,
    one_of,
    options,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def evaluate_call(m: Machine, f: Frame, e: n.Call) -> Value:
    """The value of a call expression; should it be a key of which nothing is known, it is told from others."""
    made = _evaluate_call(m, f, e)
    if type(made) is Unknown and made.token is None:
        token = m.token("key", e.span, f.number)
        return Unknown(trace=made.trace, donated=made.donated, token=token)
    return made


def _evaluate_call(m: Machine, f: Frame, e: n.Call) -> Value:
    from jaxlint.analysis.expressions import evaluate, evaluate_base

    function = e.function
    if isinstance(function, n.Attribute):
        base = evaluate_base(m, f, function)
        direct = _method_of(m, f, base, function, e)
        if direct is not None:
            return direct
        # The base was evaluated: once more would consume its keys again.
        value = one_of(attributes.get(m, f, option, function.name, function) for option in options(base))
    else:
        value = evaluate(m, f, function)
    if isinstance(value, Api) and value.path in m.transforms:
        return applying.apply_expression(m, f, value.path, e)
    arguments = evaluate_arguments(m, f, e)
    if isinstance(value, Api) and value.path == "functools.partial" and arguments.positional:
        return applying.partial(m, f, arguments, e)
    if isinstance(value, Factory):
        return applying.apply_factory(m, f, value, arguments, e)
    return call(m, f, value, arguments, e)


def _method_of(m: Machine, f: Frame, base: Value, function: n.Attribute, e: n.Call) -> Value | None:
    """The call of a method of an array, container or unknown object; None when `base` has attributes of its own."""
    if (
        isinstance(base, Generator)
        or not isinstance(base, (Array, Unknown, OneOf, Items, Many, Mapping))
        or (
            isinstance(base, OneOf)
            and not any(isinstance(o, (Array, Unknown, Items, Many, Mapping)) for o in base.options)
        )
    ):
        return None
    arguments = evaluate_arguments(m, f, e)

    def way(option: Value) -> Value:
        if isinstance(option, (Array, Unknown, Items, Many, Mapping)):
            return methods.call(m, f, option, function.name, arguments, e)
        return call(m, f, attributes.get(m, f, option, function.name, function), arguments, e)

    if not isinstance(base, OneOf):
        return way(base)
    with m.doubt(not all(map(is_traced, base.options))):
        return key_paths.alternatives(m, [partial(way, option) for option in base.options])


def evaluate_arguments(m: Machine, f: Frame, e: n.Call) -> Arguments:
    """Evaluates the arguments of a call in their order."""
    from jaxlint.analysis.expressions import evaluate

    positional: list[Value] = []
    nodes: list[n.Expr | None] = []
    keywords: list[tuple[str, Value]] = []
    keyword_nodes: list[tuple[str, n.Argument]] = []
    complete = True
    for argument in e.arguments:
        value = evaluate(m, f, argument.value)
        if argument.star == "*":
            if isinstance(value, Items):
                positional.extend(value.items)
                nodes.extend([None] * len(value.items))
            else:
                complete = False
        elif argument.star == "**":
            if isinstance(value, Mapping) and value.complete:
                keywords.extend((str(key), entry) for key, entry in value.entries)
            else:
                complete = False
        elif argument.keyword is not None:
            keywords.append((argument.keyword, value))
            keyword_nodes.append((argument.keyword, argument))
        else:
            positional.append(value)
            nodes.append(argument.value)
    return Arguments(tuple(positional), tuple(keywords), tuple(nodes), tuple(keyword_nodes), complete)


def call(
    m: Machine, f: Frame, function: Value, arguments: Arguments, e: n.Call | None, span: Span | None = None
) -> Value:
    """Calls a value. `e` is the call expression, None where a function of the outside world makes the call."""
    m.step()
    where = e.span if e is not None else span
    assert where is not None
    match function:
        case Layer():
            return layers.call(m, f, function, arguments, where)
        case Closure():
            result = call_closure(m, f, function, arguments, where)
            if e is not None:
                can_be_jitted = partial(m.can_be_jitted, function, f, where)
                m.emit(FunctionCalled(f, where, function, arguments, e, result, can_be_jitted))
            return result
        case Transformed():
            return transforms.call(m, f, function, arguments, e, where)
        case Bound():
            return call(m, f, function.function, _with_bound(function, arguments), e, where)
        case ClassValue():
            return classes.instantiate(m, f, function, arguments, where)
        case Method():
            return methods.call(m, f, function.owner, function.name, arguments, e) if e is not None else Unknown()
        case Api():
            return call_api(m, f, function.path, arguments, e, where)
        case Instance():
            method = classes.find(function.cls, "__call__")
            if isinstance(method, (Closure, Transformed)):
                return call(m, f, classes.bind(method, function), arguments, e, where)
        case Factory() if arguments.positional:
            return applying.make(m, f, replace(function.site), arguments.positional[0], e or n.Name(where, "?"))
        case OneOf():
            ways = [lambda o=o: call(m, f, o, arguments, e, where) for o in function.options]
            with m.doubt():  # which of them it is may depend on what it is given, or on whether anything is traced
                return key_paths.alternatives(m, ways)
    return call_unknown(m, f, function, arguments, where)


def call_api(m: Machine, f: Frame, path: str, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """Calls a function outside the project."""
    if path in m.transforms and arguments.positional:
        return applying.apply_value(m, f, path, arguments, e, where)
    if path in m.control_flow and e is not None:
        return control_flow.run(m, f, path, arguments, e)
    return functions.call(m, f, path, arguments, e, where)


def call_unknown(m: Machine, f: Frame, function: Value, arguments: Arguments, where: Span) -> Value:
    """Calls something of which nothing is known: keys may be consumed, transformed functions leave our sight."""
    from jaxlint.analysis.assignment import escape

    trace: Trace | None = None
    for value in arguments.all():
        trace = join_traces(trace, deep_trace(value))
        escape(m, value)
        classes.note_open(m, value)
        keys.weak(m, f, value, where)
    if function.trace is not None:
        trace = join_traces(trace, function.trace)
    return Unknown(trace=replace(trace, sure=False) if trace is not None else None)


def _with_bound(function: Bound, arguments: Arguments) -> Arguments:
    given = {name for name, _ in arguments.keywords}
    keywords = (*arguments.keywords, *((k, v) for k, v in function.keywords if k not in given))
    return replace(
        arguments,
        positional=(*function.arguments, *arguments.positional),
        nodes=(*([None] * len(function.arguments)), *arguments.nodes),
        keywords=keywords,
    )


# Functions of the project


def make_closure(m: Machine, f: Frame, function: n.Function) -> Closure:
    """The function object that a `def` or lambda makes in a frame."""
    from jaxlint.analysis.expressions import evaluate

    defaults = tuple(
        (p.name, key_making.placed(m, "default", partial(evaluate, m, f, p.default)))
        for p in function.parameters
        if p.default is not None
    )
    closure = Closure(function, f.scope, f.path, defaults, None, f.number)
    m.closures.setdefault((f.path, function.span), closure)
    return closure


def call_closure(
    m: Machine, f: Frame, closure: Closure, arguments: Arguments, where: Span, frame: Frame | None = None
) -> Value:
    """Runs a project function on arguments, in `frame` (made by a transform) or a plain one."""
    function = closure.function
    key = (closure.path, function.span)
    m.executed.add(key)
    if any(inner.function is function for inner in f.chain()) or f.depth > _max_depth():
        return call_unknown(m, f, Unknown(), arguments, where)
    inner = frame or Frame(closure.path, Scope(), staged=f.staged, compiled=f.compiled, mapped=f.mapped, known=f.known)
    inner.scope, inner.function = Scope(closure.scope), function
    inner.caller, inner.call_span = f, where
    inner.path, inner.number = closure.path, m.number()
    inner.owner = closure.owner
    inner.scope.names = bind(m, inner, closure, arguments)
    inner.given = tuple(inner.scope.names.values())
    memo = _memo_key(m, f, closure, inner)
    if memo is not None and memo in m.memo:
        return key_making.renewed(m, m.memo[memo])  # what it makes anew, it makes again
    before = dict(m.consumed) if memo is not None else {}
    result = _run(m, inner, function)
    if memo is not None and m.consumed == before:  # else it used up keys that it closes over, as the next call will
        m.memo[memo] = result
    return result


def _max_depth() -> int:
    from jaxlint.analysis.machine import MAX_DEPTH

    return MAX_DEPTH


def _run(m: Machine, inner: Frame, function: n.Function) -> Value:
    from jaxlint.analysis.statements import run_body

    goes_on = run_body(m, inner, function.body)
    if goes_on:
        inner.exits.append(dict(m.consumed))
    if inner.exits:
        m.consumed = key_paths.merged(inner.exits)
    if function.is_generator:
        return Many("list", one_of(value.element for value in inner.returns if isinstance(value, Many)))
    if goes_on and inner.returns:
        return one_of([*inner.returns])
    return Unknown() if _is_stub(function) else inner.result()


def _is_stub(function: n.Function) -> bool:
    """Whether a body only declares: a protocol's or abstract method, of whose results nothing is known."""
    return all(
        (
            isinstance(s, n.ExpressionStatement)
            and isinstance(s.value, n.Constant)
            and s.value.kind in ("str", "ellipsis")
        )
        or (isinstance(s, n.Jump) and s.kind == "pass")
        or isinstance(s, n.Raise)
        for s in function.body
    )


def _memo_key(m: Machine, f: Frame, closure: Closure, inner: Frame) -> object | None:
    """What decides the result of a call; None where a call also acts on keys or objects."""
    names = tuple(inner.scope.names.items())
    if closure.owner is not None or not all(_is_plain(value) for _, value in names):
        return None
    return (
        closure.path,
        closure.function.span,
        id(closure.scope),
        names,
        f.staged,
        f.compiled,
        f.mapped,
        f.known,
        f.in_test(),
        (m.doubts > 0, m.refusals > 0),
        any(caller.loops for caller in f.chain()),
    )


def _is_plain(value: Value, depth: int = 3) -> bool:
    from jaxlint.analysis.values import Scalar

    if isinstance(value, (Scalar, Array)):
        return not isinstance(value, Array) or value.token is None
    if isinstance(value, Items) and depth:
        return all(_is_plain(item, depth - 1) for item in value.items)
    return False


def bind(m: Machine, inner: Frame, closure: Closure, arguments: Arguments) -> dict[str, Value]:
    """The parameters' values for a call, as Python binds them; what is missing is unknown."""
    names: dict[str, Value] = {}
    positional = list(arguments.positional)
    if closure.owner is not None:
        positional.insert(0, closure.owner)
    keywords = dict(arguments.keywords)
    defaults = dict(closure.defaults)
    for parameter in closure.function.parameters:
        name = parameter.name
        if parameter.kind == "*":
            names[name] = Items("tuple", tuple(positional)) if arguments.complete else Many("tuple", Unknown())
            positional = []
        elif parameter.kind == "**":
            names[name] = Mapping(tuple(keywords.items()), arguments.complete)
        elif positional and parameter.kind in ("positional-only", "positional"):
            names[name] = positional.pop(0)
        elif name in keywords:
            names[name] = keywords.pop(name)
        elif name in defaults and arguments.complete:
            names[name] = defaults[name]
            key_making.note_default(m, inner, parameter)
        else:
            names[name] = evidence.parameter_value(m, inner, closure, parameter)
    return {name: _typed(m, inner, closure, name, value) for name, value in names.items()}


def _typed(m: Machine, inner: Frame, closure: Closure, name: str, value: Value) -> Value:
    """A value of which nothing is known takes what the parameter's annotation says."""
    if not isinstance(value, Unknown) or value.trace is not None:
        return value
    parameter = next(p for p in closure.function.parameters if p.name == name)
    if parameter.annotation is None:
        return value if value.token is not None else replace(value, token=m.token(name, parameter.span))
    typed = evidence.parameter_value(m, inner, closure, parameter)
    if value.token is not None and isinstance(typed, (Key, Unknown, Array)):
        return replace(typed, token=value.token)
    return typed


def run_uncalled(m: Machine, closure: Closure) -> None:
    """Runs a function that no visible code calls, as its users may call it: eagerly, with unknown arguments."""
    frame = Frame(closure.path, closure.scope, known=False)
    bound = classes.bound_to_instance(m, frame, closure)
    arguments = Arguments((), tuple(evidence.unknown_arguments(m, frame, bound)))
    inner = Frame(closure.path, Scope(), known=False)
    call_closure(m, frame, bound, arguments, closure.function.name_span, inner)


def call_with(m: Machine, f: Frame, function: Value, positional: tuple[Value, ...], where: Span) -> Value:
    """Calls a function as an outside function would: with plain positional arguments."""
    return call(m, f, function, Arguments(positional, (), (None,) * len(positional)), None, where)
