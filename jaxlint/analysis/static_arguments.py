"""Which parameters of JAX's functions need static values: shapes, sizes, axes, numbers of parts, as data.

Each entry was measured: the function traces with a static value there and fails with a tracer
(tests/test_static_arguments.py measures them all, JAX 0.4.30 to 0.12).
"""

from __future__ import annotations

from typing import TypeAlias

Parameters: TypeAlias = tuple[tuple[int, str, str], ...]
"""Position, name, and what a message calls it."""

WORDS = {
    "axis1": "axis", "axis2": "axis", "source": "axis", "destination": "axis", "dimension": "axis", "axes": "axes",
    "newshape": "shape", "new_shape": "shape", "sizes": "shape", "shape": "shape", "dimensions": "shape",
    "num": "length", "start": "length", "stop": "length", "M": "length", "total": "length",
    "k": "diagonal", "offset": "diagonal", "reps": "number of repeats", "repeats": "number of repeats",
    "indices_or_sections": "number of parts", "pad_width": "padding", "deg": "degree", "decimals": "number of decimals",
    "ord": "order", "n": "size", "N": "size", "size": "size", "kth": "position", "slice_sizes": "slice size",
    "slice_size": "slice size", "num_classes": "number of classes", "num_segments": "number of segments",
}  # fmt: skip


def _of(names: str, words: dict[str, str] | None = None, **positions: int) -> dict[str, Parameters]:
    """The same parameters for each of some functions; `words` says what this function's parameters are called."""
    called = {**WORDS, **(words or {})}
    found = tuple((position, name, called.get(name, name)) for name, position in positions.items())
    return dict.fromkeys(names.split(), found)


NUMPY: dict[str, Parameters] = {
    **_of("cumsum cumprod median nanstd nanvar nanmedian nanargmax nanargmin nancumsum nancumprod average sort argsort"
          " ptp count_nonzero flip expand_dims squeeze stack concatenate lexsort packbits", axis=1),
    **_of("trapezoid", axis=3),
    **_of("sum mean prod nansum nanmean nanprod", axis=1, dtype=2, keepdims=4),
    **_of("max min amax amin any all nanmax nanmin argmax argmin", axis=1, keepdims=3),
    **_of("std var", axis=1, dtype=2, keepdims=5),
    **_of("zeros ones empty", shape=0, dtype=1),
    **_of("full", shape=0, dtype=2),
    **_of("asarray array", dtype=1),
    **_of("zeros_like ones_like", dtype=1, shape=2),
    **_of("arange", start=0, stop=1, step=2),
    **_of("linspace logspace geomspace", num=2),
    **_of("eye tri", N=0, M=1, words={"M": "size"}),
    **_of("identity", n=0),
    **_of("indices", dimensions=0),
    **_of("tril_indices triu_indices", n=0, k=1),
    **_of("diag diagflat tril triu", k=1),
    **_of("diagonal", offset=1, axis1=2, axis2=3),
    **_of("reshape", shape=1, newshape=1),
    **_of("resize", new_shape=1),
    **_of("broadcast_to", shape=1),
    **_of("tile", reps=1),
    **_of("split array_split", indices_or_sections=1, axis=2),
    **_of("vsplit hsplit dsplit", indices_or_sections=1),
    **_of("swapaxes", axis1=1, axis2=2),
    **_of("moveaxis", source=1, destination=2),
    **_of("rollaxis", axis=1, start=2, words={"start": "axis"}),
    **_of("roll append take take_along_axis delete", axis=2),
    **_of("insert", axis=3),
    **_of("quantile percentile nanquantile nanpercentile", axis=2),
    **_of("apply_along_axis", axis=1),
    **_of("transpose", axes=1),
    **_of("tensordot", axes=2),
    **_of("rot90", k=1, axes=2, words={"k": "number of turns"}),
    **_of("pad", pad_width=1, mode=2),
    **_of("convolve correlate", mode=2),
    **_of("hanning hamming blackman bartlett kaiser", M=0),
    **_of("bincount", length=3),
    **_of("repeat", repeats=1, axis=2),
    **_of("diff", n=1, axis=2, words={"n": "number of times"}),
    **_of("vander", N=1),
    **_of("partition argpartition", kth=1, axis=2),
    **_of("round around", decimals=1),
    **_of("polyfit", deg=2),
    **_of("polyder polyint", m=1, words={"m": "number of times"}),
    **_of("unstack", axis=1),
    **_of("linalg.norm", ord=1, axis=2),
    **_of("linalg.matrix_power", n=1, words={"n": "power"}),
    **_of("fft.fft fft.ifft fft.rfft fft.irfft", n=1, axis=2, words={"n": "length"}),
    **_of("fft.fft2 fft.ifft2", s=1, axes=2, words={"s": "shape"}),
    **_of("fft.fftfreq fft.rfftfreq", n=0, words={"n": "length"}),
}  # fmt: skip
"""Functions of `jax.numpy`."""

METHODS = ("sum mean prod max min any all std var argmax argmin cumsum cumprod sort argsort ptp squeeze swapaxes repeat"
           " take diagonal round partition argpartition")  # fmt: skip

OTHERS: dict[str, Parameters] = {
    **_of("jax.lax.dynamic_slice", slice_sizes=2),
    **_of("jax.lax.dynamic_slice_in_dim", slice_size=2, axis=3),
    **_of("jax.lax.dynamic_index_in_dim", axis=2),
    **_of("jax.lax.dynamic_update_slice_in_dim jax.lax.dynamic_update_index_in_dim", axis=3),
    **_of("jax.lax.slice_in_dim", start_index=1, limit_index=2, stride=3, axis=4,
          words={"start_index": "start", "limit_index": "end"}),
    **_of("jax.lax.index_in_dim", index=1, axis=2),
    **_of("jax.lax.broadcast", sizes=1),
    **_of("jax.lax.broadcast_in_dim", shape=1, broadcast_dimensions=2, words={"broadcast_dimensions": "axes"}),
    **_of("jax.lax.reshape", new_sizes=1, words={"new_sizes": "shape"}),
    **_of("jax.lax.concatenate", dimension=1),
    **_of("jax.lax.cumsum jax.lax.cumprod jax.lax.cummax jax.lax.cummin jax.lax.argmax jax.lax.argmin", axis=1),
    **_of("jax.lax.iota", size=1),
    **_of("jax.lax.broadcasted_iota", shape=1),
    **_of("jax.lax.top_k jax.lax.approx_max_k jax.lax.approx_min_k", k=1, words={"k": "number of results"}),
    **_of("jax.lax.full", shape=0),
    **_of("jax.lax.scan", length=3),
    **_of("jax.nn.one_hot", num_classes=1),
    **_of("jax.nn.softmax jax.nn.log_softmax jax.nn.logsumexp jax.nn.standardize jax.nn.glu", axis=1),
    **_of("jax.scipy.special.logsumexp jax.scipy.special.softmax jax.scipy.special.log_softmax", axis=1),
    **_of("jax.ops.segment_sum jax.ops.segment_max jax.ops.segment_min jax.ops.segment_prod", num_segments=2),
    **_of("jax.image.resize", shape=1),
    **_of("jax.random.split", num=1, words={"num": "number of keys"}),
    **_of("jax.random.permutation", axis=2),
    **_of("jax.random.normal jax.random.uniform jax.random.randint jax.random.gumbel jax.random.exponential"
          " jax.random.laplace jax.random.logistic jax.random.cauchy jax.random.rademacher jax.random.bits", shape=1),
    **_of("jax.random.bernoulli jax.random.choice jax.random.gamma jax.random.poisson jax.random.dirichlet"
          " jax.random.t jax.random.chisquare", shape=2),
    **_of("jax.random.beta jax.random.multivariate_normal jax.random.truncated_normal", shape=3),
    **_of("jax.random.categorical", axis=2, shape=3),
}  # fmt: skip
"""Functions outside `jax.numpy`."""


def static_parameters(path: str) -> Parameters:
    """The parameters of a function that must be static; methods of arrays are `method.NAME`."""
    module, _, name = path.partition("method.")
    if path == "method.astype":
        return ((0, "dtype", "dtype"),)
    if not module and name:
        known = NUMPY[name] if name in METHODS.split() else ()
        return tuple((position - 1, parameter, what) for position, parameter, what in known)
    if path.startswith("jax.numpy."):
        return NUMPY.get(path.removeprefix("jax.numpy."), ())
    return OTHERS.get(path, ())
