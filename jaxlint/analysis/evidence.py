"""What annotations and defaults tell of values that nothing else tells of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis.imports import dotted
from jaxlint.analysis.scope import Attributes
from jaxlint.analysis.values import (
    NONE,
    Array,
    ClassValue,
    Closure,
    Instance,
    Items,
    Key,
    Many,
    Mapping,
    Scalar,
    Shape,
    Token,
    Unknown,
    Value,
    one_of,
    options,
)
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.frames import Frame
    from jaxlint.analysis.machine import Machine

ARRAYS = frozenset(
    {"jax.Array", "jax.numpy.ndarray", "jaxtyping.Array", "chex.Array", "chex.ArrayDevice", "jax.numpy.DeviceArray",
     "jax.interpreters.xla.DeviceArray", "haliax.NamedArray"}
)  # fmt: skip
ARRAY_LIKE = frozenset({"jax.typing.ArrayLike", "jaxtyping.ArrayLike", "jax._src.typing.ArrayLike", "chex.Numeric"})
KEYS = frozenset(
    {"jax.random.KeyArray", "chex.PRNGKey", "jaxtyping.PRNGKeyArray", "jax.random.PRNGKey", "jaxtyping.Key"}
)
PLAIN = {"builtins.int": "int", "builtins.float": "float", "builtins.bool": "bool", "builtins.complex": "complex",
         "builtins.str": "str"}  # fmt: skip
SEQUENCES = {"builtins.list": "list", "typing.List": "list", "builtins.set": "set",
             **{f"{module}.{name}": "sequence" for module in ("typing", "collections.abc")
                for name in ("Sequence", "Iterable")}}  # fmt: skip
"""What holds elements of one kind; a tuple is a sequence too, which may be hashable."""
MAPPINGS = frozenset(
    {"builtins.dict", "typing.Dict", "typing.Mapping", "collections.abc.Mapping", "flax.core.FrozenDict"}
)
JAXTYPING_DTYPES = {"Float": None, "Float32": "float32", "Float64": "float64", "Int": None, "Int32": "int32",
                    "Bool": "bool", "Num": None, "Shaped": None, "Real": None, "Inexact": None, "Integer": None,
                    "UInt": None, "Complex": None, "BFloat16": "bfloat16", "Float16": "float16",
                    "UInt8": "uint8"}  # fmt: skip


KEY_NAME = re.compile(r"(^|_)(key|keys|rng|rngs|prng|seed|k\d*)\d*($|_)", re.IGNORECASE)


def parameter_value(m: Machine, f: Frame, closure: Closure, parameter: n.Parameter) -> Value:
    """What a parameter may hold when nothing is known of the call."""
    token = m.token(parameter.name, parameter.span)
    if parameter.annotation is not None:
        inner = _frame_of(f, closure)
        found = annotated_value(m, inner, parameter.annotation, token)
        if found is not None and KEY_NAME.search(parameter.name):
            found = one_of(_perhaps_key(option, token) for option in options(found))
        if found is not None:
            is_none = isinstance(parameter.default, n.Constant) and parameter.default.kind == "none"
            return one_of([NONE, found]) if is_none else found
    default = parameter.default
    if isinstance(default, n.Constant) and default.kind in ("bool", "int", "float", "complex", "str"):
        return Scalar(default.kind)
    if isinstance(default, n.Unary) and isinstance(default.operand, n.Constant) and default.operator == "-":
        return Scalar(default.operand.kind)
    if isinstance(default, n.Sequence) and all(isinstance(e, n.Constant) and e.kind == "str" for e in default.elements):
        return Many(default.kind, Scalar("str"))
    return Unknown(token=token)


def _perhaps_key(value: Value, token: Token) -> Value:
    """An array of which nothing more is known may be a key."""
    is_open = isinstance(value, Array) and not value.host and value.dtype is None
    return replace(value, token=token) if isinstance(value, Array) and is_open else value


def _frame_of(f: Frame, closure: Closure) -> Frame:
    from jaxlint.analysis.frames import Frame as NewFrame

    return NewFrame(closure.path, closure.scope)


def unknown_arguments(m: Machine, f: Frame, closure: Closure) -> Iterator[tuple[str, Value]]:
    """A keyword for each parameter of a function, with what its signature tells."""
    parameters = closure.function.parameters
    if closure.owner is not None:
        parameters = parameters[1:]
    for parameter in parameters:
        if parameter.kind not in ("*", "**"):
            yield parameter.name, parameter_value(m, f, closure, parameter)


def annotated_value(m: Machine, f: Frame, annotation: n.Expr, token: object = None) -> Value | None:
    """What an annotation says, None when it says nothing of use."""
    from jaxlint.analysis.values import Token

    key_token = token if isinstance(token, Token) else None
    if isinstance(annotation, n.Constant):
        if annotation.kind == "none":
            return NONE
        return _named(str(annotation.value)) if annotation.kind == "str" else None
    if isinstance(annotation, n.Binary) and annotation.operator == "|":
        return _union(m, f, [annotation.left, annotation.right], token)
    if isinstance(annotation, n.Subscript):
        return _subscripted(m, f, annotation, token)
    path = dotted(m, f, annotation)
    if path is not None:
        return _by_path(path, key_token)
    if isinstance(annotation, n.Name):
        scope = f.scope.find(annotation.name)
        value = scope.names[annotation.name] if scope is not None else None
        if isinstance(value, ClassValue):
            return Instance(value, Attributes())
    return None


def _by_path(path: str, token: object) -> Value | None:
    from jaxlint.analysis.values import Token

    if path in ARRAYS:
        return Array()
    if path == "numpy.ndarray":
        return Array(host=True)
    if path in KEYS:
        return Key(token if isinstance(token, Token) else None, ())
    if path in PLAIN:
        return Scalar(PLAIN[path])
    if path in SEQUENCES:
        return Many(SEQUENCES[path])
    if path in MAPPINGS:
        return Mapping(complete=False)
    return Many("tuple") if path in ("builtins.tuple", "typing.Tuple") else None


def _named(text: str) -> Value | None:
    short = {"jax.Array": Array(), "jnp.ndarray": Array(), "Array": Array(), "int": Scalar("int"),
             "float": Scalar("float"),
             "bool": Scalar("bool"), "str": Scalar("str"), "np.ndarray": Array(host=True)}  # fmt: skip
    return short.get(text.strip())


def _union(m: Machine, f: Frame, parts: list[n.Expr], token: object) -> Value | None:
    found = [annotated_value(m, f, part, token) for part in parts]
    if any(value is None for value in found):
        return None
    return one_of(value for value in found if value is not None)


def _subscripted(m: Machine, f: Frame, annotation: n.Subscript, token: object) -> Value | None:
    path = dotted(m, f, annotation.base)
    index = annotation.index
    arguments: list[n.Expr] = list(index.elements) if isinstance(index, n.Sequence) else [index]
    if path is None:
        return None
    if path in ("typing.Optional",):
        inner = annotated_value(m, f, index, token)
        return one_of([NONE, inner]) if inner is not None else None
    if path == "typing.Union":
        return _union(m, f, arguments, token)
    if path in ("typing.Annotated", "typing.Final", "typing.ClassVar"):
        return annotated_value(m, f, arguments[0], token)
    if path in ("builtins.tuple", "typing.Tuple"):
        return _tuple(m, f, arguments)
    if path in SEQUENCES:
        return Many(SEQUENCES[path], annotated_value(m, f, index) or Unknown())
    if path in MAPPINGS:
        return Mapping(complete=False)
    if path == "typing.Literal":
        kinds = {a.kind for a in arguments if isinstance(a, n.Constant)}
        return Scalar(kinds.pop()) if len(kinds) == 1 else None
    if path.startswith("jaxtyping."):
        return _jaxtyping(m, f, path, arguments)
    return None


def _tuple(m: Machine, f: Frame, arguments: list[n.Expr]) -> Value:
    found = [annotated_value(m, f, a) or Unknown() for a in arguments]
    if len(arguments) == 2 and isinstance(arguments[1], n.Constant) and arguments[1].kind == "ellipsis":
        return Many("tuple", found[0])
    return Items("tuple", tuple(found))


def _jaxtyping(m: Machine, f: Frame, path: str, arguments: list[n.Expr]) -> Value | None:
    name = path.rpartition(".")[2]
    if name not in JAXTYPING_DTYPES or len(arguments) != 2:
        return None
    text = arguments[1].value if isinstance(arguments[1], n.Constant) else None
    host = dotted(m, f, arguments[0]) == "numpy.ndarray"
    return Array(JAXTYPING_DTYPES[name], jaxtyping_shape(text) if isinstance(text, str) else None, False, host)


def jaxtyping_shape(text: str) -> Shape | None:
    """The shape that jaxtyping's axis string says, None where it leaves the rank open."""
    dims: list[int | str | None] = []
    for word in text.split():
        word = word.lstrip("#?_") if not word.startswith("*") else word
        word = word.partition("=")[2] or word
        if word.startswith("*") or word == "...":
            return None
        if re.fullmatch(r"\d+", word):
            dims.append(int(word))
        else:
            dims.append(word if word.isidentifier() else None)
    return tuple(dims)
