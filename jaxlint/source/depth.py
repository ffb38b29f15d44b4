"""Whether a program nests so deeply that readers of its tree would break.

libcst 1.9 takes the process with it at some 6,000 nested nodes, and time that grows with the square of the depth before
that (54 s for 3,200 chained calls). Python's parser nests as much, but stops by itself at a depth that differs from one
version of Python to the next.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from jaxlint.source.text import LineMap

DEEPEST = 2_000
"""How deep an expression may be: a thousand chained calls, or as many terms of `and`, which libcst nests."""

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def too_deep(tree: ast.Module, text: str) -> bool:
    """Whether a statement or an expression in the tree of this text is nested too deeply."""
    starts = [*LineMap(text).starts, len(text)]
    return any(
        depth > DEEPEST or (_extent(node, starts) > DEEPEST and _is_too_deep(node)) for node, depth in _statements(tree)
    )


Statement: TypeAlias = ast.stmt | ast.ExceptHandler


def _statements(tree: ast.Module) -> Iterator[tuple[Statement, int]]:
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, Statement):
            yield node, depth
        for name in BLOCKS:
            block = getattr(node, name, ())
            if isinstance(block, list):
                waiting.extend((inner, depth + 1) for inner in block)


def _extent(node: Statement, starts: list[int]) -> int:
    """How many characters a statement is long without its body; no expression is deeper than its text is long."""
    body = getattr(node, "body", None)
    last: int = body[0].lineno - 1 if body else node.end_lineno or node.lineno
    first: int = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return starts[max(last, first)] - starts[first - 1]


def _is_too_deep(statement: Statement) -> bool:
    waiting = [(node, 1) for node in ast.iter_child_nodes(statement) if not isinstance(node, Statement)]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, ast.BoolOp):
            depth += 2 * len(node.values)
        if depth > DEEPEST:
            return True
        waiting.extend((inner, depth + 1) for inner in ast.iter_child_nodes(node))
    return False
