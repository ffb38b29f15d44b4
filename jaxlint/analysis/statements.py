"""Runs statements: binds names, forks at branches, repeats loops, and joins what the paths leave behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from jaxlint.analysis import assignment, classes, guards, imports, key_making, key_paths, keys, trials
from jaxlint.analysis.branches import asks_how_it_runs, narrowed, truth
from jaxlint.analysis.events import Assigned, Dropped
from jaxlint.analysis.expressions import evaluate, handed_on
from jaxlint.analysis.frames import Consumed, Frame
from jaxlint.analysis.iteration import rounds
from jaxlint.analysis.values import Scalar, Value, join
from jaxlint.model import Span
from jaxlint.program import nodes as n
from jaxlint.program.names import last_statements

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine

QUIET_CONTEXTS = frozenset(
    {"jax.disable_jit", "jax.ensure_compile_time_eval", "pytest.raises", "jax.checking_leaks", "contextlib.suppress",
     "jax.core.eval_context", "pytest.warns"}
)  # fmt: skip


CONCRETE_CONTEXTS = frozenset({"jax.ensure_compile_time_eval", "jax.disable_jit", "jax.core.eval_context"})
"""Contexts in which operations on concrete values are not staged."""


def run_body(m: Machine, f: Frame, body: tuple[n.Stmt, ...]) -> bool:
    """Runs statements in order; False when no path goes on behind them."""
    for number, statement in enumerate(body):
        doubted = m.doubted
        if not run(m, f, statement):
            return False
        if isinstance(statement, n.Try) and m.doubted > doubted and _ends_for_tracers(m, f, statement):
            with m.doubt():
                return run_body(m, f, body[number + 1 :])
    return True


def run(m: Machine, f: Frame, statement: n.Stmt) -> bool:
    """Runs one statement; False when no path goes on behind it."""
    m.step()
    result = _RUNNERS[type(statement)](m, f, statement)
    return result is not False


def _assign(m: Machine, f: Frame, statement: n.Assign) -> None:
    if statement.value is None:
        return
    is_field = statement.annotation is not None and f.scope.is_class
    value = key_making.placed(m, "field" if is_field else m.key_place, partial(handed_on, m, f, statement.value))
    if statement.annotation is not None:
        value = assignment.annotated(m, f, value, statement.annotation)
    for target in statement.targets:
        assignment.assign(m, f, target, value, statement)


def _augmented(m: Machine, f: Frame, statement: n.AugmentedAssign) -> None:
    target = statement.target
    combined = n.Binary(statement.span, statement.operator, target, statement.value)
    value = evaluate(m, f, combined)
    assignment.assign(m, f, target, value, statement, augmented=statement.operator)


def _expression(m: Machine, f: Frame, statement: n.ExpressionStatement) -> None:
    value = evaluate(m, f, statement.value)
    m.emit(Dropped(f, statement.span, value, statement))


def _return(m: Machine, f: Frame, statement: n.Return) -> bool:
    value = handed_on(m, f, statement.value) if statement.value is not None else Scalar("none", None, True)
    f.returns.append(value)
    m.last_return = (f, statement)
    keys.hand_on(m, f, value, statement)
    f.exits.append(dict(m.consumed))
    assignment.escape(m, value)
    return False


def _raise(m: Machine, f: Frame, statement: n.Raise) -> bool:
    if statement.value is not None:
        evaluate(m, f, statement.value)
    return False


def _assert(m: Machine, f: Frame, statement: n.Assert) -> None:
    truth(m, f, statement.test, "assert", statement)


def _delete(m: Machine, f: Frame, statement: n.Delete) -> None:
    for target in statement.targets:
        if isinstance(target, n.Name):
            f.scope.names.pop(target.name, None)


def _jump(m: Machine, f: Frame, statement: n.Jump) -> bool:
    if statement.kind == "pass":
        return True
    f.jumps.append((dict(f.scope.names), dict(m.consumed)))
    return False


def _if(m: Machine, f: Frame, statement: n.If) -> bool:
    known = truth(m, f, statement.test, "if", statement)
    before = _state(m, f)
    goes_on = False
    ends: list[tuple[dict[str, Value], Consumed]] = []
    for outcome, body in ((True, statement.body), (False, statement.otherwise)):
        if known is not None and known is not outcome:
            continue
        _restore(m, f, before)
        narrowed(m, f, statement.test, outcome)
        with m.doubt(known is None and asks_how_it_runs(m, f, statement.test)):
            ended = not run_body(m, f, body)
        if not ended:
            goes_on = True
            ends.append(_state(m, f))
    _merge(m, f, ends)
    return goes_on


def _while(m: Machine, f: Frame, statement: n.While) -> bool:
    def one_round() -> bool:
        truth(m, f, statement.test, "while", statement)
        return run_body(m, f, statement.body)

    endless = isinstance(statement.test, n.Constant) and bool(statement.test.value)
    _loop(m, f, statement.span, [one_round, one_round], may_skip=not endless)
    return run_body(m, f, statement.otherwise)


def _for(m: Machine, f: Frame, statement: n.For) -> bool:
    iterable = evaluate(m, f, statement.iterable)
    before = dict(f.scope.names)

    def round_with(element: Value, number: int) -> bool:
        assignment.assign(m, f, statement.target, element, statement)
        goes_on = run_body(m, f, statement.body)
        if goes_on and number == 0:
            trials.tell_round(m, f, statement, before, partial(run_body, m, f, statement.body))
        return goes_on

    elements = rounds(m, f, iterable, statement.iterable)
    passes = [partial(round_with, element, number) for number, element in enumerate(elements)]
    _loop(m, f, statement.span, passes, may_skip=True)
    return run_body(m, f, statement.otherwise)


def _loop(m: Machine, f: Frame, span: Span, passes: Sequence[Callable[[], bool]], may_skip: bool) -> None:
    """Runs the rounds of a loop one after the other: twice is enough to see what one round does to the next."""
    before = _state(m, f)
    outer, f.jumps = f.jumps, []
    f.loop_spans.append(span)
    for number, one_round in enumerate(passes):
        if number:
            _widen(f, before[0])
        if one_round():
            f.jumps.append(_state(m, f))
        elif f.jumps:
            _restore(m, f, f.jumps[-1])
        else:
            break
    f.loop_spans.pop()
    ends, f.jumps = f.jumps, outer
    _merge(m, f, [*ends, before] if may_skip or not ends else ends)


def _widen(f: Frame, before: dict[str, Value]) -> None:
    """Forgets constants that change from round to round."""
    for name, value in f.scope.names.items():
        old = before.get(name)
        if old is not None and old != value and isinstance(value, Scalar) and isinstance(old, Scalar):
            f.scope.names[name] = join(old, value)


def _with(m: Machine, f: Frame, statement: n.With) -> bool:
    quiet = False
    staged = f.staged
    for context, target in statement.items:
        value = evaluate(m, f, context)
        quiet |= _is_quiet(m, f, context)
        f.staged &= imports.dotted(m, f, _function_of(context)) not in CONCRETE_CONTEXTS
        if target is not None:
            assignment.assign(m, f, target, value, statement)
    if quiet:
        with m.silence():
            run_body(m, f, statement.body)
        goes_on = True
    else:
        goes_on = run_body(m, f, statement.body)
    f.staged = staged
    return goes_on


def _function_of(context: n.Expr) -> n.Expr:
    return context.function if isinstance(context, n.Call) else context


def _is_quiet(m: Machine, f: Frame, context: n.Expr) -> bool:
    function = _function_of(context)
    if isinstance(function, n.Attribute) and function.name in ("assertRaises", "assertRaisesRegex", "assertWarns"):
        return True
    path = imports.dotted(m, f, function)
    return path in QUIET_CONTEXTS


def _try(m: Machine, f: Frame, statement: n.Try) -> bool:
    before = _state(m, f)
    ends = []
    f.tried += bool(statement.handlers)
    with m.refusal(any(_expects_tracers(m, f, handler) for handler in statement.handlers)):
        goes_on = run_body(m, f, statement.body)
    f.tried -= bool(statement.handlers)
    names, consumed = _state(m, f)
    if goes_on and run_body(m, f, statement.otherwise):
        ends.append(_state(m, f))
    failed = key_paths.without(consumed, before[1], f, [last.span for last in last_statements(statement.body)])
    raised = _joined(m, [before, (names, failed)])
    for handler in statement.handlers:
        _restore(m, f, raised)
        if run_body(m, f, handler.body):
            ends.append(_state(m, f))
    _merge(m, f, ends or [raised])
    return run_body(m, f, statement.final) and bool(ends)


def _expects_tracers(m: Machine, f: Frame, handler: n.Handler) -> bool:
    """Whether an `except` is there for what tracing refuses: the code before it is meant to be tried on tracers.

    What tracing raises is a TypeError; who raises another error for it has no other way for tracers.
    """
    raises = bool(handler.body) and isinstance(handler.body[-1], n.Raise)
    return any(_is_of_tracers(name) or (name == "TypeError" and not raises) for name in _caught(m, f, handler.type))


def _caught(m: Machine, f: Frame, kind: n.Expr | None) -> Iterator[str]:
    if isinstance(kind, n.Sequence):
        for element in kind.elements:
            yield from _caught(m, f, element)
    elif kind is not None:
        yield (imports.dotted(m, f, kind) or "").rpartition(".")[2]


def _is_of_tracers(name: str) -> bool:
    return name == "ConcretizationTypeError" or (name.startswith("Tracer") and name.endswith("ConversionError"))


def _ends_for_tracers(m: Machine, f: Frame, statement: n.Try) -> bool:
    """Whether only concrete values come past a `try`: what it expects to be refused of tracers ends the function."""
    expecting = [handler for handler in statement.handlers if _expects_tracers(m, f, handler)]
    return bool(expecting) and all(guards.ends(handler.body) for handler in expecting)


def _match(m: Machine, f: Frame, statement: n.Match) -> bool:
    from jaxlint.analysis.branches import ask
    from jaxlint.analysis.values import Unknown

    subject = evaluate(m, f, statement.subject)
    if any(case.compares_value for case in statement.cases):
        ask(m, f, subject, "case", statement.subject, statement)
    before = _state(m, f)
    ends = [before]
    for case in statement.cases:
        _restore(m, f, before)
        for name in case.binds:
            f.scope.names[name] = Unknown(trace=subject.trace)
        if case.guard is not None:
            truth(m, f, case.guard, "if", statement)
        if run_body(m, f, case.body):
            ends.append(_state(m, f))
    _merge(m, f, ends)
    return True


def _function(m: Machine, f: Frame, statement: n.FunctionDefinition) -> None:
    function = statement.function
    value = classes.define_function(m, f, function)
    f.scope.names[function.name] = value
    if function.name in function.outer:
        m.emit(
            Assigned(
                f, function.name_span, "name", None, value, n.Name(function.name_span, function.name), statement, False
            )
        )


def _class(m: Machine, f: Frame, statement: n.ClassDefinition) -> None:
    f.scope.names[statement.definition.name] = classes.define_class(m, f, statement.definition)


def _import(m: Machine, f: Frame, statement: n.Import) -> None:
    imports.bind(m, f, statement)


def _nothing(m: Machine, f: Frame, statement: n.Stmt) -> None:
    """`global` and `nonlocal` took effect when the function was lowered."""


def _state(m: Machine, f: Frame) -> tuple[dict[str, Value], Consumed]:
    return dict(f.scope.names), dict(m.consumed)


def _restore(m: Machine, f: Frame, state: tuple[dict[str, Value], Consumed]) -> None:
    f.scope.names = dict(state[0])
    m.consumed = dict(state[1])


def _merge(m: Machine, f: Frame, ends: list[tuple[dict[str, Value], Consumed]]) -> None:
    if ends:
        _restore(m, f, _joined(m, ends))


def _joined(m: Machine, ends: list[tuple[dict[str, Value], Consumed]]) -> tuple[dict[str, Value], Consumed]:
    names = dict(ends[0][0])
    for other_names, _ in ends[1:]:
        for name, value in other_names.items():
            old = names.get(name)
            names[name] = value if old is None or old is value else join(old, value)
    consumed = key_paths.merged([end[1] for end in ends])
    key_paths.join_names(m, names, consumed, ends)
    return names, consumed


_RUNNERS: dict[type, Callable[[Any, Any, Any], bool | None]] = {
    n.Assign: _assign, n.AugmentedAssign: _augmented, n.ExpressionStatement: _expression, n.Return: _return,
    n.Raise: _raise, n.Assert: _assert, n.Delete: _delete, n.Jump: _jump, n.Import: _import, n.Scope: _nothing,
    n.If: _if, n.While: _while, n.For: _for, n.With: _with, n.Try: _try, n.Match: _match,
    n.FunctionDefinition: _function, n.ClassDefinition: _class,
}  # fmt: skip
