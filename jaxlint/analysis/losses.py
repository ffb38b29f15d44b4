"""Losses of Optax: one number for each element or row of what they are given, and not their mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jaxlint.analysis import arrays
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.operators import staged
from jaxlint.analysis.tracing import outer_trace
from jaxlint.analysis.values import Array, Value, known
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine

ELEMENTWISE = ("l2_loss", "squared_error", "huber_loss", "log_cosh", "sigmoid_binary_cross_entropy")
ROWWISE = ("softmax_cross_entropy", "softmax_cross_entropy_with_integer_labels", "cosine_similarity", "cosine_distance")


def _elementwise(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """A number for each pair of elements; the targets of `l2_loss` may be left out."""
    given = arguments.positional[:2]
    function = "jax.numpy.subtract" if len(given) == 2 else "jax.numpy.abs"
    result = arrays.call(function, given, {}) if given and all(isinstance(value, Array) for value in given) else None
    return staged(f, result or Array(), outer_trace(arguments))


def _rowwise(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """A number for each row: the last axis is gone."""
    rows = arguments.get(0, "logits")
    is_plain = isinstance(rows, Array) and not any(name in ("axis", "where") for name, _ in arguments.keywords)
    reduced = arrays.call("jax.numpy.sum", (rows, known(-1)), {}) if is_plain and rows is not None else None
    return staged(f, reduced or Array(), outer_trace(arguments))


HANDLERS: dict[str, Callable[..., Value]] = {
    f"{package}.{name}": handler
    for package in ("optax", "optax.losses")
    for names, handler in ((ELEMENTWISE, _elementwise), (ROWWISE, _rowwise))
    for name in names
}
"""In the form of `handlers.HANDLERS`; measured with Optax 0.2.8."""
