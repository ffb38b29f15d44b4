"""Turns the text of one file into statements: libcst parses it, and a visitor over the semantic fields lowers it.

The walk skips white space and comments, which an ordinary `CSTVisitor` visits at the price of another parse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Seq
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from jaxlint.model import Span
from jaxlint.program import nodes as n
from jaxlint.program.names import outer_names, statement_names, target_names
from jaxlint.program.pieces import Piece, pieces
from jaxlint.program.positions import Positions

BINARY = {
    "Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "FloorDivide": "//", "Modulo": "%", "Power": "**",
    "MatrixMultiply": "@", "LeftShift": "<<", "RightShift": ">>", "BitOr": "|", "BitAnd": "&", "BitXor": "^",
}  # fmt: skip
COMPARE = {
    "Equal": "==", "NotEqual": "!=", "LessThan": "<", "LessThanEqual": "<=", "GreaterThan": ">",
    "GreaterThanEqual": ">=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip
COMPREHENSIONS = {"ListComp": "list", "SetComp": "set", "DictComp": "dict"}
UNARY = {"Minus": "-", "Plus": "+", "BitInvert": "~", "Not": "not"}


def lower(text: str, path: str, name: str) -> n.Module:
    """The module that `text` says; `path` is shown to the user, by `name` other files import it. See `statements`."""
    return n.Module(path, name, statements(text))


def statements(text: str) -> tuple[n.Stmt, ...]:
    """The statements that `text` says: the decoded source, line ends as they are, without byte order mark.

    Raises:
        libcst.ParserSyntaxError: the text is not Python.
    """
    try:
        return tuple(statement for piece in pieces(text) for statement in _lowered(piece))
    except cst.ParserSyntaxError:  # perhaps a string was cut
        return _lowered(Piece(text, 1))


def _lowered(piece: Piece) -> tuple[n.Stmt, ...]:
    module = cst.parse_module(piece.text)
    return _Lowering(Positions(module, piece.text, piece.line)).statements(module.body)


@dataclass(slots=True)
class _Seen:
    """What was met on the way through a function's body."""

    yields: bool = False
    named: set[str] = field(default_factory=set)  # by `:=`


class _Lowering:
    """One method for each kind of libcst node, found by the node's type name."""

    def __init__(self, positions: Positions) -> None:
        self.span = positions.span
        self.expressions: dict[type, Callable[[Any], n.Expr]] = {}
        self.around = [_Seen()]  # for each function around, innermost last

    # Statements

    def statements(self, body: Seq[cst.CSTNode]) -> tuple[n.Stmt, ...]:
        found: list[n.Stmt] = []
        for statement in body:
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    found.extend(self.statement(small))
            else:
                found.extend(self.statement(statement))
        return tuple(found)

    def block(self, suite: cst.CSTNode | None) -> tuple[n.Stmt, ...]:
        if suite is None:
            return ()
        if isinstance(suite, cst.SimpleStatementSuite):
            return tuple(s for small in suite.body for s in self.statement(small))
        if isinstance(suite, (cst.Else, cst.Finally)):
            return self.block(suite.body)
        if isinstance(suite, cst.If):
            return tuple(self.statement(suite))
        assert isinstance(suite, cst.IndentedBlock)
        return self.statements(suite.body)

    def statement(self, node: cst.CSTNode) -> Iterator[n.Stmt]:
        method = getattr(self, "_" + type(node).__name__, None)
        if method is not None:
            yield method(node)

    def _Expr(self, node: cst.Expr) -> n.Stmt:
        return n.ExpressionStatement(self.span(node), self.expr(node.value))

    def _Assign(self, node: cst.Assign) -> n.Stmt:
        targets = tuple(self.expr(target.target) for target in node.targets)
        return n.Assign(self.span(node), targets, self.expr(node.value), None)

    def _AnnAssign(self, node: cst.AnnAssign) -> n.Stmt:
        value = self.expr(node.value) if node.value is not None else None
        return n.Assign(self.span(node), (self.expr(node.target),), value, self.expr(node.annotation.annotation))

    def _AugAssign(self, node: cst.AugAssign) -> n.Stmt:
        operator = BINARY[type(node.operator).__name__.removesuffix("Assign")]
        return n.AugmentedAssign(self.span(node), self.expr(node.target), operator, self.expr(node.value))

    def _Return(self, node: cst.Return) -> n.Stmt:
        return n.Return(self.span(node), self.optional(node.value))

    def _Raise(self, node: cst.Raise) -> n.Stmt:
        return n.Raise(self.span(node), self.optional(node.exc))

    def _Assert(self, node: cst.Assert) -> n.Stmt:
        return n.Assert(self.span(node), self.expr(node.test), self.optional(node.msg))

    def _Del(self, node: cst.Del) -> n.Stmt:
        target = self.expr(node.target)
        return n.Delete(self.span(node), target.elements if isinstance(target, n.Sequence) else (target,))

    def _jump(self, node: cst.CSTNode) -> n.Stmt:
        return n.Jump(self.span(node), type(node).__name__.lower())

    _Pass = _Break = _Continue = _jump

    def _Global(self, node: cst.Global | cst.Nonlocal) -> n.Stmt:
        return n.Scope(self.span(node), tuple(item.name.value for item in node.names))

    _Nonlocal = _Global

    def _Import(self, node: cst.Import) -> n.Stmt:
        return n.Import(self.span(node), tuple(map(self._imported_module, node.names)), 0)

    def _imported_module(self, alias: cst.ImportAlias) -> n.ImportedName:
        dotted = alias.evaluated_name
        if alias.asname is not None:
            return n.ImportedName(alias.evaluated_alias or dotted, dotted, dotted, None, self.span(alias))
        first = dotted.partition(".")[0]
        return n.ImportedName(first, first, dotted, None, self.span(alias))

    def _ImportFrom(self, node: cst.ImportFrom) -> n.Stmt:
        module = _dotted(node.module) if node.module is not None else ""
        if isinstance(node.names, cst.ImportStar):
            names = [n.ImportedName("*", module, module, module, self.span(node))]
        else:
            names = [
                n.ImportedName(
                    alias.evaluated_alias or alias.evaluated_name,
                    f"{module}.{alias.evaluated_name}" if module else alias.evaluated_name,
                    module,
                    module,
                    self.span(alias),
                )
                for alias in node.names
            ]
        return n.Import(self.span(node), tuple(names), len(node.relative))

    def _If(self, node: cst.If) -> n.Stmt:
        return n.If(self.span(node), self.expr(node.test), self.block(node.body), self.block(node.orelse))

    def _While(self, node: cst.While) -> n.Stmt:
        return n.While(self.span(node), self.expr(node.test), self.block(node.body), self.block(node.orelse))

    def _For(self, node: cst.For) -> n.Stmt:
        target, iterable = self.expr(node.target), self.expr(node.iter)
        return n.For(self.span(node), target, iterable, self.block(node.body), self.block(node.orelse))

    def _With(self, node: cst.With) -> n.Stmt:
        items = tuple(
            (self.expr(item.item), self.expr(item.asname.name) if item.asname is not None else None)
            for item in node.items
        )
        return n.With(self.span(node), items, self.block(node.body))

    def _Try(self, node: cst.Try | cst.TryStar) -> n.Stmt:
        handlers = tuple(
            n.Handler(
                self.optional(handler.type),
                handler.name.name.value
                if handler.name is not None and isinstance(handler.name.name, cst.Name)
                else None,
                self.block(handler.body),
            )
            for handler in node.handlers
        )
        return n.Try(
            self.span(node), self.block(node.body), handlers, self.block(node.orelse), self.block(node.finalbody)
        )

    _TryStar = _Try

    def _Match(self, node: cst.Match) -> n.Stmt:
        cases = tuple(
            n.Case(
                tuple(_pattern_names(case.pattern)),
                not _is_structural(case.pattern),
                self.optional(case.guard),
                self.block(case.body),
            )
            for case in node.cases
        )
        return n.Match(self.span(node), self.expr(node.subject), cases)

    def _FunctionDef(self, node: cst.FunctionDef) -> n.Stmt:
        decorators = tuple(self.expr(item.decorator) for item in node.decorators)
        self.around.append(_Seen())
        body = self.block(node.body)
        seen = self.around.pop()
        parameters = self.parameters(node.params)
        function = n.Function(
            self.span(node), node.name.value, parameters, decorators,
            self.expr(node.returns.annotation) if node.returns is not None else None,
            body, statement_names(body) | seen.named, outer_names(body), self.span(node.name),
            is_async=node.asynchronous is not None, is_generator=seen.yields,
        )  # fmt: skip
        first = node.decorators[0] if node.decorators else node
        return n.FunctionDefinition(self.span(first, node), function)

    def _ClassDef(self, node: cst.ClassDef) -> n.Stmt:
        bases = tuple(map(self.argument, (*node.bases, *node.keywords)))
        decorators = tuple(self.expr(item.decorator) for item in node.decorators)
        definition = n.Class(self.span(node), node.name.value, bases, decorators, self.block(node.body))
        first = node.decorators[0] if node.decorators else node
        return n.ClassDefinition(self.span(first, node), definition)

    def parameters(self, node: cst.Parameters) -> tuple[n.Parameter, ...]:
        star = (node.star_arg,) if isinstance(node.star_arg, cst.Param) else ()
        groups = (
            ("positional-only", node.posonly_params),
            ("positional", node.params),
            ("*", star),
            ("keyword-only", node.kwonly_params),
            ("**", (node.star_kwarg,) if node.star_kwarg is not None else ()),
        )
        return tuple(self._parameter(kind, param) for kind, group in groups for param in group)

    def _parameter(self, kind: str, node: cst.Param) -> n.Parameter:
        annotation = self.expr(node.annotation.annotation) if node.annotation is not None else None
        return n.Parameter(node.name.value, kind, annotation, self.optional(node.default), self.span(node))

    # Expressions

    def optional(self, node: cst.CSTNode | None) -> n.Expr | None:
        return None if node is None else self.expr(node)

    def expr(self, node: cst.CSTNode) -> n.Expr:
        kind = type(node)
        method = self.expressions.get(kind)
        if method is None:
            method = self.expressions[kind] = getattr(self, "_" + kind.__name__)
        return method(node)

    def _Name(self, node: cst.Name) -> n.Expr:
        span = self.span(node)
        if node.value in ("True", "False"):
            return n.Constant(span, "bool", node.value == "True")
        return n.Constant(span, "none") if node.value == "None" else n.Name(span, node.value)

    def _Attribute(self, node: cst.Attribute) -> n.Expr:
        return n.Attribute(self.span(node), self.expr(node.value), node.attr.value, self.span(node.attr))

    def _Integer(self, node: cst.Integer) -> n.Expr:
        value = int(node.value, 0)
        # A number too large for the stored form is a float: nothing that is decided here depends on its last digits.
        return n.Constant(self.span(node), "int", value if abs(value) < 2**63 else float("inf"))

    def _Float(self, node: cst.Float) -> n.Expr:
        return n.Constant(self.span(node), "float", float(node.value))

    def _Imaginary(self, node: cst.Imaginary) -> n.Expr:
        return n.Constant(self.span(node), "complex")

    def _Ellipsis(self, node: cst.Ellipsis) -> n.Expr:
        return n.Constant(self.span(node), "ellipsis")

    def _SimpleString(self, node: cst.SimpleString) -> n.Expr:
        written = node.value
        # Most strings are what they say, and need not be read by Python's parser.
        plain = written[0] in "'\"" and "\\" not in written and "\r" not in written
        value = written.strip(written[0]) if plain and written[:3] != written[0] * 3 else node.evaluated_value
        if isinstance(value, str):
            return n.Constant(self.span(node), "str", value)
        return n.Constant(self.span(node), "bytes")

    def _ConcatenatedString(self, node: cst.ConcatenatedString) -> n.Expr:
        left, right = self.expr(node.left), self.expr(node.right)
        if isinstance(left, n.Constant) and isinstance(right, n.Constant):
            if isinstance(left.value, str) and isinstance(right.value, str):
                return n.Constant(self.span(node), "str", left.value + right.value)
            return n.Constant(self.span(node), "bytes")
        return n.FormattedString(self.span(node), (left, right))

    def _FormattedString(self, node: cst.FormattedString) -> n.Expr:
        parts: list[n.Expr] = []
        for part in node.parts:
            if isinstance(part, cst.FormattedStringText):
                parts.append(n.Constant(self.span(part), "str", part.value))
            elif isinstance(part, cst.FormattedStringExpression):
                parts.append(self.expr(part.expression))
        return n.FormattedString(self.span(node), tuple(parts))

    def _TemplatedString(self, node: cst.CSTNode) -> n.Expr:
        return n.FormattedString(self.span(node), ())

    def _Tuple(self, node: cst.Tuple | cst.List | cst.Set) -> n.Expr:
        elements = tuple(map(self._element, node.elements))
        return n.Sequence(self.span(node), type(node).__name__.lower(), elements)

    _List = _Set = _Tuple

    def _element(self, node: cst.BaseElement) -> n.Expr:
        value = self.expr(node.value)
        return n.Starred(self.span(node), value) if isinstance(node, cst.StarredElement) else value

    def _StarredElement(self, node: cst.StarredElement) -> n.Expr:
        return n.Starred(self.span(node), self.expr(node.value))

    def _Dict(self, node: cst.Dict) -> n.Expr:
        items = tuple(
            (self.expr(item.key) if isinstance(item, cst.DictElement) else None, self.expr(item.value))
            for item in node.elements
        )
        return n.Dictionary(self.span(node), items)

    def _UnaryOperation(self, node: cst.UnaryOperation) -> n.Expr:
        operand = self.expr(node.expression)
        return n.Unary(self.span(node), UNARY[type(node.operator).__name__], operand)

    def _BinaryOperation(self, node: cst.BinaryOperation) -> n.Expr:
        operator = BINARY[type(node.operator).__name__]
        return n.Binary(self.span(node), operator, self.expr(node.left), self.expr(node.right))

    def _BooleanOperation(self, node: cst.BooleanOperation) -> n.Expr:
        operator = "and" if isinstance(node.operator, cst.And) else "or"
        return n.Boolean(self.span(node), operator, self.expr(node.left), self.expr(node.right))

    def _Comparison(self, node: cst.Comparison) -> n.Expr:
        rest = tuple((COMPARE[type(c.operator).__name__], self.expr(c.comparator)) for c in node.comparisons)
        return n.Compare(self.span(node), self.expr(node.left), rest)

    def _IfExp(self, node: cst.IfExp) -> n.Expr:
        return n.Conditional(self.span(node), self.expr(node.test), self.expr(node.body), self.expr(node.orelse))

    def _NamedExpr(self, node: cst.NamedExpr) -> n.Expr:
        target = self.expr(node.target)
        self.around[-1].named.update(target_names(target))
        return n.NamedExpression(self.span(node), target, self.expr(node.value))

    def _Yield(self, node: cst.Yield) -> n.Expr:
        value = node.value.item if isinstance(node.value, cst.From) else node.value
        self.around[-1].yields = True
        kind = "yield from" if isinstance(node.value, cst.From) else "yield"
        return n.Yield(self.span(node), self.optional(value), kind)

    def _Await(self, node: cst.Await) -> n.Expr:
        return n.Yield(self.span(node), self.expr(node.expression), "await")

    def _Lambda(self, node: cst.Lambda) -> n.Expr:
        self.around.append(_Seen())
        value = self.expr(node.body)
        seen = self.around.pop()
        span = self.span(node)
        parameters = self.parameters(node.params)
        body = (n.Return(value.span, value),)
        function = n.Function(
            span, "<lambda>", parameters, (), None, body, statement_names(body) | seen.named, frozenset(), span
        )  # fmt: skip
        return n.Lambda(span, function)

    def _Call(self, node: cst.Call) -> n.Expr:
        span = self.span(node)
        arguments = tuple(map(self.argument, node.args))
        inside = span
        if arguments:
            first, last = arguments[0].span, arguments[-1].span
            inside = Span(first.line, first.column, last.end_line, last.end_column)
        else:
            inside = Span(span.end_line, span.end_column - 1, span.end_line, span.end_column - 1)
        return n.Call(span, self.expr(node.func), arguments, inside)

    def argument(self, node: cst.Arg) -> n.Argument:
        keyword = node.keyword.value if node.keyword is not None else None
        return n.Argument(self.expr(node.value), keyword, node.star, self.span(node))

    def _Subscript(self, node: cst.Subscript) -> n.Expr:
        entries = [self._index(element.slice) for element in node.slice]
        if len(entries) == 1 and not (node.slice[0].comma and isinstance(node.slice[0].comma, cst.Comma)):
            index = entries[0]
        else:
            first, last = entries[0].span, entries[-1].span
            covered = Span(first.line, first.column, last.end_line, last.end_column)
            index = n.Sequence(covered, "tuple", tuple(entries))
        return n.Subscript(self.span(node), self.expr(node.value), index)

    def _index(self, node: cst.BaseSlice) -> n.Expr:
        if isinstance(node, cst.Slice):
            return n.Slice(
                self.span(node), self.optional(node.lower), self.optional(node.upper), self.optional(node.step)
            )
        assert isinstance(node, cst.Index)
        value = self.expr(node.value)
        return n.Starred(self.span(node), value) if node.star else value

    def _comprehension(self, node: Any) -> n.Expr:
        kind = COMPREHENSIONS.get(type(node).__name__, "generator")
        key = self.expr(node.key) if isinstance(node, cst.DictComp) else None
        element = self.expr(node.value if isinstance(node, cst.DictComp) else node.elt)
        return n.Comprehension(self.span(node), kind, key, element, tuple(self._generators(node.for_in)))

    _ListComp = _SetComp = _DictComp = _GeneratorExp = _comprehension

    def _generators(self, node: cst.CompFor | None) -> Iterator[n.Generator]:
        while node is not None:
            conditions = tuple(self.expr(condition.test) for condition in node.ifs)
            yield n.Generator(self.expr(node.target), self.expr(node.iter), conditions)
            node = node.inner_for_in


def _dotted(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    assert isinstance(node, cst.Name)
    return node.value


def _pattern_names(pattern: cst.CSTNode) -> Iterator[str]:
    """The names that a case pattern binds."""
    if isinstance(pattern, (cst.MatchAs, cst.MatchStar)) and pattern.name is not None:
        yield pattern.name.value
    if isinstance(pattern, cst.MatchMapping) and pattern.rest is not None:
        yield pattern.rest.value
    for child in pattern.children:
        if isinstance(child, PATTERNS):
            yield from _pattern_names(child)


PATTERNS = (
    cst.MatchPattern, cst.MatchSequenceElement, cst.MatchMappingElement, cst.MatchKeywordElement, cst.MatchOrElement,
    cst.MatchStar,
)  # fmt: skip


def _is_structural(pattern: cst.CSTNode) -> bool:
    """Whether matching looks only at types and structure, never at a value."""
    return not isinstance(pattern, cst.MatchValue) and not any(map(_has_value_pattern, pattern.children))


def _has_value_pattern(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.MatchValue) or any(map(_has_value_pattern, node.children))
