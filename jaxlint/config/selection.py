"""Which rules are meant by `JAX101`, `vmap-of-jit`, `JAX1` and `ALL`, and which are on after select and ignore."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import takewhile

from msgspec import Struct

from jaxlint import registry
from jaxlint.registry import Rule

Rules = Sequence[Rule]
"""The rules that words are looked up in; where none are given, all that there are, which are then imported."""

_CODE = re.compile(r"JAX\d{0,3}", re.IGNORECASE)


class SelectionError(ValueError):
    """No rule is meant by the text; the message names the nearest that is."""


class Layer(Struct, frozen=True):
    """What one source of settings (a file, the command line) says of the rules; `select` None says nothing."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()


class _Selector(Struct, frozen=True, order=True):
    specificity: int
    codes: frozenset[str]


def groups(rules: Rules | None = None) -> dict[str, frozenset[str]]:
    """The named groups: all rules, those that are on by default, and the hints, which are not."""
    rules = registry.rules() if rules is None else rules
    return {
        "ALL": frozenset(rule.code for rule in rules),
        "DEFAULT": frozenset(rule.code for rule in rules if rule.on_by_default),
        "HINTS": frozenset(rule.code for rule in rules if not rule.on_by_default),
    }


def expand(text: str, rules: Rules | None = None) -> frozenset[str]:
    """The codes that a code, prefix, name or group stands for. Raises `SelectionError` where it is none."""
    return _selector(text, registry.rules() if rules is None else rules).codes


def resolve(layers: Sequence[Layer], rules: Rules | None = None) -> frozenset[str]:
    """The codes that are on. A later layer that selects starts anew; within one, the more specific word wins."""
    rules = registry.rules() if rules is None else rules
    enabled = groups(rules)["DEFAULT"]
    for layer in layers:
        if layer.select is not None:
            enabled = frozenset()
        on = [_selector(text, rules) for text in (*(layer.select or ()), *layer.extend_select)]
        off = [_selector(text, rules) for text in layer.ignore]
        for specificity in sorted({selector.specificity for selector in (*on, *off)}):
            enabled |= _at(on, specificity)
            enabled -= _at(off, specificity)
    return enabled


def find_rule(text: str) -> Rule:
    """The one rule of a code or name. Raises `SelectionError`."""
    rules = registry.rules()
    for rule in rules:
        if text.upper() == rule.code or text.lower() == rule.name:
            return rule
    raise _unknown(text, "rule", [], rules)


def _at(selectors: Iterable[_Selector], specificity: int) -> frozenset[str]:
    return frozenset().union(*(one.codes for one in selectors if one.specificity == specificity))


def _selector(text: str, rules: Rules) -> _Selector:
    named = groups(rules)
    if text.upper() in named:
        return _Selector(0, named[text.upper()])
    if _CODE.fullmatch(text):
        codes = frozenset(rule.code for rule in rules if rule.code.startswith(text.upper()))
    else:
        codes = frozenset(rule.code for rule in rules if rule.name == text.lower())
    if not codes:
        raise _unknown(text, "rule, prefix or group", [*named], rules)
    return _Selector(len(text) if _CODE.fullmatch(text) else len("JAX000"), codes)


def _unknown(text: str, kind: str, more: list[str], rules: Rules) -> SelectionError:
    words = [*more, *(rule.code for rule in rules), *(rule.name for rule in rules)]
    by_folded = {word.casefold(): word for word in words}
    near = get_close_matches(text.casefold(), by_folded, n=5, cutoff=0.5)
    # Of codes that differ in one character, the one of the same family is more likely to be meant.
    near.sort(key=lambda word: (-_common(word, text.casefold()), word))
    hint = f"; did you mean `{by_folded[near[0]]}`?" if near else "; `jaxlint rules` lists them"
    return SelectionError(f"unknown {kind} `{text}`{hint}")


def _common(one: str, other: str) -> int:
    """How many characters two words have in common at their start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
