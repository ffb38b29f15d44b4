"""Where a function reads a key, and what surrounds the place: what the fixes of key-reuse need to know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from jaxlint.analysis.context import Context
from jaxlint.analysis.events import KeyReused
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.keys import name_in
from jaxlint.analysis.values import Api, ClassValue, Instance
from jaxlint.model import Span
from jaxlint.program import nodes as n
from jaxlint.program.names import blocks, children, expressions, target_names

READERS = frozenset(
    {"fold_in", "key_data", "clone", "eval_shape", "make_jaxpr", "print", "isinstance", "len", "key_impl"}
)
"""Functions that do not consume the key that they are given."""

LOOPS = (n.For, n.While)


class Site(Struct, frozen=True):
    """Where a use stands in a function: the statements around it, outermost first, each with its block."""

    blocks: tuple[tuple[n.Stmt, ...], ...]
    statements: tuple[n.Stmt, ...]

    @property
    def statement(self) -> n.Stmt:
        """The innermost statement."""
        return self.statements[-1]

    def loop(self) -> n.For | n.While | None:
        """The innermost loop around, if its body holds the use."""
        for outer, inner in zip(reversed(self.statements[:-1]), reversed(self.statements), strict=False):
            if isinstance(outer, LOOPS):
                return outer if holds(outer.body, inner.span) else None
        return None


class Key(Struct, frozen=True):
    """A key as a function writes it; `local` ones can be bound anew, `kept` ones must be, for they are read later."""

    text: str
    local: bool
    kept: bool = False

    @property
    def stem(self) -> str:
        """The word to name parts of it by."""
        word = self.text.partition("[")[0].rpartition(".")[2]
        return word.removesuffix("s") if "[" in self.text and len(word) > 2 else word


def body_of(frame: Frame, context: Context) -> tuple[n.Stmt, ...]:
    """The statements of a call in progress."""
    return frame.function.body if frame.function is not None else context.module.body


def locate(body: tuple[n.Stmt, ...], span: Span) -> Site | None:
    """The statements around a place; functions defined on the way are not entered."""
    around: list[tuple[n.Stmt, ...]] = []
    statements: list[n.Stmt] = []
    found: tuple[n.Stmt, ...] | None = body
    while found is not None:
        statement = next((s for s in found if inside(span, s.span)), None)
        if statement is None or isinstance(statement, (n.FunctionDefinition, n.ClassDefinition)):
            return None
        around.append(found)
        statements.append(statement)
        found = next((block for block in blocks(statement) if holds(block, span)), None)
    return Site(tuple(around), tuple(statements)) if statements else None


def holds(block: tuple[n.Stmt, ...], span: Span) -> bool:
    """Whether a place is in one of the statements."""
    return any(inside(span, statement.span) for statement in block)


def inside(inner: Span, outer: Span) -> bool:
    """Whether a place is within another."""
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def key_in(event: KeyReused, frame: Frame, context: Context) -> Key:
    """The reused key as the function of a frame writes it."""
    text = name_in(frame, event.token)
    function = frame.function
    if frame is event.frame and isinstance(event.node, n.Attribute) and isinstance(event.node.base, n.Name):
        can_be_kept = not frame.staged and not frame.mapped and _can_be_assigned(frame, event.node.base.name)
        return Key(context.text.at(event.node.span), can_be_kept, can_be_kept)
    if not text.isidentifier():
        return Key(text, False)
    if function is None:
        return Key(text, True)
    names = {parameter.name for parameter in function.parameters} | function.bound
    return Key(text, text in names and text not in function.outer and not function.is_lambda)


def _can_be_assigned(frame: Frame, name: str) -> bool:
    """Whether a name surely holds an object of a plain class: no frozen record, no library's module."""
    scope = frame.scope.find(name)
    value = scope.names[name] if scope is not None else None
    if not isinstance(value, Instance):
        return False
    cls = value.cls
    plain = all(isinstance(base, ClassValue) or base == Api("builtins.object") for base in cls.bases)
    return plain and not cls.definition.decorators and "__setattr__" not in cls.scope.names


# Reads


class Read(Struct, frozen=True):
    """A place where the key is read; `draws` when it is handed to a call, at most once a run of the block."""

    span: Span
    draws: bool


def reads(statements: Sequence[n.Stmt], key: Key, context: Context) -> list[Read]:
    """Where the statements read the key, until one binds it anew."""
    found: list[Read] = []
    for statement in statements:
        found.extend(reads_in(statement, key, context, True))
        if rebinds(statement, key):
            break
    return found


def reads_in(statement: n.Stmt, key: Key, context: Context, once: bool) -> Iterator[Read]:
    """Where one statement reads the key; `once` says that it runs at most once a run of its block."""
    written = statement.targets if isinstance(statement, n.Assign) else ()
    for expression in expressions(statement):
        if not any(expression is target for target in written):
            yield from _reads_of(expression, key, context, once, False)
    once = once and not isinstance(statement, LOOPS)
    for block in blocks(statement):
        for inner in block:
            yield from reads_in(inner, key, context, once)
    if isinstance(statement, n.FunctionDefinition):
        for inner in statement.function.body:
            yield from reads_in(inner, key, context, False)


def _reads_of(node: n.Expr, key: Key, context: Context, once: bool, given: bool) -> Iterator[Read]:
    if isinstance(node, (n.Name, n.Attribute, n.Subscript)) and context.text.at(node.span) == key.text:
        yield Read(node.span, once and given)
        return
    if isinstance(node, n.Lambda):
        for statement in node.function.body:
            yield from reads_in(statement, key, context, False)
        return
    if isinstance(node, n.Call):
        yield from _reads_of(node.function, key, context, once, False)
        takes = last_name(node.function) not in READERS
        for argument in node.arguments:
            yield from _reads_of(argument.value, key, context, once, takes and not argument.star)
        return
    for child in children(node):
        yield from _reads_of(child, key, context, once and not isinstance(node, n.Comprehension), False)


def last_name(function: n.Expr) -> str:
    """The last word of what is called."""
    return function.name if isinstance(function, (n.Name, n.Attribute)) else ""


def rebinds(statement: n.Stmt, key: Key) -> bool:
    """Whether the name means another key behind the statement, or nothing runs there."""
    if isinstance(statement, n.Assign):
        written = {name for target in statement.targets for name in _written(target)}
        return key.text in written
    return isinstance(statement, n.Return)


def _written(target: n.Expr) -> Iterator[str]:
    """The names and plain attributes that a target binds."""
    yield from target_names(target)
    for element in target.elements if isinstance(target, n.Sequence) else (target,):
        if isinstance(element, n.Attribute) and isinstance(element.base, n.Name):
            yield f"{element.base.name}.{element.name}"
