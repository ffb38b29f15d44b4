"""The parameters that a function value still takes, and which of them a transform keeps static."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jaxlint.analysis.frames import Arguments
from jaxlint.analysis.values import Array, Bound, Closure, Items, Key, Many, Mapping, Scalar, Site, Transformed, Value
from jaxlint.program import nodes as n


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters in order, without those that are bound already; `function` is the project function behind them."""

    parameters: tuple[n.Parameter, ...]
    function: n.Function | None
    closure: Closure | None

    def positional(self) -> tuple[n.Parameter, ...]:
        """The parameters that take positional arguments."""
        return tuple(p for p in self.parameters if p.kind in ("positional", "positional-only"))

    def name_at(self, position: int) -> str | None:
        """The name of the parameter that a positional argument goes to."""
        found = self.positional()
        return found[position].name if position < len(found) else None

    def parameter(self, position: int | None, name: str | None) -> n.Parameter | None:
        """The parameter that an argument goes to."""
        if position is not None:
            name = self.name_at(position)
            if name is None:
                return next((p for p in self.parameters if p.kind == "*"), None)
        return next((p for p in self.parameters if p.name == name), None)

    @property
    def required(self) -> int:
        """How many positional arguments a call must give."""
        return sum(1 for p in self.positional() if p.default is None)

    @property
    def maximum(self) -> int | None:
        """How many positional arguments a call may give, None for any number."""
        return None if any(p.kind == "*" for p in self.parameters) else len(self.positional())

    def takes(self, count: int) -> bool:
        """Whether so many positional arguments make a call."""
        return self.required <= count and (self.maximum is None or count <= self.maximum)


def signature(function: Value) -> Signature | None:
    """What a function value takes, None where it is not a function of the project."""
    if isinstance(function, Closure):
        parameters = function.function.parameters
        if function.owner is not None and parameters and parameters[0].kind in ("positional", "positional-only"):
            parameters = parameters[1:]
        return Signature(parameters, function.function, function)
    if isinstance(function, Transformed):
        return signature(function.function)
    if isinstance(function, Bound):
        return _without_bound(function)
    return None


def _without_bound(function: Bound) -> Signature | None:
    inner = signature(function.function)
    if inner is None:
        return None
    dropped = {p.name for p in inner.positional()[: len(function.arguments)]}
    given = {name for name, _ in function.keywords}
    kept = []
    for parameter in inner.parameters:
        if parameter.name in dropped:
            continue
        if parameter.name in given:
            continue
        kept.append(parameter)
    return Signature(tuple(kept), inner.function, inner.closure)


@dataclass(frozen=True, slots=True)
class Statics:
    """The static parameters of a transform application, by position and by name."""

    positions: frozenset[int]
    names: frozenset[str]

    def holds(self, position: int | None, name: str | None) -> bool:
        """Whether an argument is static."""
        return (position is not None and position in self.positions) or (name is not None and name in self.names)

    def arguments(self, known: Signature | None, given: Arguments) -> Iterator[tuple[str | int, Value]]:
        """The static arguments of a call, by name where the name is known."""
        for position, value in enumerate(given.positional):
            name = known.name_at(position) if known is not None else None
            if self.holds(position, name):
                yield name if name is not None else position, value
        for name, value in given.keywords:
            if self.holds(None, name):
                yield name, value

    def traced(self, known: Signature, given: Arguments) -> Iterator[tuple[str, Value]]:
        """The arguments of a call that are not static, by the names of their parameters."""
        for position, value in enumerate(given.positional):
            name = known.name_at(position)
            if name is not None and not self.holds(position, name):
                yield name, value
        own = {parameter.name for parameter in known.parameters}
        for name, value in given.keywords:
            if name in own and not self.holds(None, name):
                yield name, value


def unhashable(value: Value) -> str | None:
    """What an unhashable value is, None for hashable and unknown ones."""
    if isinstance(value, Array):
        return None if value.host and value.shape == () else "an array"  # a NumPy scalar, most likely
    if isinstance(value, Key):
        return "a PRNG key"
    if isinstance(value, (Items, Many)) and value.kind in ("list", "set"):
        return f"a {value.kind}"
    return "a dict" if isinstance(value, Mapping) else None


def unknown_statics(site: Site, known: Signature | None) -> tuple[str, ...]:
    """The names in `static_argnames` that the function does not have; JAX raises for them at once."""
    given = site.option("static_argnames")
    if given is None or known is None or known.function is None or site.kind != "jit":
        return ()
    if any(p.kind == "**" for p in known.parameters):
        return ()
    names = {p.name for p in known.parameters if p.kind not in ("*", "positional-only")}
    return tuple(text for text in constants(given) or () if isinstance(text, str) and text not in names)


STATIC_NUMBERS = ("static_argnums", "static_broadcasted_argnums")


def static_parameters(site: Site, known: Signature | None) -> Statics | None:
    """The static arguments that the site's options name; None where the options are not constants."""
    positions: set[int] = set()
    names: set[str] = set()
    for option in STATIC_NUMBERS:
        given = site.option(option)
        numbers = constants(given) if given is not None else ()
        if numbers is None or not all(isinstance(number, int) for number in numbers):
            return None
        positions.update(number for number in numbers if isinstance(number, int))
    given = site.option("static_argnames")
    texts = constants(given) if given is not None else ()
    if texts is None or not all(isinstance(text, str) for text in texts):
        return None
    names.update(text for text in texts if isinstance(text, str))
    if known is not None:
        positions, names = _completed(known, positions, names)
    return Statics(frozenset(positions), frozenset(names))


def _completed(known: Signature, positions: set[int], names: set[str]) -> tuple[set[int], set[str]]:
    """JAX infers names from numbers and numbers from names."""
    count = len(known.positional())
    positions = {p + count if p < 0 else p for p in positions}
    by_number = {name for p in positions if (name := known.name_at(p)) is not None}
    by_name = {i for i, p in enumerate(known.positional()) if p.name in names}
    return positions | by_name, names | by_number


def constants(value: Value) -> tuple[object, ...] | None:
    """The constants that an int, string or a sequence of them holds; None where one is not known."""
    found = []
    for item in _flat(value):
        if not isinstance(item, Scalar) or not item.known:
            return None
        found.append(item.const)
    return tuple(item for item in found if item is not None)


def _flat(value: Value) -> Iterator[Value]:
    if isinstance(value, Items):
        yield from value.items
    else:
        yield value
