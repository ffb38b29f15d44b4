from __future__ import annotations

import pytest

from jaxlint.verify.change import touched

TEXT = """
import jax
SCALE = 2.0

def inner(x):
    return x * SCALE

def outer(x):
    return inner(x) + 1

def other(x):
    return x

class Model:
    def __init__(self):
        self.w = 1.0

    def step(self, x):
        return outer(x) * self.w

fast = jax.jit(outer)
y = fast(1.0)
print(y)
"""


def names(after: str) -> dict[str, bool]:
    return {target.name: target.direct for target in touched(TEXT, after).targets}


def test_layout_and_comments_are_no_change() -> None:
    assert touched(TEXT, TEXT.replace("import jax", "import jax  # the library\n")).equal


def test_a_changed_function_and_all_that_call_it_are_targets() -> None:
    found = names(TEXT.replace("x * SCALE", "x / SCALE"))
    assert found["inner"] and not found["outer"]
    assert {"fast", "Model.step"} <= found.keys()
    assert "other" not in found


def test_a_changed_constant_reaches_the_functions_that_read_it() -> None:
    assert "inner" in names(TEXT.replace("SCALE = 2.0", "SCALE = 3.0"))


def test_a_changed_method_is_a_target_and_its_sisters_are_not() -> None:
    found = names(TEXT.replace("* self.w", "/ self.w"))
    assert found.get("Model.step") and "Model.__init__" not in found


def test_only_names_that_depend_on_the_change_are_evidence() -> None:
    parts = touched(TEXT, TEXT.replace("    return x\n", "    return -x\n"))
    assert "y" not in parts.names and "other" in parts.names and not parts.prints
    parts = touched(TEXT, TEXT.replace("x * SCALE", "x / SCALE"))
    assert "y" in parts.names and parts.prints


def test_a_changed_decorator_asks_for_the_body_to_run() -> None:
    after = TEXT.replace("def inner", "@jax.jit\ndef inner")
    (part,) = touched(TEXT, after).watch
    assert after.splitlines()[part.first - 1].strip() == "return x * SCALE"


def test_a_changed_statement_asks_for_all_of_its_lines() -> None:
    after = TEXT.replace("inner(x) + 1", "(\n        inner(x) + 2\n    )")
    (part,) = touched(TEXT, after).watch
    assert part.last == part.first + 2


def test_what_cannot_be_parsed_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        touched(TEXT, "def")
