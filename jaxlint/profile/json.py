"""The profile as JSON, in the form that docs/profile.md gives."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from jaxlint.config.selection import find_rule
from jaxlint.profile.cells import split
from jaxlint.profile.explain import Explanation
from jaxlint.profile.records import Function, Site
from jaxlint.profile.report import Explained, Item, Report
from jaxlint.profile.summary import Cost
from jaxlint.report.json import as_object, dump


def render(report: Report) -> str:
    """One object."""
    command, profile = report.command, report.profile
    return dump(
        {
            "program": {"kind": command.kind, "target": command.target, "args": command.args},
            "status": report.status,
            "seconds": round(report.seconds, 3),
            "jax": profile.jax or None,
            "platform": profile.platform or None,
            "cost": _cost(profile.cost),
            "compiled_once": profile.once,
            "functions": [_function(item) for item in report.functions],
            "lines": [_line(item) for item in report.lines],
            "trouble": profile.trouble,
        }
    )


def _function(item: Item) -> dict[str, Any]:
    function = item.function
    assert isinstance(function, Function)
    return {
        "function": function.label,
        **_place(function.file),
        "line": function.line or None,
        "library": function.origin == "library",
        "control_flow": function.kind == "loop",
        **_shared(item),
    }


def _line(item: Item) -> dict[str, Any]:
    return {**_site(item.site), "operations": dict(item.operations), **_shared(item)}


def _shared(item: Item) -> dict[str, Any]:
    return {
        "cost": _cost(item.cost),
        "after_first": _cost(item.again_cost),
        "again": [_again(explained) for explained in item.again],
    }


def _again(explained: Explained) -> dict[str, Any]:
    again = explained.again
    return {
        **_site(again.site),
        "calls": again.calls,
        "cost": _cost(again.cost),
        "changes": [[to_builtins(one) for one in example] for example in again.examples],
        "explanations": [_explanation(one) for one in explained.explanations],
    }


def _explanation(one: Explanation) -> dict[str, Any]:
    return {
        "cause": one.cause.value,
        "advice": one.advice,
        "code": find_rule(one.rule).code if one.rule else None,
        "name": one.rule,
        "finding": as_object(one.finding) if one.finding else None,
    }


def _site(site: Site | None) -> dict[str, Any]:
    return {**_place(site.file if site else ""), "line": site and site.line, "in": site and site.function}


def _place(file: str) -> dict[str, Any]:
    path, cell = split(file)
    return {"path": path or None, **({} if cell is None else {"cell": cell})}


def _cost(cost: Cost) -> dict[str, Any]:
    return {
        "traces": cost.traces,
        "compiles": cost.compiles,
        "trace_ms": round(cost.trace_ms, 3),
        "lower_ms": round(cost.lower_ms, 3),
        "compile_ms": round(cost.compile_ms, 3),
    }
