"""JAX305 traced-host-call: NumPy, `math`, `float()` or `.item()` of a tracer."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import HostCall
from jaxlint.analysis.frames import steps
from jaxlint.analysis.values import is_traced
from jaxlint.model import Edit, Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.conversions import kept_as_array
from jaxlint.repair.spelling import spell

RULE = Rule(
    "JAX305", "traced-host-call", "a tracer where only a concrete value can be", Severity.ERROR, fix=Safety.SAFE
)

_SHARED = """
    abs absolute add all allclose angle any append arccos arccosh arcsin arcsinh arctan arctan2 arctanh argsort
    array asarray atleast_1d atleast_2d atleast_3d average block broadcast_arrays broadcast_to cbrt clip
    column_stack concatenate conj conjugate convolve copysign corrcoef cos cosh cov cross cumsum deg2rad degrees
    diag diagonal diff divide dot dstack einsum equal exp exp2 expand_dims expm1 flip fliplr flipud floor_divide
    fmax fmin fmod full_like gradient greater greater_equal heaviside histogram hstack hypot inner interp
    isclose isfinite isinf isnan kron less less_equal log log10 log1p log2 logaddexp logical_and logical_not
    logical_or logical_xor matmul maximum median meshgrid minimum mod multiply nan_to_num nanmax nanmean nanmin
    nansum negative not_equal ones_like outer pad percentile polyval power quantile rad2deg radians ravel
    reciprocal remainder roll rot90 sign sin sinc sinh sort sqrt square stack subtract tan tanh tensordot tile
    trace tril triu true_divide vander vdot vstack where zeros_like ceil floor rint trunc
"""
SAME_IN_JAX = frozenset(_SHARED.split())
"""NumPy functions that `jax.numpy` has under the same name and with the same positional parameters."""

_MATH = "sqrt exp log sin cos tan sinh cosh tanh log1p expm1 log2 log10 hypot degrees radians isnan isinf isfinite"
_RENAMED = {"pow": "power", "fabs": "abs", "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2"}
FROM_MATH = {**{name: name for name in _MATH.split()}, **_RENAMED}


def check(event: HostCall, context: Context) -> Iterator[Report]:
    """A call that needs the value of a tracer."""
    is_inside = any(frame.site is not None for frame in event.frame.chain())  # else a tracer has leaked before
    if not is_traced(event.value) or not is_inside:
        return
    whose = event.function.removeprefix("builtins.").removeprefix("numpy.").removeprefix("math.")
    shown = whose if event.function.startswith(".") or "()" in whose else event.function
    message = f"`{shown}` needs a concrete value, but is given a tracer"
    repair = _static_product(event, context) or _in_jax(event, context) or kept_as_array(event, context)
    yield Report(event.span, message, steps(event.frame), repair)


def _in_jax(event: HostCall, context: Context) -> Fix | None:
    """The function of the same name in `jax.numpy`."""
    module, _, name = event.function.partition(".")
    successor = name if module == "numpy" and name in SAME_IN_JAX else FROM_MATH.get(name) if module == "math" else None
    if successor is None or not isinstance(event.call.function, (n.Attribute, n.Name)):
        return None
    spelled = spell(context.module, f"jax.numpy.{successor}", event.span)
    edit = Edit(event.call.function.span, spelled.text)
    return fix(Safety.SAFE, f"use `{spelled.text}`", edit, spelled.edits)


def _static_product(event: HostCall, context: Context) -> Fix | None:
    """`int(jnp.prod(jnp.array(x.shape)))` is traced only because jnp is used: `math.prod(x.shape)`."""
    assert event.value.trace is not None
    if event.function != "int()" or event.value.trace.parameters or len(event.call.arguments) != 1:
        return None
    product = event.call.arguments[0].value
    inner = _only_argument(product, "prod")
    wrapped = inner is not None and (_only_argument(inner, "array") or _only_argument(inner, "asarray"))
    shape = wrapped or inner
    if shape is None or not _is_shape(shape):
        return None
    prod = spell(context.module, "math.prod", event.span)
    edit = Edit(event.span, f"{prod.text}({context.text.at(shape.span)})")
    return fix(Safety.SAFE, "compute it in Python", edit, prod.edits)


def _only_argument(node: n.Expr, name: str) -> n.Expr | None:
    if not isinstance(node, n.Call) or not isinstance(node.function, n.Attribute) or node.function.name != name:
        return None
    plain = len(node.arguments) == 1 and node.arguments[0].keyword is None and not node.arguments[0].star
    return node.arguments[0].value if plain else None


def _is_shape(node: n.Expr) -> bool:
    node = node.base if isinstance(node, n.Subscript) else node
    return isinstance(node, n.Attribute) and node.name == "shape"


CHECKS = {HostCall: check}
