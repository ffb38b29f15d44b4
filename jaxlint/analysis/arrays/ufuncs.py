"""The table of elementwise functions. Dtype and weak type of each were checked against JAX 0.10."""

from __future__ import annotations

from jaxlint.analysis.arrays.arguments import Rule
from jaxlint.analysis.arrays.dtypes import averaged, complexed, counted, inexact
from jaxlint.analysis.arrays.elementwise import (
    Part,
    Ufunc,
    angle,
    boolean,
    clip,
    conjugated,
    decimals,
    float_power,
    glu,
    nonzero,
    nothing,
    pair,
    power,
    real,
    rounded,
    same,
    scalar_bool,
    select,
    where,
)

# name of the group: the rule and the functions, without their library
_NUMPY: list[tuple[Rule, str]] = [
    (
        Ufunc(1, inexact),
        "acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cos cosh exp exp2 expm1 "
        "log log1p sin sinh sqrt tan tanh cbrt fabs",
    ),
    (Ufunc(1, inexact, "drop"), "deg2rad degrees log10 log2 rad2deg radians spacing rint"),
    (Ufunc(1, averaged, "drop"), "sinc unwrap"),
    (Ufunc(1, averaged), "i0"),
    (angle, "angle"),
    (
        Ufunc(1, same),
        "positive negative sign invert bitwise_not bitwise_invert copy",
    ),
    (Ufunc(1, conjugated), "conj conjugate"),
    (Ufunc(1, decimals, "drop"), "round around round_"),
    (Ufunc(1, rounded), "ceil floor trunc fix"),
    (Ufunc(1, real), "abs absolute"),
    (Part(Ufunc(1, real)), "real imag"),
    (Ufunc(1, counted), "square"),
    (Ufunc(1, same, "drop"), "nan_to_num"),
    (
        Ufunc(1, boolean),
        "isfinite isinf isnan isneginf isposinf logical_not signbit",
    ),
    (Part(Ufunc(1, boolean)), "isreal iscomplex"),
    (Ufunc(2, same), "add multiply subtract maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor"),
    (Ufunc(2, averaged), "divide true_divide"),
    (Ufunc(2, inexact), "arctan2 atan2 copysign nextafter"),
    (Ufunc(2, float_power), "float_power"),
    (Ufunc(2, inexact, "drop"), "hypot heaviside logaddexp2"),
    (Ufunc(2, inexact, "unsure"), "logaddexp"),
    (
        Ufunc(2, counted),
        "floor_divide mod remainder fmod left_shift right_shift bitwise_left_shift bitwise_right_shift",
    ),
    (Ufunc(2, same, "drop"), "gcd lcm"),
    (
        Ufunc(2, boolean),
        "equal not_equal less greater less_equal greater_equal logical_and logical_or logical_xor isclose",
    ),
    (pair(Ufunc(2, counted), Ufunc(2, counted)), "divmod"),
    (pair(Ufunc(1, inexact, "unsure"), Ufunc(1, inexact, "unsure")), "modf"),
    (scalar_bool, "allclose array_equal array_equiv"),
    (power, "power pow"),
    (clip, "clip"),
    (where, "where"),
    (nonzero, "nonzero"),
    (select, "select"),
    (Ufunc(2, nothing), "ldexp"),
]

_NN: list[tuple[Rule, str]] = [
    (Ufunc(1, inexact), "sigmoid silu swish tanh squareplus"),
    (
        Ufunc(1, inexact, "unsure"),
        "celu elu selu hard_sigmoid hard_silu hard_swish leaky_relu relu6 mish softplus log_sigmoid soft_sign "
        "sparse_plus sparse_sigmoid log1mexp",
    ),
    (Ufunc(1, counted, "unsure"), "relu hard_tanh"),
    (Ufunc(1, inexact, "drop"), "gelu softmax log_softmax standardize"),
    (Ufunc(1, same), "identity"),
    (glu, "glu"),
]

_SPECIAL: list[tuple[Rule, str]] = [
    (Ufunc(1, inexact), "digamma erf erfc erfinv gammaln i0 i0e i1 i1e entr factorial expit"),
    (Ufunc(1, inexact, "drop"), "gamma logit exp1 expi softmax log_softmax"),
    (Ufunc(1, inexact, "unsure"), "log_ndtr ndtr ndtri spence"),
    (Ufunc(2, inexact), "xlogy xlog1py betaln gammainc gammaincc zeta"),
    (Ufunc(2, inexact, "drop"), "beta kl_div rel_entr"),
]

_LAX: list[tuple[Rule, str]] = [
    (
        Ufunc(1, same),
        "acos acosh asin asinh atan atanh bitwise_not cbrt ceil cos cosh cumsum cumprod cummax cummin "
        "cumlogsumexp digamma erf erfc erf_inv exp exp2 expm1 floor integer_pow lgamma log log1p logistic neg "
        "population_count clz reciprocal round rsqrt sign sin sinh sqrt square tan tanh optimization_barrier "
        "bessel_i0e bessel_i1e reduce_precision rev",
    ),
    (Ufunc(1, complexed), "conj"),
    (Ufunc(1, real), "abs real imag"),
    (Ufunc(1, boolean), "is_finite"),
    (
        Ufunc(2, same),
        "add sub mul div rem max min atan2 nextafter bitwise_and bitwise_or bitwise_xor shift_left "
        "shift_right_arithmetic shift_right_logical igamma igammac",
    ),
    (Ufunc(2, boolean), "eq ne lt le gt ge"),
    (power, "pow"),
]


def table() -> dict[str, Rule]:
    """Every function by its name without 'jax.': 'numpy.sin', 'nn.relu', 'lax.add', 'scipy.special.erf'."""
    found: dict[str, Rule] = {}
    for prefix, groups in (("numpy", _NUMPY), ("nn", _NN), ("scipy.special", _SPECIAL), ("lax", _LAX)):
        for rule, names in groups:
            found.update((f"{prefix}.{name}", rule) for name in names.split())
    return found
