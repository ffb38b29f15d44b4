"""Which sizes may differ: arguments of equal sizes everywhere would hide that a fix takes one axis for another.

Nothing says which axes belong together, so it is tried: first each alone, then pairs, then three, each time all that
are still alike, and at last what is left. `x @ w` so gets f32[3,5] and f32[5,6], and `x + x.T` a square.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import structs

from jaxlint.verify.worker.plans import LIKELY, Array, Size, mapped, parts

_OTHERS = (3, 5, 6, 7, 2, 8, 9, 10, 11, 12)
_TRIED = 2


def likely(plans: Sequence[Any]) -> list[int]:
    """The sizes that plans leave open, array by array, as they are until they are set apart."""
    return [size for part in parts(list(plans)) for size in _open(part)]


def with_sizes(plans: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """The plans with these sizes for the open ones."""
    left = iter(sizes)

    def fill(part: Any) -> Any:
        if isinstance(part, Size):
            return structs.replace(part, value=next(left))
        if not isinstance(part, Array):
            return part
        return structs.replace(part, sizes=tuple(size or next(left) for size in _known(part)))

    return [mapped(plan, fill) for plan in plans]


def set_apart(sizes: Sequence[int], accepted: Callable[[list[int]], bool]) -> list[int]:
    """The sizes with as many of them different from one another as are accepted; up to three are found to be tied."""
    found = list(sizes)
    for value in sorted(set(sizes)):
        equal = [place for place, size in enumerate(sizes) if size == value]
        found = _apart(equal, found, accepted)
    return found


def _apart(equal: list[int], sizes: list[int], accepted: Callable[[list[int]], bool]) -> list[int]:
    """With groups of places of equal sizes changed together, each to a size of its own."""
    left = set(equal)
    groups = itertools.chain.from_iterable(itertools.combinations(equal, together) for together in (1, 2, 3))
    for group in groups:
        if left.issuperset(group):
            changed = _to_unused(group, sizes, accepted)
            left -= set(group) if changed != sizes else set()
            sizes = changed
    return _to_unused(tuple(left), sizes, accepted) if left else sizes


def _to_unused(group: tuple[int, ...], sizes: list[int], accepted: Callable[[list[int]], bool]) -> list[int]:
    """With another size at these places; as they were where none is accepted."""
    unused = [size for size in _OTHERS if size not in sizes][:_TRIED]
    changed = ([size if place in group else old for place, old in enumerate(sizes)] for size in unused)
    return next(filter(accepted, changed), sizes)


def _open(part: Any) -> Iterator[int]:
    if isinstance(part, Size):
        yield part.value
    if isinstance(part, Array):
        yield from (LIKELY for size in _known(part) if size is None)


def _known(array: Array) -> tuple[int | None, ...]:
    return (*array.sizes, *[None] * (array.rank or 0))[: array.rank or 0]
