"""Makes up arguments for a function that nobody calls: plans for its parameters, a search, and the values."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from msgspec import Struct, structs

from jaxlint.verify.worker.planner import Planner
from jaxlint.verify.worker.plans import LIKELY, Array, Given, Made, Real, Seed, Size, mapped, written
from jaxlint.verify.worker.record import Call, Shape, find
from jaxlint.verify.worker.search import Accepts, NotFound, Question, Refused, found
from jaxlint.verify.worker.usage import uses
from jaxlint.verify.worker.use import Use


class Planned(Struct, frozen=True):
    """The parameters that must be given, a plan for each, and plans for those that need not be given."""

    name: str
    needed: list[inspect.Parameter]
    plans: list[Any]
    defaults: list[tuple[str, list[Any]]]


def arguments(
    planned: Planned, before: Accepts, after: Accepts, seed: int = 0, *, strict: bool = True, path: str = ""
) -> list[Call]:
    """Arguments that both versions of a function or method take, the likeliest first; then some that are refused.

    `path` is that of the text whose refusals count. NotFound where there are none; when `strict`, Refused where the
    fixed version does not take what the original takes.
    """
    names = ", ".join(parameter.name for parameter in planned.needed)
    question = Question(
        names,
        planned.plans,
        planned.defaults,
        lambda plans, named: _call(planned.needed, plans, named, seed),
        strict,
        path,
    )
    try:
        return found(question, before, after)
    except Refused:
        raise
    except NotFound:
        fewer = _with_fewer(planned)
        if fewer is not None:
            return arguments(fewer, before, after, seed, strict=strict, path=path)
        if planned.needed:
            raise
        return [Call((), {}, "synthesised")]


def from_shapes(call: Call, seed: int = 0) -> Call:
    """Concrete arguments of the shapes with which the function was seen under a transform."""
    rng = np.random.default_rng(seed)

    def fill(leaf: Any) -> Any:
        return filled(leaf, rng) if isinstance(leaf, Shape) else leaf

    args, kwargs = jax.tree_util.tree_map(fill, (call.args, call.kwargs), is_leaf=lambda x: isinstance(x, Shape))
    return Call(args, kwargs, "recorded shapes", owned=True)


def example_of(planned: Planned, also: str = "") -> str:
    """A call with likely arguments, as it is written in an example comment; for a method, with an instance.

    `also` is a parameter with a default that is given as well.
    """
    owner, _, method = planned.name.rpartition(".")
    texts = [
        f"{one.name}={written(plan)}" if one.kind is one.KEYWORD_ONLY else written(plan)
        for one, plan in zip(planned.needed, planned.plans, strict=True)
    ]
    texts += [f"{name}={written(options[0])}" for name, options in planned.defaults if name == also and options]
    if owner and planned.plans and isinstance(planned.plans[0], Made):
        return f"{texts[0]}.{method}({', '.join(texts[1:])})"
    return f"{planned.name}({', '.join(texts)})"


def planned(name: str, namespace: Mapping[str, Any], compared: Mapping[str, Use] | None = None) -> Planned:
    """What the function or method of this name is likely called with; `compared` are uses in another version of it.

    NotFound when its parameters cannot be read, or nothing tells how an instance is built.
    """
    function, owner = find(namespace, name), namespace.get(name.rpartition(".")[0])
    parameters = _parameters(function)
    planner, used = Planner(namespace), uses(function, namespace)
    for parameter, use in (compared or {}).items():
        used.setdefault(parameter, Use()).texts.extend(use.texts)
    needed = [one for one in parameters if one.default is one.empty]
    needed += [one for one in needed if one.kind is one.VAR_POSITIONAL]  # two of those of any number
    plans = [planner.parameter(one, used.get(one.name, Use())) for one in needed]
    if isinstance(owner, type) and needed and not isinstance(vars(owner).get(name.rpartition(".")[2]), staticmethod):
        plans[0] = planner.instance(owner)
        if plans[0] is None:
            raise NotFound(f"nothing tells how a {owner.__name__} is built")
    optional = [one for one in parameters if one.default is not one.empty and one.kind is not one.POSITIONAL_ONLY]
    defaults = [(one.name, planner.otherwise(one, used.get(one.name, Use()))) for one in optional]
    return Planned(name, needed, plans, defaults)


def optional(function: Any) -> set[str]:
    """The names of parameters that need not be given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return set()
    return {one.name for one in parameters if one.default is not one.empty or one.kind is one.VAR_KEYWORD}


def names_given(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> set[str]:
    """The names of parameters that a call gives, by name or by place."""
    try:
        return {*inspect.signature(function).bind(*args, **kwargs).arguments, *kwargs}
    except (TypeError, ValueError):
        return set(kwargs)


def _with_fewer(planned: Planned) -> Planned | None:
    """With one of the arguments of any number; None where it is so already."""
    many = [place for place, one in enumerate(planned.needed) if one.kind is one.VAR_POSITIONAL]
    if len(many) < 2:
        return None
    needed, plans = list(planned.needed), list(planned.plans)
    del needed[many[-1]], plans[many[-1]]
    return structs.replace(planned, needed=needed, plans=plans)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Its parameters, and one for those that take any number. NotFound when they cannot be read."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise NotFound("its parameters cannot be read") from error
    return [one for one in parameters if one.kind is not one.VAR_KEYWORD]


# ---- values -----------------------------------------------------------------------------------------------------


def filled(shape: Shape, rng: np.random.Generator) -> Any:
    """An array of this shape and type; random numbers, small ones where they are integers."""
    if jnp.issubdtype(shape.dtype, jax.dtypes.prng_key):
        one = jax.random.key(int(rng.integers(1 << 30)))
        return jax.random.split(one, shape.shape) if shape.shape else one
    kind = np.dtype(shape.dtype).kind
    numbers: Any
    if kind == "b":
        numbers = rng.random(shape.shape) < 0.5
    elif shape.dtype == np.uint32:
        numbers = rng.integers(0, 1 << 32, shape.shape, dtype=np.uint32)
    elif kind in "iu":
        numbers = rng.integers(0, 4, shape.shape)
    else:
        numbers = rng.standard_normal(shape.shape)
    if shape.weak and not shape.shape and kind in "ifb":
        return jnp.asarray(numbers.item() if hasattr(numbers, "item") else numbers)
    return jnp.asarray(numbers, shape.dtype)


def _call(needed: Sequence[inspect.Parameter], plans: list[Any], named: Mapping[str, Any], seed: int) -> Call:
    """The call of filled plans. Raises what classes raise that do not take what they are given."""
    places = itertools.count()

    def built(plan: Any) -> Any:
        return mapped(plan, lambda part: _value(part, next(places), seed), build=True)

    first, init = plans[0] if plans else None, None
    if isinstance(first, Made) and needed[0].name == "self":
        init = Call(tuple(map(built, first.args)), {name: built(part) for name, part in first.kwargs.items()})
        values = [first.kind(*init.args, **init.kwargs), *map(built, plans[1:])]
    else:
        values = [*map(built, plans)]
    pairs = list(zip(needed, values, strict=True))
    kwargs = {one.name: value for one, value in pairs if one.kind is one.KEYWORD_ONLY}
    kwargs |= {name: built(plan) for name, plan in named.items()}
    return Call(tuple(v for one, v in pairs if one.kind is not one.KEYWORD_ONLY), kwargs, "synthesised", init=init)


def _value(part: Any, place: int, seed: int) -> Any:
    """The value of an open part; no two places have the same one."""
    match part:
        case Array(kind="e"):
            return _at_edges(part, place)
        case Array():
            made = _array(part, place, np.random.default_rng([seed, place]))
            return np.array(made) if part.numpy else made
        case Real():
            return 0.5 + 0.07 * place
        case Seed():
            return seed + place
        case Size() | Given():
            return part.value
    return part


def _shape(wanted: Array) -> tuple[int, ...]:
    sizes = (*wanted.sizes, *[None] * (wanted.rank or 0))[: wanted.rank or 0]
    return tuple(size or LIKELY for size in sizes)


def _at_edges(wanted: Array, place: int) -> Any:
    """The integers at which something may change, one after the other, among small ones."""
    shape = _shape(wanted)
    numbers = np.resize([number for edge in wanted.edges for number in (edge, place % 3)], shape)
    return np.array(numbers, np.int32) if wanted.numpy else jnp.asarray(numbers, jnp.int32)


def _array(wanted: Array, place: int, rng: np.random.Generator) -> Any:
    shape = _shape(wanted)
    if wanted.kind == "k":
        one = jax.random.PRNGKey(int(rng.integers(1 << 30)))
        return jax.random.split(one, shape) if shape else one
    if wanted.kind in "iw":
        low, high = (1, LIKELY) if wanted.kind == "i" else (-LIKELY, 3 * LIKELY)
        return jnp.asarray(rng.integers(low, high, shape) if shape else (5 if low < 0 else place % 3 + 1), jnp.int32)
    if wanted.kind == "b":
        return jnp.asarray(rng.random(shape) < 0.5)
    numbers = rng.standard_normal(shape)
    if wanted.kind == "c":
        return jnp.asarray(numbers + 1j * rng.standard_normal(shape), jnp.complex64)
    return jnp.asarray(numbers, jnp.float16 if wanted.kind == "h" else jnp.float32)


# ---- acceptance -------------------------------------------------------------------------------------------------


def refusal(function: Callable[..., Any], args: Any, kwargs: Any) -> Exception | None:
    """What the call raises: by shapes alone, or where the function needs values, when it is made; None for nothing."""
    leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]

    def run(*arrays: Any) -> None:
        given = list(leaves)
        for place, array in zip(places, arrays, strict=True):
            given[place] = array
        args, kwargs = jax.tree_util.tree_unflatten(tree, given)
        function(*args, **kwargs)

    try:
        jax.eval_shape(run, *[leaves[place] for place in places])
        return None
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError):
        pass
    except Exception as error:
        if len(places) == len(leaves) and "Tracer" not in str(error):  # else it may mind that these are tracers
            return error
    try:
        function(*args, **kwargs)
        return None
    except Exception as error:
        return error
