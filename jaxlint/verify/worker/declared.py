"""Arguments that the user declares: examples in comments and factories of the configuration, evaluated here."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from jaxlint.verify.examples import COLLECT, DTYPES, KEY
from jaxlint.verify.jobs import Declared, Example, Target
from jaxlint.verify.worker.place import Place
from jaxlint.verify.worker.record import Call, Shape, find
from jaxlint.verify.worker.synthesise import filled

_MOST = 16

_FORM = "return a tuple of arguments, a pair (arguments, keyword arguments), or a list of such"
_Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class Declarations:
    """The declared calls of each target, evaluated in the module of the original, and what is wrong with others."""

    def __init__(
        self, declared: Declared, targets: Sequence[Target], place: Place, namespace: dict[str, Any], seed: int
    ) -> None:
        self.calls: dict[str, list[Call]] = {target.name: [] for target in targets}
        self._problems: list[str] = []
        self._namespace = namespace
        names = place.names(declared.root)
        with _importable(declared.root, names, namespace):
            for example in declared.examples:
                if example.name in self.calls:
                    made = _of_example(example, namespace, seed)
                    self._add(example.name, f"the example at line {example.line}", made)
            for factory in declared.factories:
                module, _, name = factory.name.partition(":")
                if module in names and name in self.calls:
                    self._add(name, f"the factory {factory.source}", _of_factory(factory.source))

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with what was declared for the targets."""
        return tuple(self._problems)

    def _add(self, name: str, label: str, made: Iterator[_Arguments]) -> None:
        """Take what can be called; a set that cannot ends it, with a problem."""
        function = find(self._namespace, name)
        try:
            if not callable(function):
                raise _Wrong(f"is for `{name}`, which is no function of the file")
            for number, (args, kwargs) in enumerate(made):
                which = f"{label}, set {number + 1}" if number else label
                args = _fitting(name, function, args, kwargs, self._namespace)
                self.calls[name].append(Call(args, kwargs, "declared", label=which))
        except _Wrong as error:
            self._problems.append(f"{label} {error}")
        except Exception as error:
            first = (str(error).strip().splitlines() or [""])[0]
            self._problems.append(f"{label} fails with {type(error).__name__}: {first}"[:300])


class _Wrong(Exception):
    """What was declared cannot be used; the message goes on from its label."""


@contextlib.contextmanager
def _importable(root: str, names: frozenset[str], namespace: dict[str, Any]) -> Iterator[None]:
    """Factories are found in the project's folder, and what they import of the file is the module at hand."""
    module = sys.modules.get(namespace["__name__"])
    other = {name: sys.modules.get(name) for name in names if module and name != module.__name__}
    sys.path.append(root or os.getcwd())
    sys.modules.update({name: module for name in other if module})
    try:
        yield
    finally:
        sys.path.pop()
        for name, old in other.items():
            sys.modules.pop(name, None)
            if old is not None:
                sys.modules[name] = old


# ---- examples ---------------------------------------------------------------------------------------------------


def _of_example(example: Example, namespace: Mapping[str, Any], seed: int) -> Iterator[_Arguments]:
    rng = np.random.default_rng([seed, example.line])
    words: dict[str, Any] = {word: _Arrays(_dtype(name), rng) for word, name in DTYPES.items()}
    words[KEY] = _Arrays(jax.random.key(0).dtype, rng)
    words[COLLECT] = lambda *args, **kwargs: (args, kwargs)
    words["__name__"] = "<example>"  # a function that the example writes belongs to neither version
    yield eval(compile(example.text, f"<example at line {example.line}>", "eval"), {**namespace, **words})


class _Arrays:
    """What a name of a type stands for: `f32[8, 3]` makes an array."""

    def __init__(self, dtype: Any, rng: np.random.Generator) -> None:
        self._dtype, self._rng = dtype, rng

    def __getitem__(self, shape: Any) -> Any:
        sizes = shape if isinstance(shape, tuple) else (shape,)
        return filled(Shape(tuple(map(int, sizes)), self._dtype, weak=False), self._rng)


def _dtype(name: str) -> Any:
    return jax.numpy.dtype(name)


def _fitting(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], namespace: Mapping[str, Any]
) -> tuple[Any, ...]:
    """The arguments; for a method without an instance, one more in front if the class can be called with nothing."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return args
    owner = name.rpartition(".")[0]
    try:
        signature.bind(*args, **kwargs)
        return args
    except TypeError as error:
        if not owner or not _binds(signature, (None, *args), kwargs):
            raise _Wrong(f"does not fit {name}{signature}: {error}") from None
    try:
        return (find(namespace, owner)(), *args)
    except Exception as error:
        advice = f"give the instance first, as in `{name}({owner}(...), ...)`"
        raise _Wrong(f"has no instance, and {owner}() fails with {type(error).__name__}: {advice}") from None


def _binds(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


# ---- factories --------------------------------------------------------------------------------------------------


def _of_factory(source: str) -> Iterator[_Arguments]:
    module, _, name = source.partition(":")
    factory: Any = importlib.import_module(module)
    for part in name.split("."):
        factory = getattr(factory, part)
    made = factory()
    many = [made] if isinstance(made, tuple) else made
    if not isinstance(many, (list, Iterator)):
        raise _Wrong(f"returned {_a(made)}: {_FORM}")
    found = False
    for value in itertools.islice(many, _MOST):
        yield _pair(value)
        found = True
    if not found:
        raise _Wrong(f"returned no arguments: {_FORM}")


def _pair(value: Any) -> _Arguments:
    if type(value) is not tuple:
        raise _Wrong(f"returned {_a(value)} where arguments should be: {_FORM}")
    match value:
        case (tuple() as args, dict() as kwargs) if type(args) is tuple and all(isinstance(k, str) for k in kwargs):
            return args, kwargs
    return value, {}


def _a(value: Any) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"
