"""Values that tests choose, and how they are written with `jnp.where` or `lax.cond`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from jaxlint.model import Edit, Span
from jaxlint.program import nodes as n
from jaxlint.repair.booleans import TIGHT, as_arrays
from jaxlint.repair.hoist import free_names
from jaxlint.repair.numeric import Reader, Sureness
from jaxlint.repair.source import call_text
from jaxlint.repair.spelling import spell

SHORT = 24
"""An expression up to this length may be written several times in place of a name."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """What one path computes: its text, and what is known of it."""

    text: str
    sureness: Sureness
    computable: bool
    reads: frozenset[str]
    is_literal: bool = False
    is_tight: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that a test (text and the names in it) chooses."""

    test: str
    test_reads: frozenset[str]
    then: Tree
    otherwise: Tree


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of values."""

    elements: tuple[Leaf, ...]


Tree: TypeAlias = Leaf | Choice | Tuple


@dataclass(frozen=True, slots=True)
class Written:
    """New code and the imports that it needs."""

    text: str
    edits: tuple[Edit, ...]


def leaf(e: n.Expr, reader: Reader, names: Mapping[str, Leaf] | None = None) -> Leaf | None:
    """A value with what a path put into `names` written in; None where its text cannot be made."""
    names = {name: value for name, value in (names or {}).items() if name in free_names(e)}
    if isinstance(e, n.Name) and e.name in names:
        return names[e.name]
    inner = reader.knowing({name: value.sureness for name, value in names.items()})
    text = as_arrays(
        e, inner, {name: value.text if value.is_tight else f"({value.text})" for name, value in names.items()}
    )
    if text is None or not all(value.computable for value in names.values()):
        return None
    reads = (free_names(e) - names.keys()).union(*(value.reads for value in names.values()))
    is_literal = isinstance(e, n.Constant) or (isinstance(e, n.Unary) and isinstance(e.operand, n.Constant))
    return Leaf(text, inner.sureness(e), inner.is_computable(e), reads, is_literal, isinstance(e, TIGHT))


def value(e: n.Expr, reader: Reader, names: Mapping[str, Leaf]) -> Tree | None:
    """A value, or the parts of a tuple display."""
    if not isinstance(e, n.Sequence):
        return leaf(e, reader, names)
    parts = [leaf(element, reader, names) for element in e.elements]
    found = tuple(part for part in parts if part is not None)
    return Tuple(found) if e.kind == "tuple" and found and len(found) == len(parts) else None


def choice(test: n.Expr, then: Tree, otherwise: Tree, reader: Reader) -> Choice | None:
    """A choice between two values; None where the test is no condition of numbers."""
    if not reader.is_condition(test) and reader.sureness(test) is Sureness.NO:
        return None
    text = as_arrays(test, reader)
    return Choice(text, free_names(test), then, otherwise) if text is not None else None


def leaves(tree: Tree) -> Iterator[Leaf]:
    """The values of all paths."""
    if isinstance(tree, Leaf):
        yield tree
    elif isinstance(tree, Tuple):
        yield from tree.elements
    else:
        yield from leaves(tree.then)
        yield from leaves(tree.otherwise)


def reads(tree: Tree) -> frozenset[str]:
    """The names that a value depends on, those of the tests included."""
    if isinstance(tree, Choice):
        return tree.test_reads | reads(tree.then) | reads(tree.otherwise)
    return frozenset().union(*(part.reads for part in leaves(tree)))


def written(tree: Tree, reader: Reader, place: Span, before: int) -> Written | None:
    """The code for a choice that starts behind `before` characters of its line.

    It is `jnp.where` where all paths are arithmetic, `lax.cond` where some call functions and none is a plain number.
    """
    widths = set(_widths(tree))
    if widths == {None}:
        return _one(tree, reader, place, before)
    (width,) = widths if len(widths) == 1 else (None,)
    if width is None or width > 3:
        return None
    parts = [_one(_part(tree, index), reader, place, before + 4) for index in range(width)]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    return Written(
        ", ".join(part.text for part in found), tuple(dict.fromkeys(e for part in found for e in part.edits))
    )


def _widths(tree: Tree) -> Iterator[int | None]:
    if isinstance(tree, Choice):
        yield from _widths(tree.then)
        yield from _widths(tree.otherwise)
    else:
        yield len(tree.elements) if isinstance(tree, Tuple) else None


def _part(tree: Tree, index: int) -> Tree:
    if isinstance(tree, Choice):
        return replace(tree, then=_part(tree.then, index), otherwise=_part(tree.otherwise, index))
    return tree.elements[index] if isinstance(tree, Tuple) else tree


def _one(tree: Tree, reader: Reader, place: Span, before: int) -> Written | None:
    found = list(leaves(tree))
    module = reader.context.module
    if len({part.text for part in found}) == 1:
        return Written(found[0].text, ())
    if all(part.sureness for part in found) and any(part.sureness is Sureness.SURE for part in found):
        spelling, lazy = spell(module, "jax.numpy.where", place), False
    elif all(part.computable and not part.is_literal for part in found):
        spelling, lazy = spell(module, "jax.lax.cond", place), True
    else:
        return None
    indentation = reader.context.text.indentation(place.line)
    return Written(_text(tree, spelling.text, before, indentation, lazy), spelling.edits)


def _text(tree: Tree, function: str, before: int, indentation: str, lazy: bool) -> str:
    if isinstance(tree, Leaf):
        return tree.text
    assert isinstance(tree, Choice)
    inner = before + len(function) + 1
    parts: Sequence[str] = [
        _text(part, function, inner, indentation + "    ", lazy) for part in (tree.then, tree.otherwise)
    ]
    if lazy:
        parts = [f"lambda: {part}" for part in parts]
    return call_text(function, [tree.test, *parts], before, indentation)
