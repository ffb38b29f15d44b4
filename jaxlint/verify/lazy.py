"""What a change takes from a text or adds to it that may not run where the lines around it do.

Statements in branches, and expressions that Python evaluates only at need: the arms of `a if c else b`, what stands
behind `and` and `or`, the bodies of lambdas and comprehensions, the patterns of `case`. Works on `ast`, runs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from jaxlint.verify.jobs import Range

_AtNeed = ast.expr | ast.pattern
_INERT = (ast.ClassDef, ast.Global, ast.Nonlocal, ast.Pass, ast.Import, ast.ImportFrom)


class Parted(Struct, frozen=True):
    """What of each text the other does not have: expressions evaluated at need, and statements of the original."""

    gone: tuple[Range, ...]
    gone_at_need: tuple[Range, ...]
    new_at_need: tuple[Range, ...]


def parted(before: str, old: ast.Module, new: ast.Module) -> Parted:
    """Compare two texts; `before` is the old one. What is moved and otherwise as it was counts as not touched."""
    walk = _Walk(old, new, before.splitlines())
    walk.nodes(old, new, None)
    return Parted(*(tuple(sorted(set(found), key=order)) for found in (walk.gone, walk.gone_at_need, walk.new_at_need)))


class _Walk:
    """Walks two trees side by side and collects what differs."""

    def __init__(self, old: ast.Module, new: ast.Module, lines: Sequence[str]) -> None:
        self._lines = lines
        self._old, self._new = _known(old), _known(new)
        self.gone: list[Range] = []
        self.gone_at_need: list[Range] = []
        self.new_at_need: list[Range] = []

    def nodes(self, old: ast.AST, new: ast.AST, inside: _AtNeed | None) -> None:
        """Two nodes at the same place; `inside` is the innermost expression around the new one evaluated at need."""
        if ast.dump(old) == ast.dump(new):
            return
        if type(old) is not type(new):
            self._differs([old], [new], inside)
            return
        at_need = {id(node) for node in _at_need(new)}
        for name in new._fields:
            one, two = getattr(old, name, None), getattr(new, name, None)
            if isinstance(one, ast.AST) and isinstance(two, ast.AST):
                self.nodes(one, two, _innermost(two, at_need, inside))
            elif isinstance(one, list) and isinstance(two, list):
                self._lists(one, two, at_need, inside)
            elif one != two:
                self._differs([one], [two], inside)

    def _lists(self, old: list[ast.AST], new: list[ast.AST], at_need: set[int], inside: _AtNeed | None) -> None:
        was, now = ([_text(part) for part in parts] for parts in (old, new))
        for tag, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
            if tag == "equal":
                continue
            pairs = list(_pairs(old[a:b], new[c:d]))
            for one, two in pairs:
                self.nodes(one, two, _innermost(two, at_need, inside))
            paired = {id(part) for pair in pairs for part in pair}
            left, added = ([part for part in parts if id(part) not in paired] for parts in (old[a:b], new[c:d]))
            for part in added:
                self._differs([], [part], _innermost(part, at_need, inside))
            self._differs(left, [], None if added else inside)

    def _differs(self, old: Sequence[object], new: Sequence[object], inside: _AtNeed | None) -> None:
        """Nodes of which the other text has none in this place."""
        if inside is not None:
            self.new_at_need.append(_range(inside))
        for node in _within(new):
            self.new_at_need += [_range(part) for part in _at_need(node) if ast.dump(part) not in self._old]
        for node in _within(old):
            self.gone_at_need += [_range(part) for part in _at_need(node) if ast.dump(part) not in self._new]
            if isinstance(node, ast.stmt) and ast.dump(node) not in self._new:
                self.gone += _must_have_run(node, self._lines)


def _pairs(old: Sequence[ast.AST], new: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What stands in the place of what: definitions by name, other nodes of one kind where there are equally many."""
    named = {(type(part), part.name): part for part in new if isinstance(part, (ast.FunctionDef, ast.ClassDef))}
    for part in old:
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and (type(part), part.name) in named:
            yield part, named[type(part), part.name]
    rest = [[p for p in parts if not isinstance(p, (ast.FunctionDef, ast.ClassDef))] for parts in (old, new)]
    if len(rest[0]) == len(rest[1]):
        yield from ((one, two) for one, two in zip(*rest, strict=True) if _is_alike(one, two))


def _is_alike(one: object, two: object) -> bool:
    is_kind = isinstance(one, ast.expr) and isinstance(two, ast.expr)
    return isinstance(one, ast.AST) and (type(one) is type(two) or is_kind)


def _at_need(node: ast.AST) -> list[_AtNeed]:
    """The parts of an expression, a `case` or an `except` that are not always evaluated with it."""
    match node:
        case ast.IfExp():
            return [node.body, node.orelse]
        case ast.BoolOp():
            return [*node.values[1:]]
        case ast.Compare():
            return [*node.comparators[1:]]
        case ast.Lambda():
            return [node.body]
        case ast.DictComp():
            return [node.key, node.value, *_conditions(node.generators)]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return [node.elt, *_conditions(node.generators)]
        case ast.comprehension():
            return [*node.ifs]
        case ast.match_case():
            return [node.pattern, *filter(None, [node.guard])]
        case ast.ExceptHandler():
            return [*filter(None, [node.type])]
    return []


def _conditions(generators: Sequence[ast.comprehension]) -> Iterator[ast.expr]:
    yield from (condition for generator in generators for condition in generator.ifs)
    yield from (generator.iter for generator in generators[1:])


def place(statement: ast.stmt, lines: Sequence[str]) -> Range:
    """The lines of a simple statement; with its columns where its line begins with another, as in `if x: return`."""
    if lines[statement.lineno - 1].encode("utf-8", "surrogatepass")[: statement.col_offset].strip():
        return _range(statement)
    return Range(statement.lineno, statement.end_lineno or statement.lineno)


def is_inert(statement: ast.stmt) -> bool:
    """Whether it is a text or number by itself, such as a docstring, which never runs."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _must_have_run(statement: ast.stmt, lines: Sequence[str]) -> Iterator[Range]:
    """The lines of a statement that are its own, as far as they run."""
    if is_inert(statement) or isinstance(statement, _INERT):
        return
    if isinstance(statement, (ast.If, ast.While)):
        yield Range(statement.lineno, max(statement.lineno, statement.body[0].lineno - 1))
    elif not any(getattr(statement, name, None) for name in ("body", "orelse", "finalbody", "handlers")):
        yield place(statement, lines)  # what stands in the bodies of others says whether they ran


def _within(nodes: Sequence[object]) -> Iterator[ast.AST]:
    return (part for node in nodes if isinstance(node, ast.AST) for part in ast.walk(node))


def _known(tree: ast.Module) -> set[str]:
    """The statements and the expressions evaluated at need that a text has somewhere."""
    found = {ast.dump(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    return found | {ast.dump(part) for node in ast.walk(tree) for part in _at_need(node)}


def _innermost(node: ast.AST, at_need: set[int], outer: _AtNeed | None) -> _AtNeed | None:
    if isinstance(node, (ast.stmt, ast.ExceptHandler)):
        return None  # its lines tell whether it runs
    return node if id(node) in at_need and isinstance(node, _AtNeed) else outer


def _text(part: object) -> str:
    return ast.dump(part) if isinstance(part, ast.AST) else repr(part)


def _range(node: _AtNeed | ast.stmt) -> Range:
    last = node.end_lineno or node.lineno
    return Range(node.lineno, last, (node.col_offset, node.end_col_offset or 0))


def order(part: Range) -> tuple[int, int, tuple[int, int]]:
    """Sorts ranges by where they stand."""
    return part.first, part.last, part.columns or (0, 0)
