"""One version of the file, ready to be called: its module's globals, its world, and copies of arguments made for it."""

# mypy: disable-error-code="no-untyped-call,attr-defined"
# JAX has functions without annotations.

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np
from msgspec import Struct

from jaxlint.verify.compare_values import Captured, compare
from jaxlint.verify.jobs import Fault, Leaf, World
from jaxlint.verify.worker import execute
from jaxlint.verify.worker.capture import attributes, capture
from jaxlint.verify.worker.clone import Cloner, Twins, Uncopyable
from jaxlint.verify.worker.functions import Functions
from jaxlint.verify.worker.lenient import owning
from jaxlint.verify.worker.record import Call, Instance, find
from jaxlint.verify.worker.removed import Uses
from jaxlint.verify.worker.sharing import shared
from jaxlint.verify.worker.state import State
from jaxlint.verify.worker.worlds import inside


class Outcome(Struct, frozen=True):
    """What one call left behind: its result, arguments and globals afterwards, what it printed or raised."""

    values: Captured
    printed: str
    fault: Fault | None
    left: frozenset[str] = frozenset()  # globals that are no longer what the module's execution made them
    functions: tuple[str, ...] = ()  # those in the result, see `functions`
    tells: bool = False  # something came of it that can be compared
    shared: frozenset[tuple[str, str]] = frozenset()  # what is one object, see `sharing`
    removed: int = 0  # how often functions were called that were put back


# Makes a change of arrays anew for each call, so that both versions are given the same random numbers.
Vary = Callable[[], Callable[[Any], Any] | None]


class Side:
    """One version: its module's globals, its world, and copies of arguments made for it.

    `twins` are globals of modules from which arguments come, each with those of this version; the file's own are first.
    `enter` makes imports give the modules of this version.
    """

    def __init__(
        self, world: World, namespace: dict[str, Any], twins: Sequence[Twins], path: str, enter: Callable[[], None]
    ) -> None:
        self.world = world
        self.namespace = namespace
        self.clone = Cloner(*twins)
        self.path = path
        self.enter = enter
        self._state = State(namespace)
        self._uses = Uses()
        self._apart: frozenset[str] = frozenset()

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """What is called inside the block sees this version and its world."""
        self.enter()
        with inside(self.world, self._uses):
            yield

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

    def restore(self) -> None:
        """Undo what calls have changed in globals, as far as these are plain containers or bound anew."""
        self._state.restore()

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
        uses = self._uses.count
        if self.world is World.LENIENT and call.owned:
            function = owning(function)
        args: Any = ()
        kwargs: Any = {}
        with contextlib.redirect_stdout(io.StringIO()) as printed, self.active():
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
            one = shared(result, (args, kwargs)) if fault is None else frozenset[tuple[str, str]]()
            tells = bool(printed.getvalue() or left) or _tells(capture((result, functions.data)))
            tells = tells or (fault is None and self._has_changed(call, vary, (args, kwargs)))
        return Outcome(
            values,
            printed.getvalue(),
            fault,
            frozenset(left),
            tuple(functions.marks),
            tells,
            one,
            self._uses.count - uses,
        )

    def _has_changed(self, call: Call, vary: Vary, given: Any) -> bool:
        """Whether the arguments are no longer what they were before the call."""
        return compare(capture(self.fresh(call, vary())), capture(given)).level != "same"


def _tells(values: Captured) -> bool:
    """Whether there are texts or numbers, and not all of them NaN or infinite."""
    return any(_shows(leaf, values) for leaf in values.leaves)


def _shows(leaf: Leaf, values: Captured) -> bool:
    if leaf.path not in values.arrays:
        return leaf.kind == "text" and leaf.text != "None"
    numbers = values.numbers(leaf.path)
    return bool(numbers.size) and (numbers.dtype.kind not in "fc" or bool(np.isfinite(numbers).any()))
