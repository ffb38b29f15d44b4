"""Where functions need static values: shapes, sizes, axes and numbers of parts, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlint.analysis.events import ShapeUse
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.values import Value, leaves
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine

_AXIS_1 = ((1, "axis", "axis"),)
_AXIS_0 = ((0, "axis", "axis"),)
_REDUCTIONS = ("sum", "mean", "prod", "max", "min", "amax", "amin", "any", "all", "std", "var", "argmax", "argmin",
               "cumsum", "cumprod", "median", "nansum", "nanmean", "sort", "argsort", "logsumexp", "ptp",
               "count_nonzero", "flip", "nanmax", "nanmin")  # fmt: skip
_SHAPE_FIRST = ("zeros", "ones", "empty", "full")

NUMPY_LIKE: dict[str, tuple[tuple[int, str, str], ...]] = {
    **dict.fromkeys((*_REDUCTIONS, "expand_dims", "squeeze", "stack", "concatenate"), _AXIS_1),
    **dict.fromkeys(_SHAPE_FIRST, ((0, "shape", "shape"),)),
    "arange": ((0, "start", "length"), (1, "stop", "length"), (2, "step", "step")),
    "linspace": ((2, "num", "length"),),
    "eye": ((0, "N", "size"), (1, "M", "size")),
    "identity": ((0, "n", "size"),),
    "tri": ((0, "N", "size"), (1, "M", "size")),
    "reshape": ((1, "shape", "shape"), (1, "newshape", "shape")),
    "broadcast_to": ((1, "shape", "shape"),),
    "tile": ((1, "reps", "number of repeats"),),
    "split": ((1, "indices_or_sections", "number of parts"), (2, "axis", "axis")),
    "array_split": ((1, "indices_or_sections", "number of parts"),),
    "swapaxes": ((1, "axis1", "axis"), (2, "axis2", "axis")),
    "moveaxis": ((1, "source", "axis"), (2, "destination", "axis")),
    "transpose": ((1, "axes", "axes"),),
    "pad": ((1, "pad_width", "padding"),),
    "hanning": ((0, "M", "length"),),
    "hamming": ((0, "M", "length"),),
    "blackman": ((0, "M", "length"),),
    "bincount": ((2, "length", "length"),),
    "repeat": ((1, "repeats", "number of repeats"), (2, "axis", "axis")),
    "take": ((2, "axis", "axis"),),
    "take_along_axis": ((2, "axis", "axis"),),
    "logspace": ((2, "num", "length"),),
}
METHODS: dict[str, tuple[tuple[int, str, str], ...]] = {
    **dict.fromkeys((*_REDUCTIONS, "squeeze"), _AXIS_0),
    "swapaxes": ((0, "axis1", "axis"), (1, "axis2", "axis")),
    "repeat": ((0, "repeats", "number of repeats"),),
}
OTHERS: dict[str, tuple[tuple[int, str, str], ...]] = {
    "jax.lax.dynamic_slice": ((2, "slice_sizes", "slice size"),),
    "jax.lax.dynamic_slice_in_dim": ((2, "slice_size", "slice size"), (3, "axis", "axis")),
    "jax.lax.broadcast": ((1, "sizes", "shape"),),
    "jax.lax.iota": ((1, "size", "size"),),
    "jax.lax.broadcasted_iota": ((1, "shape", "shape"),),
    "jax.lax.top_k": ((1, "k", "number of results"),),
    "jax.lax.full": ((0, "shape", "shape"),),
    "jax.nn.one_hot": ((1, "num_classes", "number of classes"),),
    "jax.random.split": ((1, "num", "number of keys"),),
    "jax.random.permutation": ((2, "axis", "axis"),),
    "jax.random.normal": ((1, "shape", "shape"),),
    "jax.random.uniform": ((1, "shape", "shape"),),
    "jax.random.bernoulli": ((2, "shape", "shape"),),
    "jax.random.randint": ((1, "shape", "shape"),),
    "jax.random.choice": ((2, "shape", "shape"),),
    "jax.nn.softmax": _AXIS_1,
    "jax.nn.log_softmax": _AXIS_1,
    "jax.ops.segment_sum": ((2, "num_segments", "number of segments"),),
}


def static_parameters(path: str) -> tuple[tuple[int, str, str], ...]:
    """The parameters of a function that must be static: position, name, and what to call it."""
    module, _, name = path.rpartition(".")
    if module == "jax.numpy":
        return NUMPY_LIKE.get(name, ())
    if module == "method":
        return METHODS.get(name, ())
    return OTHERS.get(path, ())


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
    for leaf in leaves(value):
        if leaf.trace is not None:
            m.emit(ShapeUse(f, node.span, leaf, what, path, node))
            return
