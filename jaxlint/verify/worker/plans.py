"""Plans of values: arrays whose ranks and sizes may be open, in pytrees and objects that are built at last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

LIKELY = 4
"""The size that all axes have until it is known which of them may differ."""

_PRINTED = (8, 3, 2, 2, 2, 2)
_WORDS = {"f": "f32", "h": "f16", "i": "i32", "w": "i32", "b": "bool", "c": "c64", "k": "key"}


class Array(Struct, frozen=True):
    """An array; the rank is None where nothing is known of it but that it is `least` at least.

    `kind` is f for float32, h for float16, i for small integers, w for integers that may be negative or large, e for
    those of `edges`, at which something may change, b for booleans, c for complex numbers and k for keys. `sizes` holds
    None for each size that is not known, and `kinds` other kinds that it may well be of.
    """

    rank: int | None = None
    kind: str = "f"
    least: int = 0
    sizes: tuple[int | None, ...] = ()
    edges: tuple[int, ...] = ()
    kinds: str = ""
    numpy: bool = False  # one of NumPy, which can be changed in place


class Size(Struct, frozen=True):
    """A Python integer that is most likely a size or a count; `edges` are others at which something may change."""

    value: int
    edges: tuple[int, ...] = ()


class Real(Struct, frozen=True):
    """A Python float, each another one."""


class Seed(Struct, frozen=True):
    """A Python integer, each another one, to which no size is tied."""


class Given(Struct, frozen=True):
    """A value that stands for itself, and how it is written."""

    value: Any
    text: str


class OneOf(Struct, frozen=True):
    """Plans of which any may be meant, the likeliest first; all are `certain` to be where an annotation says so."""

    options: tuple[Any, ...]
    certain: bool = False


class Made(Struct, frozen=True):
    """An object of a class, or what a function returns, from plans for what it is called with."""

    kind: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    prefix: str = ""  # of the module that it is written with


OPEN = (Array, Size, Real, Seed, Given, OneOf)


def mapped(plan: Any, change: Callable[[Any], Any], build: bool = False) -> Any:
    """The plan with its open parts changed; with `build` the value itself, for which classes are called."""
    match plan:
        case Made():
            args = tuple(mapped(part, change, build) for part in plan.args)
            kwargs = {name: mapped(part, change, build) for name, part in plan.kwargs.items()}
            return plan.kind(*args, **kwargs) if build else Made(plan.kind, args, kwargs, plan.prefix)
        case dict():
            return {key: mapped(part, change, build) for key, part in plan.items()}
        case list() | tuple() if type(plan) in (list, tuple):
            return type(plan)(mapped(part, change, build) for part in plan)
    return change(plan) if isinstance(plan, OPEN) else plan


def parts(plan: Any) -> list[Any]:
    """The open parts of a plan in their order."""
    match plan:
        case Made():
            return [part for inner in (*plan.args, *plan.kwargs.values()) for part in parts(inner)]
        case dict():
            return [part for inner in plan.values() for part in parts(inner)]
        case list() | tuple() if type(plan) in (list, tuple):
            return [part for inner in plan for part in parts(inner)]
    return [plan] if isinstance(plan, OPEN) else []


def written(plan: Any) -> str:
    """A plan as an example says it."""
    match plan:
        case Array(rank=0, kind="i"):
            return "3"
        case Array():
            return _written_array(plan)
        case Size(value=value):
            return str(value)
        case Real():
            return "0.5"
        case Seed():
            return "0"
        case Given():
            return plan.text
        case OneOf():
            return written(plan.options[0])
        case Made():
            named = [f"{name}={written(part)}" for name, part in plan.kwargs.items()]
            return f"{plan.prefix}{plan.kind.__name__}({', '.join([*map(written, plan.args), *named])})"
        case dict():
            return "{" + ", ".join(f"{key!r}: {written(part)}" for key, part in plan.items()) + "}"
        case list():
            return f"[{', '.join(map(written, plan))}]"
        case tuple():
            return f"({', '.join(map(written, plan))}{',' if len(plan) == 1 else ''})"
    return repr(plan)


def _written_array(plan: Array) -> str:
    rank = max(2, plan.least) if plan.rank is None else plan.rank
    known = (*plan.sizes, *[None] * rank)[:rank]
    sizes = ",".join(str(size or likely) for size, likely in zip(known, _PRINTED + (2,) * rank, strict=False))
    return _WORDS[plan.kind] + (f"[{sizes}]" if sizes or plan.kind == "b" else "")
