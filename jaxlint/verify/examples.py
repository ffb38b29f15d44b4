"""Example calls in comments: `# jaxlint: example step(f32[8,3], key, n=2)`. Nothing is run here.

An example is a call of a function of the file, `f(...)`, or of a method with its instance, `Class(3).method(...)`
or `Class.method(Class(3), ...)`. Its arguments are Python expressions over the names of the file, in which
`f32[8,3]` stands for an array of that type and shape, `f32` or `f32[]` for a scalar, and `key` for a random key. A
comment goes on in the comments below it until its brackets are closed.
"""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Collection, Iterator
from difflib import get_close_matches

from msgspec import Struct

from jaxlint.source.suppressions import tokens
from jaxlint.verify.change import bound
from jaxlint.verify.jobs import Example

DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16",
    "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
    "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8",
    "c128": "complex128", "c64": "complex64", "bool": "bool",
}  # fmt: skip
"""The short names of types, as JAX prints them."""

KEY = "key"
WORDS = frozenset({*DTYPES, KEY})
"""The names that stand for arrays."""

COLLECT = "_arguments"
"""What is called in an example's text in the place of the function."""

_EXAMPLE = re.compile(r"#\s*jaxlint:\s*example(?![\w-]):?\s*(?P<call>.*)")
_FORM = "write it like `# jaxlint: example step(f32[8,3], 2)`"


class Problem(Struct, frozen=True):
    """What is wrong with an example, and where."""

    line: int
    message: str


class Examples(Struct, frozen=True):
    """The examples of a file in their order, and what is wrong with others."""

    found: tuple[Example, ...] = ()
    problems: tuple[Problem, ...] = ()


class _Wrong(Exception):
    """The example cannot be used; the message says why."""


def examples(text: str) -> Examples:
    """All examples in the comments of a text. What is in strings is none; a text that does not parse has none."""
    if "jaxlint:" not in text or not _EXAMPLE.search(text):
        return Examples()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return Examples()
    known = _Known(tree)
    found, problems = [], []
    for line, call in _comments(text):
        try:
            found.append(_example(call, line, known))
        except _Wrong as error:
            problems.append(Problem(line, str(error)))
    return Examples(tuple(found), tuple(problems))


class _Known:
    """The names that a file binds, methods under `Class.method`, and which of them are classes."""

    def __init__(self, tree: ast.Module) -> None:
        self.names = bound(tree)
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        self.classes = frozenset(node.name for node in classes)
        self._heirs = frozenset(node.name for node in classes if node.bases)
        self.open = "*" in self.names  # a star import may bind any

    def check(self, name: str, words: Collection[str] = ()) -> None:
        """Raises `_Wrong` for a name that the file does not bind and that is none of the words."""
        if self.open or name in self.names or name in words:
            return
        near = get_close_matches(name, [*self.names, *words], n=1, cutoff=0.6)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise _Wrong(f"the file does not define `{name}`{hint}")

    def check_method(self, owner: str, method: str) -> None:
        """Raises `_Wrong` for a method that a class of the file does not have."""
        if owner in self.classes - self._heirs:
            self.check(f"{owner}.{method}")


class _Scalars(ast.NodeTransformer):
    """Gives the empty shape to names of types that have none. A bare `bool` stays Python's own type."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in WORDS:
            node.slice = self.visit(node.slice)
            return node
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in WORDS - {"bool"} and isinstance(node.ctx, ast.Load):
            return ast.Subscript(node, ast.Tuple([], ast.Load()), ast.Load())
        return node


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each example; comments below it are added until all brackets are closed."""
    comments = {token.start[0]: token.string for token in tokens(text) if token.type == tokenize.COMMENT}
    for line, comment in comments.items():
        match = _EXAMPLE.match(comment)
        if not match:
            continue
        call, last = match["call"], line
        while _is_open(call) and last + 1 in comments and not _EXAMPLE.match(comments[last + 1]):
            last += 1
            call += "\n" + comments[last].lstrip("#")
        yield line, call.strip()


def _is_open(call: str) -> bool:
    try:
        ast.parse(call.strip(), mode="eval")
    except SyntaxError as error:
        return "never closed" in str(error.msg)
    return False


def _example(text: str, line: int, known: _Known) -> Example:
    call = _parsed(text)
    name, arguments = _called(call, known)
    _check_arguments(arguments, known)
    made = ast.Call(ast.Name(COLLECT, ast.Load()), arguments.args, arguments.keywords)
    return Example(name, ast.unparse(ast.fix_missing_locations(_Scalars().visit(made))), line)


def _parsed(text: str) -> ast.Call:
    if not text:
        raise _Wrong(f"it says nothing: {_FORM}")
    try:
        call = ast.parse(_with_scalars(text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise _Wrong(f"`{_short(text)}` is no Python call ({getattr(error, 'msg', error)}): {_FORM}") from None
    if not isinstance(call, ast.Call):
        raise _Wrong(f"`{_short(text)}` is no call: {_FORM}")
    return call


def _with_scalars(text: str) -> str:
    """`f32[]`, as JAX prints it, in the form that Python can parse."""
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    for one, two, three in reversed(list(zip(found, found[1:], found[2:], strict=False))):
        if one.string in WORDS and two.string == "[" and three.string == "]":
            lines = text.split("\n")
            row, column = three.start
            lines[row - 1] = lines[row - 1][:column] + "()" + lines[row - 1][column:]
            text = "\n".join(lines)
    return text


def _called(call: ast.Call, known: _Known) -> tuple[str, ast.Call]:
    """The name of what is called, and the call with the instance in front of its other arguments."""
    match call.func:
        case ast.Name(id=name):
            known.check(name)
            return name, call
        case ast.Attribute(value=ast.Name(id=owner), attr=method) if owner in known.classes or known.open:
            known.check_method(owner, method)
            return f"{owner}.{method}", call
        case ast.Attribute(value=ast.Call(func=ast.Name(id=owner)) as instance, attr=method):
            known.check(owner)
            known.check_method(owner, method)
            return f"{owner}.{method}", ast.Call(call.func, [instance, *call.args], call.keywords)
        case ast.Attribute(value=ast.Name(id=owner)):
            known.check(owner)
    text = _short(ast.unparse(call.func))
    raise _Wrong(f"`{text}` is neither a function nor a method of this file: write `f(...)` or `Class.method(...)`")


def _check_arguments(call: ast.Call, known: _Known) -> None:
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    nodes = [node for argument in arguments for node in ast.walk(argument)]
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                known.check(name, WORDS | own | vars(builtins).keys())
            case ast.Subscript(value=ast.Name(id=name), slice=sizes) if name in WORDS:
                _check_shape(name, sizes)


def _check_shape(name: str, sizes: ast.expr) -> None:
    for size in sizes.elts if isinstance(sizes, ast.Tuple) else [sizes]:
        number = isinstance(size, ast.Constant) and type(size.value) is int
        if not number and isinstance(size, (ast.Constant, ast.UnaryOp, ast.Slice)):
            raise _Wrong(f"`{name}[{ast.unparse(sizes)}]` is no shape: write whole numbers, as in `{name}[8, 3]`")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
