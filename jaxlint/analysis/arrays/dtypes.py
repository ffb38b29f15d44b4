"""Dtype names: what a value says when it stands for a dtype, and the width and kind of each dtype."""

from __future__ import annotations

from jaxlint.analysis.values import Api, Scalar, Value

# Kind and width in bits of each dtype whose promotion is known here.
KINDS: dict[str, tuple[str, int]] = {
    "bool": ("b", 8),
    **{f"int{n}": ("i", n) for n in (8, 16, 32, 64)},
    **{f"uint{n}": ("u", n) for n in (8, 16, 32, 64)},
    **{f"float{n}": ("f", n) for n in (16, 32, 64)},
    "bfloat16": ("f", 16),
    "complex64": ("c", 64),
    "complex128": ("c", 128),
}

# With 64-bit types disabled, JAX narrows them (JAX documentation, "Default dtypes and the X64 flag").
NARROW = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}

PYTHON = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}

_OTHER = ("int2", "int4", "uint2", "uint4", *(f"float8_{name}" for name in (
    "e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")))  # fmt: skip
_ALIASES = {
    "bool_": "bool", "half": "float16", "single": "float32", "double": "float64", "float_": "float64",
    "int_": "int64", "intp": "int64", "longlong": "int64", "uint": "uint64", "byte": "int8", "ubyte": "uint8",
    "short": "int16", "ushort": "uint16", "intc": "int32", "uintc": "uint32", "csingle": "complex64",
    "cdouble": "complex128", "complex_": "complex128",
}  # fmt: skip
_CODES = {
    "b1": "bool", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16",
    "u4": "uint32", "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64",
    "c16": "complex128", "?": "bool", "e": "float16", "f": "float32", "d": "float64",
}  # fmt: skip
_CLASSES = {**{name: name for name in (*KINDS, *_OTHER)}, **_ALIASES}
_STRINGS = {**_CLASSES, **PYTHON, **_CODES}
_LIBRARIES = frozenset(["jax.numpy", "numpy", "jax.dtypes", "ml_dtypes"])


def class_name(path: str) -> str | None:
    """The dtype that a canonical dotted name such as 'jax.numpy.float32' or 'builtins.int' stands for."""
    library, _, name = path.rpartition(".")
    if library in _LIBRARIES:
        return _CLASSES.get(name)
    return PYTHON.get(name) if library == "builtins" else None


def named(value: Value | None) -> str | None:
    """The dtype, not narrowed, that an argument says; None where it is not known or says none."""
    if isinstance(value, Api):
        return class_name(value.path)
    if isinstance(value, Scalar) and value.kind == "str" and value.known:
        return _STRINGS.get(str(value.const).lstrip("<=|"))
    return None


def narrow(dtype: str | None) -> str | None:
    """The dtype that JAX gives for one with 64-bit types disabled."""
    return NARROW.get(dtype, dtype) if dtype is not None else None


def kind(dtype: str | None) -> str | None:
    """One of 'b', 'i', 'u', 'f', 'c'; None where the dtype is not known."""
    return KINDS[dtype][0] if dtype in KINDS else None


def itemsize(dtype: str | None) -> int | None:
    """The size of an element in bytes."""
    return KINDS[dtype][1] // 8 if dtype in KINDS else None


def is_integer(dtype: str | None) -> bool | None:
    """Whether a dtype is an integer or bool; None where it is not known."""
    found = kind(dtype)
    return None if found is None else found in "biu"


def real(dtype: str | None) -> str | None:
    """The dtype of the parts of a complex dtype; others stay."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype) if dtype is not None else None


def complexed(dtype: str | None, host: bool) -> str | None:
    """The complex dtype that holds a dtype's numbers, as Fourier transforms give it."""
    if dtype is None or not host:
        return "complex64" if dtype is not None else None
    return "complex64" if dtype in ("float32", "complex64", "float16") else "complex128"


def inexact(dtype: str | None, host: bool) -> str | None:
    """The dtype of a floating-point function of a dtype's numbers.

    JAX makes integers its default float; NumPy takes the first float that holds them.
    """
    if not is_integer(dtype):
        return dtype
    if not host:
        return "float32"
    width = KINDS[str(dtype)][1]
    return {8: "float16", 16: "float32"}.get(width, "float64")


def averaged(dtype: str | None, host: bool) -> str | None:
    """The dtype of a quotient or mean: integers give the default float."""
    if not is_integer(dtype):
        return dtype
    return "float64" if host else "float32"


def summed(dtype: str | None, host: bool) -> str | None:
    """The dtype of a sum: small integers are widened to the default integer of their sign."""
    found = kind(dtype)
    if found not in ("b", "i", "u"):
        return dtype
    if host:
        return "uint64" if found == "u" else "int64"
    return "uint32" if found == "u" else "int32"


def counted(dtype: str | None, host: bool) -> str | None:
    """The dtype where only bool is turned into an integer."""
    if dtype != "bool":
        return dtype
    return "int8" if host else "int32"


def default_int(host: bool) -> str:
    """The dtype of indices and counts."""
    return "int64" if host else "int32"


def default_float(host: bool) -> str:
    """The dtype of constructors that are given none."""
    return "float64" if host else "float32"
