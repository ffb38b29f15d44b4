"""Which part of a batch of keys a token names, and whether two parts may have a key in common.

A part is a path of selectors, outermost first: a constant index, `("slice", lower, upper)` (`*rest` in an unpacking
too), `("row", n)` for what a Python loop or `next` takes, `("scanned", n)` for what a round of `scan` gets of all rows,
`("attribute", name)`, `("fold", tag)`, and `once.Same` for an index or tag that is known by its binding alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

from jaxlint.analysis.values import Token

Path: TypeAlias = tuple[Any, ...]


def part_token(token: Token | None, selector: object) -> Token | None:
    """The token of a part of what `token` names."""
    if token is None:
        return None
    return replace(token, name=token.name + _written(selector), part=_composed(token.part, selector))


def _composed(part: Path, selector: Any) -> Path:
    """`keys[1:][2]` is `keys[3]`."""
    last = part[-1] if part else None
    if isinstance(last, tuple) and last[0] == "slice" and _is_index(selector):
        lower, upper = last[1] or 0, last[2]
        if selector >= 0 and _is_index(lower) and lower >= 0:
            return (*part[:-1], lower + selector)
        if selector < 0 and (upper is None or (_is_index(upper) and upper < 0)):
            return (*part[:-1], (upper or 0) + selector)
    return (*part, selector)


def written(path: Path) -> str:
    """How the source may write the way to a part."""
    return "".join(map(_written, path))


def _written(selector: object) -> str:
    if _is_index(selector):
        return f"[{selector}]"
    return f".{selector[1]}" if isinstance(selector, tuple) and selector[0] == "attribute" else ""


def overlap(left: Path, right: Path) -> bool:
    """Whether two parts of one batch surely have a key in common; a whole has all of its parts.

    What is folded into a key is another key: it has nothing in common with the key itself.
    """
    for depth, (one, other) in enumerate(zip(left, right, strict=False), 1):
        if one != other:
            return _meet(one, other, len(left) > depth) or _meet(other, one, len(right) > depth)
    longer = left if len(left) > len(right) else right
    rest = longer[min(len(left), len(right)) :]
    return not any(isinstance(selector, tuple) and selector[0] in ("fold", "attribute") for selector in rest)


def covers(whole: Path, part: Path) -> bool:
    """Whether `part` was reached through `whole`."""
    return part[: len(whole)] == whole


def _meet(one: object, other: object, narrowed: bool) -> bool:
    """Whether rows chosen in two ways have one in common; with `narrowed` only some unknown ones of the first count."""
    if isinstance(one, tuple) and one[0] == "scanned":
        return _is_index(other) or (isinstance(other, tuple) and other[0] == "slice")
    if isinstance(one, tuple) and one[0] == "slice" and not narrowed:
        if isinstance(other, int) and not isinstance(other, bool):
            return _in_slice(other, one[1], one[2])
        return isinstance(other, tuple) and other[0] == "slice" and _slices_meet(one, other)
    return False


def _is_index(selector: object) -> bool:
    return isinstance(selector, int) and not isinstance(selector, bool)


def _in_slice(index: int, lower: object, upper: object) -> bool:
    """Whether an index surely lies in a slice, whatever the length that makes the slice non-empty."""
    if not isinstance(lower, (int, type(None))) or not isinstance(upper, (int, type(None))):
        return False
    start = lower or 0
    if index >= 0:
        return 0 <= start <= index and (upper is None or 0 <= index < upper)
    if upper is not None:
        return False
    return index == -1 if start >= 0 else index >= start


def _slices_meet(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two slices from the front surely share a row."""
    bounds = (*one[1:], *other[1:])
    if any(not isinstance(b, (int, type(None))) or (b or 0) < 0 for b in bounds):
        return False
    first = max(one[1] or 0, other[1] or 0)
    ends = [end for end in (one[2], other[2]) if end is not None]
    return not ends or first < min(ends)
