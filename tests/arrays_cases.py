"""Expressions over arrays, as templates: {a} is an axis of x, {c} a second one, {n} a small number.

The names x, y, ... are told in `World` of test_arrays_jax.
"""


def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


def cases(text: str) -> list[str]:
    """The expressions of a text, separated by semicolons."""
    return [" ".join(part.split()) for part in text.split(";")]


ELEMENTWISE_NAMES = words("""
abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cbrt ceil conj
conjugate copy cos cosh deg2rad degrees exp exp2 expm1 fabs floor i0 imag invert bitwise_not bitwise_invert isfinite
isinf isnan
isneginf isposinf isreal iscomplex log log10 log1p log2 logical_not nan_to_num negative positive rad2deg radians
real rint round around sign signbit sin sinc sinh spacing sqrt square tan tanh trunc modf
""")

PAIR_NAMES = words("""
add subtract multiply divide true_divide floor_divide mod remainder fmod power float_power maximum minimum fmax fmin
arctan2 atan2 copysign nextafter hypot heaviside logaddexp logaddexp2 left_shift right_shift bitwise_left_shift
bitwise_right_shift gcd lcm equal not_equal
less greater less_equal greater_equal logical_and logical_or logical_xor isclose bitwise_and bitwise_or bitwise_xor
divmod pow
""")

NN_NAMES = words("""
sigmoid silu swish tanh squareplus celu elu selu hard_sigmoid hard_silu hard_swish leaky_relu relu6 mish softplus
log_sigmoid log1mexp soft_sign sparse_plus sparse_sigmoid relu hard_tanh gelu softmax log_softmax standardize identity
""")

SPECIAL_NAMES = words("""
digamma erf erfc erfinv gammaln i0 i0e i1 i1e entr factorial expit gamma logit softmax log_softmax exp1 expi
log_ndtr ndtr ndtri spence
""")

SPECIAL_PAIRS = words("""
xlogy xlog1py betaln gammainc gammaincc zeta beta kl_div rel_entr
""")

LAX_NAMES = words("""
acos acosh asin asinh atan atanh bitwise_not cbrt ceil conj cos cosh digamma erf erfc erf_inv exp exp2 expm1 floor
lgamma log log1p logistic neg population_count clz reciprocal round rsqrt sign sin sinh sqrt square tan tanh abs
real imag is_finite stop_gradient bessel_i0e bessel_i1e optimization_barrier
""")

LAX_PAIRS = words("""
add sub mul div rem max min pow atan2 nextafter bitwise_and bitwise_or bitwise_xor shift_left shift_right_arithmetic
shift_right_logical igamma igammac eq ne lt le gt ge
""")

REDUCTION_NAMES = words("""
sum prod nansum nanprod max min amax amin nanmax nanmin ptp mean nanmean std var nanstd nanvar median nanmedian
argmax argmin nanargmax nanargmin all any count_nonzero average
""")

REDUCTIONS = [
    f"jnp.{name}(x{rest})"
    for name in REDUCTION_NAMES
    for rest in ("", ", axis={a}", ", axis={a}, keepdims=True", ", {a}")
] + cases("""
jnp.sum(x, axis=({a},)); jnp.sum(t, axis=(0, 2)); jnp.mean(t, (0, -1), keepdims=True); jnp.sum(x, dtype=float);
jnp.sum(x, dtype=jnp.float16); jnp.mean(x, dtype='float32'); jnp.max(t, axis=None, keepdims=True);
jnp.linalg.norm(f); jnp.linalg.norm(t, axis=-1); jnp.linalg.norm(t, axis=(0, 1), keepdims=True); jnp.linalg.norm(x,
axis={a}); jnp.linalg.vector_norm(x, axis={a}); jax.nn.logsumexp(x, axis={a}); jax.scipy.special.logsumexp(x);
jax.nn.logsumexp(x, axis={a}, keepdims=True); jax.nn.logsumexp(x, axis={a}, b=y); jax.nn.logsumexp(f,
return_sign=True); jnp.quantile(x, 0.5); jnp.quantile(x, 0.5, axis={a}); jnp.percentile(x, jnp.array([5.0, 9.0]),
axis={a}); jnp.nanquantile(x, 0.5, axis={a}, keepdims=True); jnp.nanpercentile(x, 50); jnp.average(v, weights=u);
jnp.average(x, axis={a}, returned=True); jnp.cumsum(x); jnp.cumsum(x, axis={a}); jnp.cumprod(x, axis={a});
jnp.nancumsum(x, axis={a}); jnp.nancumprod(x); jnp.cumsum(x, axis={a}, dtype=float); jnp.sort(x); jnp.sort(x,
axis=None); jnp.argsort(x); jnp.argsort(x, axis=None); jnp.sort(x, axis={a}); jnp.argpartition(v, 1);
jnp.partition(v, 1); jnp.diff(x, axis={a}); jnp.diff(v, n=2); jnp.diff(x); jnp.trapezoid(x); jnp.trapezoid(x,
axis={a}); jnp.trapezoid(x, dx=2.0); jnp.searchsorted(v, x); jnp.searchsorted(v, 1.0); jnp.digitize(x, v);
jnp.bincount(i, length=7); jnp.bincount(i, weights=v, length=7); jnp.unique(x, size=4); jnp.unique(v,
return_counts=True, size=4); jnp.unique(v, return_index=True, return_inverse=True, size=3); jnp.histogram(v);
jnp.histogram(x, 5); jnp.histogram(x, bins=3); jnp.unwrap(f); lax.reduce_sum(t, (0,)); lax.reduce_max(t, (0, 2));
lax.reduce_min(t, (1,)); lax.reduce_prod(t, (0,)); lax.reduce_and(b, (0,)); lax.reduce_or(b, (0,)); lax.argmax(t, 1,
jnp.int32); lax.argmin(t, axis=0, index_dtype=jnp.uint8); lax.top_k(v, 2); lax.sort(x); lax.sort((v, u));
lax.cumsum(x, {a}); lax.cumprod(x, {a}); lax.cummax(x, {a}); lax.cummin(x, {a}); lax.cumlogsumexp(f, 0);
lax.integer_pow(x, 2); lax.rev(x, ({a},)); lax.reduce_precision(f, 5, 10)
""")

CONSTRUCTORS = (
    [
        f"jnp.{name}({rest})"
        for name in ("zeros", "ones", "empty")
        for rest in (
            "3",
            "(2, 3)",
            "[2, {n}]",
            "()",
            "x.shape",
            "(x.size, 2)",
            "3, int",
            "3, dtype=jnp.float64",
            "(2,), dtype='int8'",
            "x.shape, x.dtype",
            "(2,), bool",
            "4, dtype=jnp.bfloat16",
            "(2,), dtype=np.int64",
        )
    ]
    + [
        f"jnp.{name}(x{rest})"
        for name in ("zeros_like", "ones_like", "empty_like")
        for rest in ("", ", dtype=int", ", jnp.float16", ", shape=(2, 2)")
    ]
    + cases("""
jnp.full((2, {n}), 1); jnp.full(3, 1.5); jnp.full((2,), True); jnp.full((2,), w); jnp.full((), 1, float);
jnp.full((2,), h0); jnp.full_like(x, 1); jnp.full_like(x, 1, dtype=int); jnp.full_like(x, 0.5, shape=(2,));
lax.full((2, 3), 1.0); lax.full((2,), 1, jnp.int8); lax.full_like(x, 1); lax.full_like(x, 1, jnp.float32);
jnp.array(1); jnp.array(1.0); jnp.array(True); jnp.array([1, 2.0]); jnp.array([[1, 2], [3, 4]]); jnp.array([]);
jnp.array([[], []]); jnp.array([True, 1]); jnp.array([w, 1]); jnp.array([v, v]); jnp.array([[v], [v]]);
jnp.array(x); jnp.array(x, float); jnp.array(1, dtype=float); jnp.array(x, ndmin=3); jnp.array((1, v[0]));
jnp.array([1j, 2]); jnp.array([[1.0], [v[0]]]); jnp.array([1, 2], dtype='uint8'); jnp.asarray(1); jnp.asarray(2.5,
jnp.float16); jnp.asarray(x); jnp.asarray(h); jnp.asarray([1.0, 2]); jnp.asarray(x, dtype=int); jnp.array(h);
jnp.array([h0, 1]); jnp.asarray(w); jnp.arange(3); jnp.arange(3.0); jnp.arange(1, {n}); jnp.arange(0, 1, 0.25);
jnp.arange(5, 1, -2); jnp.arange(x.size); jnp.arange(4, dtype=float); jnp.arange(0, 4, dtype=jnp.uint8);
jnp.arange({n}, dtype=x.dtype); jnp.arange(stop=4); jnp.arange(start=1, stop=4, step=2); jnp.arange(2, None);
jnp.linspace(0, 1); jnp.linspace(0, 1, 5); jnp.linspace(0, 1, num={n}, endpoint=False); jnp.linspace(0, 1, 5,
dtype=int); jnp.linspace(v, v, 5); jnp.linspace(v, v, 5, axis=1); jnp.linspace(0, 1, 5, retstep=True);
jnp.linspace(x, 1, 3); jnp.logspace(0, 1, 5); jnp.geomspace(1, 2, 5); jnp.logspace(0.0, 2); jnp.geomspace(1, 2,
num={n}, dtype=float); jnp.eye(3); jnp.eye(3, 4); jnp.eye({n}, dtype=int); jnp.eye(3, M=2, k=1); jnp.identity(3);
jnp.identity(2, jnp.int8); jnp.tri(3); jnp.tri(2, 3, dtype=bool); jnp.meshgrid(v, i); jnp.meshgrid(v, i,
indexing='ij'); jnp.meshgrid(v, i, u); jnp.meshgrid(v); jnp.meshgrid(v, i, sparse=True); jax.nn.one_hot(i, 4);
jax.nn.one_hot(x, 4); jax.nn.one_hot(1, {n}); jax.nn.one_hot(i, 3, dtype=int); jax.nn.one_hot(i, 3, axis=0);
jax.nn.one_hot(t, 3, axis=-2, dtype=jnp.float16); lax.iota(int, 3); lax.iota('float32', {n}); lax.iota(jnp.uint8,
size=3); lax.broadcasted_iota(jnp.int32, (2, 3), 1); jnp.hanning(5); jnp.hamming(4); jnp.blackman(3);
jnp.bartlett(6); jnp.fft.fftfreq(5); jnp.fft.rfftfreq(6); jnp.fft.fftfreq({n}, d=0.5); jnp.tril_indices(3);
jnp.triu_indices(4); jnp.triu_indices(4, 1); jnp.diag_indices(3); jnp.diag_indices(3, 3)
""")
    + [
        f"jnp.{d}({value})"
        for d in (
            "float32",
            "int32",
            "bool_",
            "float16",
            "int8",
            "uint8",
            "complex64",
            "bfloat16",
            "float64",
            "int16",
            "uint16",
            "uint32",
            "int64",
            "uint64",
            "complex128",
            "float_",
            "int_",
            "double",
            "single",
            "half",
            "uint",
            "complex_",
            "bool",
        )
        for value in ("1", "x", "0.5", "[1, 2]", "h0")
    ]
)

SHAPING = cases("""
jnp.reshape(x, (-1,)); jnp.reshape(x, -1); jnp.reshape(t, (t.shape[0], -1)); jnp.reshape(x, x.shape); jnp.reshape(x,
(1, -1, 1)); lax.reshape(x, (x.size,)); x.reshape(-1, 1); x.reshape((1, -1)); x.reshape(x.shape); t.reshape(-1,
t.shape[-1]); jnp.ravel(x); x.ravel(); x.flatten(); jnp.transpose(x); jnp.transpose(t, (2, 0, 1)); t.transpose(1, 0,
2); t.transpose((0, 2, 1)); x.transpose(); x.T; m.mT; t.mT; jnp.permute_dims(t, (1, 2, 0)); lax.transpose(t, (1, 2,
0)); jnp.swapaxes(x, {a}, {c}); x.swapaxes({a}, {c}); jnp.moveaxis(x, {a}, {c}); jnp.moveaxis(t, (0, 1), (2, 0));
jnp.moveaxis(t, -1, 0); jnp.matrix_transpose(t); jnp.linalg.matrix_transpose(m); jnp.expand_dims(x, {a});
jnp.expand_dims(x, (0, -1)); jnp.expand_dims(x, axis=-1); lax.expand_dims(x, (0,)); jnp.squeeze(x);
jnp.squeeze(x[None], 0); jnp.squeeze(x[..., None, None], axis=(-1, -2)); x.squeeze(); lax.squeeze(x[None], (0,));
jnp.broadcast_to(x, (3, *x.shape)); jnp.broadcast_to(1, (3,)); jnp.broadcast_to(v, (2, v.size)); jnp.tile(x, 2);
jnp.tile(x, (2, 3)); jnp.tile(v, (2, 1, {n})); lax.tile(m, (2, 1)); jnp.repeat(x, 2); jnp.repeat(x, 2, axis={a});
x.repeat(3, {a}); jnp.repeat(v, i, total_repeat_length=7); jnp.pad(x, 1); jnp.pad(x, (1, 2)); jnp.pad(m, ((1, 1),
(0, 2))); jnp.pad(v, [(1, 0)], mode='edge'); jnp.pad(t, ((1, 2),)); jnp.flip(x); jnp.flip(x, {a}); jnp.fliplr(t);
jnp.flipud(t); jnp.roll(x, 1); jnp.roll(x, 1, axis={a}); jnp.tril(m); jnp.triu(t, 1); jnp.diag(v); jnp.diag(m);
jnp.diag(v, 2); jnp.diag(m, k=-1); jnp.diagonal(t); jnp.diagonal(m, offset=1); t.diagonal(0, 1, 2); jnp.trace(m);
jnp.trace(t); jnp.linalg.trace(t); m.trace(); jnp.trace(t, 0, 1, 2); jnp.take(x, i); jnp.take(x, i, axis={a});
jnp.take(x, 0, axis={a}); x.take(i); jnp.take(t, jnp.array([[0, 0]]), 1); jnp.take_along_axis(v, i, 0);
jnp.take_along_axis(t, t[:1].astype(int), axis=1); x.astype(float); x.astype(jnp.int8); x.astype('bfloat16');
x.astype(y.dtype); jnp.astype(x, bool); x.astype(complex); x.astype(dtype=int); lax.convert_element_type(x,
jnp.float32); lax.convert_element_type(x, int); jnp.broadcast_arrays(x, z); jnp.rot90(m); jnp.rot90(t, 2);
jnp.shape(x); jnp.ndim(x); jnp.size(x); jnp.size(t, 1); x.shape; x.ndim; x.size; x.dtype; x.real; x.imag;
x.itemsize; x.nbytes; x.view(jnp.int8); jnp.atleast_1d(x); jnp.atleast_2d(x); jnp.atleast_1d(1); jnp.atleast_1d(x,
v); jnp.fft.fftshift(x); jnp.fft.ifftshift(x); jax.device_put(x); jnp.clip(x, 0, 1); jnp.clip(x, 0.5); jnp.clip(x,
None, 1); jnp.clip(x, z, y); jnp.clip(x, max=1); x.clip(0, 2.0); jnp.where(b, x, y); jnp.where(b, x, 0);
jnp.where(b, 0.0, x); jnp.where(b, 1, 0); jnp.where(b, w, x); jnp.where(b, 1.0, 0); jnp.where(b, x, jnp.nan);
jnp.where(z, x, y); jnp.nonzero(x, size=3); jnp.select([b, b], [x, y], 0); jnp.select([b], [x]); jnp.select([b],
[1], 0.5); jnp.where(x, size=2); x.sum(); x.sum({a}); x.sum(axis={a}, keepdims=True); x.mean(); x.prod();
x.max({a}); x.min(); x.std(); x.var({a}); x.argmax(); x.argmin(axis={a}); x.any(); x.all({a}); x.cumsum();
x.cumprod({a}); x.ptp(); x.sort(); x.argsort(); x.conj(); x.conjugate(); x.copy(); x.round(1); v.dot(u);
v.searchsorted(x); v.argpartition(1); x.mean(dtype=float); x.block_until_ready()
""")

JOINING = cases("""
jnp.stack([x, y]); jnp.stack([x, y], axis={a}); jnp.stack((x, y), -1); jnp.stack([1, 2]); jnp.stack([w, 1]);
jnp.stack(t); jnp.stack([x, y], dtype=float); jnp.concatenate([x, y], axis={a}); jnp.concatenate((x, y));
jnp.concatenate([v, i]); jnp.concatenate([x, y], axis=None); jnp.concat([x, y], axis={a}); lax.concatenate([v, v],
0); jnp.concatenate(t); jnp.hstack([x, y]); jnp.hstack([1, 2.0]); jnp.hstack([v, u]); jnp.vstack([x, y]);
jnp.vstack([v, u]); jnp.vstack((1, 2)); jnp.dstack([x, y]); jnp.dstack([v, u]); jnp.column_stack([v, u]);
jnp.column_stack([m, m]); jnp.append(x, 1); jnp.append(x, y); jnp.append(x, y, axis={a}); jnp.split(x, 1);
jnp.split(x, 2, axis={a}); jnp.split(x, [1, 2], axis={a}); jnp.split(v, v.size); jnp.vsplit(t, 2); jnp.dsplit(t, 1);
jnp.array_split(v, 3); jnp.array_split(x, 2, axis={a}); jnp.unstack(x); jnp.unstack(x, axis={a}); jnp.split(x,
2)[0]; jnp.split(v, [2])
""")

PRODUCTS = cases("""
jnp.matmul(m, s); jnp.matmul(v, u); jnp.matmul(t, s); jnp.linalg.matmul(t, s); jnp.dot(m, s); jnp.dot(v, u);
jnp.dot(x, 2); jnp.dot(t, s); jnp.dot(s, t.mT); lax.dot(s, s); jnp.inner(v, u); jnp.inner(x, x); jnp.inner(x, 2.0);
jnp.outer(v, i); jnp.outer(x, y); jnp.linalg.outer(v, i); jnp.vdot(v, u); jnp.vdot(x, y); jnp.vecdot(x, y);
jnp.linalg.vecdot(v, u); jnp.tensordot(m, s, 1); jnp.tensordot(v, v, 0); jnp.tensordot(t, t, axes=((0, 1), (0, 1)));
jnp.tensordot(s, s); jnp.linalg.tensordot(t, s, axes=([2], [0])); jnp.tensordot(t, s, axes=(-1, 0));
jnp.einsum('ij,jk->ik', m, s); jnp.einsum('i,i->', v, u); jnp.einsum('i,i', v, u); jnp.einsum('bij,jk->bik', t, s);
jnp.einsum('ii->i', s); jnp.einsum('...i,ij->...j', t, s); jnp.einsum('i,j->ij', v, i); jnp.einsum('ij', m);
jnp.kron(m, s); jnp.kron(v, m); jnp.cross(r, r); jnp.linalg.cross(r, r); jnp.convolve(v, u); jnp.correlate(v, u,
mode='same'); jnp.interp(x, v, u); jnp.interp(0.5, v, u); jnp.linalg.inv(s); jnp.linalg.cholesky(s);
jax.scipy.linalg.inv(s); jax.scipy.linalg.cholesky(s); jax.scipy.linalg.expm(s); jnp.linalg.matrix_power(s, 3);
jnp.linalg.pinv(m); jnp.linalg.det(s); jax.scipy.linalg.det(s); jnp.linalg.matrix_rank(m); jnp.linalg.slogdet(s);
jnp.linalg.solve(s, s); jax.scipy.linalg.solve(s, s); jnp.linalg.eigh(s); jnp.linalg.eigvalsh(s);
jnp.linalg.eigvals(s); jnp.fft.fft(x); jnp.fft.ifft(x); jnp.fft.fft(x, 5, {a}); jnp.fft.rfft(x); jnp.fft.rfft(x,
n=6); jnp.fft.irfft(x); jnp.fft.irfft(x, 5); jnp.fft.irfft(x, axis={a}); jnp.fft.fft2(t); jnp.fft.ifft2(m);
jnp.fft.fftn(x); jnp.fft.ifftn(x); lax.batch_matmul(s[None], s[None]); jax.nn.glu(x); jax.nn.glu(x, {a});
jnp.allclose(x, z); jnp.array_equal(x, y); jnp.array_equiv(x, z); jnp.ldexp(f, i[0]); jnp.matmul(s, s,
preferred_element_type=jnp.float32); lax.dot_general(t, t, (((2,), (2,)), ((0,), (0,)))); lax.dot_general(s, s,
(((1,), (0,)), ((), ()))); lax.conv(t[None], t[None], (1, 1), 'SAME'); lax.conv_general_dilated(t, t, (1,), 'SAME');
lax.conv_with_general_padding(t, t, (1,), [(0, 0)], None, None); lax.conv_transpose(t, t, (1,), 'SAME')
""")

LAX = cases("""
lax.dynamic_slice(v, (0,), (2,)); lax.dynamic_slice(t, (0, 0, 0), (1, 1, 1)); lax.dynamic_slice_in_dim(x, 0, 1,
{a}); lax.dynamic_slice_in_dim(v, 1, 2); lax.dynamic_index_in_dim(x, 0); lax.dynamic_index_in_dim(x, 0, {a},
keepdims=False); lax.index_in_dim(x, 0, {a}); lax.dynamic_update_slice(v, v, (0,));
lax.dynamic_update_slice_in_dim(x, x, 0, {a}); lax.dynamic_update_index_in_dim(t, t[0], 0, 0); lax.slice(v, (1,),
(2,)); lax.slice(t, (0, 0, 0), (1, 1, 1), (1, 1, 1)); lax.slice_in_dim(x, 0, 1, axis={a}); lax.slice_in_dim(v, 0,
None); lax.select(b, x, x); lax.select(b, y, y); lax.clamp(x, x, x); lax.clamp(0.0, f, 1.0); lax.broadcast(x, (2,
{n})); lax.broadcast_in_dim(v, (2, v.size), (1,)); lax.pad(f, 0.0, [(1, 1, 0)]); lax.pad(m, m[0, 0], [(1, 2, 1), (0,
0, 2)]); lax.pad(x, x.sum().astype(x.dtype), [(0, 1, 0)] * 1)
""")

RANDOM = [
    f"jax.random.{name}(k{rest})"
    for name in ("normal", "uniform", "gumbel", "exponential", "laplace", "logistic", "cauchy", "maxwell")
    for rest in ("", ", (2, {n})", ", shape=x.shape", ", (3,), jnp.float16", ", dtype=float")
] + cases("""
jax.random.rademacher(k, (2,)); jax.random.rademacher(k, (2,), jnp.int8); jax.random.truncated_normal(k, -1, 1);
jax.random.truncated_normal(k, -2.0, 2.0, (2, 3)); jax.random.truncated_normal(k, f, f + 1.0, dtype=jnp.float32);
jax.random.beta(k, 1.0, 2.0); jax.random.beta(k, f, 2.0); jax.random.beta(k, 1.0, 2.0, (2,)); jax.random.gamma(k,
1.0); jax.random.gamma(k, f); jax.random.gamma(k, 1.0, (3, 2)); jax.random.loggamma(k, f); jax.random.pareto(k, f);
jax.random.geometric(k, 0.5, (2,)); jax.random.geometric(k, f); jax.random.poisson(k, 2.0); jax.random.poisson(k,
f); jax.random.poisson(k, 2.0, (2,), jnp.int8); jax.random.t(k, 2.0, (3,)); jax.random.t(k, f);
jax.random.chisquare(k, f); jax.random.chisquare(k, 2.0, (2,)); jax.random.f(k, f, 2.0); jax.random.f(k, 1.0, 2.0,
(2,)); jax.random.rayleigh(k, f); jax.random.rayleigh(k, 1.0, (2,)); jax.random.wald(k, f); jax.random.wald(k, 1.0,
(2,)); jax.random.triangular(k, 0.0, 0.5, 1.0); jax.random.triangular(k, 0.0, f, 1.0, (3,)); jax.random.binomial(k,
10, 0.5); jax.random.binomial(k, 10, 0.5, (2,)); jax.random.binomial(k, f, 0.5); jax.random.dirichlet(k, f);
jax.random.dirichlet(k, f, (2,)); jax.random.multivariate_normal(k, f, q); jax.random.multivariate_normal(k, f, q,
(2,)); jax.random.bernoulli(k); jax.random.bernoulli(k, 0.5); jax.random.bernoulli(k, f); jax.random.bernoulli(k,
0.5, (2, {n})); jax.random.bernoulli(k, shape=(2,)); jax.random.randint(k, (2,), 0, 5); jax.random.randint(k,
x.shape, 0, 5, jnp.uint8); jax.random.randint(k, shape=(), minval=0, maxval=3); jax.random.bits(k);
jax.random.bits(k, (2,)); jax.random.bits(k, (3,), jnp.uint8); jax.random.categorical(k, x);
jax.random.categorical(k, x, {a}); jax.random.categorical(k, f, shape=(4,)); jax.random.categorical(k, t, axis=0);
jax.random.permutation(k, 5); jax.random.permutation(k, x); jax.random.permutation(k, t, axis=1, independent=True);
jax.random.choice(k, 5); jax.random.choice(k, 5, (2, 3)); jax.random.choice(k, v); jax.random.choice(k, v,
shape=(2,)); jax.random.choice(k, t, (2,), axis=1); jax.random.orthogonal(k, 3); jax.random.orthogonal(k, 3, (2,));
jax.random.ball(k, 3); jax.random.ball(k, 3, shape=(2,))
""")

INDEXING = cases("""
x[0]; x[-1]; x[None]; x[...]; x[..., None]; x[:, None]; x[0, ...]; x[1:]; x[:2]; x[::2]; x[::-1]; x[:-1]; x[-2:];
x[..., 0]; x[..., 1:]; x[i]; x[..., i]; x[i, i]; x[i, 0]; x[:, i]; t[0, :, i]; t[:, i, i]; t[i, :, i]; t[i, None,
i]; t[0, i]; t[:, 0, i]; t[None, i, :, 0]; x[()]; x[:]; x[0][None]; t[i[:, None], i]; t[..., 0, :]; t[0, ..., 0];
t[1:2, ..., :1]; m[jnp.array([[0, 0], [0, 0]])]; x[i[0]]; t[i[0], :, i[0]]; t[:, i[0]]; x[None, ..., None]; h[0];
h[:, None]; h[..., 1:]; h[i]; x[-3:-1]; x[5:1]; t[:, ::-1, 0]; x[0:None]; x[h1]
""")

OPERATOR_NAMES = words("""
+ - * / // % ** @ & | ^ << >> == != < <= > >=
""")

OPERATORS = [
    f"{left} {operator} {right}"
    for operator in OPERATOR_NAMES
    for left, right in (
        ("x", "y"),
        ("x", "z"),
        ("x", "2"),
        ("2", "x"),
        ("x", "0.5"),
        ("0.5", "x"),
        ("x", "w"),
        ("w", "x"),
        ("x", "True"),
        ("x", "1j"),
        ("x", "h"),
        ("h", "x"),
        ("x", "h0"),
        ("h0", "x"),
        ("w", "2"),
        ("w", "w"),
        ("h", "2"),
        ("h", "0.5"),
        ("h", "g"),
        ("h", "h0"),
        ("2.0", "h"),
        ("h", "1j"),
        ("m", "s"),
        ("v", "u"),
    )
] + cases("""
-x; +x; ~x; -w; -h; ~h; +h
""")
