"""Which expressions are pure arithmetic on arrays and numbers, so that they may be computed whatever a test says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum

from jaxlint.analysis.api import STATIC_ATTRIBUTES, canonical
from jaxlint.analysis.context import Context
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.values import CALLABLE, Api, Array, ModuleValue, Scalar, Unknown, Value, is_traced, options
from jaxlint.program import nodes as n
from jaxlint.program.names import children, walk

NUMBERS = frozenset({"bool", "int", "float", "complex"})
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
PURE_PACKAGES = ("jax.numpy.", "jax.nn.", "jax.lax.", "jax.scipy.")
PURE_BUILTINS = frozenset({"builtins.abs", "builtins.len", "builtins.pow", "builtins.round"})
TESTS = frozenset(
    {"all", "allclose", "any", "array_equal", "equal", "greater", "greater_equal", "isclose", "isfinite", "isin",
     "isinf", "isnan", "isneginf", "isposinf", "less", "less_equal", "logical_and", "logical_not",
     "logical_or", "logical_xor", "not_equal", "signbit"}
)  # fmt: skip
"""Functions of `jax.numpy` that give booleans."""

METHODS = frozenset(
    {"all", "any", "argmax", "argmin", "astype", "clip", "conj", "cumprod", "cumsum", "dot", "flatten", "max", "mean",
     "min", "prod", "ravel", "reshape", "round", "squeeze", "std", "sum", "swapaxes", "take", "trace",
     "transpose", "var"}
)  # fmt: skip
"""Methods of arrays without side effects."""

UPDATES = frozenset({"add", "divide", "get", "max", "min", "multiply", "power", "set"})


class Sureness(IntEnum):
    """Whether an expression may be computed for nothing and gives a number or an array; MAYBE: or a pytree of them."""

    NO = 0
    MAYBE = 1
    SURE = 2


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads expressions with what is known of the names of a frame."""

    frame: Frame
    context: Context
    given: Mapping[str, Value] = field(default_factory=dict)

    def knowing(self, names: Mapping[str, Sureness]) -> Reader:
        """A reader that knows more names than those bound by now."""
        values = {name: Array() if sureness is Sureness.SURE else Unknown() for name, sureness in names.items()}
        return replace(self, given={**self.given, **values})

    def believing(self, test: n.Expr) -> Reader:
        """A reader that takes what a test compares, or computes with, for arrays."""
        held = {name: self.value(name) for name in set(_compared(test))}
        arrays = {
            name: Array(trace=value.trace)
            for name, value in held.items()
            if value is not None and _of_value(value) is Sureness.MAYBE
        }
        return replace(self, given={**self.given, **arrays})

    def value(self, name: str) -> Value | None:
        """What a name holds, None where nothing in sight binds it."""
        if name in self.given:
            return self.given[name]
        scope = self.frame.scope.find(name)
        return scope.names[name] if scope is not None else None

    def path(self, e: n.Expr) -> str | None:
        """The canonical dotted name of a function outside the project."""
        if isinstance(e, n.Name):
            value = self.value(e.name)
            if value is None:
                return f"builtins.{e.name}"
            if isinstance(value, ModuleValue):
                return value.name
            return value.path if isinstance(value, Api) else None
        if isinstance(e, n.Attribute):
            base = self.path(e.base)
            return canonical(f"{base}.{e.name}") if base is not None and not base.startswith("builtins.") else None
        return None

    def is_boolean(self, e: n.Expr) -> bool:
        """Whether an expression surely gives booleans and can be computed for nothing."""
        match e:
            case n.Constant(kind=kind):
                return kind == "bool"
            case n.Name(name=name):
                return _is_boolean(self.value(name))
            case n.Compare():
                return self.sureness(e) is Sureness.SURE
            case n.Unary(operator="not", operand=operand):
                return self.is_condition(operand)
            case n.Unary(operator="~", operand=operand):
                return self.is_boolean(operand)
            case n.Boolean(left=left, right=right):
                return self.is_boolean(left) and self.is_boolean(right)
            case n.Binary(operator=operator, left=left, right=right):
                return operator in ("&", "|", "^") and self.is_boolean(left) and self.is_boolean(right)
            case n.Call(function=function):
                return self.sureness(e) is Sureness.SURE and self._is_test(function)
        return False

    def is_condition(self, e: n.Expr) -> bool:
        """Whether an expression can be the condition of `jnp.where`: booleans, or numbers that stand for them."""
        return self.is_boolean(e) or self.sureness(e) is Sureness.SURE

    def is_array(self, e: n.Expr) -> bool:
        """Whether an expression is an array whenever the function runs, never a Python number or bool.

        A function that is transformed by a call (`jax.jit(f)`) may be called as it is elsewhere.
        """
        if isinstance(e, n.Name):
            value = self.value(e.name)
            return value is not None and self._is_always_traced() and all(map(_is_tracer, options(value)))
        if isinstance(e, n.Call):
            path = self.path(e.function)
            if path is not None and path.startswith(PURE_PACKAGES):
                return True
            return isinstance(e.function, n.Attribute) and e.function.name in METHODS
        if isinstance(e, n.Unary) and e.operator == "not":
            return True  # it is written as an operation on arrays
        if isinstance(e, n.Subscript):
            return self.is_array(e.base)
        return isinstance(e, (n.Unary, n.Binary, n.Compare, n.Boolean)) and any(map(self.is_array, children(e)))

    def _is_always_traced(self) -> bool:
        caller, function = self.frame.caller, self.frame.function
        site = caller.site if caller is not None else None  # the frame that stands for the transform
        if site is None or function is None:
            return False
        return site.form != "call" or site.target_span == function.span

    def _is_test(self, function: n.Expr) -> bool:
        path = self.path(function)
        if path is not None:
            return path.startswith("jax.numpy.") and path.rpartition(".")[2] in TESTS
        return isinstance(function, n.Attribute) and function.name in ("all", "any")

    def sureness(self, e: n.Expr) -> Sureness:
        """Whether an expression is arithmetic without side effects."""
        match e:
            case n.Constant(kind=kind):
                return Sureness.SURE if kind in NUMBERS else Sureness.NO
            case n.Name(name=name):
                return _of_value(self.value(name))
            case n.Attribute():
                return self._of_attribute(e)
            case n.Unary(operator="not") | n.Boolean():
                return Sureness.SURE if self.is_boolean(e) else Sureness.NO
            case n.Unary(operand=operand):
                return self._of_operands((operand,))
            case n.Binary(left=left, right=right):
                return self._of_operands((left, right))
            case n.Compare(left=left, rest=rest):
                known = all(operator in COMPARISONS for operator, _ in rest)
                return self._of_operands((left, *(side for _, side in rest))) if known else Sureness.NO
            case n.Subscript(base=base, index=index):
                return self._of_item(base, index)
            case n.Call():
                return self._of_call(e)
        return Sureness.NO

    def _of_operands(self, operands: Iterable[n.Expr]) -> Sureness:
        # Of what supports arithmetic and comes from a traced function, nearly everything is an array.
        return Sureness.SURE if all(map(self.sureness, operands)) else Sureness.NO

    def _of_attribute(self, e: n.Attribute) -> Sureness:
        path = self.path(e)
        if path is not None:
            is_constant = path.startswith(("jax.numpy.", "numpy.", "math.")) and e.name in ("pi", "e", "inf", "nan")
            return Sureness.SURE if is_constant else Sureness.NO
        base = self.sureness(e.base)
        if e.name in ("T", "mT", "real", "imag", "ndim", "size"):
            return Sureness.SURE if base else Sureness.NO
        if e.name in STATIC_ATTRIBUTES:
            return Sureness.NO
        is_chain = all(isinstance(part, (n.Attribute, n.Name)) for part in walk(e))
        root = next((part for part in walk(e) if isinstance(part, n.Name)), None)
        is_bound = root is not None and self.value(root.name) is not None
        return Sureness.MAYBE if is_chain and is_bound else Sureness.NO

    def _of_item(self, base: n.Expr, index: n.Expr) -> Sureness:
        if isinstance(base, n.Attribute) and base.name == "shape":
            is_fixed = isinstance(index, (n.Constant, n.Unary))
            return Sureness.SURE if is_fixed and self.sureness(base.base) else Sureness.NO
        return self.sureness(base) if self._is_index(index) else Sureness.NO

    def _is_index(self, index: n.Expr) -> bool:
        match index:
            case n.Slice(lower=lower, upper=upper, step=step):
                return all(part is None or self.sureness(part) for part in (lower, upper, step))
            case n.Sequence(elements=elements):
                return all(map(self._is_index, elements))
            case n.Constant(kind=kind):
                return kind in ("int", "none", "ellipsis")
        return bool(self.sureness(index))

    def _of_call(self, e: n.Call) -> Sureness:
        if not all(argument.star == "" and self._is_argument(argument.value) for argument in e.arguments):
            return Sureness.NO
        path = self.path(e.function)
        if path is not None:
            return Sureness.SURE if path.startswith(PURE_PACKAGES) or path in PURE_BUILTINS else Sureness.NO
        if not isinstance(e.function, n.Attribute):
            return Sureness.NO
        owner = e.function.base
        if isinstance(owner, n.Subscript) and isinstance(owner.base, n.Attribute) and owner.base.name == "at":
            is_update = e.function.name in UPDATES and self._is_index(owner.index) and self.sureness(owner.base.base)
            return Sureness.SURE if is_update else Sureness.NO
        is_method = e.function.name in METHODS and self.sureness(owner) is Sureness.SURE
        return Sureness.SURE if is_method else Sureness.NO

    def _is_argument(self, e: n.Expr) -> bool:
        """What may be handed to a pure function: numbers, constants, shapes and dtypes."""
        match e:
            case n.Constant():
                return True
            case n.Sequence(elements=elements):
                return all(map(self._is_argument, elements))
            case n.Attribute(base=base, name=name):
                path = self.path(e)
                is_dtype = path is not None and path.startswith(("jax.numpy.", "numpy.")) and path.count(".") <= 2
                return is_dtype or (name in STATIC_ATTRIBUTES and bool(self.sureness(base))) or bool(self.sureness(e))
        return bool(self.sureness(e))

    def is_computable(self, e: n.Expr) -> bool:
        """Whether a branch of `lax.cond` may compute an expression: arithmetic and calls, no text, no None."""
        if self.sureness(e):
            return True
        match e:
            case n.Sequence(kind=kind, elements=elements):
                return kind == "tuple" and all(map(self.is_computable, elements))
            case n.Call(function=function, arguments=arguments):
                simple = all(
                    a.star == "" and (self._is_argument(a.value) or self.is_computable(a.value)) for a in arguments
                )
                return simple and self._is_known_function(function)
            case n.Binary(left=left, right=right):
                return self.is_computable(left) and self.is_computable(right)
            case n.Unary(operator=operator, operand=operand):
                return operator != "not" and self.is_computable(operand)
        return False

    def _is_known_function(self, function: n.Expr) -> bool:
        path = self.path(function)
        if path is not None:
            return path.startswith("jax.") and not path.startswith(
                ("jax.debug", "jax.experimental", "jax.pure_callback")
            )
        value = self.value(function.name) if isinstance(function, n.Name) else None
        return isinstance(value, CALLABLE)


def _is_tracer(value: Value) -> bool:
    """Whether a value is traced however the function is called: what a call leaves out keeps its default."""
    if not isinstance(value, (Array, Unknown)) or not is_traced(value) or value.trace is None:
        return False
    optional = ((p.name, q) for p in value.trace.parameters for q in p.function.parameters if q.default is not None)
    return not any(q.name == name for name, q in optional)


def _compared(test: n.Expr) -> Iterator[str]:
    """The names that are operands of comparisons with order, or of arithmetic."""
    for node in walk(test):
        operands: tuple[n.Expr, ...] = ()
        if isinstance(node, n.Compare):
            operands = (node.left, *(side for _, side in node.rest)) if node.rest[0][0] in COMPARISONS else ()
        elif isinstance(node, n.Binary):
            operands = (node.left, node.right)
        yield from (operand.name for operand in operands if isinstance(operand, n.Name))


def _is_boolean(value: Value | None) -> bool:
    if value is None:
        return False
    return all(
        (isinstance(o, Array) and o.dtype == "bool") or (isinstance(o, Scalar) and o.kind == "bool")
        for o in options(value)
    )


def _of_value(value: Value | None) -> Sureness:
    if value is None:
        return Sureness.NO
    return min(map(_of_option, options(value)))


def _of_option(value: Value) -> Sureness:
    if isinstance(value, Array) or (isinstance(value, Scalar) and value.kind in NUMBERS):
        return Sureness.SURE
    return Sureness.MAYBE if type(value) is Unknown else Sureness.NO
