"""The program as the analysis sees it: what a libcst tree says once white space, comments and spelling are gone.

A `Module` of these nodes is a pure function of one file's text. It holds no reference to the tree, so it can be
stored, sent to another process, and linked with the modules of other files.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from jaxlint.model import Span


class Node(Struct, frozen=True, tag=str.lower, array_like=True, gc=False):
    """Anything that stands somewhere in the text."""

    span: Span


# Expressions


class Constant(Node, frozen=True, gc=False):
    """A literal. `value` is its Python value; Ellipsis and bytes are told by `kind`."""

    kind: str  # 'none', 'bool', 'int', 'float', 'complex', 'str', 'bytes', 'ellipsis'
    value: bool | int | float | str | None = None


class Name(Node, frozen=True, gc=False):
    """A name that is read."""

    name: str


class Attribute(Node, frozen=True, gc=False):
    """`base.name`; `name_span` covers the name alone."""

    base: Expr
    name: str
    name_span: Span


class Argument(Struct, frozen=True, array_like=True, gc=False):
    """One argument of a call; `star` is '', '*' or '**'; `span` covers `name=value` whole."""

    value: Expr
    keyword: str | None
    star: str
    span: Span


class Call(Node, frozen=True, gc=False):
    """A call; `arguments_span` covers what stands between the parentheses."""

    function: Expr
    arguments: tuple[Argument, ...]
    arguments_span: Span


class Subscript(Node, frozen=True, gc=False):
    """`base[index]`; several indices are a `Sequence` of kind tuple."""

    base: Expr
    index: Expr


class Slice(Node, frozen=True, gc=False):
    """`lower:upper:step` inside a subscript."""

    lower: Expr | None
    upper: Expr | None
    step: Expr | None


class Sequence(Node, frozen=True, gc=False):
    """A display of kind 'tuple', 'list' or 'set'."""

    kind: str
    elements: tuple[Expr, ...]


class Starred(Node, frozen=True, gc=False):
    """`*value` in a display or a target."""

    value: Expr


class Dictionary(Node, frozen=True, gc=False):
    """A dict display; a key of None stands for `**value`."""

    items: tuple[tuple[Expr | None, Expr], ...]


class Unary(Node, frozen=True, gc=False):
    """`operator operand`, with the operator as written: -, +, ~, not."""

    operator: str
    operand: Expr


class Binary(Node, frozen=True, gc=False):
    """An arithmetic operator as written, such as `+` or `@`."""

    operator: str
    left: Expr
    right: Expr


class Compare(Node, frozen=True, gc=False):
    """`left op1 right1 op2 right2 ...`."""

    left: Expr
    rest: tuple[tuple[str, Expr], ...]


class Boolean(Node, frozen=True, gc=False):
    """`left and right` or `left or right`."""

    operator: str
    left: Expr
    right: Expr


class Conditional(Node, frozen=True, gc=False):
    """`body if test else otherwise`."""

    test: Expr
    body: Expr
    otherwise: Expr


class Lambda(Node, frozen=True, gc=False):
    """A lambda; its function's body is one Return."""

    function: Function


class Generator(Struct, frozen=True, array_like=True, gc=False):
    """One `for target in iterable if conditions` of a comprehension."""

    target: Expr
    iterable: Expr
    conditions: tuple[Expr, ...]


class Comprehension(Node, frozen=True, gc=False):
    """A comprehension of kind 'list', 'set', 'dict' or 'generator'; `key` only for dict."""

    kind: str
    key: Expr | None
    element: Expr
    generators: tuple[Generator, ...]


class FormattedString(Node, frozen=True, gc=False):
    """An f-string; the literal pieces are Constants."""

    parts: tuple[Expr, ...]


class NamedExpression(Node, frozen=True, gc=False):
    """`target := value`."""

    target: Expr
    value: Expr


class Yield(Node, frozen=True, gc=False):
    """`yield value`, `yield from value` or `await value`."""

    value: Expr | None
    kind: str


Expr: TypeAlias = (
    Constant
    | Name
    | Attribute
    | Call
    | Subscript
    | Slice
    | Sequence
    | Starred
    | Dictionary
    | Unary
    | Binary
    | Compare
    | Boolean
    | Conditional
    | Lambda
    | Comprehension
    | FormattedString
    | NamedExpression
    | Yield
)


# Functions and classes


class Parameter(Struct, frozen=True, array_like=True, gc=False):
    """A parameter; `kind` is 'positional-only', 'positional', 'keyword-only', '*' or '**'."""

    name: str
    kind: str
    annotation: Expr | None
    default: Expr | None
    span: Span


class Function(Node, frozen=True, gc=False, cache_hash=True):
    """A function or a lambda (`name` is '<lambda>').

    `span` runs from `def` (or `lambda`) to the end of the body, `header` covers the decorators and the `def` line's
    start. `bound` holds the names that the body binds, `outer` those it declares global or nonlocal.
    """

    name: str
    parameters: tuple[Parameter, ...]
    decorators: tuple[Expr, ...]
    returns: Expr | None
    body: tuple[Stmt, ...]
    bound: frozenset[str]
    outer: frozenset[str]
    name_span: Span
    is_async: bool = False
    is_generator: bool = False

    @property
    def is_lambda(self) -> bool:
        """Whether this is a lambda expression."""
        return self.name == "<lambda>"


class Class(Node, frozen=True, gc=False, cache_hash=True):
    """A class statement."""

    name: str
    bases: tuple[Argument, ...]
    decorators: tuple[Expr, ...]
    body: tuple[Stmt, ...]


# Statements


class Assign(Node, frozen=True, gc=False):
    """`t1 = t2 = value`, or an annotated assignment (value may be missing)."""

    targets: tuple[Expr, ...]
    value: Expr | None
    annotation: Expr | None


class AugmentedAssign(Node, frozen=True, gc=False):
    """`target op= value`, with the operator without its `=`."""

    target: Expr
    operator: str
    value: Expr


class ExpressionStatement(Node, frozen=True, gc=False):
    """An expression whose value is dropped."""

    value: Expr


class Return(Node, frozen=True, gc=False):
    """`return value`."""

    value: Expr | None


class Raise(Node, frozen=True, gc=False):
    """`raise value`."""

    value: Expr | None


class Assert(Node, frozen=True, gc=False):
    """`assert test, message`."""

    test: Expr
    message: Expr | None


class Delete(Node, frozen=True, gc=False):
    """`del targets`."""

    targets: tuple[Expr, ...]


class Jump(Node, frozen=True, gc=False):
    """`break`, `continue` or `pass`."""

    kind: str


class ImportedName(Struct, frozen=True, array_like=True, gc=False):
    """One name that an import binds: `bound` in the scope to `target`, a dotted path.

    `import a.b` binds `a` to `a` (and loads `loads` = `a.b`); `import a.b as c` binds `c` to `a.b`;
    `from m import n as k` binds `k` to `m.n` with `from_module` m. `bound` is '*' for a star import.
    """

    bound: str
    target: str
    loads: str
    from_module: str | None
    span: Span


class Import(Node, frozen=True, gc=False):
    """An import statement; `level` counts the leading dots of a relative one."""

    names: tuple[ImportedName, ...]
    level: int


class Scope(Node, frozen=True, gc=False):
    """`global` or `nonlocal` names."""

    names: tuple[str, ...]


class If(Node, frozen=True, gc=False):
    """`if test`; an `elif` is an If alone in `otherwise`."""

    test: Expr
    body: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]


class While(Node, frozen=True, gc=False):
    """`while test`."""

    test: Expr
    body: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]


class For(Node, frozen=True, gc=False):
    """`for target in iterable`."""

    target: Expr
    iterable: Expr
    body: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]


class With(Node, frozen=True, gc=False):
    """`with context as target, ...`."""

    items: tuple[tuple[Expr, Expr | None], ...]
    body: tuple[Stmt, ...]


class Handler(Struct, frozen=True, array_like=True, gc=False):
    """One `except` clause."""

    type: Expr | None
    name: str | None
    body: tuple[Stmt, ...]


class Try(Node, frozen=True, gc=False):
    """`try` with its clauses."""

    body: tuple[Stmt, ...]
    handlers: tuple[Handler, ...]
    otherwise: tuple[Stmt, ...]
    final: tuple[Stmt, ...]


class Case(Struct, frozen=True, array_like=True, gc=False):
    """One `case` of a match; `binds` are the names that its pattern binds, `is_catch_all` for `case _`."""

    binds: tuple[str, ...]
    compares_value: bool
    guard: Expr | None
    body: tuple[Stmt, ...]


class Match(Node, frozen=True, gc=False):
    """`match subject`."""

    subject: Expr
    cases: tuple[Case, ...]


class FunctionDefinition(Node, frozen=True, gc=False):
    """`def`; `span` starts at the first decorator."""

    function: Function


class ClassDefinition(Node, frozen=True, gc=False):
    """`class`."""

    definition: Class


Stmt: TypeAlias = (
    Assign
    | AugmentedAssign
    | ExpressionStatement
    | Return
    | Raise
    | Assert
    | Delete
    | Jump
    | Import
    | Scope
    | If
    | While
    | For
    | With
    | Try
    | Match
    | FunctionDefinition
    | ClassDefinition
)


class Module(Struct, frozen=True):
    """One file: its path as shown to the user, its dotted name as far as the folders tell, and its statements."""

    path: str
    name: str
    body: tuple[Stmt, ...]
