"""Arithmetic on shapes whose dimensions may be numbers, symbols or unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from jaxlint.analysis.values import Dim, Shape


def broadcast(*shapes: Shape | None) -> Shape | None:
    """The shape that shapes broadcast to; None where one is not known or they do not fit."""
    if not shapes:
        return ()
    result = shapes[0]
    for other in shapes[1:]:
        if result is None or other is None:
            return None
        if result == other and None not in result:
            continue
        result = _broadcast_two(result, other)
    return result


def _broadcast_two(left: Shape, right: Shape) -> Shape | None:
    if len(left) < len(right):
        left, right = right, left
    start = len(left) - len(right)
    dims: list[Dim] = list(left[:start])
    for a, b in zip(left[start:], right, strict=True):
        if a == b or b == 1:
            dims.append(a)
        elif a == 1:
            dims.append(b)
        elif isinstance(a, int):
            if isinstance(b, int):
                return None
            dims.append(a)
        else:
            # A number other than 1 decides; two different symbols may be anything.
            dims.append(b if isinstance(b, int) else None)
    return tuple(dims)


def same(left: Dim, right: Dim) -> Dim:
    """What is known of a dimension that two operands must agree on."""
    if isinstance(left, int):
        return left
    return right if isinstance(right, int) or left is None else left


def total(dims: Iterable[Dim]) -> Dim:
    """The sum of sizes."""
    result = 0
    for dim in dims:
        if not isinstance(dim, int):
            return None
        result += dim
    return result


def times(dims: Sequence[Dim]) -> Dim:
    """The product of sizes; a single symbol with ones stays itself."""
    others = [dim for dim in dims if dim != 1]
    if 0 in others:
        return 0
    if len(others) == 1:
        return others[0]
    numbers = [dim for dim in others if isinstance(dim, int)]
    return prod(numbers) if len(numbers) == len(others) else None


def half(dim: Dim) -> Dim:
    """Half a size."""
    return dim // 2 if isinstance(dim, int) else None


def plus(dim: Dim, amount: int | None) -> Dim:
    """A size grown by `amount`, not below zero."""
    if amount == 0:
        return dim
    return max(dim + amount, 0) if isinstance(dim, int) and amount is not None else None


def reduce(shape: Shape, axes: Sequence[int], keepdims: bool) -> Shape:
    """The shape after reducing over `axes`."""
    if keepdims:
        return tuple(1 if i in axes else dim for i, dim in enumerate(shape))
    return tuple(dim for i, dim in enumerate(shape) if i not in axes)


def replaced(shape: Shape, axis: int, dim: Dim) -> Shape:
    """The shape with another size at one axis."""
    return (*shape[:axis], dim, *shape[axis + 1 :])


def reshape(shape: Shape | None, target: Shape) -> Shape:
    """The result of a reshape; -1 in the target is worked out where the other sizes allow."""
    if -1 not in target:
        return target
    return tuple(_rest(shape, target) if dim == -1 else dim for dim in target)


def _rest(shape: Shape | None, target: Shape) -> Dim:
    others = [dim for dim in target if dim != -1]
    if shape is None or None in shape or None in others:
        return None
    symbols = [dim for dim in shape if isinstance(dim, str)]
    for dim in others:
        if isinstance(dim, str):
            if dim not in symbols:
                return None
            symbols.remove(dim)
    have = prod(dim for dim in shape if isinstance(dim, int))
    used = prod(dim for dim in others if isinstance(dim, int))
    if used == 0 or have % used:
        return None
    return times([*symbols, have // used])


def permute(shape: Shape, order: Sequence[int]) -> Shape | None:
    """The transposed shape; None where `order` is no permutation of the axes."""
    if sorted(order) != list(range(len(shape))):
        return None
    return tuple(shape[i] for i in order)


def move(ndim: int, sources: Sequence[int], targets: Sequence[int]) -> list[int] | None:
    """The permutation that moves axes `sources` to `targets`."""
    if len(sources) != len(targets) or len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        return None
    order = [axis for axis in range(ndim) if axis not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source)
    return order
