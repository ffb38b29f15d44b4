"""The search for arguments that both versions take, and for others that tell the versions apart.

Open ranks are tried with `jax.eval_shape`, which costs no arithmetic. In 180 public functions of eight libraries a
search over shapes alone found arguments for 71 to 78 %, nearly always within ten tries. One set of likely arguments
hides much: equal sizes, a flag that is never set, defaults, one rank and one type. The calls that follow the first
change these one after the other. Where such a change rests on a guess, a difference leaves the matter open.
"""

from __future__ import annotations

import dis
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
from msgspec import Struct, structs

from jaxlint.verify.jobs import shortened
from jaxlint.verify.worker.apart import likely, set_apart, with_sizes
from jaxlint.verify.worker.budget import CutShort
from jaxlint.verify.worker.plans import LIKELY, Array, Given, OneOf, Size, mapped, parts
from jaxlint.verify.worker.record import Call

_TRIES, _SIZE_TRIES, _MORE_TRIES, _MORE, _RANKS = 40, 80, 80, 30, 3
_TOGETHER, _DEFAULTS, _REFUSED = 6, 3, 2

Accepts = Callable[[Call], Exception | None]
"""What a version raises when it is called so; None for nothing. Raises `CutShort` itself when the time is up."""


class NotFound(Exception):
    """No arguments were found; the message says what was tried."""


class Refused(NotFound):
    """The original takes the likeliest arguments, and the fixed version does not."""


class Question(Struct, frozen=True):
    """What is sought: plans for what must be given, others for defaults, and how a call is made of filled plans."""

    names: str
    plans: list[Any]
    defaults: list[tuple[str, list[Any]]]
    call: Callable[[list[Any], dict[str, Any]], Call]
    strict: bool = True  # what the original takes, the fixed version must take
    path: str = ""  # of the text whose own refusals are of interest too


class _Filled(Struct, frozen=True):
    """Plans in which only sizes are open: which options were chosen of what is one of several, and which ranks."""

    plans: list[Any]
    picks: dict[int, int]
    ranks: tuple[int, ...]
    lead: Accepts  # of the version that says what can be called


def found(question: Question, before: Accepts, after: Accepts) -> list[Call]:
    """The likeliest call that both versions take, or the fixed one alone, and others. NotFound when there is none."""
    first = _first(question, before, after)
    others = _others(question, structs.replace(first, lead=_often(first.lead, _SIZE_TRIES + _MORE_TRIES)))
    return [_likely_call(question, first.plans), *itertools.islice(others, _MORE)]


def _often(accepts: Accepts, times: int) -> Accepts:
    """The same for so many calls; those that follow count as refused, so that heavy functions take no more time."""
    left = iter(range(times))
    refused = NotFound("enough was tried")
    return lambda call: refused if next(left, None) is None else accepts(call)


def _first(question: Question, before: Accepts, after: Accepts) -> _Filled:
    why = ""
    alone: _Filled | None = None  # taken by the fixed version alone, as where the original fails in a tracer
    for plans, picks, ranks in itertools.islice(_candidates(question.plans), _TRIES):
        one, two = _refusals(question, plans, before, after)
        if one is None and two is None:
            return _Filled(plans, picks, ranks, before)
        if one is None and question.strict:
            raise Refused(f"the fixed version does not take what the original takes (it raises {_said(two)})")
        if two is None:
            alone = alone or _Filled(plans, picks, ranks, after)
            if isinstance(one, jax.errors.JAXTypeError):
                break
        why = why or _said(one or two)
    if alone is None:
        raise NotFound(f"no arguments ({question.names}) were found (the likeliest call raises {why})")
    return alone


def _refusals(
    question: Question, plans: list[Any], before: Accepts, after: Accepts
) -> tuple[Exception | None, Exception | None]:
    try:
        call = _likely_call(question, plans)
    except Exception as error:  # a class that does not take what it is given
        return error, error
    return before(call), after(call)


def _said(error: Exception | None) -> str:
    return shortened(f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}", 240)


# ---- the first --------------------------------------------------------------------------------------------------


def _candidates(plans: list[Any]) -> Iterator[tuple[list[Any], dict[int, int], tuple[int, ...]]]:
    """Ways of filling in ranks and options, the likeliest first; then with larger counts, and integers."""
    options = [one for one in parts(plans) if isinstance(one, OneOf)]
    swaps = [{place: option} for place, one in enumerate(options) for option in range(1, len(one.options))]
    plain, ranks = _chosen(plans, {}), _ranks(_chosen(plans, {}))
    yield from ((_filled(plain, some, "f"), {}, some) for some in ranks[:16])
    larger = [mapped(plan, _larger) for plan in plain]
    if larger != plain:
        yield from ((_filled(larger, some, "f"), {}, some) for some in ranks[:4])
    for picks in swaps[:6]:
        chosen = _chosen(plans, picks)
        yield from ((_filled(chosen, some, "f"), picks, some) for some in _ranks(chosen)[:4])
    yield from ((_filled(plain, some, "i"), {}, some) for some in ranks[:4])
    yield from ((_filled(plain, some, "f"), {}, some) for some in ranks[16:])


def _chosen(plans: list[Any], picks: dict[int, int]) -> list[Any]:
    """The plans with one option for each choice, the first where no other is picked."""
    places = itertools.count()

    def choose(part: Any) -> Any:
        if not isinstance(part, OneOf):
            return part
        option = picks.get(next(places), 0)
        return _chosen([part.options[option if option < len(part.options) else 0]], {})[0]

    return [mapped(plan, choose) for plan in plans]


def _ranks(plans: list[Any]) -> list[tuple[int, ...]]:
    """Ranks for the arrays of which nothing is known, the likeliest first."""
    open_ = [part for part in parts(plans) if isinstance(part, Array) and part.rank is None]
    order = {2: 0, 1: 1, 0: 2, 3: 3, 4: 4}
    choices = sorted(
        itertools.product(order, repeat=min(len(open_), 4)),
        key=lambda ranks: (len(set(ranks)), max(ranks, default=0) > 3, [order[rank] for rank in ranks]),
    )
    fitting = [some for some in choices if all(r >= one.least for r, one in zip(some, open_, strict=False))]
    return fitting or choices


def _filled(plans: list[Any], ranks: Sequence[int], kind: str) -> list[Any]:
    left = itertools.count()

    def fill(part: Any) -> Any:
        if not isinstance(part, Array) or part.rank is not None:
            return part
        rank = ranks[min(next(left), len(ranks) - 1)]
        return structs.replace(part, rank=max(rank, part.least), kind=kind if part.kind == "f" else part.kind)

    return [mapped(plan, fill) for plan in plans]


def _larger(part: Any) -> Any:
    """A size is more likely than a number of steps where the small one was refused."""
    return structs.replace(part, value=LIKELY) if isinstance(part, Size) else part


def _likely_call(question: Question, plans: list[Any], named: dict[str, Any] | None = None) -> Call:
    return question.call(with_sizes(plans, likely(plans)), named or {})


# ---- others -----------------------------------------------------------------------------------------------------


def _others(question: Question, first: _Filled) -> Iterator[Call]:
    """Calls that differ from the first in one thing; those that rest on a guess are tentative."""
    yield from _of_other_sizes(question, first)
    yield from _of_axes_of_one(question, first)
    yield from _of_other_options(question, first, certain=True)
    yield from _of_other_defaults(question, first)
    yield from _of_other_numbers(question, first)
    yield from _of_other_ranks(question, first)
    yield from _of_other_types(question, first)
    yield from _of_other_options(question, first, certain=False)


def _tried(question: Question, plans: list[Any], lead: Accepts, label: str, **named: Any) -> Iterator[Call]:
    """The call, if it is taken, or refused by the text itself."""
    try:
        call = _likely_call(question, plans, named)
        error = lead(call)
    except CutShort:
        raise
    except Exception:  # a class does not take what it is given
        return
    if error is None or (question.strict and _is_own(error, question.path)):
        yield structs.replace(call, label=f"synthesised inputs, {label}", tentative=True, refused=error is not None)


def _is_own(error: Exception, path: str) -> bool:
    """Whether a statement of the text raises it, such as `raise` and `assert`."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_code.co_filename != path:
        return False
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"


def _of_other_sizes(question: Question, first: _Filled) -> Iterator[Call]:
    start, lead = likely(first.plans), _often(first.lead, _SIZE_TRIES)
    refused: list[Call] = []

    def accepted(sizes: list[int]) -> bool:
        tried = [*_tried(question, with_sizes(first.plans, sizes), lead, "sizes set apart")]
        refused.extend(call for call in tried if call.refused)
        return any(not call.refused for call in tried)

    sizes = set_apart(start, accepted)
    yield from refused[:_REFUSED]
    if sizes != start:
        yield from _tried(question, with_sizes(first.plans, sizes), first.lead, "sizes set apart")


def _of_axes_of_one(question: Question, first: _Filled) -> Iterator[Call]:
    """All axes of one size together, which are squeezed and broadcast as others are not."""
    start = likely(first.plans)
    if not start:
        return
    alone = [1 if place == 0 else size for place, size in enumerate(start)]
    for sizes in ([1] * len(start), alone):
        yield from _tried(question, with_sizes(first.plans, sizes), first.lead, "axes of size 1")


def _of_other_options(question: Question, first: _Filled, *, certain: bool) -> Iterator[Call]:
    options = [one for one in parts(question.plans) if isinstance(one, OneOf)]
    others = [
        (place, option)
        for place, one in enumerate(options)
        for option in range(len(one.options))
        if one.certain is certain and option != first.picks.get(place, 0)
    ]
    pairs = (pair for pair in itertools.combinations(others, 2) if certain and pair[0][0] != pair[1][0])
    for changed in (*((one,) for one in others), *itertools.islice(pairs, _TOGETHER)):
        plans = _filled(_chosen(question.plans, {**first.picks, **dict(changed)}), first.ranks or (2,), "f")
        for call in _tried(question, plans, first.lead, "another option"):
            yield structs.replace(call, tentative=not certain)


def _of_other_defaults(question: Question, first: _Filled) -> Iterator[Call]:
    """Each parameter with a default given, by what is likeliest of what is taken; then two of them, and all."""
    taken: dict[str, Any] = {}
    for name, options in question.defaults:
        plans = [_filled(_chosen([option], {}), first.ranks or (2,), "f")[0] for option in options]
        given = ((plan, call) for plan in plans for call in _with_defaults(question, first, {name: plan}))
        for plan, call in itertools.islice(given, _DEFAULTS):
            if not call.refused:
                taken.setdefault(name, plan)
            yield call
    several = [*itertools.islice(itertools.combinations(taken, 2), _TOGETHER), *([tuple(taken)] if taken else [])]
    for names in several if len(taken) > 1 else ():
        yield from _with_defaults(question, first, {name: taken[name] for name in names})


def _with_defaults(question: Question, first: _Filled, named: dict[str, Any]) -> Iterator[Call]:
    for call in _tried(question, first.plans, first.lead, "", **named):
        yield structs.replace(call, label=f"synthesised inputs with {', '.join(named)}")


def _of_other_numbers(question: Question, first: _Filled) -> Iterator[Call]:
    """Integers with which the text compares a parameter, and those beside them."""
    plans = [mapped(plan, _at_edges) for plan in first.plans]
    if plans != first.plans:
        yield from _tried(question, plans, first.lead, "with integers of the text")
    sizes = enumerate(_sizes(first.plans))
    counts = [(place, edge + step) for place, one in sizes for edge in one.edges for step in (0, 1, -1)]
    for place, edge in counts:
        left = itertools.count()
        plans = [mapped(plan, functools.partial(_with_number, place, edge, left)) for plan in first.plans]
        yield from _tried(question, plans, first.lead, "with integers of the text")


def _sizes(plans: list[Any]) -> list[Size]:
    return [part for part in parts(plans) if isinstance(part, Size)]


def _with_number(wanted: int, number: int, places: Iterator[int], part: Any) -> Any:
    return Given(number, str(number)) if isinstance(part, Size) and next(places) == wanted else part


def _at_edges(part: Any) -> Any:
    return structs.replace(part, kind="e") if isinstance(part, Array) and part.edges and part.kind == "i" else part


def _of_other_ranks(question: Question, first: _Filled) -> Iterator[Call]:
    chosen = _chosen(question.plans, first.picks)
    others = [ranks for ranks in _ranks(chosen)[:8] if ranks != first.ranks] if first.ranks else []
    ranked = ((ranks, _filled(chosen, ranks, "f")) for ranks in others)
    taken = (
        (structs.replace(first, plans=plans, ranks=ranks), call)
        for ranks, plans in ranked
        for call in _tried(question, plans, first.lead, "other ranks")
    )
    for other, call in itertools.islice(taken, _RANKS):
        yield call
        yield from _of_axes_of_one(question, other)
    for more in (1, -1):
        plans = [mapped(plan, functools.partial(_of_rank, more)) for plan in chosen]
        if plans != chosen:
            filled = _filled(plans, first.ranks or (2,), "f")
            yield from _tried(question, filled, first.lead, "other ranks than the text names")


def _of_rank(more: int, part: Any) -> Any:
    """An array of another rank than the text asks for; what annotations say stays."""
    if not isinstance(part, Array) or not part.rank or part.sizes or part.kind == "k":
        return part
    return structs.replace(part, rank=part.rank + more)


def _of_other_types(question: Question, first: _Filled) -> Iterator[Call]:
    """Half precision, integers beyond what an index may be, and complex numbers where the text has a use for them."""
    others = (
        ("f", "h", "in float16"),
        ("i", "w", "with negative and large integers"),
        ("f", "c", "of complex numbers"),
    )
    for kind, other, label in others:
        plans = [mapped(plan, functools.partial(_of_kind, kind, other)) for plan in first.plans]
        if plans != first.plans:
            yield from _tried(question, plans, first.lead, label)


def _of_kind(kind: str, other: str, part: Any) -> Any:
    if not isinstance(part, Array) or part.kind != kind or (other == "c" and other not in part.kinds):
        return part
    return structs.replace(part, kind=other)
