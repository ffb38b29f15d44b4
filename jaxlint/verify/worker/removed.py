"""Names and parameters that JAX has removed, put back as what its change log gives as their replacement.

An original that fails only because a name is gone can so be run and compared. The table is the verifier's own, apart
from the one that the fixes use, so that a slip in that one does not agree with itself. Sources: JAX's change log.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import types
from typing import Any

import jax
import jax.numpy as jnp

# Old name, new name. Names that this JAX still has are left alone.
_RENAMED = """
jax.tree_map jax.tree_util.tree_map
jax.tree_multimap jax.tree_util.tree_map
jax.tree_util.tree_multimap jax.tree_util.tree_map
jax.tree_leaves jax.tree_util.tree_leaves
jax.tree_flatten jax.tree_util.tree_flatten
jax.tree_unflatten jax.tree_util.tree_unflatten
jax.tree_structure jax.tree_util.tree_structure
jax.tree_transpose jax.tree_util.tree_transpose
jax.random.KeyArray jax.Array
jax.random.PRNGKeyArray jax.Array
jax.numpy.DeviceArray jax.Array
jax.numpy.alltrue jax.numpy.all
jax.numpy.sometrue jax.numpy.any
jax.numpy.product jax.numpy.prod
jax.numpy.cumproduct jax.numpy.cumprod
jax.numpy.round_ jax.numpy.round
jax.numpy.row_stack jax.numpy.vstack
jax.numpy.in1d jax.numpy.isin
jax.numpy.trapz jax.scipy.integrate.trapezoid
jax.numpy.fix jax.numpy.trunc
jax.numpy.issctype jax.numpy.issubdtype
jax.nn.normalize jax.nn.standardize
jax.lax.prod math.prod
jax.lax.zeros_like_array jax.numpy.zeros_like
jax.core.get_aval jax.typeof
jax.core.ClosedJaxpr jax.extend.core.ClosedJaxpr
jax.core.Jaxpr jax.extend.core.Jaxpr
jax.core.JaxprEqn jax.extend.core.JaxprEqn
jax.core.Literal jax.extend.core.Literal
jax.core.Var jax.extend.core.Var
jax.core.Primitive jax.extend.core.Primitive
jax.core.jaxpr_as_fun jax.extend.core.jaxpr_as_fun
jax.core.ConcretizationTypeError jax.errors.ConcretizationTypeError
jax.core.UnexpectedTracerError jax.errors.UnexpectedTracerError
jax.abstract_arrays.ShapedArray jax.core.ShapedArray
jax.experimental.PartitionSpec jax.sharding.PartitionSpec
jax.experimental.maps.Mesh jax.sharding.Mesh
jax.experimental.pjit.PartitionSpec jax.sharding.PartitionSpec
jax.experimental.pjit.NamedSharding jax.sharding.NamedSharding
jax.experimental.pjit.with_sharding_constraint jax.lax.with_sharding_constraint
jax.experimental.pjit.pjit jax.jit
jax.experimental.shard_map.shard_map jax.shard_map
jax.interpreters.pxla.Mesh jax.sharding.Mesh
jax.interpreters.pxla.PartitionSpec jax.sharding.PartitionSpec
jax.interpreters.xla.DeviceArray jax.Array
jax.lib.xla_bridge.get_backend jax.extend.backend.get_backend
jax.lib.xla_bridge.default_backend jax.default_backend
jax.lib.xla_bridge.device_count jax.device_count
jax.lib.xla_bridge.local_device_count jax.local_device_count
jax.lib.xla_client.XlaRuntimeError jax.errors.JaxRuntimeError
jax.ad_checkpoint.checkpoint jax.checkpoint
jax.ad_checkpoint.remat jax.remat
jax.config.config jax.config
jax.scipy.linalg.tril jax.numpy.tril
jax.scipy.linalg.triu jax.numpy.triu
jax.experimental.host_callback.id_print jax.debug.print
"""

# Function, old parameter, new one; a number is the place of what can no longer be passed by name.
_PARAMETERS = """
jax.numpy.clip a 0
jax.numpy.clip a_min min
jax.numpy.clip a_max max
jax.numpy.reshape newshape shape
jax.numpy.quantile interpolation method
jax.numpy.percentile interpolation method
jax.numpy.nanquantile interpolation method
jax.numpy.nanpercentile interpolation method
jax.numpy.where condition 0
jax.numpy.where x 1
jax.numpy.where y 2
"""

_UPDATES = {
    "index_update": "set",
    "index_add": "add",
    "index_mul": "multiply",
    "index_min": "min",
    "index_max": "max",
}


class Uses:
    """Counts the calls of functions that were put back."""

    def __init__(self) -> None:
        self.count = 0

    def counted(self, function: Any) -> Any:
        """The function, counting; whatever is no plain function stays as it is."""
        if not isinstance(function, types.FunctionType):
            return function

        @functools.wraps(function)
        def used(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            return function(*args, **kwargs)

        return used


def names(uses: Uses | None = None) -> dict[tuple[Any, str], Any]:
    """What to set where, so that the removed names exist again."""
    uses = uses or Uses()
    patches: dict[tuple[Any, str], Any] = {}
    for line in _RENAMED.split("\n"):
        if line:
            old, new = line.split()
            _restore(patches, old, uses.counted(_find(new)))
    for name, method in _UPDATES.items():
        _restore(patches, f"jax.ops.{name}", uses.counted(_update(method)))
    _restore(patches, "jax.ops.index", jnp.s_)
    patches |= _with_parameters(uses)
    patches |= _defaults()
    return patches


def _with_parameters(uses: Uses) -> dict[tuple[Any, str], Any]:
    """Functions that take their removed parameters again; a parameter that this JAX still has is handed on."""
    renamed: dict[str, dict[str, str]] = {}
    for line in filter(None, _PARAMETERS.split("\n")):
        function, old, new = line.split()
        renamed.setdefault(function, {})[old] = new
    patches: dict[tuple[Any, str], Any] = {}
    for path, parameters in renamed.items():
        function, (module, _, name) = _find(path), path.rpartition(".")
        if function is not None:
            patches[_find(module), name] = _taking(function, parameters, uses)
    return patches


def _taking(function: Any, parameters: dict[str, str], uses: Uses) -> Any:
    signature = inspect.signature(function).parameters
    kept = {name for name, one in signature.items() if one.kind is not one.POSITIONAL_ONLY}
    gone = {old: new for old, new in parameters.items() if old not in kept and (new.isdigit() or new in kept)}

    @functools.wraps(function)
    def taking(*args: Any, **kwargs: Any) -> Any:
        given = gone.keys() & kwargs.keys()
        uses.count += bool(given)
        placed = sorted((int(gone[old]), old) for old in given if gone[old].isdigit())
        args = (*args, *(kwargs.pop(old) for _, old in placed))
        return function(*args, **{gone.get(name, name): value for name, value in kwargs.items()})

    return taking


def _defaults() -> dict[tuple[Any, str], Any]:
    """Functions with the defaults that they had: meshes were of automatic axes before JAX 0.9."""
    kinds = getattr(jax.sharding, "AxisType", None)
    if kinds is None or not hasattr(jax, "make_mesh"):
        return {}
    make_mesh = jax.make_mesh

    @functools.wraps(make_mesh)
    def automatic(axis_shapes: Any, axis_names: Any, *args: Any, **kwargs: Any) -> Any:
        if not args:
            kwargs.setdefault("axis_types", (kinds.Auto,) * len(axis_names))
        return make_mesh(axis_shapes, axis_names, *args, **kwargs)

    return {(jax, "make_mesh"): automatic}


def _find(name: str) -> Any:
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:cut]))
            for part in parts[cut:]:
                value = getattr(value, part)
        except (ImportError, AttributeError):
            continue
        return value
    return None


def _restore(patches: dict[tuple[Any, str], Any], old: str, value: Any) -> None:
    module_name, _, name = old.rpartition(".")
    if value is None:
        return
    owner = _module(patches, module_name)
    if not hasattr(owner, name):
        patches[owner, name] = value


def _module(patches: dict[tuple[Any, str], Any], name: str) -> types.ModuleType:
    """The module of this name; where it is gone, an empty one that is hung into its parent."""
    try:
        return importlib.import_module(name)
    except ImportError:
        pass
    known = patches.get((sys, name))
    if known is None:
        known = patches[sys, name] = types.ModuleType(name)
        parent, _, last = name.rpartition(".")
        owner = _module(patches, parent)
        if not hasattr(owner, last):
            patches[owner, last] = known
    assert isinstance(known, types.ModuleType)
    return known


def _update(method: str) -> Any:
    def update(x: Any, index: Any, values: Any, **options: Any) -> Any:
        return getattr(jnp.asarray(x).at[index], method)(values, **options)

    return update
