"""From what is known of a parameter to the plan of its value: its annotation, its name, and what the body does with it.

Annotations that are texts are evaluated here, in the module that they stand in: in the verifier's processes only.
"""

from __future__ import annotations

import collections.abc
import contextlib
import enum
import inspect
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from msgspec import structs

from jaxlint.verify.worker import made_up
from jaxlint.verify.worker.plans import LIKELY, Array, Given, Made, OneOf, Real, Seed, Size
from jaxlint.verify.worker.usage import uses
from jaxlint.verify.worker.use import Use

_DEEPEST, _FEW, _MOST = 4, 2, 4
_LARGEST, _HUGE = 64, 2**30
_OF_LISTS = {"append", "extend", "insert", "pop"}
_KEYS = {"key", "rng", "prng", "prng_key", "rng_key", "seed_key", "subkey"}
_INDICES = {"idx", "index", "indices", "labels", "label", "tokens", "ids", "inds"}
_COUNTS = {"n", "num", "steps", "length", "size", "k", "depth", "iters", "rounds"}
_SCALARS = ("loss", "energy", "prob", "objective", "potential", "density")
_ARRAYS = {"Array", "ndarray", "ArrayLike", "ArrayImpl"}
_SEQUENCES = (list, tuple, collections.abc.Sequence, collections.abc.Iterable)
_MAPPINGS = (dict, collections.abc.Mapping)
_CALLABLES = (collections.abc.Callable, typing.Callable)


class Planner:
    """Makes plans with the classes of a module at hand."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace

    def parameter(self, parameter: inspect.Parameter, use: Use) -> Any:
        """The plan for a parameter that must be given."""
        return self._of(self._hint(parameter), parameter.name, use, 0)

    def otherwise(self, parameter: inspect.Parameter, use: Use) -> list[Any]:
        """Plans for a parameter in the place of its default, the likeliest first."""
        default, hint = parameter.default, self._hint(parameter)
        if default is None:
            plan = self._of(hint, parameter.name, use, 0)
            blind = isinstance(plan, Array) and plan.rank is None
            return (
                [Array(rank, plan.kind, plan.least) for rank in (2, 1, 0)] if blind else [*filter(None, _options(plan))]
            )
        if isinstance(default, bool):
            return [not default]
        if isinstance(default, int):
            return [_FEW, default + 1, *use.numbers] if default > 2 * _FEW else [default + 1, default - 1, *use.numbers]
        if isinstance(default, float):
            return [default * 1.5 + 0.25]
        if isinstance(default, tuple) and len(default) > 1:
            return [default[:1], default[::-1]]
        if isinstance(default, (str, enum.Enum)):
            plan = self._of(hint or type(default), parameter.name, use, 0)
            options = _options(plan)
            return [option for option in options if (option.value if isinstance(option, Given) else option) != default]
        if _is_dtype(default):
            types = (Given(kind, f"jnp.{np.dtype(kind).name}") for kind in (jnp.float16, jnp.int32, jnp.float32))
            return [one for one in types if np.dtype(one.value) != np.dtype(default)]
        return [OneOf(_functions(parameter.name, use))] if callable(default) else []

    def instance(self, kind: Any, depth: int = 0) -> Any:
        """The plan for an object of a class; None where its parameters cannot be read."""
        if depth > _DEEPEST:
            return None
        try:
            parameters = _signature(kind).parameters.values()
        except (TypeError, ValueError):
            return None
        needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        hints, used = _field_hints(kind), uses(getattr(kind, "__init__", None), self._namespace)
        hint_of = {p.name: self._resolved(hints.get(p.name, p.annotation)) for p in needed}
        plans = [(p, self._of(hint_of[p.name], p.name, used.get(p.name, Use()), depth + 1)) for p in needed]
        placed = tuple(plan for p, plan in plans if p.kind is not p.KEYWORD_ONLY)
        named = {p.name: plan for p, plan in plans if p.kind is p.KEYWORD_ONLY}
        return Made(kind, placed, named, self._prefix(kind))

    def _prefix(self, kind: Any) -> str:
        """What stands before the name of a class or function where the module names it."""
        if self._namespace.get(kind.__name__) is kind:
            return ""
        modules = {name: held for name, held in self._namespace.items() if isinstance(held, types.ModuleType)}
        owners = (f"{name}." for name, held in modules.items() if vars(held).get(kind.__name__) is kind)
        return next(owners, "")

    def _hint(self, parameter: inspect.Parameter) -> Any:
        return self._resolved(parameter.annotation)

    def _resolved(self, hint: Any) -> Any:
        """An annotation as a value; None where it tells nothing."""
        if isinstance(hint, str):
            with contextlib.suppress(Exception):
                return self._resolved(eval(hint, {**vars(typing), **self._namespace}))
            return None
        return None if hint in (None, inspect.Parameter.empty, Any, object) else hint

    def _of(self, hint: Any, name: str, use: Use, depth: int) -> Any:
        if depth > _DEEPEST:
            return Array()
        if use.texts and hint in (None, str):
            return OneOf((*use.texts, f"no {use.texts[0]}"))
        found = self._of_hint(hint, name, use, depth) if hint is not None else None
        if found is not None:
            return found
        for other in filter(None, map(self._resolved, use.annotations)):
            found = self._of_hint(other, name, use, depth)
            if found is not None and not isinstance(found, Array):
                return found
        return self._of_use(name, use, depth, hint is None)

    # ---- annotations --------------------------------------------------------------------------------------------

    def _of_hint(self, hint: Any, name: str, use: Use, depth: int) -> Any:
        if isinstance(hint, type) and hint in (bool, int, float, complex, str):
            return _plain(hint, name, use, depth)
        if hint is np.ndarray:
            plan = self._of_use(name, use, depth, bare=False)
            return structs.replace(plan, numpy=True) if isinstance(plan, Array) and plan.kind in "fi" else plan
        if getattr(hint, "dims", None) is not None:
            return _of_jaxtyping(hint)
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin is not None:
            return self._of_generic(origin, inner, name, use, depth)
        if hint in _MAPPINGS:
            return self._mapping(None, use, depth)
        if hint in _SEQUENCES:
            parts = use.parts or [use.items or Use()] * _FEW
            items = [self._of(None, name, part, depth + 1) for part in parts]
            return tuple(items) if hint is tuple else items
        if hint in _CALLABLES:
            return OneOf(_functions(name, use))
        return self._of_class(hint, depth) if isinstance(hint, type) else None

    def _of_generic(self, origin: Any, inner: tuple[Any, ...], name: str, use: Use, depth: int) -> Any:
        if origin is typing.Literal:
            return OneOf(inner, certain=True)
        if origin is typing.Annotated:
            return self._of(self._resolved(inner[0]), name, use, depth + 1)
        if origin in (typing.Union, types.UnionType):
            return self._any_of(inner, name, use, depth)
        if origin in _CALLABLES:
            return OneOf(_functions(name, use))
        if origin is tuple and inner and inner[-1] is not ...:
            each = zip(inner, use.unpacked(len(inner)), strict=True)
            return tuple(self._of(self._resolved(hint), name, part, depth + 1) for hint, part in each)
        if origin in _SEQUENCES:
            item = use.items or Use()
            items = [self._of(self._resolved(inner[0]), name, item, depth + 1) for _ in range(_FEW)]
            return tuple(items) if origin is tuple else items
        if origin in _MAPPINGS and len(inner) == 2:
            return self._mapping(self._resolved(inner[1]), use, depth)
        return self._of_class(origin, depth) if isinstance(origin, type) else None

    def _any_of(self, hints: tuple[Any, ...], name: str, use: Use, depth: int) -> Any:
        """One of several types, arrays first; None comes last."""
        kept = sorted((one for one in hints if one is not type(None)), key=lambda one: not _is_array(one))
        plans = [self._of(self._resolved(one), name, use, depth + 1) for one in kept]
        options = [option for plan in plans for option in _options(plan)]
        return OneOf((*options, *([None] if type(None) in hints else [])))

    def _mapping(self, hint: Any, use: Use, depth: int) -> dict[str, Any]:
        keys = use.keys or {"a": Use(), "b": Use()}
        return {key: self._of(hint, key, part, depth + 1) for key, part in keys.items()}

    def _of_class(self, kind: type, depth: int) -> Any:
        if _is_array(kind) or issubclass(kind, (jax.Array, np.ndarray)):
            return None
        if issubclass(kind, enum.Enum):
            return OneOf(tuple(Given(one, f"{kind.__name__}.{one.name}") for one in kind), certain=True)
        top = kind.__module__.partition(".")[0]
        if top == "flax" and kind.__name__ == "Rngs":
            return Made(kind, (Seed(),), {}, self._prefix(kind))
        if top == "optax" and kind.__name__.startswith("GradientTransformation"):
            return self._optimizer()
        return None if kind.__module__ == "builtins" else self.instance(kind, depth + 1)

    def _optimizer(self) -> OneOf:
        """One whose steps depend on the parameters too, and one that does without."""
        optax = sys.modules["optax"]
        decaying = Made(optax.adamw, (Real(),), {"weight_decay": Real()}, self._prefix(optax.adamw))
        return OneOf((decaying, Made(optax.adam, (Real(),), {}, self._prefix(optax.adam))))

    # ---- uses ---------------------------------------------------------------------------------------------------

    def _of_use(self, name: str, use: Use, depth: int, bare: bool) -> Any:
        if use.called and bare and not use.attributes:
            return OneOf(_functions(name, use))
        if use.keys:
            return {key: self._of(None, key, part, depth + 1) for key, part in use.keys.items()}
        if use.attributes or use.called:
            found = self._with_attributes(use, depth)
            if found is not None:
                return found
        found = self._container(name, use, depth) if bare else None
        return _of_name(name, use, depth, bare) if found is None else found

    def _container(self, name: str, use: Use, depth: int) -> Any:
        """A tuple, list or tree where the body takes the value for one."""
        if _OF_LISTS & use.attributes.keys():
            return [self._of(None, name, use.items or Use(), depth + 1) for _ in range(_FEW)]
        if use.parts and not use.least:
            return tuple(self._of(None, name, part, depth + 1) for part in use.parts)
        if use.items and (use.items.keys or use.items.parts or use.items.called):
            return [self._of(None, name, use.items, depth + 1) for _ in range(_FEW)]
        if use.items and (use.items.count or int in map(self._resolved, use.items.annotations)):
            return [Size(LIKELY), Size(LIKELY), Size(LIKELY)]
        if use.tree and use.rank is None and not use.least and not use.key:
            return {"a": Array(), "b": Array()}
        return None

    def _with_attributes(self, use: Use, depth: int) -> Any:
        """An object of a class of the module that has these attributes."""
        wanted = {*use.attributes, *(["__call__"] if use.called else [])}
        for kind in self._own_classes():
            if wanted <= {*dir(kind), *getattr(kind, "__annotations__", {}), *_set_by_init(kind)}:
                return self.instance(kind, depth + 1)
        return None

    def _own_classes(self) -> Iterator[type]:
        module = self._namespace.get("__name__")
        return (held for held in self._namespace.values() if isinstance(held, type) and held.__module__ == module)


def _options(plan: Any) -> list[Any]:
    return list(plan.options) if isinstance(plan, OneOf) else [plan]


def _is_array(hint: Any) -> bool:
    return getattr(hint, "__name__", "") in _ARRAYS


def _plain(kind: type, name: str, use: Use, depth: int) -> Any:
    """A plan for one of Python's own types."""
    if kind is bool:
        return OneOf((True, False), certain=True)
    if kind is int:
        return 0 if use.axis else Size(LIKELY if depth else _FEW, _edges(use))
    return {float: Real(), str: name, complex: 0.5 + 0.25j}[kind]


def _signature(kind: Any) -> inspect.Signature:
    """Of its constructor, where a metaclass would hide that."""
    init = getattr(kind, "__init__", object.__init__)
    if not isinstance(init, types.FunctionType):
        return inspect.signature(kind)
    signature = inspect.signature(init)
    return signature.replace(parameters=[*signature.parameters.values()][1:])


def _field_hints(kind: Any) -> dict[str, Any]:
    """The annotations of the fields of a class without a constructor of its own."""
    own = vars(kind) if isinstance(kind, type) else {}
    return {} if "__init__" in own else dict(own.get("__annotations__", {}))


def _set_by_init(kind: type) -> set[str]:
    """The names that a constructor sets, as its code tells."""
    code = getattr(inspect.unwrap(getattr(kind, "__init__", None) or type), "__code__", None)
    return set(code.co_names) if code else set()


def _functions(name: str, use: Use) -> tuple[Given, ...]:
    """Functions that may be meant, the likeliest first."""
    known = {
        "first": Given(made_up.like_the_first(name), "lambda x, *_: 2 * x"),
        "number": Given(made_up.number(name), "lambda x, *_: (x * x).sum()"),
        "last": Given(made_up.like_the_last(name), "lambda *args: args[-1]"),
        "carrying": Given(made_up.carrying(name), "lambda carry, x: (carry, x)"),
        "below": Given(made_up.below(name), "lambda x: x.sum() < 9"),
    }
    likeliest = use.returns or ("number" if any(word in name for word in _SCALARS) else "first")
    return (known[likeliest], *(one for returns, one in known.items() if returns != likeliest))


def _of_name(name: str, use: Use, depth: int, bare: bool) -> Any:
    if bare and use.axis:
        return 0
    if bare and use.count:
        return Size(LIKELY if depth else _FEW, _edges(use))
    low = name.lower()
    if use.key or low in _KEYS or low.endswith(("_key", "_rng")):
        return Array(0, "k")
    if bare and low in ("keys", "rngs"):
        return Array(1, "k")
    counts = name in _COUNTS or name.startswith(("n_", "num_"))
    if bare and counts and not use.dims and not use.rank and not use.least:
        return Size(LIKELY) if depth else OneOf((Array(0, "i"), Size(_FEW)))
    rank = len(use.dims) if use.dims else use.rank
    kind = "i" if low in _INDICES or use.index else "f"
    return Array(rank, kind, use.least, edges=_edges(use), kinds="c" if use.is_complex else "")


def _edges(use: Use) -> tuple[int, ...]:
    """The numbers that it is compared with; a large count would take too long."""
    return tuple(
        sorted({number for number in use.numbers if abs(number) <= (_LARGEST if use.count else _HUGE)})[:_MOST]
    )


def _is_dtype(value: Any) -> bool:
    is_type = isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic))
    return is_type or (isinstance(getattr(value, "dtype", None), np.dtype) and callable(value))


def _of_jaxtyping(hint: Any) -> Array:
    kinds = {str(dtype)[:3] for dtype in getattr(hint, "dtypes", ()) or ()}
    sizes = tuple(getattr(dim, "size", None) if type(dim).__name__ == "_FixedDim" else None for dim in hint.dims)
    if "key" in kinds or "prn" in kinds:
        return Array(max(len(sizes) - ("uin" in kinds), 0), "k")
    kind = "i" if kinds and kinds <= {"int", "uin"} else "b" if kinds == {"boo"} else "f"
    return Array(len(sizes), kind, sizes=sizes)
