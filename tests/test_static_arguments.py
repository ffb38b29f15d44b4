"""Every entry of the table of static arguments, compared with what JAX says of a tracer there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest

from jaxlint.analysis.static_arguments import NUMPY, OTHERS, static_parameters

jax = pytest.importorskip("jax")
jnp = jax.numpy

pytestmark = [pytest.mark.jax, pytest.mark.filterwarnings("ignore")]

VECTOR, MATRIX, INTEGERS, KEY = jnp.arange(4.0), jnp.ones((4, 4)), jnp.arange(4), jax.random.key(0)
STATIC: dict[str, Any] = {
    "axis": 0, "axis1": 1, "axis2": 0, "source": 0, "destination": 1, "dimension": 0, "axes": (1, 0), "shape": (4,),
    "newshape": (16,), "new_shape": (4,), "sizes": (4,), "dimensions": (4,), "num": 4, "start": 0, "stop": 4, "step": 1,
    "M": 4, "k": 1, "offset": 1, "reps": 2, "repeats": 2, "indices_or_sections": 2, "pad_width": 1, "deg": 1,
    "decimals": 1, "ord": 2, "n": 2, "N": 4, "size": 4, "kth": 1, "slice_sizes": (4,), "slice_size": 4, "m": 1,
    "s": (4, 4), "num_classes": 4, "num_segments": 4, "length": 4, "start_index": 0, "limit_index": 4, "stride": 1,
    "index": 0, "broadcast_dimensions": (0,), "new_sizes": (16,), "keepdims": True, "dtype": jnp.float32,
    "mode": "same",
}  # fmt: skip
"""A static value that suits each parameter."""

MATRICES = [MATRIX, MATRIX]
BEFORE: dict[str, tuple[Any, ...]] = {
    "convolve": (VECTOR, VECTOR),
    "correlate": (VECTOR, VECTOR),
    "stack": (MATRICES,),
    "concatenate": (MATRICES,),
    "lexsort": ([VECTOR, VECTOR],),
    "jax.lax.concatenate": (MATRICES,),
    "packbits": (jnp.ones((4, 4), bool),),
    "insert": (MATRIX, 0, 1.0),
    "delete": (MATRIX, 0),
    "append": (MATRIX, MATRIX),
    "roll": (MATRIX, 1),
    "take": (MATRIX, INTEGERS),
    "take_along_axis": (MATRIX, jnp.zeros((4, 4), int)),
    "tensordot": (MATRIX, MATRIX),
    "apply_along_axis": (jnp.sum,),
    "polyfit": (VECTOR, VECTOR),
    "dsplit": (jnp.ones((4, 4, 4)),),
    "jax.lax.iota": (jnp.int32,),
    "jax.lax.broadcasted_iota": (jnp.int32,),
    "bincount": (INTEGERS,),
    "squeeze": (jnp.ones((1, 4)),),
    "jax.lax.scan": (lambda carry, _: (carry, carry), 0.0, None),
    "jax.lax.dynamic_slice": (VECTOR, (0,)),
    "jax.ops": (VECTOR, INTEGERS),
    "jax.nn.one_hot": (INTEGERS,),
    "jax.random.randint": (KEY,),
    "jax.random.multivariate_normal": (KEY, jnp.zeros(2), jnp.eye(2)),
    "jax.random.dirichlet": (KEY, jnp.ones(4)),
    "jax.random.categorical": (KEY, VECTOR),
    "jax.random.permutation": (KEY, VECTOR),
    "jax.random.choice": (KEY, VECTOR),
    "jax.lax.dynamic_update_slice_in_dim": (MATRIX, MATRIX, 0),
    "jax.lax.dynamic_update_index_in_dim": (MATRIX, VECTOR, 0),
    "jax.lax.dynamic_index_in_dim": (MATRIX, 0),
    "jax.lax.dynamic_slice_in_dim": (MATRIX, 0),
    "jax.lax.full": (),
    **dict.fromkeys(
        (
            "diag",
            "diagflat",
            "vander",
            "polyder",
            "polyint",
            "broadcast_to",
            "unstack",
            "jax.lax.broadcast_in_dim",
            "jax.image.resize",
        ),
        (VECTOR,),
    ),
    **dict.fromkeys(("linspace", "logspace", "geomspace"), (1.0, 2.0)),
    **dict.fromkeys(("quantile", "percentile", "nanquantile", "nanpercentile"), (MATRIX, 0.5)),
}
"""What comes before the static parameters, where it is not one matrix."""

AFTER: dict[str, dict[str, Any]] = {
    "full": {"fill_value": 1.0},
    "jax.lax.full": {"fill_value": 1.0},
    "kaiser": {"beta": 1.0},
    "apply_along_axis": {"arr": MATRIX},
    "jax.random.randint": {"minval": 0, "maxval": 2},
    "jax.lax.broadcasted_iota": {"dimension": 0},
    "jax.lax.argmax": {"index_dtype": jnp.int32},
    "jax.lax.argmin": {"index_dtype": jnp.int32},
    "jax.image.resize": {"method": "linear"},
    "arange": {"stop": 4},
    "diagonal": {"axis1": 0, "axis2": 1},
    "fft.fft2": {"axes": (0, 1)},
    "pad": {"pad_width": 1},
}
OWN = {
    "diagonal": {"axis1": 0, "axis2": 1},
    "reshape": {"shape": (16,)},
    "pad": {"mode": "edge"},
    "tensordot": {"axes": 1},
    "jax.lax.broadcast_in_dim": {"shape": (4,)},
}


def _before(path: str) -> tuple[Any, ...]:
    at = static_parameters(_full(path))[0][0]
    known = BEFORE.get(path, BEFORE.get(path.rpartition(".")[0]))
    if known is not None:
        return known
    return ((KEY, 0.5, 0.5) if path.startswith("jax.random.") else (MATRIX,))[:at]


def _full(path: str) -> str:
    return path if path.startswith("jax.") else f"jax.numpy.{path}"


def _function(path: str) -> Callable[..., Any]:
    try:
        found: Callable[..., Any] = reduce(getattr, _full(path).split(".")[1:], jax)
    except AttributeError:
        pytest.skip("this JAX has no such function")
    return found


ENTRIES = [(path, position, name) for path, found in {**NUMPY, **OTHERS}.items() for position, name, _ in found]


@pytest.mark.parametrize(("path", "position", "name"), ENTRIES)
def test_a_tracer_is_refused_where_a_static_value_is_not(path: str, position: int, name: str) -> None:
    function = _function(path)
    parameters = list(inspect.signature(function).parameters)
    if name not in parameters:
        pytest.skip("this JAX knows the parameter by another name")
    before = _before(path)
    required = {
        p: STATIC[p] for _, p, _ in static_parameters(_full(path)) if p in parameters and _is_required(function, p)
    }
    given = {**required, **AFTER.get(path, {})}
    value = OWN.get(path, {}).get(name, STATIC[name])

    def call(value: Any) -> Any:
        return function(*before, **{**given, name: value})

    jax.jit(lambda: call(value))()
    with pytest.raises(Exception, match=r"(?i)trace|static|concrete|hash|interpret"):
        jax.jit(call)(1 if name in ("dtype", "mode") else value)
    is_named = inspect.signature(function).parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
    assert is_named or parameters.index(name) == position


def _is_required(function: Callable[..., Any], name: str) -> bool:
    return inspect.signature(function).parameters[name].default is inspect.Parameter.empty


@pytest.mark.parametrize("name", ["sum", "argmax", "swapaxes", "repeat", "round", "take", "diagonal"])
def test_methods_have_their_array_in_front(name: str) -> None:
    parameters = [p for p in inspect.signature(getattr(MATRIX, name)).parameters if p not in ("args", "kwargs")]
    for position, word, _ in static_parameters(f"method.{name}"):
        assert parameters == [] or parameters.index(word) == position
