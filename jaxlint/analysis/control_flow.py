"""`lax.scan`, `cond`, `while_loop` and their like: they run their functions at once, on tracers of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from jaxlint.analysis import calls, key_making, key_paths, keys
from jaxlint.analysis.events import ControlFlowCall
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.iteration import element
from jaxlint.analysis.key_parts import part_token
from jaxlint.analysis.signature import signature
from jaxlint.analysis.tracing import outer_trace, to_tracer, untraced
from jaxlint.analysis.trees import tree_map
from jaxlint.analysis.values import (
    NONE,
    Array,
    Items,
    Key,
    Level,
    Many,
    Scalar,
    Site,
    Trace,
    Transformed,
    Unknown,
    Value,
    join,
    options,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine

TRACED = Trace(Level.TRACED)

Operands = dict[str, Value]


class Results(dict[str, Value]):
    """What each function gave in its last round, by parameter name; `first` holds what it gave in its first."""

    __slots__ = ("first",)

    def __init__(self) -> None:
        super().__init__()
        self.first: dict[str, Value] = {}

    def __setitem__(self, name: str, value: Value) -> None:
        self.first.setdefault(name, value)
        super().__setitem__(name, value)


def run(m: Machine, f: Frame, path: str, arguments: Arguments, e: n.Call) -> Value:
    """Runs a control-flow function and tells what its parts gave."""
    entry = m.control_flow[path]
    operands = _operands(entry.parameters, arguments)
    frame = _inside(f, path, entry.kind, e.span, e.function.span)
    if entry.kind in _DERIVATIVES:
        _record(m, f, frame, operands.get("fun", Unknown()), e)
    results = Results()
    value = _RUNNERS[entry.kind](m, frame, operands, results, e.span)
    told = ControlFlowCall(
        f, e.span, path, entry.kind, operands, results, results.first, arguments, e, lambda: m.runs_under_jit(f)
    )
    m.emit(told)
    if entry.kind in _DERIVATIVES:
        return untraced(f, value, outer_trace(arguments))
    return untraced(f, value, outer_trace(arguments), arrays=True)


def _record(m: Machine, f: Frame, inside: Frame, function: Value, e: n.Call) -> None:
    """`jvp` and its like apply a transform and call the result at once."""
    from jaxlint.analysis.transforms import count_call

    assert inside.site is not None
    record = m.note_site(Transformed(inside.site, function, f.number), f, e, fresh=False)
    record.immediate = True
    if not m.quiet:
        count_call(f, record)


def _operands(parameters: tuple[str, ...], arguments: Arguments) -> Operands:
    found: Operands = {}
    for position, name in enumerate(parameters):
        if name.startswith("*"):
            found[name] = Items("tuple", arguments.positional[position:])
            continue
        value = arguments.get(position, name)
        if value is not None:
            found[name] = value
    return found


_DERIVATIVES = frozenset({"jvp", "vjp", "linearize"})
_NOT_STAGED = _DERIVATIVES | {"associative_scan"}


def _inside(f: Frame, path: str, kind: str, span: Span, name_span: Span) -> Frame:
    site = Site(path, kind, f.path, span, name_span)
    is_staged = f.staged or kind not in _NOT_STAGED
    compiled = f.compiled or kind not in _NOT_STAGED
    mapped = (*f.mapped, site) if kind in _DERIVATIVES and not compiled else f.mapped
    return Frame(
        f.path, f.scope, None, f, None, site, is_staged, compiled, mapped, f.number, known=f.known,
        loop_spans=list(f.loop_spans),
    )  # fmt: skip


def traced(value: Value | None) -> Value:
    """A value as a staged body sees it."""
    return Unknown(trace=TRACED) if value is None else to_tracer(value, TRACED)


def _call(m: Machine, f: Frame, function: Value | None, values: tuple[Value, ...], where: Span) -> Value:
    if function is None:
        return Unknown()
    return key_paths.alternatives(m, [partial(_call_one, m, f, option, values, where) for option in options(function)])


def _call_one(m: Machine, f: Frame, function: Value, values: tuple[Value, ...], where: Span) -> Value:
    """What one function gives; nothing where it does not take so many arguments, for Python refuses the call."""
    known = signature(function)
    if known is not None and known.function is not None and not known.takes(len(values)):
        return Unknown()
    return calls.call_with(m, f, function, values, where)


def _twice(m: Machine, f: Frame, run: Callable[[], Value]) -> Value:
    """A loop body runs again and again: the second run sees what the first did to keys of the surroundings."""
    first = run()
    f.loop_spans.append(f.site.span if f.site is not None else Span(0, 0, 0, 0))
    second = run()
    f.loop_spans.pop()
    return join(first, second)


def _scan(m: Machine, f: Frame, o: Operands, results: Results, where: Span) -> Value:
    init, xs = o.get("init", Unknown()), o.get("xs", NONE)
    carry = traced(init)
    # Each round sees another row; two rounds tell what one does to the next.
    round_number = iter((0, 1))

    def body() -> Value:
        row = NONE if _is_none(xs) else traced(rows(m, xs, next(round_number)))
        before = dict(m.consumed)
        result = _call(m, f, o.get("f"), (next_carry(m, carry, results), row), where)
        results["f"] = result
        keys.tell_carry(m, carry_of_round(carry, results), before)
        return result

    result = _twice(m, f, body)
    if isinstance(result, Items) and len(result.items) == 2:
        return Items("tuple", (_stable(carry, result.items[0]), _stacked(result.items[1])))
    return Items("tuple", (Unknown(trace=TRACED), Unknown(trace=TRACED)))


def carry_of_round(carry: Value, results: Results) -> Value:
    """The carry that a round gets: the initial one, then what the last round gave."""
    last = results.get("f")
    if isinstance(last, Items) and len(last.items) == 2:
        return last.items[0]
    return carry


def next_carry(m: Machine, carry: Value, results: Results) -> Value:
    """The carry that a round starts from; a used key in it was told of already."""
    return key_making.renewed(m, carry_of_round(carry, results)) if "f" in results else carry


def _is_none(value: Value) -> bool:
    return isinstance(value, Scalar) and value.kind == "none"


def rows(m: Machine, xs: Value, number: int) -> Value:
    """What one round of scan or map sees of the stacked inputs."""
    return tree_map(partial(_row, m, number), xs)


def _row(m: Machine, number: int, xs: Value) -> Value:
    if isinstance(xs, Scalar):
        return Unknown()
    row = element(m, xs, number)
    if isinstance(xs, (Key, Unknown)) and xs.token is not None and isinstance(row, (Key, Unknown)):
        return replace(row, token=part_token(xs.token, ("scanned", number)))
    return row


def _stable(carry: Value, out: Value) -> Value:
    """The final carry has the types of the initial one."""
    if isinstance(carry, Array) and isinstance(out, Array):
        return replace(out, weak=None, trace=out.trace)
    if isinstance(out, Key):
        return Key(out.token, out.batch, trace=out.trace)
    return join(carry, out)


def _stacked(value: Value) -> Value:
    """The results of all rounds."""
    return tree_map(_stacked_leaf, value)


def _stacked_leaf(value: Value) -> Value:
    match value:
        case Array(shape=shape):
            return replace(value, shape=(None, *shape) if shape is not None else None)
        case Scalar(kind=kind) if kind in ("int", "float", "bool"):
            return Array(None, (None,))
        case Key():
            return Key(None, None)
    return value


def _fori_loop(m: Machine, f: Frame, o: Operands, results: Results, where: Span) -> Value:
    carry = traced(o.get("init_val"))

    def body() -> Value:
        index = Array("int32", (), True, python="int", trace=TRACED)  # another one in each round
        before = dict(m.consumed)
        state = key_making.renewed(m, results["body_fun"]) if "body_fun" in results else carry
        results["body_fun"] = _call(m, f, o.get("body_fun"), (index, state), where)
        keys.tell_carry(m, results["body_fun"], before)
        return results["body_fun"]

    return _stable(carry, _twice(m, f, body))


def _while_loop(m: Machine, f: Frame, o: Operands, results: Results, where: Span) -> Value:
    carry = traced(o.get("init_val"))

    def body() -> Value:
        before = dict(m.consumed)
        state = key_making.renewed(m, results["body_fun"]) if "body_fun" in results else carry
        results["cond_fun"] = _call(m, f, o.get("cond_fun"), (state,), where)
        results["body_fun"] = _call(m, f, o.get("body_fun"), (state,), where)
        keys.tell_carry(m, results["body_fun"], before)
        return results["body_fun"]

    return _stable(carry, _twice(m, f, body))


def _cond(m: Machine, f: Frame, o: Operands, results: Results, where: Span) -> Value:
    given = o.get("*operands")
    operands = tuple(traced(v) for v in given.items) if isinstance(given, Items) else ()

    def branch(name: str) -> Value:
        results[name] = _call(m, f, o.get(name), operands, where)
        return results[name]

    return key_paths.alternatives(m, [partial(branch, name) for name in ("true_fun", "false_fun")])


def _switch(m: Machine, f: Frame, o: Operands, results: Results, where: Span) -> Value:
    given = o.get("*operands")
    operands = tuple(traced(v) for v in given.items) if isinstance(given, Items) else ()
    branches = o.get("branches", Unknown())
    functions = (
        branches.items if isinstance(branches, Items) else (branches.element,) if isinstance(branches, Many) else ()
    )
    found: list[Value] = []

    def branch(function: Value) -> Value:
        found.append(_call(m, f, function, operands, where))
        return found[-1]

    value = key_paths.alternatives(m, [partial(branch, function) for function in functions])
    results["branches"] = Items("tuple", tuple(found))
    return value


def _map(m: Machine, f: Frame, o: Operands, results: Results, where: Span) -> Value:
    round_number = iter((0, 1))

    def body() -> Value:
        return _call(m, f, o.get("f"), (traced(rows(m, o.get("xs", Unknown()), next(round_number))),), where)

    results["f"] = _twice(m, f, body)
    return _stacked(results["f"])


def _associative_scan(m: Machine, f: Frame, o: Operands, results: Results, where: Span) -> Value:
    elems = o.get("elems", Unknown())
    results["fn"] = _call(m, f, o.get("fn"), (elems, elems), where)
    return elems


def _eval_shape(m: Machine, f: Frame, o: Operands, results: Results, where: Span) -> Value:
    """Only shapes are computed: no key is consumed."""
    before = dict(m.consumed)
    given = o.get("*arguments")
    with m.silence():
        _call(m, f, o.get("fun"), tuple(traced(v) for v in given.items) if isinstance(given, Items) else (), where)
    m.consumed = before
    return Unknown()


def _differentiated(value: Value) -> Value:
    return to_tracer(value, Trace(Level.GRAD))


def _jvp(m: Machine, f: Frame, o: Operands, results: Results, where: Span) -> Value:
    primals = o.get("primals")
    values = tuple(_differentiated(v) for v in primals.items) if isinstance(primals, Items) else (Unknown(),)
    results["fun"] = _call(m, f, o.get("fun"), values, where)
    return Items("tuple", (results["fun"], results["fun"]))


def _vjp(m: Machine, f: Frame, o: Operands, results: Results, where: Span) -> Value:
    primals = o.get("*primals")
    values = tuple(_differentiated(v) for v in primals.items) if isinstance(primals, Items) else (Unknown(),)
    results["fun"] = _call(m, f, o.get("fun"), values, where)
    return Items("tuple", (results["fun"], Unknown()))


_RUNNERS: dict[str, Callable[[Machine, Frame, Operands, Results, Span], Value]] = {
    "scan": _scan, "fori_loop": _fori_loop, "while_loop": _while_loop, "cond": _cond, "switch": _switch, "map": _map,
    "associative_scan": _associative_scan, "eval_shape": _eval_shape, "jvp": _jvp, "vjp": _vjp, "linearize": _vjp,
}  # fmt: skip
