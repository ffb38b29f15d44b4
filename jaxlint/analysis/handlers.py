"""Handlers for functions that the tables cannot describe: Python's builtins, functools, `jax.tree` and the like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlint.analysis import arrays, calls, key_making, layers, losses
from jaxlint.analysis.api import (
    CACHED,
    CACHES,
)
from jaxlint.analysis.branches import ask, truth_of
from jaxlint.analysis.events import HostCall, RangeOver
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.iteration import element, rounds
from jaxlint.analysis.operators import staged
from jaxlint.analysis.tracing import not_differentiated, outer_trace
from jaxlint.analysis.values import (
    NONE,
    Api,
    Array,
    Bound,
    ClassValue,
    Generator,
    Instance,
    Items,
    Key,
    Many,
    Mapping,
    Scalar,
    Super,
    Trace,
    Unknown,
    Value,
    deep_trace,
    element_of,
    is_traced,
    known,
    leaves,
    one_of,
    options,
    with_trace,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def _range(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    trace: Trace | None = None
    for position, value in enumerate(arguments.positional):
        for option in options(value):
            if option.trace is not None and e is not None:
                node = arguments.nodes[position] if position < len(arguments.nodes) else None
                m.emit(RangeOver(f, (node or e).span, option, node or e))
    return Many("list", Scalar("int"), trace=trace)


def _len(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    value = arguments.get(0, "obj")
    if isinstance(value, Items):
        return known(len(value.items))
    if isinstance(value, Array) and value.shape and isinstance(value.shape[0], int):
        return known(value.shape[0])
    return Scalar("int")


def _isinstance(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    value, kinds = arguments.get(0, "obj"), arguments.get(1, "cls")
    if value is None or kinds is None:
        return Scalar("bool")
    answers = {is_a(option, kind) for option in options(value) for kind in (leaves(kinds))}
    if answers == {False}:
        return known(False)
    return known(True) if True in answers and None not in answers and len(list(options(value))) == 1 else Scalar("bool")


def is_a(value: Value, kind: Value) -> bool | None:
    """Whether a value is an instance of a class, where that is certain."""
    if isinstance(kind, Api) and kind.path in ("jax.core.Tracer", "jax.extend.core.Tracer", "jax._src.core.Tracer"):
        return is_traced(value) if isinstance(value, (Array, Key)) or value.trace is not None else None
    if isinstance(kind, ClassValue):
        return (
            value.cls is kind or None
            if isinstance(value, Instance)
            else (False if isinstance(value, (Array, Scalar)) else None)
        )
    if not isinstance(kind, Api):
        return None
    name = kind.path.removeprefix("builtins.")
    if isinstance(value, Scalar):
        return (
            value.kind == name if name in ("int", "float", "bool", "str", "complex", "tuple", "list", "dict") else None
        )
    if isinstance(value, Array) and name in ("jax.Array", "jax.numpy.ndarray"):
        return True if is_traced(value) else None
    if isinstance(value, Array):
        return False if name in ("int", "float", "bool", "str", "complex", "tuple", "list", "dict") else None
    if isinstance(value, Items) and name in ("tuple", "list", "dict"):
        return value.kind == name
    return None


def _conversion(kind: str) -> Callable[..., Value]:
    def convert(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
        value = arguments.get(0, "x")
        if value is None:
            return Scalar(kind)
        for option in options(value):
            if option.trace is not None and e is not None and not isinstance(option, Scalar):
                if kind == "bool":
                    ask(m, f, option, "bool", e, e)
                elif kind in ("int", "float", "complex"):
                    m.emit(HostCall(f, where, option, f"{kind}()", e))
                return Scalar(kind)
        if kind == "bool":
            answer = truth_of(value)
            return Scalar("bool") if answer is None else known(answer)
        if isinstance(value, Scalar) and value.known and kind == "int" and isinstance(value.const, (int, float)):
            try:
                return known(int(value.const))
            except (OverflowError, ValueError):
                return Scalar("int")
        return Scalar(kind)

    return convert


def _extreme(form: str) -> Callable[..., Value]:
    """`min`, `max` and `sorted` compare, and so ask for truth; of one container they compare its elements."""

    def extreme(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
        values = list(arguments.positional)
        if arguments.keyword("key") is not None:
            key = arguments.keyword("key")
            assert key is not None
            sample = element_of(values[0]) if len(values) == 1 else one_of(values)
            calls.call_with(m, f, key, (sample,), where)
            return Unknown() if form != "sorted" else Many("list", sample)
        compared = values
        if len(values) == 1:
            compared = list(values[0].items) if isinstance(values[0], Items) else [element(m, values[0], 0)]
        trace = next((v.trace for v in compared if isinstance(v, (Array, Unknown)) and v.trace is not None), None)
        if trace is not None and e is not None and (len(compared) > 1 or isinstance(compared[0], Array)):
            ask(m, f, Array("bool", (), trace=trace), form, e, e)
        joined = one_of(compared)
        if form == "sorted":
            return Many("list", joined)
        if compared and all(isinstance(v, Scalar) and v.known and isinstance(v.const, (int, float)) for v in compared):
            numbers = [v.const for v in compared if isinstance(v, Scalar) and isinstance(v.const, (int, float))]
            return known(min(numbers) if form == "min" else max(numbers))
        return joined

    return extreme


def _any_all(form: str) -> Callable[..., Value]:
    def quantify(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
        value = arguments.get(0, "iterable")
        if value is not None and e is not None:
            inner = (
                element_of(value)
                if isinstance(value, (Items, Many))
                else value
                if isinstance(value, Array)
                else Unknown()
            )
            for option in options(inner):
                if isinstance(option, Array):
                    ask(m, f, option, form, e, e)
        return Scalar("bool")

    return quantify


def _sum(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    value = arguments.get(0, "iterable")
    if isinstance(value, Array):
        return with_trace(arrays.subscript(value, known(0)), value.trace)
    if isinstance(value, (Items, Many)):
        inner = element_of(value)
        trace = deep_trace(value)
        if isinstance(inner, Scalar):
            return with_trace(Scalar(inner.kind), trace)
        return with_trace(inner if isinstance(inner, Array) else Unknown(trace=trace), trace)
    return Unknown(trace=outer_trace(arguments))


def _container(kind: str) -> Callable[..., Value]:
    def convert(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
        value = arguments.get(0, "iterable")
        if value is None:
            return Items(kind, ())
        if isinstance(value, Items):
            return replace(value, kind=kind)
        if isinstance(value, Many):
            return replace(value, kind=kind)
        if isinstance(value, Mapping):
            return Many(kind, Scalar("str"))
        return Many(kind, element(m, value, 0))

    return convert


def _dict(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    base = arguments.get(0, "iterable") if arguments.positional else None
    if isinstance(base, Mapping):
        return replace(base, entries=(*base.entries, *arguments.keywords))
    return Mapping(arguments.keywords, base is None and arguments.complete)


def _zip(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    columns = [rounds(m, f, value) for value in arguments.positional]
    if not columns or not all(columns):
        return Items("list", ())
    rows = [
        Items("tuple", tuple(column[min(i, len(column) - 1)] for column in columns))
        for i in range(min(map(len, columns)))
    ]
    lengths = {len(v.items) for v in arguments.positional if isinstance(v, Items)}
    if len(lengths) == 1 and len(rows) in lengths:
        return Items("list", tuple(rows))
    return Many("list", one_of(rows)) if len(rows) < 2 else _two_rounds(rows)


def _two_rounds(rows: list[Items]) -> Value:
    """Rows of different rounds hold different keys: an Items of two keeps them apart."""
    return Items("list", tuple(rows[:2]))


def _enumerate(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    found = (
        [Items("tuple", (Scalar("int"), item)) for item in rounds(m, f, arguments.positional[0])]
        if arguments.positional
        else []
    )
    return Items("list", tuple(found)) if found else Many("list")


def _map(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    if not arguments.positional:
        return Many("list")
    function, *iterables = arguments.positional
    columns = [rounds(m, f, value) for value in iterables]
    if not columns:
        return Many("list")
    found = [
        calls.call_with(m, f, function, tuple(column[i] for column in columns), where)
        for i in range(min(map(len, columns)))
    ]
    if len(iterables) == 1 and isinstance(iterables[0], Items) and len(iterables[0].items) == len(found):
        return Items("list", tuple(found))
    return Many("list", one_of(found))


def _tree_map(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """`jax.tree.map(function, tree, *rest)` calls the function on leaves, in plain Python."""
    if len(arguments.positional) < 2:
        return Unknown()
    function, tree, *rest = arguments.positional
    return _map_leaves(m, f, function, tree, rest, where)


def _tree_map_with_path(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """`jax.tree.map_with_path(function, tree, *rest)`: the function gets the path of each leaf first."""
    if len(arguments.positional) < 2:
        return Unknown()
    function, tree, *rest = arguments.positional
    return _map_leaves(m, f, Bound(function, (Many("tuple", Unknown()),)), tree, rest, where)


def _map_leaves(m: Machine, f: Frame, function: Value, tree: Value, rest: list[Value], where: Span) -> Value:
    def inside(part: Value, others: list[Value]) -> Value:
        return _map_leaves(m, f, function, part, others, where)

    if isinstance(tree, Items):
        items = (inside(item, [_same_place(r, i) for r in rest]) for i, item in enumerate(tree.items))
        return replace(tree, items=tuple(items))
    if isinstance(tree, Mapping):
        entries = ((key, inside(value, [_same_key(r, key) for r in rest])) for key, value in tree.entries)
        return replace(tree, entries=tuple(entries))
    if isinstance(tree, Many):
        return replace(tree, element=inside(tree.element, [element_of(r) for r in rest]))
    result = calls.call_with(m, f, function, (tree, *rest), where)
    if isinstance(tree, Unknown):
        # A tree of unknown structure has more than one leaf: what the first uses up, the next finds used.
        calls.call_with(m, f, function, tuple(key_making.renewed(m, part) for part in (tree, *rest)), where)
        return Unknown(trace=deep_trace(result))  # the leaves' metadata, say, is not traced
    return result


def _same_key(value: Value, key: object) -> Value:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if found is not None else Unknown(trace=value.trace)


def _same_place(value: Value, index: int) -> Value:
    if isinstance(value, Items) and index < len(value.items):
        return value.items[index]
    return Unknown(trace=value.trace)


def _reduce(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    if len(arguments.positional) < 2:
        return Unknown()
    function, iterable = arguments.positional[:2]
    item = one_of(rounds(m, f, iterable))
    return calls.call_with(m, f, function, (item, item), where)


def _next(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    value = arguments.get(0, "iterator")
    if value is None:
        return Unknown()
    # Each `next` gives another element; keys of one split are then different keys.
    return element(m, value, m.number())


def _same(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    return arguments.get(0, "x") or Unknown()


def _stop_gradient(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    return not_differentiated(arguments.get(0, "x") or Unknown())


def _static(kind: str) -> Callable[..., Value]:
    def result(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
        return Scalar(kind)

    return result


def _shape(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    value = arguments.get(0, "a")
    found = arrays.attribute(value, "shape") if isinstance(value, Array) else None
    return found or Many("tuple", Scalar("int"))


def _finfo(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    return Unknown()


def _callback(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """The function runs on the host with concrete values."""
    return staged(f, Array(), outer_trace(arguments))


def _nothing(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    return NONE


def _cache(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    function = arguments.get(0, "func")
    return Bound(Api(CACHED), (function,), (), f.number) if function is not None else Unknown()


def _cached_call(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """A cached function is called: its first argument is the function itself."""
    inner = replace(arguments, positional=arguments.positional[1:], nodes=arguments.nodes[1:])
    return calls.call(m, f, arguments.positional[0], inner, None, where)


def _field(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    """A dataclass field: its factory makes a default for each object."""
    factory = arguments.keyword("default_factory") or arguments.keyword("factory")
    if factory is not None:
        return calls.call_with(m, f, factory, (), where)
    return arguments.keyword("default") or Unknown()


def _super(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    if len(arguments.positional) == 2:
        cls, owner = arguments.positional
    else:
        scope = f.scope.parent
        cls = scope.names.get("__class__", NONE) if scope is not None and scope.is_class else NONE
        owner = f.owner if f.owner is not None else NONE
    if isinstance(cls, ClassValue) and isinstance(owner, (Instance, ClassValue)):
        return Super(owner, cls)
    return Unknown()


def _static_method(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
    return Bound(Api("builtins.staticmethod"), arguments.positional[:1], (), f.number)


def _generator(module: str) -> Callable[..., Value]:
    """A generator; one that compiled code makes for itself draws the same numbers on purpose."""

    def handle(m: Machine, f: Frame, arguments: Arguments, e: n.Call | None, where: Span) -> Value:
        return Unknown() if f.compiled else Generator(module=module)

    return handle


HANDLERS: dict[str, Callable[..., Value]] = {
    "builtins.range": _range, "builtins.len": _len, "builtins.isinstance": _isinstance,
    "builtins.hasattr": _static("bool"), "builtins.callable": _static("bool"), "builtins.issubclass": _static("bool"),
    **{f"builtins.{kind}": _conversion(kind) for kind in ("int", "float", "bool", "complex")},
    "builtins.min": _extreme("min"), "builtins.max": _extreme("max"), "builtins.sorted": _extreme("sorted"),
    "builtins.any": _any_all("any"), "builtins.all": _any_all("all"), "builtins.sum": _sum,
    "builtins.tuple": _container("tuple"), "builtins.list": _container("list"), "builtins.set": _container("set"),
    "builtins.iter": _same, "builtins.reversed": _container("list"), "builtins.dict": _dict, "builtins.zip": _zip,
    "builtins.enumerate": _enumerate, "builtins.map": _map, "builtins.next": _next, "builtins.print": _nothing,
    "builtins.str": _static("str"), "builtins.repr": _static("str"), "builtins.format": _static("str"),
    **dict.fromkeys(("dataclasses.field", "flax.struct.field", "equinox.field", "attrs.field", "attr.ib"), _field),
    "builtins.super": _super, "builtins.staticmethod": _static_method, "functools.reduce": _reduce,
    "jax.tree.map": _tree_map, "jax.tree.map_with_path": _tree_map_with_path,
    "jax.block_until_ready": _same, "jax.device_put": _same,
    "jax.lax.stop_gradient": _stop_gradient,
    "jax.numpy.shape": _shape, "numpy.shape": _shape, "jax.numpy.ndim": _static("int"), "numpy.ndim": _static("int"),
    "jax.numpy.size": _static("int"), "numpy.size": _static("int"), "jax.numpy.issubdtype": _static("bool"),
    "jax.numpy.finfo": _finfo, "jax.numpy.iinfo": _finfo, "copy.copy": _same, "copy.deepcopy": _same,
    "jax.pure_callback": _callback, "jax.experimental.io_callback": _callback, "jax.debug.callback": _nothing,
    "jax.debug.print": _nothing, "jax.local_device_count": _static("int"), "jax.device_count": _static("int"),
    "types.SimpleNamespace": lambda m, f, a, e, w: Unknown(), "jax.lax.with_sharding_constraint": _same,
    **dict.fromkeys(("numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator"),
                    _generator("numpy.random")),
    "random.Random": _generator("random"),
    **dict.fromkeys(CACHES, _cache), CACHED: _cached_call, **losses.HANDLERS, **layers.HANDLERS,
}  # fmt: skip
