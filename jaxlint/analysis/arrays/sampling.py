"""Random samplers of `jax.random` and `numpy.random`: the shape and dtype of what they draw."""

from __future__ import annotations

from dataclasses import dataclass

from jaxlint.analysis.arrays.arguments import Call, Rule, axis, dims, integer
from jaxlint.analysis.arrays.convert import as_array
from jaxlint.analysis.arrays.shapes import broadcast
from jaxlint.analysis.values import Array, Scalar, Shape, Value


@dataclass(frozen=True, slots=True)
class Sampler:
    """A sampler `f(key, *parameters, shape, dtype)`.

    `names` are its parameters before `shape`, whose shapes broadcast to that of the result where no shape is given;
    `dtype` is the default dtype, `dtype_at` where it stands.
    """

    names: tuple[str, ...] = ()
    dtype: str = "float32"
    dtype_at: int | None = None
    last: bool = False  # one dimension of the first parameter is added at the end

    def __call__(self, call: Call) -> Value:
        """What a call draws."""
        shape = self._shape(call)
        place = self.dtype_at if self.dtype_at is not None else len(self.names) + 2
        return call.make(call.dtype(place, self.dtype), shape)

    def _shape(self, call: Call) -> Shape | None:
        given = call.given(len(self.names) + 1, "shape")
        parameters = [call.get(i + 1, name) for i, name in enumerate(self.names)]
        shapes = [() if value is None else as_array(value).shape for value in parameters]
        if self.last:
            event = shapes[0][-1:] if shapes[0] else None
            batch = dims(given) if given is not None else shapes[0][:-1] if shapes[0] and len(shapes) == 1 else None
            return None if event is None or batch is None else (*batch, *event)
        return dims(given) if given is not None else broadcast(*shapes)


def bernoulli(call: Call) -> Value:
    """`bernoulli(key, p, shape)`."""
    given, p = call.given(2, "shape"), call.get(1, "p")
    shape = dims(given) if given is not None else () if p is None else as_array(p).shape
    return call.make("bool", shape)


def randint(call: Call) -> Value:
    """`randint(key, shape, minval, maxval, dtype)`."""
    return call.make(call.dtype(4, "int32"), dims(call.get(1, "shape")))


def bits(call: Call) -> Value:
    """`bits(key, shape, dtype)`."""
    given = call.get(1, "shape")
    return call.make(call.dtype(2, "uint32"), () if given is None else dims(given))


def categorical(call: Call) -> Value:
    """`categorical(key, logits, axis, shape)`: one index for each row of logits."""
    given = call.given(3, "shape")
    logits = call.array(1, "logits").shape
    shape: Shape | None = None
    if given is not None:
        shape = dims(given)
    elif logits:
        where = call.get(2, "axis")
        place = len(logits) - 1 if where is None else axis(where, len(logits))
        if place is not None:
            shape = (*logits[:place], *logits[place + 1 :])
    return call.make("int32", shape)


def permutation(call: Call) -> Value:
    """`permutation(key, x)`: a number stands for its range."""
    value = call.get(1, "x")
    if isinstance(value, Scalar) and value.kind == "int":
        return call.make("int32", (integer(value),))
    operand = call.array(1, "x")
    if operand.shape is None:
        return call.make(operand.dtype, None, None)
    if not operand.shape:
        return call.make(operand.dtype, (None,), None)
    return call.make(operand.dtype, operand.shape, operand.weak)


def choice(call: Call) -> Value:
    """`choice(key, a, shape, replace, p, axis)`."""
    value, operand = call.get(1, "a"), call.array(1, "a")
    given = call.get(2, "shape")
    drawn: Shape | None = () if given is None else dims(given)
    if isinstance(value, Scalar) and value.kind == "int":
        return call.make("int32", drawn)
    if not operand.shape or drawn is None:
        return call.make(None if operand.shape == () else operand.dtype, drawn if operand.shape == () else None, None)
    place = 0 if call.get(5, "axis") is None else axis(call.get(5, "axis"), len(operand.shape))
    shape = None if place is None else (*operand.shape[:place], *drawn, *operand.shape[place + 1 :])
    return call.make(operand.dtype, shape, None)


def orthogonal(call: Call) -> Value:
    """`orthogonal(key, n, shape, dtype)`: square matrices."""
    size = integer(call.get(1, "n"))
    given = call.get(2, "shape")
    batch: Shape | None = () if given is None else dims(given)
    plain = call.given(4, "m") is None
    return call.make(call.dtype(3, "float32"), None if batch is None or not plain else (*batch, size, size))


def ball(call: Call) -> Value:
    """`ball(key, d, p, shape, dtype)`: points in d dimensions."""
    given = call.get(3, "shape")
    batch: Shape | None = () if given is None else dims(given)
    return call.make(call.dtype(4, "float32"), None if batch is None else (*batch, integer(call.get(1, "d"))))


def sized(size_at: int, dtype: str | None) -> Rule:
    """A sampler of `numpy.random` with `size=`; without one it draws one Python number."""

    def rule(call: Call) -> Value:
        size = call.given(size_at, "size")
        if size is None:
            if all(isinstance(value, Scalar) for value in call.positional):
                return Scalar("float" if dtype == "float64" else "int")
            return Array(dtype, None, False, True)
        return Array(dtype if not call.has_dtype(-1) else None, dims(size), False, True)

    return rule


def spread(call: Call) -> Value:
    """`numpy.random.rand(d0, d1, ...)`."""
    if not call.positional:
        return Scalar("float")
    return Array("float64", tuple(integer(value) for value in call.positional), False, True)


_TABLE: list[tuple[Rule, str]] = [
    (Sampler(), "random.normal random.uniform random.gumbel random.exponential random.laplace random.logistic "
                "random.cauchy random.maxwell"),
    (Sampler(dtype="int32"), "random.rademacher"),
    (Sampler(("lower", "upper")), "random.truncated_normal"),
    (Sampler(("a", "b")), "random.beta"),
    (Sampler(("a",)), "random.gamma random.loggamma"),
    (Sampler(("b",)), "random.pareto"),
    (Sampler(("p",), "int32"), "random.geometric"),
    (Sampler(("lam",), "int32"), "random.poisson"),
    (Sampler(("df",)), "random.t random.chisquare"),
    (Sampler(("dfnum", "dfden")), "random.f"),
    (Sampler(("scale",)), "random.rayleigh"),
    (Sampler(("mean",)), "random.wald"),
    (Sampler(("left", "mode", "right")), "random.triangular"),
    (Sampler(("n", "p")), "random.binomial"),
    (Sampler(("alpha",), last=True), "random.dirichlet"),
    (Sampler(("mean", "cov"), last=True), "random.multivariate_normal"),
    (bernoulli, "random.bernoulli"),
    (randint, "random.randint"),
    (bits, "random.bits"),
    (categorical, "random.categorical"),
    (permutation, "random.permutation"),
    (choice, "random.choice"),
    (orthogonal, "random.orthogonal"),
    (ball, "random.ball"),
    (spread, "numpy.random.rand numpy.random.randn"),
    (sized(0, "float64"), "numpy.random.random numpy.random.random_sample numpy.random.standard_normal"),
    (sized(1, "float64"), "numpy.random.exponential"),
    (sized(2, "float64"), "numpy.random.normal numpy.random.uniform numpy.random.gamma numpy.random.beta"),
    (sized(2, "int64"), "numpy.random.randint"),
]  # fmt: skip


def table() -> dict[str, Rule]:
    """The functions by name without 'jax.'."""
    return {name: rule for rule, names in _TABLE for name in names.split()}
