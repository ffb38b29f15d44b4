"""What array operations of JAX (64-bit types disabled) and NumPy give: dtype, shape and weak type as far as known.

All functions are pure and say less rather than something wrong. They deal neither with tracing nor with PRNG keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jaxlint.analysis.arrays import (
    constructors,
    joining,
    lax,
    methods,
    products,
    reductions,
    sampling,
    shaping,
    ufuncs,
)
from jaxlint.analysis.arrays.arguments import Call, Rule
from jaxlint.analysis.arrays.convert import from_python
from jaxlint.analysis.arrays.indexing import SliceValue, subscript
from jaxlint.analysis.arrays.methods import attribute
from jaxlint.analysis.arrays.operators import binary, unary
from jaxlint.analysis.arrays.promotion import promote
from jaxlint.analysis.arrays.shapes import broadcast
from jaxlint.analysis.values import Array, Items, Key, Unknown, Value

__all__ = [
    "FUNCTIONS",
    "SliceValue",
    "attribute",
    "binary",
    "broadcast",
    "call",
    "from_python",
    "method",
    "promote",
    "subscript",
    "unary",
]

# By name without 'jax.': 'numpy.sum' serves both jax.numpy.sum and numpy.sum.
FUNCTIONS: dict[str, Rule] = {
    **ufuncs.table(),
    **reductions.table(),
    **constructors.table(),
    **shaping.table(),
    **joining.table(),
    **products.table(),
    **sampling.table(),
    **lax.table(),
}
_NO_KEYS = ("numpy.", "nn.", "lax.", "scipy.")


def call(path: str, arguments: Sequence[Value], keywords: Mapping[str, Value], complete: bool = True) -> Value | None:
    """The result of calling the function of a canonical dotted name; None where it is no array function known here.

    Without `complete` there may be further arguments (`*args`, `**options`): only that it is an array is said then.
    """
    host = not path.startswith("jax.")
    name = path if host else path[4:]
    if host and not name.startswith("numpy."):
        return None
    rule = FUNCTIONS.get(name)
    if rule is None or (arguments and name.startswith(_NO_KEYS) and _holds_keys(arguments[0])):
        return None
    result = rule(Call(arguments, keywords, host))
    return result if complete else _vague(result)


def method(
    array: Array, name: str, arguments: Sequence[Value], keywords: Mapping[str, Value], complete: bool = True
) -> Value | None:
    """The result of calling a method of an array; None where it is none that is known here. `complete` as in `call`."""
    found = methods.special(array, name, arguments, keywords)
    if found is not None:
        return found
    function = methods.as_call(array, name, arguments, keywords)
    if function is None:
        return None
    result = FUNCTIONS[function[0]](function[1])
    return result if complete else _vague(result)


def _vague(result: Value | None) -> Value | None:
    if isinstance(result, Array):
        return Array(host=result.host)
    return None if result is None else Unknown()


def _holds_keys(value: Value) -> bool:
    """Keys stay keys when they are stacked or reshaped, which is not for this package to say."""
    return isinstance(value, Key) or (isinstance(value, Items) and any(isinstance(item, Key) for item in value.items))
