"""How two versions of a function part before results are compared: by what they are, and by what they raise."""

from __future__ import annotations

import inspect
from dataclasses import is_dataclass
from typing import Any

from jaxlint.verify.compare_values import Captured
from jaxlint.verify.jobs import Fault


def not_comparable(before: Any, after: Any) -> str:
    """Why they cannot be called with the same arguments; empty when they can."""
    if not callable(before) or not callable(after) or isinstance(before, type) is not _is_record(before, after):
        return "it is no function in both versions"
    try:
        one, two = inspect.signature(before), inspect.signature(after)
    except (TypeError, ValueError):
        return ""
    form = [[(p.name, p.kind) for p in s.parameters.values()] for s in (one, two)]
    return "" if form[0] == form[1] else "its parameters have changed"


def _is_record(before: Any, after: Any) -> bool:
    """Whether both are classes that do nothing but hold what they are given, or what stands for that."""
    return all(isinstance(one, type) and (is_dataclass(one) or hasattr(one, "_fields")) for one in (before, after))


def parting(name: str, one: Fault | None, two: Fault | None, inputs: str) -> str:
    """How the faults of two calls tell the versions apart; empty when they do not."""
    if two and not one:
        return f"only the fixed {name} fails: {two} ({inputs})"
    if one and two and one.type != two.type:
        return f"{name} raises {two} and no longer {one}"
    return ""


def kept_tracer(values: Captured) -> Fault | None:
    """What anyone gets who uses a tracer that a call has left behind."""
    path = next((leaf.path for leaf in values.leaves if leaf.kind == "other" and leaf.text == "a tracer"), None)
    return None if path is None else Fault("UnexpectedTracerError", f"a tracer is left in {path}")
