"""What JAX's functions do to the functions and arrays they are given, as data (facts of JAX 0.10.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jaxlint.analysis.values import Level


@dataclass(frozen=True, slots=True)
class Transform:
    """A function that makes a transformed function of its first argument.

    `kind` is the family; `positional` names the parameters that may follow the function by position. `staged` says
    that the body is traced to a jaxpr, so that every jnp operation in it is abstract. `auto_static` marks wrappers
    that keep every non-array leaf static. `factory` marks those that can be called without the function.
    """

    kind: str
    level: Level = Level.TRACED
    staged: bool = False
    positional: tuple[str, ...] = ()
    auto_static: bool = False
    factory: bool = False
    function: str = "fun"


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """A function that runs others at once, in its own way; the handler named `kind` knows how."""

    kind: str
    parameters: tuple[str, ...]


_GRAD = ("argnums", "has_aux", "holomorphic", "allow_int", "reduce_axes")
_VMAP = ("in_axes", "out_axes", "axis_name", "axis_size", "spmd_axis_name")
_JIT = Transform("jit", staged=True, factory=True)

TRANSFORMS: Mapping[str, Transform] = {
    "jax.jit": _JIT,
    "jax.experimental.pjit.pjit": Transform("jit", staged=True),
    "jax.pmap": Transform("pmap", staged=True, positional=("axis_name",)),
    "jax.vmap": Transform("vmap", positional=_VMAP),
    "jax.grad": Transform("grad", Level.GRAD, positional=_GRAD),
    "jax.value_and_grad": Transform("value_and_grad", Level.GRAD, positional=_GRAD),
    "jax.jacfwd": Transform("jacfwd", Level.GRAD, positional=_GRAD[:3]),
    "jax.jacrev": Transform("jacrev", Level.GRAD, positional=_GRAD[:4]),
    "jax.jacobian": Transform("jacrev", Level.GRAD, positional=_GRAD[:4]),
    "jax.hessian": Transform("hessian", Level.GRAD, positional=_GRAD[:3]),
    "jax.checkpoint": Transform("checkpoint", staged=True, factory=True),
    "jax.remat": Transform("checkpoint", staged=True, factory=True),
    "jax.custom_jvp": Transform("custom", Level.GRAD, positional=("nondiff_argnums",)),
    "jax.custom_vjp": Transform("custom", Level.GRAD, positional=("nondiff_argnums",)),
    "jax.shard_map": Transform("shard_map", Level.GRAD, positional=("mesh", "in_specs", "out_specs"), factory=True,
                               function="f"),
    "jax.experimental.shard_map.shard_map": Transform(
        "shard_map", Level.GRAD, positional=("mesh", "in_specs", "out_specs"), function="f"),
    "jax.make_jaxpr": Transform("abstract", staged=True, positional=("static_argnums",)),
    "jax.named_call": Transform("plain"),
    "jax.numpy.vectorize": Transform("vectorize", function="pyfunc"),
    "jax.custom_batching.custom_vmap": Transform("plain"),
    "jax.custom_batching.sequential_vmap": Transform("plain"),
}  # fmt: skip

ALIASES: Mapping[str, str] = {
    "jax.api.jit": "jax.jit",
    "jax.ad_checkpoint.checkpoint": "jax.checkpoint",
    "jax.ad_checkpoint.remat": "jax.checkpoint",
    "jax.experimental.jit": "jax.jit",
    "jax.numpy.random": "jax.random",
    "jax.tree_util.tree_map": "jax.tree.map",
    "jax.tree_map": "jax.tree.map",
    "jax.tree_util.tree_map_with_path": "jax.tree.map_with_path",
    "jax.tree_util.tree_leaves": "jax.tree.leaves",
    "jax.block_until_ready": "jax.block_until_ready",
    "jax.experimental.maps": "jax.experimental.maps",
}

CONTROL_FLOW: Mapping[str, ControlFlow] = {
    "jax.lax.scan": ControlFlow("scan", ("f", "init", "xs", "length", "reverse", "unroll")),
    "jax.lax.fori_loop": ControlFlow("fori_loop", ("lower", "upper", "body_fun", "init_val")),
    "jax.lax.while_loop": ControlFlow("while_loop", ("cond_fun", "body_fun", "init_val")),
    "jax.lax.cond": ControlFlow("cond", ("pred", "true_fun", "false_fun", "*operands")),
    "jax.lax.switch": ControlFlow("switch", ("index", "branches", "*operands")),
    "jax.lax.map": ControlFlow("map", ("f", "xs", "batch_size")),
    "jax.lax.associative_scan": ControlFlow("associative_scan", ("fn", "elems", "reverse", "axis")),
    "jax.eval_shape": ControlFlow("eval_shape", ("fun", "*arguments")),
    "jax.jvp": ControlFlow("jvp", ("fun", "primals", "tangents", "has_aux")),
    "jax.vjp": ControlFlow("vjp", ("fun", "*primals")),
    "jax.linearize": ControlFlow("linearize", ("fun", "*primals")),
}

# Attributes and functions that are static even on a tracer.
STATIC_ATTRIBUTES = frozenset(
    {"shape", "ndim", "dtype", "size", "aval", "sharding", "weak_type", "itemsize", "nbytes", "is_fully_addressable",
     "__class__", "__dict__", "at_shape"}
)  # fmt: skip
STATIC_FUNCTIONS = frozenset(
    {
        *(f"{m}.{f}" for m in ("jax.numpy", "numpy") for f in ("shape", "ndim", "size", "result_type", "issubdtype",
          "iscomplexobj", "isrealobj", "finfo", "iinfo", "dtype", "promote_types", "can_cast", "isscalar",
          "broadcast_shapes", "shape_as_list")),
        "builtins.len", "builtins.isinstance", "builtins.issubclass", "builtins.hasattr", "builtins.callable",
        "builtins.type", "builtins.id", "builtins.repr", "builtins.dir", "jax.typeof", "jax.tree.structure",
        "jax.tree_util.tree_structure",
        "jax.dtypes.issubdtype", "jax.dtypes.result_type", "jax.eval_shape", "jax.core.get_aval",
        "jax.numpy.isdtype",
        "jax.dtypes.canonicalize_dtype", "jax.lax.broadcast_shapes", "jax.numpy.broadcast_shapes",
        "jax.lax.dtype", "jax.lax.padtype_to_pads", "jax.lax.conv_general_permutations",
        "jax.core.is_constant_dim", "equinox.is_array", "equinox.is_inexact_array",
    }
)  # fmt: skip

# NumPy functions that hand over to the tracer's own method (facts: tracing.md, measured on 0.10.2).
NUMPY_ON_TRACERS = frozenset(
    [
        "sum",
        "mean",
        "max",
        "min",
        "prod",
        "std",
        "var",
        "any",
        "all",
        "argmax",
        "argmin",
        "cumsum",
        "cumprod",
        "transpose",
        "reshape",
        "squeeze",
        "swapaxes",
        "moveaxis",
        "round",
        "repeat",
        "flip",
        "real",
        "imag",
        "split",
        "searchsorted",
        "array_equal",
        "shape",
        "ndim",
        "size",
        "result_type",
        "amax",
        "amin",
        "issubdtype",
        "iscomplexobj",
        "isrealobj",
        "broadcast_shapes",
        "isscalar",
        "around",
        "trace",
        "diagonal",
        "take",
        "choose",
        "compress",
    ]
)

# Methods that only arrays have, so that calling one says that the owner is an array.
ARRAY_METHODS = frozenset(
    [
        "sum",
        "mean",
        "max",
        "min",
        "prod",
        "std",
        "var",
        "any",
        "all",
        "argmax",
        "argmin",
        "cumsum",
        "cumprod",
        "reshape",
        "astype",
        "flatten",
        "ravel",
        "transpose",
        "dot",
        "squeeze",
        "swapaxes",
        "clip",
        "round",
        "conj",
        "item",
        "tolist",
        "block_until_ready",
        "argsort",
        "diagonal",
        "nonzero",
        "trace",
        "repeat",
    ]
)
ARRAY_ATTRIBUTES = frozenset({"T", "mT", "at", "real", "imag"})

HOST_SYNC_METHODS = frozenset({"item", "tolist", "__array__", "__float__", "__int__", "__bool__"})

SAMPLERS = frozenset(
    [
        "normal",
        "uniform",
        "bernoulli",
        "randint",
        "categorical",
        "permutation",
        "shuffle",
        "choice",
        "gumbel",
        "exponential",
        "truncated_normal",
        "beta",
        "cauchy",
        "dirichlet",
        "double_sided_maxwell",
        "gamma",
        "generalized_normal",
        "geometric",
        "laplace",
        "loggamma",
        "logistic",
        "lognormal",
        "maxwell",
        "multivariate_normal",
        "orthogonal",
        "pareto",
        "poisson",
        "rademacher",
        "rayleigh",
        "t",
        "triangular",
        "wald",
        "weibull_min",
        "ball",
        "binomial",
        "bits",
        "chisquare",
        "f",
        "multinomial",
    ]
)
"""Functions of `jax.random` that draw with the key given as `key`."""

KEY_MAKERS = frozenset({"jax.random.key", "jax.random.PRNGKey"})
KEY_READERS = frozenset(
    {"jax.random.key_data", "jax.random.clone", "jax.random.key_impl", "jax.device_put", "jax.eval_shape",
     "jax.make_jaxpr", "builtins.print", "jax.debug.print", "jax.block_until_ready", "builtins.repr", "builtins.str",
     "builtins.len", "builtins.isinstance", "builtins.type", "builtins.id", "builtins.hasattr", "jax.numpy.shape"}
)  # fmt: skip

CALLBACKS: Mapping[str, int] = {
    "jax.pure_callback": 0,
    "jax.experimental.io_callback": 0,
    "jax.debug.callback": 0,
    "jax.experimental.host_callback.call": 0,
    "jax.experimental.host_callback.id_tap": 0,
}

# Decorators and classes that make a class a pytree whose `self` may be traced.
PYTREE_DECORATORS = frozenset(
    {"jax.tree_util.register_dataclass", "jax.tree_util.register_pytree_node_class",
     "jax.tree_util.register_pytree_with_keys_class", "flax.struct.dataclass", "chex.dataclass",
     "jax_dataclasses.pytree_dataclass", "flax.nnx.dataclass", "tree_math.struct", "simple_pytree.dataclass"}
)  # fmt: skip
DATACLASS_DECORATORS = (
    frozenset({"dataclasses.dataclass", "attr.s", "attrs.define", "attrs.frozen"}) | PYTREE_DECORATORS
)

CACHES = frozenset({"functools.lru_cache", "functools.cache", "functools.cached_property", "cachetools.cached",
                    "equinox.internal.noinline", "jax.util.cache", "jax.util.weakref_lru_cache"})  # fmt: skip

CACHED = "functools.lru_cache.<cached function>"
"""The name by which a cached project function is called: `Bound(Api(CACHED), (function,))`."""


DTYPES = frozenset(
    {"bfloat16", "bool_", "complex64", "complex128", "float16", "float32", "float64", "int8", "int16", "int32", "int64",
     "uint8", "uint16", "uint32", "uint64"}
)  # fmt: skip
"""The names of dtypes in `jax.numpy`."""


def is_dtype(path: str) -> bool:
    """Whether a dotted name is that of a dtype."""
    return path.rpartition(".")[2] in DTYPES


def canonical(path: str) -> str:
    """The one name under which the tables know a path."""
    if path.startswith("jax._src."):
        return path
    return ALIASES.get(path, path)
