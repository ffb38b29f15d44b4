"""Fixes of vmap's axes, where the original fails and so cannot be the reference.

When two texts differ in one `in_axes` or `out_axes` alone, the other axes that might have been meant can be listed and
run. If each of them fails or gives the same result, the fixed one is the only reading with which the program works.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

_KEYWORDS = ("in_axes", "out_axes")
_MAX_TRIES = 8

Axis = int | bool | None


def alternatives(before: str, after: str) -> list[tuple[Axis | tuple[Axis, ...], str]] | None:
    """Other axes for the changed ones, each with the text that has them; None when something else has changed too."""
    old, new = _axes(ast.parse(before)), _axes(ast.parse(after))
    if len(old) != len(new) or _masked(before) != _masked(after):
        return None
    changed = [(was, now) for was, now in zip(old, new, strict=True) if ast.dump(was) != ast.dump(now)]
    if len(changed) != 1:
        return None
    was, now = changed[0]
    return [(other, _replaced(after, now, other)) for other in itertools.islice(_others(was, now), _MAX_TRIES)]


def _axes(tree: ast.AST) -> list[ast.expr]:
    """The values given for axes, in the order of the text."""
    found = [
        keyword.value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg in _KEYWORDS
    ]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _masked(text: str) -> str:
    tree = ast.parse(text)
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            for keyword in call.keywords:
                if keyword.arg in _KEYWORDS:
                    keyword.value = ast.Constant(None)
    return ast.dump(tree)


def _others(was: ast.expr, now: ast.expr) -> Iterator[Axis | tuple[Axis, ...]]:
    """What else might stand there: each entry that has changed may be None or one of the first axes."""
    one, two = _literal(was), _literal(now)
    if not isinstance(two, tuple):
        yield from (axis for axis in (None, 0, 1) if axis != two)
        return
    entries = one if isinstance(one, tuple) else (one,) * len(two)
    choices = [
        (entry,) if index < len(entries) and _same(entries[index], entry) else (None, 0, 1)
        for index, entry in enumerate(two)
    ]
    yield from (other for other in itertools.product(*choices) if other != two)


def _same(one: Axis, two: Axis) -> bool:
    return type(one) is type(two) and one == two


def _literal(node: ast.expr) -> Axis | tuple[Axis, ...]:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return tuple(value) if isinstance(value, list) else value


def _replaced(text: str, node: ast.expr, value: Axis | tuple[Axis, ...]) -> str:
    lines = text.encode().splitlines(keepends=True)
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    head = b"".join(lines[:first]) + lines[first][: node.col_offset]
    tail = lines[last][node.end_col_offset :] + b"".join(lines[last + 1 :])
    return (head + repr(value).encode() + tail).decode()
