"""Finds the rules: every module of `jaxlint.rules` declares one `RULE` or a tuple of `RULES`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from jaxlint.model import Safety, Severity

Check = Callable[..., Iterable[Any]]


class Rule(Struct, frozen=True):
    """What a rule says of itself. Prose and examples are on its page, `rules/<name>.md`."""

    code: str
    name: str
    summary: str
    severity: Severity
    on_by_default: bool = True
    fix: Safety | None = None


class RuleModule(Struct, frozen=True):
    """A rule with its checks: event type of the analysis → function from (event, context) to reports."""

    rule: Rule
    checks: Mapping[type, Check]


@cache
def rule_modules() -> tuple[RuleModule, ...]:
    """Every rule with its checks, in the order of codes."""
    import jaxlint.rules

    found = []
    for info in pkgutil.iter_modules(jaxlint.rules.__path__):
        module = importlib.import_module(f"jaxlint.rules.{info.name}")
        if hasattr(module, "RULE"):
            found.append(RuleModule(module.RULE, getattr(module, "CHECKS", {})))
        for rule, checks in getattr(module, "RULES", ()):
            found.append(RuleModule(rule, checks))
    return tuple(sorted(found, key=lambda entry: entry.rule.code))


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, in the order of codes."""
    return tuple(entry.rule for entry in rule_modules())
