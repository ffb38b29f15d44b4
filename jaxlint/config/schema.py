"""The JSON schema of the configuration, for editors that complete and check it as it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from jaxlint.config.form import ConfigFile
from jaxlint.config.selection import groups
from jaxlint.config.settings import known_transforms
from jaxlint.registry import Rule


def schema(rules: Sequence[Rule]) -> dict[str, Any]:
    """The schema (JSON Schema 2020-12) of `[tool.jaxlint]` and of jaxlint.toml, with these rules."""
    made = msgspec.json.schema(ConfigFile)
    forms = made.pop("$defs")
    top = forms.pop(made.pop("$ref").rpartition("/")[2])
    words = {"Selector": _selectors(rules), "Transform": {"enum": sorted(known_transforms())}}
    named: dict[str, Any] = {}
    top, forms = _named(top, words, named), _named(forms, words, named)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **top,
        "additionalProperties": False,
        "$defs": forms | named,
    }


def _selectors(rules: Sequence[Rule]) -> dict[str, Any]:
    """What may stand for rules; the pattern is for prefixes and for codes in small letters."""
    known = [*groups(rules), *(rule.code for rule in rules), *(rule.name for rule in rules)]
    return {"anyOf": [{"enum": known}, {"pattern": "^[Jj][Aa][Xx][0-9]{0,3}$"}]}


def _named(part: Any, words: dict[str, Any], named: dict[str, Any]) -> Any:
    """The same schema, with what stands in several places told once, in `named`, with its words."""
    if isinstance(part, list):
        return [_named(inner, words, named) for inner in part]
    if not isinstance(part, dict):
        return part
    title = part.get("title")
    if title in words:
        named[title] = part | words[title]
        return {"$ref": f"#/$defs/{title}"}
    return {key: _named(inner, words, named) for key, inner in part.items()}
