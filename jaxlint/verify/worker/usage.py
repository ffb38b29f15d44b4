"""What a function's text says of its parameters: the attributes and keys that it reads, what it calls and unpacks.

Nothing is run. A parameter that is handed on to another function of the file is used as that one uses it.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import textwrap
import types
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

from jaxlint.verify.worker.known_calls import last, note_call
from jaxlint.verify.worker.use import Use, merge

_DEEPEST = 4
_OF_ARRAYS = {
    *("shape", "dtype", "ndim", "size", "T", "at", "mT", "real", "imag", "sum", "mean", "max", "min", "reshape", "std"),
    *("astype", "transpose", "ravel", "flatten", "var", "dot", "argmax", "argmin", "any", "all", "squeeze", "swapaxes"),
    *("copy", "clip", "round", "item", "tolist", "block_until_ready", "cumsum", "prod", "sort", "conj", "repeat"),
}
_OF_METHODS = {"items", "keys", "values", "get", "startswith", "endswith"}
_SEVERAL = (list, tuple, set, frozenset)
_USUAL, _MOST = {"relu", "tanh", "gelu", "sum", "mean", "max", "sin", "cos"}, 3


def uses(function: Any, namespace: Mapping[str, Any]) -> dict[str, Use]:
    """The uses of all parameters by name; empty where there is no source."""
    return _of(function, namespace, 0) or {}


def _of(function: Any, namespace: Mapping[str, Any], depth: int) -> dict[str, Use] | None:
    node = _tree(function)
    if node is None or depth > _DEEPEST:
        return None
    names = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    found = {name.arg: Use() for name in names}
    _Reader(found, namespace, depth).read(node)
    return found


def mentions(function: Any) -> Counter[str]:
    """How often the text of a function reads each name; empty where there is no source."""
    node = _tree(function)
    return Counter(part.id for part in ast.walk(node) if isinstance(part, ast.Name)) if node else Counter()


def _tree(function: Any) -> ast.FunctionDef | None:
    function = inspect.unwrap(function) if callable(function) else getattr(function, "__func__", function)
    with contextlib.suppress(OSError, TypeError, SyntaxError, ValueError):
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        return next((node for node in tree.body if isinstance(node, ast.FunctionDef)), None)
    return None


class _Reader(ast.NodeVisitor):
    """Walks through one function; `known` are the uses of the names at hand."""

    def __init__(self, known: dict[str, Use], namespace: Mapping[str, Any], depth: int) -> None:
        self._known, self._namespace, self._depth = dict(known), namespace, depth
        self._local: dict[str, ast.FunctionDef | ast.Lambda] = {}

    def read(self, node: ast.FunctionDef) -> None:
        """Walk through its body."""
        for statement in node.body:
            self.visit(statement)

    def _use(self, node: ast.expr) -> Use | None:
        match node:
            case ast.Name(id=name):
                return self._known.get(name)
            case ast.Attribute(value=value, attr=name) if name not in _OF_ARRAYS | _OF_METHODS:
                owner = self._use(value)
                return owner.attribute(name) if owner else None
            case ast.Subscript(value=value, slice=ast.Constant(value=str(key))):
                owner = self._use(value)
                return owner.keys.setdefault(key, Use()) if owner else None
            case ast.Subscript(value=value, slice=ast.Slice()):
                return self._use(value)
            case ast.Call(func=ast.Attribute(value=value, attr="values")):
                return self._use(value)
            case ast.IfExp(body=body, orelse=orelse):
                return self._use(body) or self._use(orelse)
            case ast.BoolOp(op=ast.Or(), values=[value, *_]):
                return self._use(value)
        return None

    # ---- what binds names ---------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._local[node.name] = node
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        made = _innermost(node.value) if isinstance(node.value, ast.Call) else node.value
        if isinstance(made, ast.Lambda) and isinstance(node.targets[0], ast.Name):
            self._local[node.targets[0].id] = made
        self.generic_visit(node)
        self._bind(node.targets[0], node.value)

    def visit_For(self, node: ast.For) -> None:
        self._loop(node.target, node.iter)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._loop(node.target, node.iter)
        self.generic_visit(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehended(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehended(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehended(node)

    def _comprehended(self, node: Any) -> None:
        for generator in node.generators:  # binds the names of the element, which stands before it
            self.visit(generator)
        self.generic_visit(node)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Tuple(elts=parts), ast.Attribute(value=of, attr="shape"):
                use = self._use(of)
                if use and not any(isinstance(part, ast.Starred) for part in parts):
                    use.rank = len(parts)
            case ast.Tuple(elts=parts), ast.Tuple(elts=values) if len(parts) == len(values):
                for one, two in zip(parts, values, strict=True):
                    self._bind(one, two)
            case _:
                use = self._use(value)
                self._give(target, use) if use else None

    def _give(self, target: ast.expr, use: Use) -> None:
        if isinstance(target, ast.Name):
            self._known[target.id] = use
        elif isinstance(target, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in target.elts):
            for part, inner in zip(target.elts, use.unpacked(len(target.elts)), strict=True):
                self._give(part, inner)

    def _loop(self, target: ast.expr, over: ast.expr) -> None:
        match target, over:
            case ast.Tuple(elts=parts), ast.Call(func=ast.Name(id="zip"), args=given) if len(parts) == len(given):
                for part, one in zip(parts, given, strict=True):
                    self._loop(part, one)
            case ast.Tuple(elts=[_, part]), ast.Call(func=ast.Name(id="enumerate"), args=[one, *_]):
                self._loop(part, one)
            case ast.Tuple(elts=[_, part]), ast.Call(func=ast.Attribute(value=one, attr="items")):
                use = self._use(one)
                if use:
                    use.tree = True
                    self._give(part, use.keys.setdefault("a", Use()))
            case _:
                use = self._use(over)
                if use:
                    self._give(target, use.item())

    # ---- what tells of values -----------------------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._use(node)
        owner = self._use(node.value) if node.attr in ("real", "imag", "conj") else None
        if owner:
            owner.is_complex = True
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if self._use(right) and not self._use(left):
                self._compared(right, op, left)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if self._use(left):
                self._compared(left, op, right)
            case ast.Compare(left=ast.Attribute(value=of, attr="ndim"), comparators=[ast.Constant(value=int(rank))]):
                use = self._use(of)
                if use:
                    use.rank = rank
        self.generic_visit(node)

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> None:
        use, options = self._use(left), constant(right, self._namespace)
        if use is None:
            return
        if isinstance(op, (ast.In, ast.NotIn)) and isinstance(options, (Mapping, *_SEVERAL)):
            use.texts += _texts(options)
        use.texts += _texts([options])
        use.numbers += [options] if isinstance(options, int) and not isinstance(options, bool) else []

    def visit_Match(self, node: ast.Match) -> None:
        use = self._use(node.subject)
        values = [part.value for case in node.cases for part in ast.walk(case.pattern) if _is_value(part)]
        if use:
            use.texts += _texts(constant(value, self._namespace) for value in values)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        use, inner = self._use(node.value), self._use(node.slice)
        table = constant(node.value, self._namespace)
        if inner and isinstance(table, Mapping):
            inner.texts += _texts(table)
        elif inner:
            inner.index = True
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        if use and parts:
            use.least = max(use.least, sum(not _adds(part) for part in parts))
        match node:
            case ast.Subscript(value=ast.Attribute(value=of, attr="shape"), slice=ast.Constant(value=int(place))):
                shaped = self._use(of)
                if shaped:
                    shaped.least = max(shaped.least, place + 1 if place >= 0 else -place)
            case ast.Subscript(value=of, slice=ast.Slice()):
                sliced = self._use(of)
                if sliced:
                    sliced.least = max(sliced.least, 1)
        self._use(node)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.MatMult):
            for use in filter(None, map(self._use, (node.left, node.right))):
                use.least = max(use.least, 1)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        own = self._use(node.func)
        if own is not None:
            own.called = True
        note_call(node, [self._use(argument) for argument in node.args], self._use)
        self._note_texts(node)
        self._hand_on(node)
        self._enter(node)
        self.generic_visit(node)

    def _note_texts(self, node: ast.Call) -> None:
        """The texts by which a parameter picks something: of a table, of a module, or by how it begins and ends."""
        match node:
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[name, *_]):
                use, known = self._use(name), constant(table, self._namespace)
                texts = [*known] if isinstance(known, Mapping) else []
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, name, *_]):
                use, known = self._use(name), constant(owner, self._namespace)
                functions = {name for name, held in _public(known) if callable(held) and not isinstance(held, type)}
                texts = [*_USUAL & functions, *sorted(functions - _USUAL)][:_MOST] if functions else []
            case ast.Call(func=ast.Attribute(value=name, attr="startswith" | "endswith"), args=[part, *_]):
                use, texts = self._use(name), [constant(part, self._namespace)]
            case _:
                return
        if use:
            use.texts += _texts(texts)

    def _enter(self, node: ast.Call) -> None:
        """The parameters of a function within this one are what it is called with."""
        made = _innermost(node.func)
        inner = self._local.pop(made.id, None) if isinstance(made, ast.Name) else made
        if not isinstance(inner, (ast.FunctionDef, ast.Lambda)):
            return
        for parameter, argument in zip(inner.args.args, node.args, strict=False):
            use = self._use(argument)
            if use:
                self._known[parameter.arg] = use
        if isinstance(made, ast.Name):  # it stands elsewhere
            for part in inner.body if isinstance(inner, ast.FunctionDef) else [inner.body]:
                self.visit(part)

    def _hand_on(self, node: ast.Call) -> None:
        """What is handed on to another function of the file, also through what transforms make of it."""
        made, owner = _innermost(node.func), self._namespace
        name = made.id if isinstance(made, ast.Name) and made.id not in self._known else ""
        function, parameters = _readable(owner.get(name))
        inner = _of(function, owner, self._depth + 1) if parameters else None
        for argument, parameter in zip(node.args, parameters, strict=False):
            use = self._use(argument)
            if use and inner and parameter.name in inner:
                lower = name != last(node.func) and "vmap" in ast.unparse(node.func)
                merge(use, inner[parameter.name], ranks=not lower)
                if parameter.annotation is not parameter.empty and not lower:
                    use.annotations.append(parameter.annotation)


def _readable(value: Any) -> tuple[Any, list[inspect.Parameter]]:
    """A function or constructor, and what it is called with; no parameters where it is neither."""
    function: Any = vars(value).get("__init__") if isinstance(value, type) else value
    if not _is_function(function):
        return function, []
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return function, []
    return function, parameters[isinstance(value, type) :]


def _is_function(value: Any) -> bool:
    return isinstance(value, types.FunctionType) or isinstance(getattr(value, "__wrapped__", None), types.FunctionType)


def constant(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """What an expression stands for that is written out, or built of globals; of tables what matters are the keys."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case ast.Name(id=name):
            return namespace.get(name)
        case ast.Attribute(value=owner, attr=name):
            return getattr(constant(owner, namespace), name, None)
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return [constant(part, namespace) for part in parts]
        case ast.Dict(keys=keys):
            return {part.value: None for part in keys if isinstance(part, ast.Constant)}
    return None


def _public(owner: Any) -> list[tuple[str, Any]]:
    """The public names of a module."""
    held = vars(owner).items() if isinstance(owner, types.ModuleType) else ()
    return [(name, value) for name, value in held if not name.startswith("_")]


def _texts(values: Iterable[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _is_value(pattern: ast.AST) -> TypeGuard[ast.MatchValue]:
    return isinstance(pattern, ast.MatchValue)


def _adds(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value in (None, ...)


def _innermost(func: ast.expr) -> ast.expr:
    """The function of `jax.grad(jax.jit(f))`, and of `f` alone."""
    while isinstance(func, ast.Call) and func.args:
        func = func.args[0]
    return func
