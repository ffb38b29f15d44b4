"""Array semantics without JAX: what operations give for known, symbolic and unknown operands."""

from __future__ import annotations

import pytest
from arrays_model import abstract
from hypothesis import given
from hypothesis import strategies as st

from jaxlint.analysis import arrays
from jaxlint.analysis.arrays.dtypes import KINDS
from jaxlint.analysis.values import Api, Array, Items, Key, Many, OneOf, Scalar, Unknown, Value, known

X = Array("float32", ("batch", 3), False)
I = Array("int32", (3,), False)  # noqa: E741
HOST = Array("float64", (3,), False, True)
NAMES: dict[str, Value] = {
    "x": X,
    "i": I,
    "h": HOST,
    "n": Scalar("int"),
    "unknown": Unknown(),
    "weak": Array("float32", (), True),
    "anything": Array(),
    "rows": Many("list", X),
    "either": OneOf((X, Scalar("float", 0.0, True))),
    "key": Key(),
    "mask": Array("bool", ("batch", 3), False),
}


def value_of(expression: str) -> Value:
    return abstract(expression, NAMES)[0]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x + 1", X),
        ("x + i", X),
        ("i + 1.0", Array("float32", (3,), True)),
        ("i / 2", Array("float32", (3,), False)),
        ("x @ x.T", Array("float32", ("batch", "batch"), False)),
        ("x == 0", Array("bool", ("batch", 3), False)),
        ("-x", X),
        ("h * x", X),
        ("h * h", HOST),
        ("h + 1", HOST),
        ("jnp.sin(h)", Array("float32", (3,), False)),
        ("np.sin(h)", HOST),
        ("jnp.sum(x, axis=0)", Array("float32", (3,), False)),
        ("jnp.sum(x, axis=n)", Array("float32", (None,), False)),
        ("jnp.sum(anything)", Array(None, (), False)),
        ("x.sum(axis=-1, keepdims=True)", Array("float32", ("batch", 1), False)),
        ("jnp.zeros(x.shape)", Array("float32", (None, 3), False)),
        ("jnp.zeros((n, 2), int)", Array("int32", (None, 2), False)),
        ("np.zeros(3)", HOST),
        ("np.arange(4)", Array("int64", (4,), False, True)),
        ("jnp.arange(n)", Array("int32", (None,), False)),
        ("jnp.reshape(x, (-1,))", Array("float32", (None,), False)),
        ("x.reshape(-1, 3, 1)", Array("float32", ("batch", 3, 1), False)),
        ("jnp.stack(rows)", Array("float32", (None, None, None), None)),
        ("jnp.where(mask, x, 0.0)", X),
        ("jnp.sin(unknown)", Array()),
        ("jnp.sin(either)", Array("float32")),
        ("jnp.where(mask, x, unknown)", Array()),
        ("jnp.float32(0)", Array("float32", (), False)),
        ("np.float32(0)", Array("float32", (), False, True)),
        ("x.astype(jnp.float64)", X),
        ("x.dtype", Api("jax.numpy.float32")),
        ("h.dtype", Api("numpy.float64")),
        ("x.ndim", known(2)),
        ("x.shape[1]", known(3)),
        ("x.shape[0]", Scalar("int")),
        ("anything.shape", Many("tuple", Scalar("int"))),
        ("x[0]", Array("float32", (3,), False)),
        ("x[n]", Array("float32", (3,), False)),
        ("x[:, None, 1:]", Array("float32", ("batch", 1, 2), False)),
        ("x[n:]", Array("float32", (None, 3), False)),
        ("x[mask]", Array("float32", (None,), False)),
        ("x[i]", Array("float32", (3, 3), False)),
        ("x[unknown]", Array("float32", None, False)),
        ("i.item()", Scalar("int")),
        ("i.tolist()", Items("list", (Scalar("int"),) * 3)),
        ("jax.nn.one_hot(i, 10)", Array("float32", (3, 10), False)),
        ("jax.random.normal(key, (2, n))", Array("float32", (2, None), False)),
        ("jax.random.split(key)", Unknown()),
        ("jnp.stack([key, key])", Unknown()),
        ("jnp.no_such_function(x)", Unknown()),
        ("np.random.normal(size=(2, 3))", Array("float64", (2, 3), False, True)),
        ("np.random.uniform()", Scalar("float")),
        ("np.random.rand(2, n)", Array("float64", (2, None), False, True)),
        ("np.random.randint(0, 5, 4)", Array("int64", (4,), False, True)),
        ("lax.psum(x, 'i')", Array("float32", ("batch", 3), None)),
        ("lax.psum(1, 'i')", Scalar("int")),
        ("lax.pmean((i, x), 'i')", Items("tuple", (Array("float32", (3,)), Array("float32", ("batch", 3))))),
        ("lax.axis_index('i')", Array("int32", (), False)),
        ("lax.all_gather(x, 'i')", Array("float32", (None, "batch", 3), False)),
        ("lax.all_gather(x, 'i', axis=1, tiled=True)", Array("float32", ("batch", None), False)),
        ("jax.device_get(x)", Array("float32", ("batch", 3), False, True)),
        ("jax.device_put(h)", Array("float32", (3,), False)),
        ("lax.stop_gradient((x, 1.0))", Items("tuple", (X, Array("float32", (), True)))),
    ],
)
def test_expression(expression: str, expected: Value) -> None:
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2", known(3)),
        ("7 // 2", known(3)),
        ("1 / 2", known(0.5)),
        ("2 ** 10", known(1024)),
        ("10 ** 10000", Scalar("int")),
        ("1 << 100", Scalar("int")),
        ("1 // 0", Unknown()),
        ("n * 2", Scalar("int")),
        ("n / 2", Scalar("float")),
        ("n ** 2", Scalar("int")),
        ("n ** -1", Scalar("float")),
        ("2 ** n", Unknown()),
        ("3 < 4", known(True)),
        ("n > 0", Scalar("bool")),
        ("n == None", Scalar("bool")),
        ("1 + 2j", Scalar("complex")),
        ("True & False", known(False)),
        ("-3", known(-3)),
        ("~n", Scalar("int")),
        ("'a' * 3", Unknown()),
    ],
)
def test_python_numbers_are_folded(expression: str, expected: Value) -> None:
    assert value_of(expression) == expected


@pytest.mark.parametrize("expression", ["h + unknown", "unknown * h"])
def test_a_host_array_with_something_unknown_may_be_on_the_device(expression: str) -> None:
    assert value_of(expression) == Unknown()


def test_further_arguments_leave_only_that_it_is_an_array() -> None:
    assert arrays.call("jax.numpy.sum", [X], {}, complete=False) == Array()
    assert arrays.method(HOST, "sum", [], {}, complete=False) == Array(host=True)


def test_from_python() -> None:
    assert arrays.from_python(known(1.0)) == Array("float32", (), True)
    assert arrays.from_python(Items("list", (known(1), known(2.0)))) == Array("float32", (2,), False)
    assert arrays.from_python(Items("list", (X, X))) == Array("float32", (2, "batch", 3), False)
    assert arrays.from_python(HOST) == Array("float32", (3,), False)
    assert arrays.from_python(known("text")) is None
    assert arrays.from_python(Unknown()) is None


# What the operations must obey for any operands

DTYPES = sorted(set(KINDS) - {"int64", "uint64", "float64", "complex128"})
DEVICE = st.builds(Array, st.sampled_from(DTYPES), st.just(()), st.booleans())
SOME = st.builds(Array, st.sampled_from([None, *DTYPES]), st.just(()), st.sampled_from([None, False, True]))
DIMS = st.sampled_from([1, 2, 3, "a", "b", None])
SHAPES = st.lists(DIMS, max_size=4).map(tuple)


@given(DEVICE, DEVICE)
def test_promotion_does_not_depend_on_order(left: Array, right: Array) -> None:
    assert arrays.promote(left, right) == arrays.promote(right, left)


@given(DEVICE, DEVICE, DEVICE)
def test_promotion_is_of_all_operands_at_once(first: Array, second: Array, third: Array) -> None:
    dtype, weak = arrays.promote(first, second, third)
    strong = [array for array in (first, second, third) if not array.weak]
    assert weak is True or dtype in KINDS
    if len({array.dtype for array in strong}) == 1 and len(strong) == 3:
        assert (dtype, weak) == (strong[0].dtype, False)


@given(SOME, SOME)
def test_promotion_of_unsure_operands_holds_for_what_they_may_be(left: Array, right: Array) -> None:
    dtype, weak = arrays.promote(left, right)
    for a in [left.dtype] if left.dtype else DTYPES:
        for b in [right.dtype] if right.dtype else DTYPES:
            for v in [left.weak] if left.weak is not None else [False, True]:
                for w in [right.weak] if right.weak is not None else [False, True]:
                    found = arrays.promote(Array(a, (), v), Array(b, (), w))
                    assert dtype in (None, found[0])
                    assert weak in (None, found[1])


@given(SHAPES, SHAPES)
def test_broadcasting_does_not_depend_on_order(
    left: tuple[int | str | None, ...], right: tuple[int | str | None, ...]
) -> None:
    assert arrays.broadcast(left, right) == arrays.broadcast(right, left)


@given(SHAPES, SHAPES, st.fixed_dictionaries({"a": st.integers(1, 3), "b": st.integers(1, 3)}), st.data())
def test_broadcasting_holds_for_any_sizes(
    left: tuple[int | str | None, ...],
    right: tuple[int | str | None, ...],
    sizes: dict[str, int],
    data: st.DataObject,
) -> None:
    def concrete(shape: tuple[int | str | None, ...]) -> tuple[int, ...]:
        return tuple(
            data.draw(st.integers(1, 3)) if dim is None else sizes[dim] if isinstance(dim, str) else dim
            for dim in shape
        )

    real = arrays.broadcast(concrete(left), concrete(right))
    claim = arrays.broadcast(left, right)
    if real is not None and claim is not None:
        assert len(claim) == len(real)
        for dim, actual in zip(claim, real, strict=True):
            assert dim is None or (sizes[dim] if isinstance(dim, str) else dim) == actual
    if real is not None:
        assert claim is not None
