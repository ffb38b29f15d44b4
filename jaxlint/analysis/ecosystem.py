"""What the packages around JAX do to the functions they are given, and the tables that hold all of it.

Each entry was tried under JAX 0.10.2 on a function that reports which of its arguments are tracers. Users add
wrappers of their own in the configuration (`wrappers`), by the name of an entry that behaves like them.
"""

from __future__ import annotations

from collections.abc import Mapping

from jaxlint.analysis import api
from jaxlint.analysis.api import ControlFlow, Transform
from jaxlint.analysis.values import Level

_GRAD = ("argnums", "has_aux", "holomorphic", "allow_int", "reduce_axes")

TRANSFORMS: Mapping[str, Transform] = {
    # Equinox 0.13.8: whatever is not an array stays as it is; the derivative is that of the first argument alone.
    "equinox.filter_jit": Transform("jit", staged=True, auto_static=True, factory=True),
    "equinox.filter_pmap": Transform("pmap", staged=True, auto_static=True, factory=True),
    "equinox.filter_vmap": Transform("vmap", auto_static=True, factory=True),
    "equinox.filter_grad": Transform("grad", Level.GRAD, auto_static=True, factory=True),
    "equinox.filter_value_and_grad": Transform("value_and_grad", Level.GRAD, auto_static=True, factory=True),
    "equinox.filter_checkpoint": Transform("checkpoint", staged=True, auto_static=True, factory=True),
    "equinox.filter_jacfwd": Transform("jacfwd", Level.GRAD, auto_static=True),
    "equinox.filter_jacrev": Transform("jacrev", Level.GRAD, auto_static=True),
    "equinox.filter_hessian": Transform("hessian", Level.GRAD, auto_static=True),
    "equinox.filter_make_jaxpr": Transform("abstract", staged=True, auto_static=True),
    # Flax 0.12.8: only what modules are made of stays static; Python numbers become tracers under jit and remat.
    "flax.nnx.jit": Transform("jit", staged=True, factory=True),
    "flax.nnx.pmap": Transform("pmap", staged=True, factory=True),
    "flax.nnx.remat": Transform("checkpoint", staged=True, factory=True),
    "flax.nnx.vmap": Transform("vmap", factory=True),
    "flax.nnx.grad": Transform("grad", Level.GRAD, factory=True),
    "flax.nnx.value_and_grad": Transform("value_and_grad", Level.GRAD, factory=True),
    "flax.nnx.custom_vjp": Transform("custom", Level.GRAD, factory=True),
    # Haiku 0.0.17
    "haiku.grad": Transform("grad", Level.GRAD, positional=_GRAD[:3]),
    "haiku.value_and_grad": Transform("value_and_grad", Level.GRAD, positional=_GRAD[:3]),
    "haiku.remat": Transform("checkpoint", staged=True),
    "haiku.vmap": Transform("vmap", positional=("in_axes", "out_axes", "axis_name", "axis_size")),
    # Haliax 1.3, by its source (it cannot be imported with JAX 0.10.2)
    "haliax.named_jit": Transform("jit", staged=True, auto_static=True, factory=True),
    "haliax.jax_utils.named_call": Transform("plain", factory=True),
    # NetKet 3.23, e3nn-jax 0.21, Objax 1.8, Penzai 0.2.5, Chex 0.1.92
    "netket.jax.grad": Transform("grad", Level.GRAD, positional=_GRAD[:2]),
    "netket.jax.value_and_grad": Transform("value_and_grad", Level.GRAD, positional=_GRAD[:2]),
    "e3nn_jax.vmap": Transform("vmap", positional=("in_axes", "out_axes")),
    "objax.Jit": Transform("jit", staged=True, positional=("vc", "static_argnums"), function="f"),
    "penzai.pz.variable_jit": Transform("jit", staged=True, factory=True),
    "chex.assert_max_traces": Transform("plain", positional=("n",)),
    "chex.chexify": Transform("plain"),
}

_LIKE_LAX: Mapping[str, tuple[str, ...]] = {
    "haiku": ("scan", "map", "cond", "switch", "while_loop", "fori_loop"),
    "flax.nnx": ("cond", "switch", "while_loop", "fori_loop"),
    "equinox.internal": ("while_loop", "scan"),
    "numpyro.contrib.control_flow": ("scan", "cond"),
    "numpyro.util": ("while_loop", "fori_loop"),
}

CONTROL_FLOW: Mapping[str, ControlFlow] = {
    **{
        f"{package}.{name}": api.CONTROL_FLOW[f"jax.lax.{name}"]
        for package, names in _LIKE_LAX.items()
        for name in names
    },
    **dict.fromkeys(
        ("haiku.eval_shape", "flax.nnx.eval_shape", "equinox.filter_eval_shape"), api.CONTROL_FLOW["jax.eval_shape"]
    ),
}


def transforms(declared: Mapping[str, str]) -> Mapping[str, Transform]:
    """All transforms by dotted name; `declared` gives each wrapper of the user the name of one that it is like."""
    every = {**api.TRANSFORMS, **TRANSFORMS}
    return {**every, **{name: every[like] for name, like in declared.items() if like in every}}


def control_flow(declared: Mapping[str, str]) -> Mapping[str, ControlFlow]:
    """All control-flow functions by dotted name, with the user's own as in `transforms`."""
    every = {**api.CONTROL_FLOW, **CONTROL_FLOW}
    return {**every, **{name: every[like] for name, like in declared.items() if like in every}}


def packages(declared: Mapping[str, str]) -> frozenset[str]:
    """The top-level packages with functions that transform functions."""
    return frozenset(name.partition(".")[0] for name in (*transforms(declared), *control_flow(declared)))
