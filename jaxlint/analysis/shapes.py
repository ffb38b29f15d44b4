"""Tells of tracers where functions need static values: shapes, sizes, axes and numbers of parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlint.analysis.events import ShapeUse
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.static_arguments import static_parameters
from jaxlint.analysis.values import Items, Value, is_traced, leaves
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def tell_shape_arguments(m: Machine, f: Frame, path: str, arguments: Arguments, e: n.Call | None) -> None:
    """Tells every tracer that stands where the function needs a static value."""
    if e is None:
        return
    if path == "method.reshape":
        for i, value in enumerate(arguments.positional):
            _tell(m, f, value, "shape", path, arguments.node(i, "") or e)
        return
    if path == "jax.numpy.repeat" and arguments.keyword("total_repeat_length") is not None:
        return
    for position, name, what in static_parameters(path):
        given = arguments.get(position, name)
        if given is not None:
            _tell(m, f, given, what, path, arguments.node(position, name) or e)


def _tell(m: Machine, f: Frame, value: Value, what: str, path: str, node: n.Expr) -> None:
    if isinstance(value, Items) and isinstance(node, n.Sequence) and len(value.items) == len(node.elements):
        pairs = list(zip(value.items, node.elements, strict=True))
        sure = [pair for pair in pairs if is_traced(pair[0])]
        if sure and not any(isinstance(element, n.Starred) for element in node.elements):
            value, node = sure[0]
    for leaf in leaves(value):
        if leaf.trace is not None:
            m.emit(ShapeUse(f, node.span, leaf, what, path, node))
            return
