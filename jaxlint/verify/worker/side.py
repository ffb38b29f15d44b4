"""One version of the file, ready to be called: its module's globals, its world, and copies of arguments made for it."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations.

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from typing import Any

import jax
from msgspec import Struct

from jaxlint.verify.compare_values import Captured, compare
from jaxlint.verify.jobs import Fault, World
from jaxlint.verify.worker import execute
from jaxlint.verify.worker.capture import attributes, capture
from jaxlint.verify.worker.clone import Cloner, Uncopyable
from jaxlint.verify.worker.functions import Functions
from jaxlint.verify.worker.record import Call, Instance, method_of
from jaxlint.verify.worker.state import State
from jaxlint.verify.worker.worlds import inside


def find(namespace: Mapping[str, Any], name: str) -> Any:
    """The callable of this name in a module's globals; for a method, the function that takes the instance first."""
    value: Any = namespace.get(name.split(".")[0])
    for part in name.split(".")[1:]:
        value = method_of(value, part) if isinstance(value, type) else None
    return value


class Outcome(Struct, frozen=True):
    """What one call left behind: its result, arguments and globals afterwards, what it printed or raised."""

    values: Captured
    printed: str
    fault: Fault | None
    left: frozenset[str] = frozenset()  # globals that are no longer what the module's execution made them
    functions: tuple[str, ...] = ()  # those in the result, see `functions`


# Makes a change of arrays anew for each call, so that both versions are given the same random numbers.
Vary = Callable[[], Callable[[Any], Any] | None]


class Side:
    """One version: its module's globals, its world, and copies of arguments made for it."""

    def __init__(self, world: World, namespace: dict[str, Any], source: dict[str, Any], path: str) -> None:
        self.world = world
        self.namespace = namespace
        self.clone = Cloner(source, namespace)
        self.path = path
        self._state = State(namespace)
        self._apart: frozenset[str] = frozenset()

    def function(self, name: str) -> Any:
        """The callable of this name; for a method, the function that takes the instance first."""
        return find(self.namespace, name)

    def fresh(self, call: Call, change: Callable[[Any], Any] | None = None) -> tuple[Any, Any]:
        """Fresh copies of the arguments."""
        first = call.args[0] if call.args else None
        if not isinstance(first, Instance):
            args, kwargs = self.clone((call.args, call.kwargs), change)
            return args, kwargs
        args, kwargs, data = self.clone((call.args[1:], call.kwargs, first.data), change)
        init_args, init_kwargs = self.clone((first.init.args, first.init.kwargs))
        instance = self.namespace[first.owner](*init_args, **init_kwargs)
        for name in data.keys() & attributes(instance).keys():
            object.__setattr__(instance, name, data[name])
        return (instance, *args), kwargs

    def settle(self, other: Side) -> None:
        """What has changed until now is no longer told; what has become unequal on the two sides never is again."""
        changed = self._state.changed().keys() | other._state.changed().keys()
        values = [{name: side.namespace.get(name) for name in changed} for side in (self, other)]
        apart = frozenset(name for name in changed if compare(*(capture(v[name]) for v in values)).level != "same")
        for side in (self, other):
            side._state, side._apart = State(side.namespace), side._apart | apart

    def call(self, name: str, call: Call, vary: Vary) -> Outcome:
        """One call with fresh copies."""
        function, fault, result = self.function(name), None, None
        args: Any = ()
        kwargs: Any = {}
        with contextlib.redirect_stdout(io.StringIO()) as printed, inside(self.world):
            try:
                args, kwargs = self.fresh(call, vary())
                result = jax.block_until_ready(function(*args, **kwargs))
            except Uncopyable:
                raise
            except Exception as error:
                fault = execute.fault_of(error, self.path)
            with contextlib.suppress(Exception):
                jax.effects_barrier()
            left = {name: value for name, value in self._state.changed().items() if name not in self._apart}
            functions = Functions(result, self.namespace)
            found = {"result": result, "arguments": (args, kwargs), "globals": left, "held": functions.data}
            values = capture(found) if fault is None else Captured((), {})
        return Outcome(values, printed.getvalue(), fault, frozenset(left), tuple(functions.marks))
