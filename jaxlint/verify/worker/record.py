"""Records the arguments with which the original program calls the functions of interest."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import jax
from msgspec import Struct, structs

from jaxlint.verify.compare_values import Captured
from jaxlint.verify.worker.capture import attributes, capture, is_code, is_tracer
from jaxlint.verify.worker.clone import Cloner, Uncopyable
from jaxlint.verify.worker.lenient import is_owned

_KEPT, _KEPT_RESULTS, _INSTANCES = 4, 32, 256


class Call(Struct, frozen=True):
    """The arguments of one call; `owned` when a transform makes it, which gives the function tracers of its own."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    source: str = "recorded"
    owned: bool = False
    label: str = ""  # how it is called in messages, where its source does not say enough
    init: Call | None = None  # for a method: how its instance was built
    tentative: bool = False  # it rests on a guess, so that a difference leaves the matter open
    refused: bool = False  # the original's own text raises an error for it


class Recorder:
    """Wraps the targets as they come into being and keeps copies of their arguments, from before each call."""

    def __init__(
        self, names: Collection[str], namespace: dict[str, Any], noted: Callable[[], None] = lambda: None
    ) -> None:
        self.calls: dict[str, list[Call]] = {name: [] for name in names}
        self.shapes: dict[str, list[Call]] = {name: [] for name in names}
        self.results: dict[str, list[Captured]] = {name: [] for name in names}  # of all calls, in their order
        self.reached: set[str] = set()
        self.active = True
        self._noted = noted  # called after each call that was kept
        self._built: dict[int, tuple[Any, Call]] = {}  # holds the instances, so that no id is used again
        self.namespace = namespace
        self._wrappers: dict[int, Any] = {}  # kept alive, so that no id is used again
        self._bound: dict[str, Any] = {}
        self._seen: dict[str, set[Any]] = {}

    def wrap_new(self, _: Any = None) -> None:
        """Wrap every target that the last statement has bound."""
        for name in self.calls:
            owner_name, _, method = name.rpartition(".")
            owner = self.namespace.get(owner_name) if owner_name else None
            if isinstance(owner, type):
                value = method_of(owner, method)
                if isinstance(value, types.FunctionType) and id(value) not in self._wrappers:
                    with contextlib.suppress(AttributeError, TypeError):
                        setattr(owner, method, self._function(name, value))
            elif not owner_name:
                value = self.namespace.get(name)
                if _recordable(value) and id(value) not in self._wrappers:
                    self._bound[name] = value
                    self.namespace[name] = self._wrapped(name, value)

    def _wrapped(self, name: str, value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            return self._function(name, value)
        proxy = _Proxy(self, name, value)
        self._wrappers[id(proxy)] = proxy
        return proxy

    def _function(self, name: str, value: Callable[..., Any]) -> Any:
        @functools.wraps(value)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            return self.called(name, value, args, kwargs)

        self._wrappers[id(recorded)] = recorded
        return recorded

    def init_of(self, instance: Any) -> Call | None:
        """How an instance was built, if that was recorded."""
        return self._built.get(id(instance), (None, None))[1]

    def add(self, calls: Mapping[str, Sequence[Call]], shapes: Mapping[str, Sequence[Call]]) -> None:
        """Take in calls that were recorded elsewhere."""
        for kept, more in ((self.calls, calls), (self.shapes, shapes)):
            for name, many in more.items():
                kept[name] += many

    def bound(self, name: str) -> Any:
        """The callable itself that the name stands for."""
        return self._bound.get(name, self.namespace.get(name))

    def called(self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function, and note the arguments from before it and the result."""
        is_bound = self.is_bound(name, function)  # else the name has since been bound to a wrapper of this one
        if is_bound:
            self.note(name, args, kwargs)
        result = function(*args, **kwargs)
        if is_bound and self.active and len(self.results[name]) < _KEPT_RESULTS:
            self._note_result(name, result)
        return result

    def _note_result(self, name: str, result: Any) -> None:
        if not any(map(is_tracer, jax.tree_util.tree_leaves(result))):
            with contextlib.suppress(Exception):  # what cannot be read is no evidence
                self.results[name].append(capture(result))

    def is_full(self, name: str) -> bool:
        """Whether no more calls of it are kept."""
        return len(self.calls[name]) >= _KEPT

    def is_bound(self, name: str, value: Any) -> bool:
        """Whether the name still stands for this callable."""
        return self._bound.get(name, value) is value

    def note(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Keep a copy of these arguments, or of their shapes when they are tracers."""
        if name.endswith(".__init__"):
            self._note_init(args, kwargs)
        if not self.active:
            return
        self.reached.add(name)
        self.active = False  # copying must not record
        try:
            leaves = jax.tree_util.tree_leaves((args, kwargs))
            kept = self.shapes if any(map(is_tracer, leaves)) else self.calls
            form = _form(args, kwargs)
            seen = self._seen.setdefault(name, set())
            if len(kept[name]) >= _KEPT or form in seen:
                return
            if kept is self.shapes:
                args, kwargs = jax.tree_util.tree_map(_shape, (args, kwargs))
            clone = Cloner()
            init = self.init_of(args[0]) if args else None
            owned = kept is self.shapes or any(map(is_owned, leaves))
            kept[name].append(Call(clone(args), clone(kwargs), owned=owned, init=init))
            seen.add(form)
        except (Uncopyable, TypeError, ValueError):
            return
        finally:
            self.active = True
        self._noted()

    def _note_init(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        clone = Cloner()
        with contextlib.suppress(Uncopyable, TypeError, ValueError):
            self._built[id(args[0])] = args[0], Call(clone(args[1:]), clone(kwargs))
            while len(self._built) > _INSTANCES:
                self._built.pop(next(iter(self._built)))


def on_new_instances(owner: str, call: Call, init: Call) -> Iterator[Call]:
    """The call of a method, on instances that each version builds itself: as they are built, and with later data."""
    for data in ({}, _data(call.args[0])):
        yield structs.replace(call, args=(Instance(owner, init, data), *call.args[1:]))


class Instance(Struct, frozen=True):
    """Stands for `self` where the two versions build their instances differently: how it is built, and its data."""

    owner: str
    init: Call
    data: dict[str, Any]


class _Proxy:
    """Stands in for a callable that is no plain function, such as a jitted one."""

    def __init__(self, recorder: Recorder, name: str, value: Any) -> None:
        self._jaxlint_recorder, self._jaxlint_name, self._jaxlint_original = recorder, name, value
        self.__wrapped__ = value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._jaxlint_recorder.called(self._jaxlint_name, self._jaxlint_original, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jaxlint_original, name)


@dataclasses.dataclass(frozen=True, slots=True)  # arguments that hold it are copied, which a Struct forbids
class Shape:
    """What is known of an array that was only seen as a tracer."""

    shape: tuple[int, ...]
    dtype: Any
    weak: bool


def _shape(leaf: Any) -> Any:
    if is_tracer(leaf):
        return Shape(tuple(leaf.shape), leaf.dtype, bool(getattr(leaf, "weak_type", False)))
    return leaf


def _data(instance: Any) -> dict[str, Any]:
    return {name: value for name, value in attributes(instance).items() if not is_code(value)}


def _form(args: Any, kwargs: Any) -> Any:
    """Calls of the same form are recorded once: structure, shapes and types, and the values of what is no array."""
    leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
    parts = [
        (tuple(x.shape), str(x.dtype), is_tracer(x)) if hasattr(x, "dtype") else (type(x), repr(x)[:80]) for x in leaves
    ]
    return str(tree), repr(parts)


def method_of(owner: type, name: str) -> Any:
    """What a class itself holds under a name; the function, where a descriptor of a library's stands around it."""
    value = vars(owner).get(name)
    if value is None or callable(value) or isinstance(value, (property, classmethod)) or not hasattr(value, "__get__"):
        return value
    with contextlib.suppress(Exception):
        function = value.__get__(None, owner)
        return function if isinstance(function, types.FunctionType) else value
    return value


def find(namespace: Mapping[str, Any], name: str) -> Any:
    """The callable of this name in a module's globals; for a method, the function that takes the instance first."""
    value: Any = namespace.get(name.split(".")[0])
    for part in name.split(".")[1:]:
        value = method_of(value, part) if isinstance(value, type) else None
    return value


def _recordable(value: Any) -> bool:
    """Functions, and what JAX or another library has made of one."""
    if isinstance(value, (types.FunctionType, functools.partial)):
        return True
    if not callable(value) or isinstance(value, (type, _Proxy)):
        return False
    made = type(value).__module__.partition(".")[0] in ("jax", "jaxlib")
    return made or isinstance(getattr(value, "__wrapped__", None), types.FunctionType)
