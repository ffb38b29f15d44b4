"""Products of arrays, linear algebra and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from jaxlint.analysis.arrays import dtypes
from jaxlint.analysis.arrays.arguments import Call, Rule, axis, axis_list, integer
from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.promotion import promote
from jaxlint.analysis.arrays.shapes import broadcast, plus, replaced, times
from jaxlint.analysis.values import Array, Dim, Items, Scalar, Shape, Value


def _make(call: Call, operands: list[Array], shape: Shape | None) -> Array:
    wanted = call.given(-1, "preferred_element_type")
    if call.host:
        operands = [replace(operand, weak=False) for operand in operands]
    dtype, weak = promote(*operands)
    if wanted is not None:
        return call.make(call.dtype(-1, None, "preferred_element_type"), shape, None)
    return call.make(dtype, shape, weak)


def matmul_shape(left: Shape | None, right: Shape | None) -> Shape | None:
    """The shape of `left @ right`."""
    if left is None or right is None or not left or not right:
        return None
    batch = broadcast(left[:-2], right[:-2])
    if batch is None:
        return None
    rows = left[-2:-1] if len(left) > 1 else ()
    columns = right[-1:] if len(right) > 1 else ()
    return (*batch, *rows, *columns)


def matmul(call: Call) -> Value:
    """`matmul(a, b)`."""
    operands = call.arrays(2)
    return _make(call, operands, matmul_shape(operands[0].shape, operands[1].shape))


def dot_shape(left: Shape | None, right: Shape | None) -> Shape | None:
    """The shape of `dot(left, right)`: scalars multiply, else the last axis meets the last but one."""
    if left == ():
        return right
    if right == ():
        return left
    if left is None or right is None:
        return None
    return (*left[:-1], *right[:-2], *(right[-1:] if len(right) > 1 else ()))


def dot(call: Call) -> Value:
    """`dot(a, b)`."""
    operands = call.arrays(2)
    return _make(call, operands, dot_shape(operands[0].shape, operands[1].shape))


def inner(call: Call) -> Value:
    """`inner(a, b)` sums over the last axes."""
    operands = call.arrays(2)
    left, right = operands[0].shape, operands[1].shape
    shape: Shape | None = None
    if left == () or right == ():
        shape = left if right == () else right
    elif left is not None and right is not None:
        shape = (*left[:-1], *right[:-1])
    return _make(call, operands, shape)


def outer(call: Call) -> Value:
    """`outer(a, b)` of flattened arrays."""
    operands = call.arrays(2)
    sizes: list[Dim] = [None if o.shape is None else times(o.shape) for o in operands]
    return _make(call, operands, tuple(sizes))


def vdot(call: Call) -> Value:
    """`vdot(a, b)` is a scalar."""
    return _make(call, call.arrays(2), ())


def vecdot(call: Call) -> Value:
    """`vecdot(a, b)` sums over the last axis."""
    operands = call.arrays(2)
    shape = broadcast(operands[0].shape, operands[1].shape) if call.get(-1, "axis") is None else None
    return _make(call, operands, shape[:-1] if shape else None)


def tensordot(call: Call) -> Value:
    """`tensordot(a, b, axes)`."""
    operands = call.arrays(2)
    left, right = operands[0].shape, operands[1].shape
    value = call.get(2, "axes")
    shape: Shape | None = None
    if left is not None and right is not None:
        count = 2 if value is None else integer(value)
        if count is not None:
            if 0 <= count <= min(len(left), len(right)):
                shape = (*left[: len(left) - count], *right[count:])
        elif isinstance(value, Items) and len(value.items) == 2:
            used = (axis_list(value.items[0], len(left)), axis_list(value.items[1], len(right)))
            if used[0] is not None and used[1] is not None:
                shape = _without(left, used[0]) + _without(right, used[1])
    return _make(call, operands, shape)


def _without(shape: Shape, axes: list[int]) -> Shape:
    return tuple(dim for i, dim in enumerate(shape) if i not in axes)


def einsum(call: Call) -> Value:
    """`einsum(subscripts, *operands)` with letters."""
    text = call.get(0, "subscripts")
    if not isinstance(text, Scalar) or text.kind != "str":
        return Array(host=call.host)
    operands = [as_array(value, call.host) for value in call.positional[1:]]
    shape = einsum_shape(str(text.const), [o.shape for o in operands]) if text.known else None
    return _make(call, operands, shape) if operands else Array(host=call.host)


def einsum_shape(text: str, shapes: list[Shape | None]) -> Shape | None:
    """The shape that subscripts give; None with an ellipsis or where they do not fit."""
    text = text.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if "." in text or len(terms) != len(shapes):
        return None
    if not arrow:
        letters = inputs.replace(",", "")
        output = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    sizes: dict[str, Dim] = {}
    for term, shape in zip(terms, shapes, strict=True):
        if shape is None:
            continue
        if len(term) != len(shape):
            return None
        for letter, dim in zip(term, shape, strict=True):
            sizes[letter] = (broadcast((sizes[letter],), (dim,)) or (None,))[0] if letter in sizes else dim
    unsure = any(shape is None for shape in shapes)
    # An operand of unknown shape may stretch a size of 1.
    return tuple(None if unsure and sizes.get(letter) == 1 else sizes.get(letter) for letter in output)


def kron(call: Call) -> Value:
    """`kron(a, b)` multiplies the sizes."""
    operands = call.arrays(2)
    left, right = operands[0].shape, operands[1].shape
    shape: Shape | None = None
    if left is not None and right is not None:
        rank = max(len(left), len(right))
        pairs = zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right, strict=True)
        shape = tuple(times([a, b]) if a is not None and b is not None else None for a, b in pairs)
    return _make(call, operands, shape)


def cross(call: Call) -> Value:
    """`cross(a, b)` of vectors of size three."""
    operands = call.arrays(2)
    shape = broadcast(operands[0].shape, operands[1].shape)
    plain = shape is not None and len(shape) > 0 and shape[-1] == 3 and not call.keywords and len(call.positional) == 2
    result = _make(call, operands, shape if plain else None)
    return call.make(result.dtype, result.shape, False if result.weak is False else None)


def convolve(call: Call) -> Value:
    """`convolve(a, v, mode)` of vectors."""
    operands = call.arrays(2)
    if any(operand.shape is not None and len(operand.shape) != 1 for operand in operands):
        return Array(host=call.host)
    return call.make(None, (None,), None)


def interp(call: Call) -> Value:
    """`interp(x, xp, fp)` has the shape of `x`."""
    operands = [call.array(0, "x"), call.array(1, "xp"), call.array(2, "fp")]
    found, weak = promote(*operands)
    dtype = dtypes.averaged(found, False) if found not in ("bfloat16", "float16") else None
    if call.host:
        dtype = "complex128" if dtypes.kind(operands[2].dtype) == "c" else "float64" if operands[2].dtype else None
    return call.make(dtype, operands[0].shape, False if weak is False else None)


# linear algebra


def _float(call: Call, dtype: str | None) -> str | None:
    return dtypes.averaged(dtype, call.host)


def square(call: Call) -> Value:
    """A function of a matrix that is a matrix of the same shape."""
    operand = call.first()
    return call.make(_float(call, operand.dtype), operand.shape, _weak(operand))


def _weak(operand: Array) -> bool | None:
    return False if operand.weak is False else None


def matrix_power(call: Call) -> Value:
    """`linalg.matrix_power(a, n)` keeps the dtype for positive powers."""
    operand = call.first()
    count = integer(call.get(1, "n"))
    dtype = operand.dtype if count is not None and count > 0 else None
    return call.make(dtype, operand.shape, _weak(operand) if dtype else None)


def pinv(call: Call) -> Value:
    """`linalg.pinv(a)`."""
    operand = call.first()
    shape = operand.shape
    turned = (*shape[:-2], shape[-1], shape[-2]) if shape is not None and len(shape) >= 2 else None
    return call.make(_float(call, operand.dtype), turned)


def det(call: Call) -> Value:
    """`linalg.det(a)`: one number for each matrix."""
    operand = call.first()
    shape = operand.shape[:-2] if operand.shape is not None and len(operand.shape) >= 2 else None
    return call.make(_float(call, operand.dtype), shape, _weak(operand))


def matrix_rank(call: Call) -> Value:
    """`linalg.matrix_rank(a)`."""
    shape = call.first().shape
    return call.make(dtypes.default_int(call.host), shape[:-2] if shape is not None and len(shape) >= 2 else None)


def slogdet(call: Call) -> Value:
    """`linalg.slogdet(a)`: sign and logarithm."""
    operand = call.first()
    shape = operand.shape[:-2] if operand.shape is not None and len(operand.shape) >= 2 else None
    dtype = _float(call, operand.dtype)
    return Items("tuple", (call.make(dtype, shape, None), call.make(dtypes.real(dtype), shape, None)))


def solve(call: Call) -> Value:
    """`linalg.solve(a, b)`: the shape of `b` where both are plain matrices or `b` a vector."""
    operands = [call.array(0, "a"), call.array(1, "b")]
    left, right = operands[0].shape, operands[1].shape
    plain = left is not None and right is not None and len(left) == 2 and 1 <= len(right) <= 2
    dtype, weak = promote(*operands)
    return call.make(_float(call, dtype), right if plain else None, False if weak is False else None)


def eigh(call: Call) -> Value:
    """`linalg.eigh(a)`: eigenvalues and eigenvectors."""
    operand = call.first()
    dtype = _float(call, operand.dtype)
    values = call.make(dtypes.real(dtype), None if not operand.shape else operand.shape[:-1], _weak(operand))
    return Items("tuple", (values, call.make(dtype, operand.shape, _weak(operand))))


def eigvalsh(call: Call) -> Value:
    """`linalg.eigvalsh(a)`."""
    operand = call.first()
    shape = None if not operand.shape else operand.shape[:-1]
    return call.make(dtypes.real(_float(call, operand.dtype)), shape, _weak(operand))


def eigvals(call: Call) -> Value:
    """`linalg.eigvals(a)` are complex in JAX; NumPy decides by their values."""
    operand = call.first()
    dtype = None if call.host else dtypes.complexed(operand.dtype, False)
    return call.make(dtype, None if not operand.shape else operand.shape[:-1], None)


# Fourier transforms


def fft(call: Call) -> Value:
    """`fft.fft(a, n, axis)`."""
    return _transformed(call, lambda dim: dim)


def rfft(call: Call) -> Value:
    """`fft.rfft(a, n, axis)` keeps half the frequencies."""
    return _transformed(call, lambda dim: dim // 2 + 1 if isinstance(dim, int) else None)


def irfft(call: Call) -> Value:
    """`fft.irfft(a, n, axis)` gives n real numbers, by default twice the frequencies but two."""
    dtype = call.first().dtype
    shape = _along_axis(call, lambda dim: plus(times([dim, 2]), -2) if isinstance(dim, int) else None, lambda n: n)
    return call.make(None if dtype is None or call.host else "float32", shape)


def _transformed(call: Call, size: Callable[[Dim], Dim]) -> Value:
    dtype = call.first().dtype
    known = not (call.host and dtype == "float16")
    return call.make(dtypes.complexed(dtype, call.host) if known else None, _along_axis(call, size, size))


def _along_axis(call: Call, size: Callable[[Dim], Dim], given: Callable[[Dim], Dim]) -> Shape | None:
    """The shape with the transformed axis resized, by `given` where `n` says the length."""
    shape = call.first().shape
    if not shape:
        return None
    where, length = call.get(2, "axis"), call.given(1, "n")
    place = len(shape) - 1 if where is None else axis(where, len(shape))
    if place is None:
        return None
    return replaced(shape, place, size(shape[place]) if length is None else given(integer(length)))


def fftn(call: Call) -> Value:
    """`fft.fft2(a)` and `fft.fftn(a)` keep the shape where no sizes are given."""
    operand = call.first()
    plain = call.given(1, "s") is None
    dtype = dtypes.complexed(operand.dtype, call.host) if operand.dtype != "float16" or not call.host else None
    if operand.shape == ():
        dtype = None
    return call.make(dtype, operand.shape if plain else None)


_TABLE: list[tuple[Rule, str]] = [
    (matmul, "numpy.matmul numpy.linalg.matmul lax.batch_matmul"),
    (dot, "numpy.dot lax.dot"),
    (inner, "numpy.inner"),
    (outer, "numpy.outer numpy.linalg.outer"),
    (vdot, "numpy.vdot"),
    (vecdot, "numpy.vecdot numpy.linalg.vecdot"),
    (tensordot, "numpy.tensordot numpy.linalg.tensordot"),
    (einsum, "numpy.einsum"),
    (kron, "numpy.kron"),
    (cross, "numpy.cross numpy.linalg.cross"),
    (convolve, "numpy.convolve numpy.correlate"),
    (interp, "numpy.interp"),
    (square, "numpy.linalg.inv numpy.linalg.cholesky scipy.linalg.inv scipy.linalg.cholesky scipy.linalg.expm"),
    (matrix_power, "numpy.linalg.matrix_power"),
    (pinv, "numpy.linalg.pinv"),
    (det, "numpy.linalg.det scipy.linalg.det"),
    (matrix_rank, "numpy.linalg.matrix_rank"),
    (slogdet, "numpy.linalg.slogdet"),
    (solve, "numpy.linalg.solve scipy.linalg.solve"),
    (eigh, "numpy.linalg.eigh"),
    (eigvalsh, "numpy.linalg.eigvalsh"),
    (eigvals, "numpy.linalg.eigvals"),
    (fft, "numpy.fft.fft numpy.fft.ifft"),
    (rfft, "numpy.fft.rfft"),
    (irfft, "numpy.fft.irfft"),
    (fftn, "numpy.fft.fft2 numpy.fft.ifft2 numpy.fft.fftn numpy.fft.ifftn"),
]


def table() -> dict[str, Rule]:
    """The functions by name without 'jax.'."""
    return {name: rule for rule, names in _TABLE for name in names.split()}
