"""Where functions that two texts have in common have their bodies.

Works on `ast`, runs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.verify.jobs import Range

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def common_bodies(before: str, after: str) -> dict[str, tuple[Range, Range]]:
    """For the dotted name of each function that both texts define once, its body in the one and in the other."""
    old, new = _bodies(before), _bodies(after)
    return {
        name: (old[name][0], new[name][0])
        for name in old
        if len(old[name]) == 1 and len(new.get(name, ())) == 1
    }  # fmt: skip


def _bodies(text: str) -> dict[str, list[Range]]:
    found: dict[str, list[Range]] = {}
    for name, function in _functions(ast.parse(text), ""):
        last = function.body[-1]
        found.setdefault(name, []).append(Range(function.body[0].lineno, last.end_lineno or last.lineno))
    return found


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Function]]:
    for child in ast.iter_child_nodes(node):
        name = f"{prefix}.{child.name}".lstrip(".") if isinstance(child, _Function | ast.ClassDef) else prefix
        if isinstance(child, _Function):
            yield name, child
        yield from _functions(child, name)
