"""What a function's text says of its parameters: the attributes and keys that it reads, what it calls and unpacks.

Nothing is run. A parameter that is handed on to another function of the file is used as that one uses it.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import inspect
import textwrap
import types
from collections.abc import Mapping
from typing import Any

_DEEPEST = 4
_OF_ARRAYS = {
    *("shape", "dtype", "ndim", "size", "T", "at", "mT", "real", "imag", "sum", "mean", "max", "min", "reshape", "std"),
    *("astype", "transpose", "ravel", "flatten", "var", "dot", "argmax", "argmin", "any", "all", "squeeze", "swapaxes"),
    *("copy", "clip", "round", "item", "tolist", "block_until_ready", "cumsum", "prod", "sort", "conj", "repeat"),
}
_COUNTS = {"range": 3, "arange": 3, "eye": 2, "one_hot": 2, "top_k": 2, "fori_loop": 2, "identity": 1, "tri": 2}
_SHAPED = frozenset({"zeros", "ones", "empty", "full", "normal", "uniform", "bernoulli", "broadcast_to", "reshape"})
_CALLING: dict[str, dict[int, str]] = {
    **{key: {0: "number"} for key in ("grad", "value_and_grad", "hessian")},
    **{key: {0: ""} for key in ("jit", "vmap", "checkpoint", "filter_jit", "jacfwd", "jacrev", "map", "filter_vmap")},
    **{"fori_loop": {2: "last"}, "scan": {0: "carrying"}, "while_loop": {0: "below", 1: "first"}},
    **{"cond": {1: "", 2: ""}, "jvp": {0: ""}, "vjp": {0: ""}, "linearize": {0: ""}, "tree_map": {0: ""}},
}
"""What takes functions: their places, and what they return."""
_OF_METHODS = {"items", "keys", "values", "get"}


@dataclasses.dataclass(slots=True)
class Use:
    """How one value is used; filled in while the function is read, since what it is called changes on the way."""

    attributes: dict[str, Use] = dataclasses.field(default_factory=dict)
    keys: dict[str, Use] = dataclasses.field(default_factory=dict)
    parts: list[Use] = dataclasses.field(default_factory=list)  # of what it is unpacked to
    items: Use | None = None  # of each of its items
    annotations: list[Any] = dataclasses.field(default_factory=list)  # of parameters that it is handed on to
    texts: list[str] = dataclasses.field(default_factory=list)  # that it is compared with
    called: bool = False
    returns: str = ""  # where it is called so: a number, or what the function of a loop returns
    tree: bool = False
    count: bool = False
    key: bool = False
    index: bool = False
    axis: bool = False
    dims: str | None = None  # its letters in an einsum
    rank: int | None = None  # its very rank
    least: int = 0  # a rank that it has at least

    def attribute(self, name: str) -> Use:
        """The use of what it has under a name."""
        return self.attributes.setdefault(name, Use())

    def item(self) -> Use:
        """The use of each of its items."""
        self.items = self.items or Use()
        return self.items

    def unpacked(self, count: int) -> list[Use]:
        """The uses of the parts that it is unpacked to."""
        self.parts += [Use() for _ in range(count - len(self.parts))]
        return self.parts[:count]


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
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        match node:
            case ast.Compare(left=left, comparators=[right]) if self._use(left):
                self._compared(left, right)
            case ast.Compare(left=ast.Attribute(value=of, attr="ndim"), comparators=[ast.Constant(value=int(rank))]):
                use = self._use(of)
                if use:
                    use.rank = rank
        self.generic_visit(node)

    def _compared(self, left: ast.expr, right: ast.expr) -> None:
        use = self._use(left)
        options = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else [right]
        for option in options:
            if use and isinstance(option, ast.Constant) and isinstance(option.value, str):
                use.texts.append(option.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        use, inner = self._use(node.value), self._use(node.slice)
        if inner:
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
        name = _last(node.func)
        self._known_call(name, node)
        for keyword in node.keywords:
            use = self._use(keyword.value)
            if use and keyword.arg in ("axis", "axes", "in_axes"):
                use.axis = True
        self._hand_on(node)
        self._enter(node)
        self.generic_visit(node)

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

    def _known_call(self, name: str, node: ast.Call) -> None:
        text = ast.unparse(node.func)
        given = [self._use(argument) for argument in node.args]
        if name == "einsum" and node.args and isinstance(node.args[0], ast.Constant):
            for use, dims in zip(given[1:], str(node.args[0].value).split("->")[0].split(","), strict=False):
                if use and "." not in dims:
                    use.dims = dims.strip()
        if "tree" in text.split(".") or name.startswith("tree_") or name in ("init", "update", "apply_updates"):
            for use in filter(None, given):
                use.tree = True
        if "random" in text.split(".") and given and given[0]:
            given[0].key = True
        for use in filter(None, given[: _COUNTS.get(name, 0)]):
            use.count = use.count or name not in ("one_hot", "top_k") or use is not given[0]
        if name == "split" and len(given) > 1 and given[1]:
            given[1].count = True
        for argument in node.args if name in _SHAPED else ():
            sizes = argument.elts if isinstance(argument, ast.Tuple) else [argument] if name == "reshape" else []
            for use in filter(None, map(self._use, sizes)):
                use.count = True
        for place, returns in _CALLING.get(name, {}).items():
            use = given[place] if place < len(given) else None
            if use:
                use.called, use.returns = True, use.returns or returns

    def _hand_on(self, node: ast.Call) -> None:
        """What is handed on to another function of the file, also through what transforms make of it."""
        made, owner = _innermost(node.func), self._namespace
        name = made.id if isinstance(made, ast.Name) and made.id not in self._known else ""
        function, parameters = _readable(owner.get(name))
        inner = _of(function, owner, self._depth + 1) if parameters else None
        for argument, parameter in zip(node.args, parameters, strict=False):
            use = self._use(argument)
            if use and inner and parameter.name in inner:
                lower = name != _last(node.func) and "vmap" in ast.unparse(node.func)
                _merge(use, inner[parameter.name], ranks=not lower)
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


def _merge(use: Use, other: Use, *, ranks: bool) -> None:
    for name, inner in other.attributes.items():
        _merge(use.attribute(name), inner, ranks=ranks)
    for name, inner in other.keys.items():
        _merge(use.keys.setdefault(name, Use()), inner, ranks=ranks)
    for one, two in zip(use.unpacked(len(other.parts)), other.parts, strict=False):
        _merge(one, two, ranks=ranks)
    if other.items:
        _merge(use.item(), other.items, ranks=ranks)
    for flag in ("called", "tree", "count", "key", "index", "axis"):
        setattr(use, flag, getattr(use, flag) or getattr(other, flag))
    use.annotations += other.annotations
    use.texts += other.texts
    use.returns = use.returns or other.returns
    if ranks:
        use.dims, use.least = use.dims or other.dims, max(use.least, other.least)
        use.rank = other.rank if use.rank is None else use.rank


def _adds(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value in (None, ...)


def _last(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _innermost(func: ast.expr) -> ast.expr:
    """The function of `jax.grad(jax.jit(f))`, and of `f` alone."""
    while isinstance(func, ast.Call) and func.args:
        func = func.args[0]
    return func
