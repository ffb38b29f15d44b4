"""Functions whose float results depend on the order of operations, for `floats.py`. Each takes two 8 by 8 arrays."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax


def total(x, w):
    return jnp.sum(x * w)


def mean_of_squares(x, w):
    return jnp.mean((x - w) ** 2)


def variance(x, w):
    return jnp.mean(x**2, axis=1) - jnp.mean(x, axis=1) ** 2


def euclidean_norm(x, w):
    return jnp.sqrt(jnp.sum(x * x, axis=-1) + 0.001)


def product(x, w):
    return jnp.prod(1.0 + 0.1 * x, axis=1)


def geometric_mean(x, w):
    return jnp.exp(jnp.mean(jnp.log(jnp.abs(x) + 0.1), axis=0))


def log_sum_exp(x, w):
    top = jnp.max(x, axis=1, keepdims=True)
    return jnp.log(jnp.sum(jnp.exp(x - top), axis=1)) + top[:, 0]


def softmax(x, w):
    parts = jnp.exp(x - jnp.max(x, axis=1, keepdims=True))
    return parts / jnp.sum(parts, axis=1, keepdims=True)


def log_softmax(x, w):
    return jax.nn.log_softmax(x + w, axis=1)


def layer_norm(x, w):
    middle = jnp.mean(x, axis=1, keepdims=True)
    spread = jnp.mean((x - middle) ** 2, axis=1, keepdims=True)
    return (x - middle) / jnp.sqrt(spread + 0.01) * w


def rms_norm(x, w):
    return x * w / jnp.sqrt(jnp.mean(x**2, axis=1, keepdims=True) + 0.01)


def dot(x, w):
    return jnp.dot(x[0], w[0])


def matmul(x, w):
    return x @ w


def triple_product(x, w):
    return x @ w @ x.T


def bilinear(x, w):
    return jnp.einsum("bi,ij,bj->b", x, w, x)


def dense(x, w):
    return jnp.tanh(x @ w + 0.5)


def two_layers(x, w):
    return jnp.mean(jnp.maximum(jnp.tanh(x @ w) @ w.T, 0.0), axis=1)


def attention(x, w):
    scores = (x @ w) @ x.T * 0.35
    return jax.nn.softmax(scores, axis=-1) @ x


def cross_entropy(x, w):
    return -jnp.sum(jax.nn.softmax(w, axis=1) * jax.nn.log_softmax(x, axis=1), axis=1)


def binary_cross_entropy(x, w):
    return jnp.mean(jnp.logaddexp(0.0, x) - x * jax.nn.sigmoid(w))


def cosine_similarity(x, w):
    lengths = jnp.sqrt(jnp.sum(x**2, axis=1) * jnp.sum(w**2, axis=1)) + 0.01
    return jnp.sum(x * w, axis=1) / lengths


def pairwise_distances(x, w):
    return jnp.sum(x**2, axis=1)[:, None] + jnp.sum(w**2, axis=1)[None, :] - 2.0 * x @ w.T


def gaussian_kernel(x, w):
    gaps = jnp.sum((x[:, None, :] - w[None, :, :]) ** 2, axis=-1)
    return jnp.exp(-0.125 * gaps)


def cumulative_sum(x, w):
    return jnp.cumsum(x, axis=1)


def cumulative_product(x, w):
    return jnp.cumprod(1.0 + 0.1 * x, axis=1)


def running_log_sum_exp(x, w):
    return lax.cumlogsumexp(x, axis=1)


def moving_average(x, w):
    return jnp.convolve(x[0], jnp.abs(w[0, :3]) + 0.1, mode="same")


def convolution(x, w):
    return lax.conv_general_dilated(x[None, None], w[None, None, :3, :3], (1, 1), "SAME")[0, 0]


def large_and_small(x, w):
    return jnp.stack([1e6 * jnp.sum(x * w, axis=1), jnp.tanh(x[0]) * 0.5])


def polynomial(x, w):
    return ((0.3 * x - 1.2) * x + 0.7) * x - w


def trigonometric(x, w):
    return jnp.sin(3.0 * x) * jnp.cos(w) + jnp.sin(x) ** 2


def gelu(x, w):
    return jax.nn.gelu(x * w + 0.1)


def normal_distribution(x, w):
    return 0.5 * (1.0 + lax.erf(0.7 * x))


def huber(x, w):
    gap = jnp.abs(x - w)
    return jnp.mean(jnp.where(gap < 1.0, 0.5 * gap**2, gap - 0.5), axis=1)


def linear_recurrence(x, w):
    def step(state, row):
        state = 0.9 * state + row
        return state, state

    return lax.scan(step, jnp.zeros_like(x[0]), x)[1]


def recurrent_net(x, w):
    def step(state, row):
        state = jnp.tanh(0.3 * state @ w + row)
        return state, state

    return lax.scan(step, jnp.zeros_like(x[0]), x)[0]


def gradient_descent(x, w):
    def step(_, v):
        return v - 0.01 * (x.T @ (x @ v - w[:, 0]))

    return lax.fori_loop(0, 5, step, w[0])


def newton_square_root(x, w):
    target = jnp.abs(x) + 0.5

    def step(_, guess):
        return 0.5 * (guess + target / guess)

    return lax.fori_loop(0, 6, step, target)


def logistic_map(x, w):
    def step(_, v):
        return 3.6 * v * (1.0 - v)

    return lax.fori_loop(0, 8, step, jax.nn.sigmoid(x))


def associative_scan(x, w):
    return lax.associative_scan(lambda a, b: a * 0.5 + b, x, axis=0)[:1] + jnp.cumsum(w, axis=0)


def cholesky(x, w):
    return jnp.linalg.cholesky(x @ x.T + 8.0 * jnp.eye(8, dtype=x.dtype))


def linear_solve(x, w):
    return jnp.linalg.solve(x @ x.T + 8.0 * jnp.eye(8, dtype=x.dtype), w)


def inverse(x, w):
    return jnp.linalg.inv(x @ x.T + 4.0 * jnp.eye(8, dtype=x.dtype))


def log_determinant(x, w):
    return jnp.linalg.slogdet(x @ x.T + 4.0 * jnp.eye(8, dtype=x.dtype))[1]


def eigenvalues(x, w):
    return jnp.linalg.eigvalsh(x + x.T)


def spectrum(x, w):
    return jnp.abs(jnp.fft.rfft(x, axis=1)) ** 2
