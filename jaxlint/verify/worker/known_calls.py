"""What functions of JAX say of what they are called with: counts, keys, indices, trees, functions, ranks."""

from __future__ import annotations

import ast
from collections.abc import Callable

from jaxlint.verify.worker.use import Use

_COUNTS = {
    "range": 3,
    "arange": 3,
    "eye": 2,
    "one_hot": 2,
    "top_k": 2,
    "fori_loop": 2,
    "identity": 1,
    "tri": 2,
    "split": 2,
}
_FIRST_COUNT = {"one_hot": 1, "top_k": 1, "split": 1}
_SHAPED = frozenset({"zeros", "ones", "empty", "full", "normal", "uniform", "bernoulli", "broadcast_to", "reshape"})
_CALLING: dict[str, dict[int, str]] = {
    **{key: {0: "number"} for key in ("grad", "value_and_grad", "hessian")},
    **{key: {0: ""} for key in ("jit", "vmap", "checkpoint", "filter_jit", "jacfwd", "jacrev", "map", "filter_vmap")},
    **{"fori_loop": {2: "last"}, "scan": {0: "carrying"}, "while_loop": {0: "below", 1: "first"}},
    **{"cond": {1: "", 2: ""}, "jvp": {0: ""}, "vjp": {0: ""}, "linearize": {0: ""}, "tree_map": {0: ""}},
}
"""What takes functions: their places, and what they return."""
_INDICES = {"take": 1, "take_along_axis": 1, "one_hot": 0, "dynamic_index_in_dim": 1}
"""What takes indices, and in which place."""
_TREES = frozenset({"init", "update", "apply_updates"})
_AXES = frozenset({"axis", "axes", "in_axes"})
_COMPLEX = frozenset({"conj", "conjugate", "real", "imag", "angle", "iscomplexobj", "vdot", "ifft", "irfft"})

_Given = list[Use | None]


def note_call(node: ast.Call, given: _Given, use_of: Callable[[ast.expr], Use | None]) -> None:
    """Add what a call says of its arguments; `given` are the uses of those that are given by place."""
    name, path = last(node.func), ast.unparse(node.func).split(".")
    if name == "einsum":
        _note_einsum(node, given)
    for use in filter(None, given) if name in _COMPLEX else ():
        use.is_complex = True
    if "tree" in path or name.startswith("tree_") or name in _TREES:
        for use in filter(None, given):
            use.tree = True
    if "random" in path and given and given[0]:
        given[0].key = True
    _note_counts(name, node, given, use_of)
    _note_functions(name, given)
    for keyword in node.keywords:
        named = use_of(keyword.value)
        if named and keyword.arg in _AXES:
            named.axis = True


def _note_einsum(node: ast.Call, given: _Given) -> None:
    text = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
    for use, dims in zip(given[1:], str(text).split("->")[0].split(","), strict=False):
        if use and "." not in dims:
            use.dims = dims.strip()


def _note_counts(name: str, node: ast.Call, given: _Given, use_of: Callable[[ast.expr], Use | None]) -> None:
    index = _INDICES.get(name)
    if index is not None and index < len(given):
        use = given[index]
        if use:
            use.index = True
    for use in given[_FIRST_COUNT.get(name, 0) : _COUNTS.get(name, 0)]:
        if use:
            use.count = True
    for argument in node.args if name in _SHAPED else ():
        sizes = argument.elts if isinstance(argument, ast.Tuple) else [argument] if name == "reshape" else []
        for use in filter(None, map(use_of, sizes)):
            use.count = True


def _note_functions(name: str, given: _Given) -> None:
    for place, returns in _CALLING.get(name, {}).items():
        use = given[place] if place < len(given) else None
        if use:
            use.called, use.returns = True, use.returns or returns


def last(func: ast.expr) -> str:
    """The last part of a dotted name; empty for what has none."""
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
