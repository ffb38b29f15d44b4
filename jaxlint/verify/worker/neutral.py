"""Random functions that do not look at their key, and a record of the keys that were consumed.

With draws that depend on their place in the program and on the seed that their key comes from, two versions that differ
only in how keys are split must give the same results; everything else that a fix might have changed shows.
"""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations, and each version another way to ask for 64 bits.

from __future__ import annotations

import functools
import hashlib
import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxlint.verify.jobs import Draws
from jaxlint.verify.worker.eager import Patches

_NOT_SAMPLERS = {
    "PRNGKey",
    "key",
    "split",
    "fold_in",
    "clone",
    "key_data",
    "key_dtype",
    "key_impl",
    "wrap_key_data",
    "random_gamma_p",
}


def samplers() -> list[str]:
    """The names of the functions in `jax.random` that draw numbers."""
    return [
        n
        for n in dir(jax.random)
        if not n.startswith("_") and n not in _NOT_SAMPLERS and callable(getattr(jax.random, n))
    ]


def functions() -> Patches:
    """Samplers whose draws depend on their order, their kind and the seed; split and fold_in that give the same key."""
    drawn = Counter[str]()

    def draw(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def neutral(key: Any, *args: Any, **kwargs: Any) -> Any:
            drawn[name] += 1
            place = int.from_bytes(hashlib.sha256(f"{name} {drawn[name]}".encode()).digest()[:3], "little")
            return real(_real_fold_in(_real_key(place), _seed_of(key)), *args, **kwargs)

        return neutral

    def split(key: Any, num: Any = 2) -> Any:
        same, shape = jnp.asarray(key), num if isinstance(num, tuple) else (num,)
        return jnp.broadcast_to(same, (*shape, *same.shape))

    def fold_in(key: Any, data: Any) -> Any:
        return jnp.asarray(key)

    patches: Patches = {(jax.random, name): draw(name, getattr(jax.random, name)) for name in samplers()}
    return patches | {(jax.random, "split"): split, (jax.random, "fold_in"): fold_in}


_real_key, _real_fold_in = jax.random.PRNGKey, jax.random.fold_in


def _seed_of(key: Any) -> jax.Array:
    """The low bits of the seed, which stand last in the data of a key that was neither split nor folded."""
    typed = jnp.issubdtype(jnp.asarray(key).dtype, jax.dtypes.prng_key)
    words = jax.random.key_data(key) if typed else jnp.asarray(key)
    return words[..., -1]


class KeyLog:
    """Which keys samplers and `split` consumed, also inside compiled code."""

    def __init__(self) -> None:
        self.used = Counter[bytes]()

    def functions(self) -> Patches:
        """Samplers and split that note their key."""
        return {(jax.random, name): self._noting(getattr(jax.random, name)) for name in [*samplers(), "split"]}

    def _noting(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def noting(key: Any, *args: Any, **kwargs: Any) -> Any:
            return real(self._noted(jnp.asarray(key)), *args, **kwargs)

        return noting

    def _noted(self, key: jax.Array) -> jax.Array:
        """The same key, noted now, or when compiled code comes to it."""
        typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
        data = jax.random.key_data(key) if typed else key
        if not isinstance(data, jax.core.Tracer):
            self._note(data)
            return key
        # Passing the key through the callback keeps the call alive; one call takes a whole mapped axis.
        passed = jax.pure_callback(self._note, jax.ShapeDtypeStruct(data.shape, data.dtype), data, **_WHOLE_AXIS)
        noted: jax.Array = jax.random.wrap_key_data(passed, impl=jax.random.key_impl(key)) if typed else passed
        return noted

    def _note(self, data: Any) -> Any:
        rows = np.asarray(data)
        for row in rows.reshape(-1, rows.shape[-1]):
            self.used[row.tobytes()] += 1
        return rows

    def during(self, run: Callable[[], object]) -> Draws:
        """What a run uses, by itself."""
        jax.effects_barrier()
        self.used.clear()
        run()
        return self.draws()

    def draws(self) -> Draws:
        """The totals so far."""
        jax.effects_barrier()
        return Draws(sum(self.used.values()), len(self.used))


_WHOLE_AXIS: dict[str, Any] = (
    {"vmap_method": "expand_dims"}
    if "vmap_method" in inspect.signature(jax.pure_callback).parameters
    else {"vectorized": True}
)


def single_precision_draws() -> Patches:
    """For runs in 64 bits: the same numbers as in 32 bits, since the default dtype decides how bits become a draw."""

    def draw(real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(real)
        def single(*args: Any, **kwargs: Any) -> Any:
            from jaxlint.verify.worker.worlds import single_precision

            with single_precision():
                drawn = real(*args, **kwargs)
            return drawn.astype(jnp.float64) if drawn.dtype == jnp.float32 else drawn

        return single

    return {(jax.random, name): draw(getattr(jax.random, name)) for name in samplers()}
