"""The listener: turns JAX's monitoring events into lines of JSON, one for each thing that is new.

A line is an object with `type`: `start`, `function`, `argument`, `settings`, `call` or `event`. The first four are
written once and referred to by number.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

from .functions import described, layers, parameters, primitive_of
from .loops import PRIMITIVES, Loop, loop
from .stack import Entry, Places, closed_over, entry, inside_jax, is_lowering_ahead, site
from .values import Describer, Identities, leaf

KINDS = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
}
_LEAVES = 5000
_RUNNING = 16
_OPTIONS = (
    "static_argnums",
    "static_argnames",
    "donate_argnums",
    "donate_argnames",
    "keep_unused",
    "inline",
    "backend",
)


class Recorder:
    """Writes to a file, line by line, so that a program that dies has told what it did until then."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._thread = threading.local()
        self._numbers: dict[str, int] = {}
        self._objects = Identities(equal=False)
        self._describe = Describer()
        self._calls = 0
        self._ahead: dict[str, int] = {}
        self._failed = False
        self._folder = os.getcwd()
        self.main = ""
        self._places: Places | None = None

    def write(self, record: dict[str, Any]) -> None:
        """Append one line. The file is opened anew, for a program may close what it did not open."""
        with open(self._path, "ab") as file:
            file.write(json.dumps(record).encode() + b"\n")

    def heard(self, event: str, duration: float, **told: Any) -> None:
        """What JAX calls. It never raises, and never hears of itself."""
        kind = KINDS.get(event)
        if kind is None or getattr(self._thread, "busy", False) or os.getpid() != self._process:
            return
        self._thread.busy = True
        began = time.time()
        try:
            with self._lock:
                self._record(kind, duration, began, str(told.get("fun_name", "")))
        except Exception as error:
            self._fail(error)
        finally:
            self._thread.busy = False
            self._spent().append((began, time.time() - began))

    def _fail(self, error: Exception) -> None:
        if not self._failed:
            self._failed = True
            try:
                self.write({"type": "trouble", "text": f"{type(error).__name__}: {error}"})
            except Exception:
                self._process = -1  # the file cannot be written: say nothing more

    def _spent(self) -> list[tuple[float, float]]:
        if not hasattr(self._thread, "spent"):
            self._thread.spent = []
        spent: list[tuple[float, float]] = self._thread.spent
        return spent

    def _own_time(self, kind: str, duration: float, now: float) -> float:
        """The duration without what was lowered and compiled in it, such as the constants of a traced function."""
        spent, inner = self._spent(), 0.0
        while spent and spent[-1][0] >= now - duration:
            inner += spent.pop()[1]
        if kind != "trace":
            spent.append((now - duration, duration))
        elif inner:
            spent.append((now - duration, inner))
        return max(duration - inner, 0.0)

    def _record(self, kind: str, duration: float, now: float, name: str) -> None:
        if self._places is None:
            self._places = Places(self.main, self._folder)
            self.write({"type": "start", "jax": str(getattr(sys.modules.get("jax"), "__version__", ""))})
        places = self._places
        here = sys._getframe(2)
        seconds = self._own_time(kind, duration, now)
        stack = list(inside_jax(here, places))
        found = entry(stack)
        call = self._call(kind, found, stack, here, places) if found else self._compiled_ahead(kind, stack)
        told: dict[str, Any] = {"type": "event", "kind": kind, "call": call, "seconds": seconds}
        if kind == "compile":
            told["platform"] = _platform()
        if call is None:
            told.update(name=name or _name(stack), site=site(here, places))
        self.write(told)

    def _compiled_ahead(self, kind: str, stack: list[Any]) -> int | None:
        """The call of `.trace` or `.lower` that this belongs to; with `.compile` it shares nothing but the name."""
        if not is_lowering_ahead(stack):
            return None
        return self._ahead.get(_name(stack)) if kind == "compile" else getattr(self._thread, "ahead", None)

    def _call(self, kind: str, found: Entry, stack: list[Any], here: Any, places: Places) -> int:
        around = loop(stack, self._is_ours) if primitive_of(found.function) in PRIMITIVES else None
        frame = around.identity if around else found.identity
        running = self._running()
        last = running.get(frame)
        if last and kind == "compile":
            return last[1]
        record = self._looped(around, places) if around else self._jitted(found, places)
        record["settings"] = self._number("settings", {"values": _settings()})
        record["site"] = site(here, places)
        key = json.dumps(record)
        if last and kind != "trace" and last[0] == key:
            return last[1]
        self._calls += 1
        running[frame] = key, self._calls
        if len(running) > _RUNNING:
            del running[next(iter(running))]
        self.write({"type": "call", "id": self._calls, **record})
        if found.ahead:
            self._ahead[f"jit({getattr(found.function, '__name__', '')})"] = self._thread.ahead = self._calls
        return self._calls

    def _running(self) -> dict[int, tuple[str, int]]:
        """The latest calls of this thread by their frame. Frames may come again: then the call differs."""
        if not hasattr(self._thread, "running"):
            self._thread.running = {}
        running: dict[int, tuple[str, int]] = self._thread.running
        return running

    def _is_ours(self, function: Any) -> bool:
        assert self._places
        code = list(layers(function))[-1][1]
        return code is not None and not self._places.is_jax(code.co_filename)

    def _jitted(self, found: Entry, places: Places) -> dict[str, Any]:
        names = parameters(found.function, len(found.args))
        statics = {number + len(found.args) if number < 0 else number for number in found.static_numbers}
        arguments: list[int] = []
        kinds: set[str] = set()
        for number, (name, value) in enumerate(zip(names, found.args, strict=True)):
            arguments.append(self._argument(name, value, kinds, static=number in statics))
        for name, value in found.kwargs.items():
            static = name in found.static_names
            arguments.append(self._argument(name, value, kinds, static=static, keyword=True))
        arguments += [self._argument(name, value, kinds, static=True) for name, value in _fixed(found.function)]
        return {
            "function": self._number("function", {"kind": "jit", **described(found.function, places)}),
            "objects": [self._objects.number(found.function)],
            "arguments": arguments,
            "under": sorted(kinds),
            "options": _options(found.options),
            "ahead": found.ahead,
        }

    def _looped(self, around: Loop, places: Places) -> dict[str, Any]:
        parts = [described(function, places) for function in around.functions]
        ours = next(part for part in parts if part["origin"] != "jax")
        inside = ", ".join(part["label"] for part in parts)
        whole = {**ours, "label": f"{around.name}({inside})", "key": f"{around.name}:{[part['key'] for part in parts]}"}
        kinds: set[str] = set()
        return {
            "function": self._number("function", {"kind": "loop", **whole}),
            "objects": [self._objects.number(function) for function in around.functions],
            "arguments": [self._argument(name, value, kinds) for name, value in around.data.items()],
            "under": sorted(kinds),
            "options": {},
            "ahead": False,
        }

    def _argument(
        self, name: str, value: Any, kinds: set[str], static: bool = False, keyword: bool = False
    ) -> int:  # fmt: skip
        told: dict[str, Any] = {"name": name, "keyword": keyword, "static": static}
        if static:
            told["value"] = self._describe.static(value)
        else:
            told.update(self._tree(value, kinds))
        return self._number("argument", told)

    def _tree(self, value: Any, kinds: set[str]) -> dict[str, Any]:
        import jax

        paths, treedef = jax.tree_util.tree_flatten_with_path(value)
        wide = bool(jax.config.values["jax_enable_x64"])
        kinds |= {type(one).__name__ for _, one in paths if isinstance(one, jax.core.Tracer)} - {"DynamicJaxprTracer"}
        leaves = [leaf(jax.tree_util.keystr(path), one, wide) for path, one in paths[:_LEAVES]]
        return {"structure": self._describe.structure(treedef), "leaves": leaves}

    def _number(self, kind: str, record: dict[str, Any]) -> int:
        """The number of a record, which is written when it is new."""
        key = kind + json.dumps(record)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers)
            self.write({"type": kind, "id": self._numbers[key], **record})
        return self._numbers[key]


def _fixed(function: Any) -> list[tuple[str, Any]]:
    """The parameters of a primitive that JAX runs by itself, such as the bounds of a slice."""
    params = (closed_over(function, "params") if primitive_of(function) else None) or {}
    return [(name, value) for name, value in params.items() if type(value) in (int, bool, str, tuple, type(None))]


def _options(given: Any) -> dict[str, str]:
    """The options of a jit; JAX works out the names of static and donated arguments from their numbers, and back."""
    told = {name: str(getattr(given, name)) for name in _OPTIONS if getattr(given, name, None)}
    for kind in ("static", "donate"):
        if f"{kind}_argnums" in told:
            told.pop(f"{kind}_argnames", None)
    return told


def _name(stack: list[Any]) -> str:
    """What is compiled, by JAX's own name for it; JAX tells listeners from 0.6 on."""
    for frame in stack:
        if frame.f_code.co_name == "compile":
            name = getattr(frame.f_locals.get("self"), "_name", None)
            if name:
                return str(name)
    return next((str(frame.f_locals["name"]) for frame in stack if frame.f_code.co_name == "_pjit_call_impl"), "")


def _settings() -> dict[str, str]:
    """JAX's settings in this thread, with those of context managers."""
    import jax

    values = {name: str(value) for name, value in jax.config.values.items() if value is not None}
    mesh = getattr(jax.sharding, "get_abstract_mesh", None)
    if mesh is not None:
        values["mesh"] = str(mesh())
    return values


def _platform() -> str:
    import jax

    try:
        return str(jax.default_backend())
    except Exception:
        return ""
