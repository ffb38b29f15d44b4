"""Values that are written where things are defined: defaults of parameters, attributes of classes.

A program that passes all arguments, or whose objects have attributes of their own, shows nothing of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from jaxlint.verify.compare_values import compare
from jaxlint.verify.worker.capture import capture, is_code

_PLAIN = (bool, int, float, complex, str)


def rewritten(before: Any, after: Any) -> tuple[str, bool]:
    """How such values differ in two versions of a callable, and whether that is sure to matter; else ("", False).

    What is no plain number or text in both versions may mean the same: None where the body puts in the number, say.
    """
    words = "attribute" if isinstance(before, type) else "default of the parameter"
    one, two = _values(before), _values(after)
    for name in one.keys() & two.keys():
        if compare(capture(one[name]), capture(two[name]), types=False).level != "same":
            is_sure = isinstance(one[name], _PLAIN) and isinstance(two[name], _PLAIN)
            return f"the {words} `{name}` is {_said(two[name])} and no longer {_said(one[name])}", is_sure
    return "", False


def _values(value: Any) -> Mapping[str, Any]:
    if isinstance(value, type):
        own = {name: held for name, held in vars(value).items() if not name.startswith("__")}
    else:
        try:
            own = {p.name: p.default for p in inspect.signature(value).parameters.values() if p.default is not p.empty}
        except (TypeError, ValueError):
            return {}
    return {name: held for name, held in own.items() if not is_code(held) and not hasattr(held, "__get__")}


def _said(value: Any) -> str:
    return repr(value) if isinstance(value, (*_PLAIN, type(None))) else f"another {type(value).__name__}"
