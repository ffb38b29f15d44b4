"""Looks up the stack: which call of JAX an event happened in, and which line of the program made it."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
import types
from collections.abc import Iterator
from typing import Any

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_CALLS = {"cache_miss"}
"""The function in which jit and pmap handle a call that is not cached (JAX 0.4.30 to 0.10.2)."""
_AHEAD = {"trace", "jit_trace"}
"""The function behind `jitted.trace` and `jitted.lower`: the first up to 0.6, the second later."""


_STATICS = "static_broadcasted_tuple"


class Places:
    """Whose code a file is: the program's, that of a library, of Python or of JAX."""

    def __init__(self, main: str, folder: str) -> None:
        jax = sys.modules.get("jax")
        self._jax = tuple(os.path.join(path, "") for path in getattr(jax, "__path__", ()))
        self._jax += tuple(os.path.join(os.path.dirname(path.rstrip(os.sep)), "jaxlib", "") for path in self._jax)
        paths = sysconfig.get_paths()
        self._python = tuple(os.path.join(paths[name], "") for name in ("stdlib", "platstdlib") if name in paths)
        self._folder = folder
        self._own = ""
        if main and self.origin(main) == "library":  # a module that is run is the program, wherever it lies
            self._own = os.path.join(os.path.dirname(os.path.abspath(main)), "")

    def full(self, file: str) -> str:
        """The whole path of a file that was named relative to the folder that the program was started in."""
        return file if file.startswith("<") else os.path.join(self._folder, file)

    def is_jax(self, file: str) -> bool:
        """Whether the file belongs to JAX."""
        return file.startswith(self._jax)

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - one object lives as long as the program
    def origin(self, file: str) -> str:
        """One of `jax`, `python`, `library`, `program`."""
        if self.is_jax(file):
            return "jax"
        if file.startswith((_OWN, "<")):
            return "python"
        if self._own and file.startswith(self._own):
            return "program"
        parts = file.split(os.sep)
        if "site-packages" in parts or "dist-packages" in parts:
            return "library"
        return "python" if file.startswith(self._python) else "program"


class Entry:
    """One call of a jitted function that was not cached, or a trace or lowering ahead of time."""

    def __init__(self, frame: types.FrameType, ahead: bool = False) -> None:
        known = {**frame.f_locals}
        if "infer_params" in known:  # pmap, which newer JAX makes out of jit and shard_map
            known["fun"] = getattr(closed_over(known["infer_params"], "wrapped_fun"), "f", None)
            known[_STATICS] = closed_over(known["infer_params"], _STATICS)
        self.identity = id(frame)
        self.ahead = ahead
        self.args: tuple[Any, ...] = known.get("args", ())
        self.kwargs: dict[str, Any] = known.get("kwargs", {})
        jitted = known.get("jit_func")
        self.options = known.get("jit_info", getattr(jitted, "_jit_info", None))
        self.function = known.get("fun", getattr(jitted, "_fun", getattr(self.options, "fun", None)))
        statics = known.get(_STATICS, getattr(self.options, "static_argnums", ()))
        self.static_numbers: tuple[int, ...] = tuple(statics or ())
        self.static_names: tuple[str, ...] = tuple(getattr(self.options, "static_argnames", ()) or ())


def frames(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    """A frame and those that called it, from inside out."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def inside_jax(frame: types.FrameType, places: Places) -> Iterator[types.FrameType]:
    """The frames of JAX up to the first that is not its or Python's own."""
    for one in frames(frame):
        origin = places.origin(one.f_code.co_filename)
        if origin == "jax":
            yield one
        elif origin != "python":
            return


def closed_over(function: Any, name: str) -> Any:
    """The value that a function found around it by a name, None where it has none."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    if name not in names:
        return None
    try:
        return function.__closure__[names.index(name)].cell_contents
    except ValueError:  # not bound yet
        return None


def entry(stack: list[types.FrameType]) -> Entry | None:
    """The innermost call of a jitted function among frames of JAX."""
    for number, frame in enumerate(stack):
        name, file = frame.f_code.co_name, os.path.basename(frame.f_code.co_filename)
        if name in _CALLS or (name in _AHEAD and file == "pjit.py"):
            mapped = [outer for outer in stack[number : number + 4] if _is(outer, "wrapped", "pmap.py")]
            found = Entry(mapped[0]) if mapped else Entry(frame, name in _AHEAD)
            return found if found.function is not None else None
    return None


def is_lowering_ahead(stack: list[types.FrameType]) -> bool:
    """Whether this is `.lower` or `.compile` of what was traced ahead of time."""
    return any(_is(frame, "lower", "stages.py") or _is(frame, "compile", "stages.py") for frame in stack)


def _is(frame: types.FrameType, name: str, file: str) -> bool:
    return frame.f_code.co_name == name and os.path.basename(frame.f_code.co_filename) == file


def site(frame: types.FrameType, places: Places) -> dict[str, Any] | None:
    """The innermost line of the program itself; where it has none on the stack, of a library."""
    library = None
    for one in frames(frame):
        origin = places.origin(one.f_code.co_filename)
        if origin == "program":
            return _site(one, places)
        if origin == "library" and library is None:
            library = one
    return _site(library, places) if library is not None else None


def _site(frame: types.FrameType, places: Places) -> dict[str, Any]:
    code = frame.f_code
    return {
        "file": places.full(code.co_filename),
        "line": frame.f_lineno or code.co_firstlineno,
        "instruction": frame.f_lasti,
        "function": getattr(code, "co_qualname", code.co_name),
        "first": code.co_firstlineno,
        "last": last_line(code),
    }


@functools.lru_cache(maxsize=4096)
def last_line(code: types.CodeType) -> int:
    """The last line of a function, with the functions inside it."""
    inner = [last_line(part) for part in code.co_consts if isinstance(part, types.CodeType)]
    return max([*(line or 0 for _, _, line in code.co_lines()), *inner, code.co_firstlineno])
