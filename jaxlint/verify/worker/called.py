"""What the calls that the two versions make of one function tell: the same arguments, the same results.

The arguments count where nothing printed or kept depends on them: a changed statement outside of functions may print
no more than a shape, and then a fix that passes ones instead of zeros would pass for a good one. The results count
where the function itself cannot be called with the same arguments, since the fix has changed its parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from jaxlint.verify.compare_values import Captured, Comparison, compare, worst_of
from jaxlint.verify.worker.capture import TooMuch, capture
from jaxlint.verify.worker.record import Call

Function = Callable[..., Any]


def other_arguments(
    before: Sequence[Call], after: Sequence[Call], functions: tuple[Function, Function], *, keys: bool = True
) -> str:
    """In what the recorded calls of the two versions of a function differ; empty when in nothing that matters.

    Arguments are the same when they are passed by name instead of by place, when only their types differ, and when
    their structure differs: that is for those to judge who see what the function does with it. `keys=False` skips
    PRNG keys.
    """
    for one, two in zip(before, after, strict=False):
        try:
            was, now = (capture(_by_name(function, call)) for function, call in zip(functions, (one, two), strict=True))
        except TooMuch:
            continue
        if _paths(was) == _paths(now):
            found = compare(_values(was), _values(now), keys=keys, types=False)
            if found.level == "different":
                return found.why
    return ""


def same_results(
    before: Sequence[Captured], after: Sequence[Captured], *, keys: bool, types: bool
) -> Comparison | None:
    """How the recorded results of a callable compare, one by one; None when there is no telling.

    That is where it was not called equally often, or returns something of another form.
    """
    if len(before) != len(after) or any(_paths(one) != _paths(two) for one, two in zip(before, after, strict=True)):
        return None
    found = worst_of([compare(one, two, keys=keys, types=types) for one, two in zip(before, after, strict=True)])
    return found if found.judged else None


def _by_name(function: Function, call: Call) -> dict[str, Any]:
    try:
        bound = inspect.signature(function).bind(*call.args, **call.kwargs)
    except (TypeError, ValueError):
        return {"arguments": call.args, **call.kwargs}
    bound.apply_defaults()
    return dict(bound.arguments)


def _paths(values: Captured) -> set[str]:
    return {leaf.path for leaf in values.leaves}


def _values(values: Captured) -> Captured:
    """Without what is known by its type alone, such as functions and empty lists."""
    return Captured(tuple(leaf for leaf in values.leaves if leaf.kind != "other"), values.arrays)
