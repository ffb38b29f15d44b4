"""Evaluates an expression over array functions twice: with abstract values, and with JAX or NumPy themselves."""

from __future__ import annotations

import ast
from typing import Any

from jaxlint.analysis import arrays
from jaxlint.analysis.values import Api, Array, Items, Key, Many, Scalar, Unknown, Value

MODULES = {"jnp": "jax.numpy", "np": "numpy", "jax": "jax", "lax": "jax.lax"}
BUILTINS = ("int", "float", "bool", "complex")
_OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
}  # fmt: skip


class Abstract(ast.NodeVisitor):
    """Evaluates to abstract values; `called` gathers the functions that gave one."""

    def __init__(self, names: dict[str, Value]) -> None:
        self.names = names
        self.called: set[str] = set()

    def visit_Constant(self, node: ast.Constant) -> Value:
        if node.value is ...:
            return Scalar("ellipsis")
        if isinstance(node.value, complex):
            return Scalar("complex")
        kind = "none" if node.value is None else type(node.value).__name__
        return Scalar(kind, node.value, True)

    def visit_Name(self, node: ast.Name) -> Value:
        if node.id in self.names:
            return self.names[node.id]
        return Api(MODULES.get(node.id, f"builtins.{node.id}"))

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        base = self.visit(node.value)
        if isinstance(base, Api):
            return Api(f"{base.path}.{node.attr}")
        return arrays.attribute(base, node.attr) or Unknown()

    def visit_Call(self, node: ast.Call) -> Value:
        arguments = [self.visit(argument) for argument in node.args]
        keywords = {str(k.arg): self.visit(k.value) for k in node.keywords}
        if isinstance(node.func, ast.Attribute):
            base = self.visit(node.func.value)
            if isinstance(base, Array):
                self.called.add(f".{node.func.attr}")
                return arrays.method(base, node.func.attr, arguments, keywords) or Unknown()
        function = self.visit(node.func)
        assert isinstance(function, Api)
        result = arrays.call(function.path, arguments, keywords)
        if result is not None:
            self.called.add(function.path)
        return result or Unknown()

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        base, index = self.visit(node.value), self.visit(node.slice)
        if isinstance(base, Items):
            return base.items[index.const]
        if isinstance(base, Many):
            return base.element
        return arrays.subscript(base, index)

    def visit_Slice(self, node: ast.Slice) -> Value:
        return arrays.SliceValue(*(part and self.visit(part) for part in (node.lower, node.upper, node.step)))

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        return arrays.binary(_OPERATORS[type(node.op)], self.visit(node.left), self.visit(node.right)) or Unknown()

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        return arrays.unary(_OPERATORS[type(node.op)], self.visit(node.operand)) or Unknown()

    def visit_Compare(self, node: ast.Compare) -> Value:
        left, right = self.visit(node.left), self.visit(node.comparators[0])
        return arrays.binary(_OPERATORS[type(node.ops[0])], left, right) or Unknown()

    def visit_Tuple(self, node: ast.Tuple) -> Value:
        found: list[Value] = []
        for element in node.elts:
            if not isinstance(element, ast.Starred):
                found.append(self.visit(element))
                continue
            part = self.visit(element.value)
            if not isinstance(part, Items):
                return Unknown()
            found.extend(part.items)
        return Items("tuple", tuple(found))

    def visit_List(self, node: ast.List) -> Value:
        return Items("list", tuple(self.visit(element) for element in node.elts))


def abstract(expression: str, names: dict[str, Value]) -> tuple[Value, set[str]]:
    """The abstract value of an expression, and the functions and methods that gave an answer."""
    evaluator = Abstract(names)
    return evaluator.visit(ast.parse(expression, mode="eval").body), evaluator.called


def disagreement(claim: Value, real: Any, symbols: dict[str, int]) -> str | None:
    """What the claim says that is not so, None where all it says holds."""
    match claim:
        case Unknown():
            return None
        case Items():
            if type(real).__name__ not in (claim.kind, "list", "tuple") and not isinstance(real, tuple):
                return f"{claim.kind} claimed, got {type(real)}"
            if isinstance(real, tuple) is (claim.kind == "list") or len(real) != len(claim.items):
                return f"{claim.kind} of {len(claim.items)} claimed, got {type(real)} of {len(real)}"
            found = (disagreement(c, r, symbols) for c, r in zip(claim.items, real, strict=True))
            return next((problem for problem in found if problem), None)
        case Many():
            found = (disagreement(claim.element, part, symbols) for part in real)
            return next((problem for problem in found if problem), None)
        case Scalar():
            return _scalar_disagreement(claim, real)
        case Array():
            return _array_disagreement(claim, real, symbols)
        case Api():
            return None if claim.path.endswith(f".{real}") else f"{claim.path} claimed, got {real}"
        case Key():
            return None
    return f"unexpected claim {claim}"


def _scalar_disagreement(claim: Scalar, real: Any) -> str | None:
    if hasattr(real, "dtype"):  # eval_shape makes arrays of numbers
        kinds = {"bool": "b", "int": "iu", "float": "f", "complex": "c"}
        return None if real.shape == () and real.dtype.kind in kinds[claim.kind] else f"{claim}, got {real}"
    if type(real).__name__ != claim.kind or (claim.known and claim.const != real):
        return f"{claim}, got {real!r}"
    return None


def _array_disagreement(claim: Array, real: Any, symbols: dict[str, int]) -> str | None:
    if not hasattr(real, "dtype"):
        return f"array claimed, got {type(real)}"
    if claim.dtype is not None and claim.dtype != str(real.dtype):
        return f"dtype {claim.dtype} claimed, got {real.dtype}"
    if claim.weak is not None and claim.weak is not getattr(real, "weak_type", False):
        return f"weak={claim.weak} claimed, got {real}"
    if claim.shape is None:
        return None
    sizes = tuple(symbols.get(dim, dim) if isinstance(dim, str) else dim for dim in claim.shape)
    if len(sizes) != len(real.shape):
        return f"shape {claim.shape} claimed, got {real.shape}"
    if any(size is not None and size != actual for size, actual in zip(sizes, real.shape, strict=True)):
        return f"shape {claim.shape} claimed, got {real.shape}"
    return None
