"""What the analysis knows of a Python value: what kind of thing it is, its shape and dtype, and whether it is traced.

Values are immutable and compare by what they say. `Unknown` says nothing; a wrong guess is worse than none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeAlias

from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.scope import Attributes, Scope

Dim: TypeAlias = int | str | None  # a size, a symbol that stands for one (such as "batch"), or unknown
Shape: TypeAlias = tuple[Dim, ...]


class Level(IntEnum):
    """How abstract a traced value is. Under eager `grad` values stay concrete: `bool(x)` and `int(x)` work."""

    GRAD = 1
    TRACED = 2


@dataclass(frozen=True, slots=True)
class TracedParameter:
    """A parameter of a transformed function through which tracing came in; `site` is the transform application."""

    site: Site
    function: n.Function
    name: str


@dataclass(frozen=True, slots=True)
class Trace:
    """Says that a value is a tracer.

    `sure` is False where the value may be static metadata of a traced pytree. `parameters` are those of the
    transformed functions that the value depends on; making them static would make the value static.
    `staged` marks a value that is abstract only because every jnp operation inside jit is staged.
    """

    level: Level
    sure: bool = True
    parameters: frozenset[TracedParameter] = frozenset()
    staged: bool = False


@dataclass(frozen=True, slots=True)
class Donation:
    """A call of a compiled function that took its caller's arrays; `site` says what it donates."""

    site: Site
    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class Value:
    """Any value; `trace` is None where it is surely concrete or nothing is known.

    `donated` marks what a name still holds although its arrays were given away.
    """

    trace: Trace | None = field(default=None, kw_only=True)
    donated: Donation | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Token:
    """The identity of one PRNG key. `name` is how the source calls it; equal tokens are equal keys.

    `part` tells which part of the key or batch it is (key_parts.py), `born` in which call of a function it was made.
    """

    number: int
    name: str = field(compare=False)
    span: Span = field(compare=False)
    part: tuple[Any, ...] = ()
    born: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Unknown(Value):
    """Nothing is known but that it is, or holds, tracers; `token` tells it from others, should it be a PRNG key."""

    token: Token | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Layer(Unknown):
    """An object of a library that makes arrays of arrays when it is called; else nothing is known of it."""


@dataclass(frozen=True, slots=True)
class Generator(Unknown):
    """A host generator of random numbers, made outside compiled code; `module` has functions like its methods."""

    module: str = "numpy.random"


@dataclass(frozen=True, slots=True)
class Array(Value):
    """An array, on the device or (`host`) of NumPy; dtype as a NumPy name such as 'float32'.

    `weak` is JAX's weak type. `python` is the Python type ('bool', 'int', 'float', 'complex') of the scalar that a
    transform turned into this tracer, if it was one. `token` tells it from others, should it be a PRNG key.
    """

    dtype: str | None = None
    shape: Shape | None = None
    weak: bool | None = None
    host: bool = False
    python: str | None = None
    token: Token | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Scalar(Value):
    """A Python number, string or None of type `kind` (as in `nodes.Constant`); `const` where the value is known."""

    kind: str = "int"
    const: bool | int | float | str | None = None
    known: bool = False


NONE = Scalar("none", None, True)


@dataclass(frozen=True, slots=True)
class Items(Value):
    """A tuple, list or set (`kind`) whose elements are known one by one."""

    kind: str = "tuple"
    items: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Many(Value):
    """A tuple, list, set, iterator or generator of unknown length; `element` joins what is in it."""

    kind: str = "list"
    element: Value = Unknown()


@dataclass(frozen=True, slots=True)
class Mapping(Value):
    """A dict with constant keys; `complete` when there are no others. `default` joins values of unknown keys."""

    entries: tuple[tuple[Any, Value], ...] = ()
    complete: bool = True
    default: Value = Unknown()

    def get(self, key: Any) -> Value | None:
        """The value of a constant key, None where it is not known."""
        return next((value for k, value in self.entries if k == key and type(k) is type(key)), None)


@dataclass(frozen=True, slots=True)
class Key(Value):
    """A PRNG key, or (`batch` not ()) an array of keys; `batch` of None is unknown."""

    token: Token | None = None
    batch: Shape | None = ()


@dataclass(frozen=True, slots=True)
class Closure(Value):
    """A function with the scope that it closes over. `born` numbers the frame that made it (0: module level)."""

    function: n.Function
    scope: Scope
    path: str
    defaults: tuple[tuple[str, Value], ...] = ()
    owner: Value | None = None  # the instance or class that it is bound to
    born: int = 0


@dataclass(frozen=True, slots=True)
class Bound(Value):
    """`functools.partial(function, *arguments, **keywords)`, or a bound method of an external object."""

    function: Value
    arguments: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    born: int = 0
    span: Span | None = None  # where `partial` is called


@dataclass(frozen=True, slots=True)
class Option:
    """An argument given to a transform: its value and where it stands."""

    value: Value
    span: Span
    argument: Span  # with its keyword, for edits


@dataclass(frozen=True, slots=True)
class Site:
    """One place where a transform is applied to a function.

    `transform` is the canonical name ('jax.jit'), `kind` the family that the API table gives ('jit', 'vmap', ...);
    `form` is 'call', 'decorator' (`@jax.jit`), 'factory' (`@jax.jit(...)`) or 'partial' (`@partial(jax.jit, ...)`).
    `span` covers the application, `name_span` the words `jax.jit`, `target_span` the function argument, and
    `last_argument` the last argument in the parentheses that hold the options.
    """

    transform: str
    kind: str
    path: str
    span: Span
    name_span: Span
    form: str = "call"
    target_span: Span | None = None
    options: tuple[tuple[str, Option], ...] = ()
    last_argument: Span | None = None

    def option(self, name: str) -> Value | None:
        """The value given for an option, None where it is not given."""
        return next((option.value for key, option in self.options if key == name), None)

    def option_at(self, name: str) -> Option | None:
        """An option with its place, None where it is not given."""
        return next((option for key, option in self.options if key == name), None)


@dataclass(frozen=True, slots=True)
class Transformed(Value):
    """The result of applying a transform to a function."""

    site: Site
    function: Value
    born: int = 0


@dataclass(frozen=True, slots=True)
class Factory(Value):
    """A transform with options that still waits for its function: `partial(jax.jit, ...)`, `jax.jit(...)`."""

    site: Site
    born: int = 0


@dataclass(frozen=True, slots=True)
class Api(Value):
    """Something outside the project by its canonical dotted name: a module, function, class or constant."""

    path: str


@dataclass(frozen=True, slots=True)
class Method(Value):
    """A method of an array, container, string or unknown object, looked up but not called."""

    owner: Value
    name: str


@dataclass(frozen=True, slots=True)
class ClassValue(Value):
    """A class of the project; `scope` holds what its body bound."""

    definition: n.Class
    scope: Scope
    path: str
    bases: tuple[Value, ...] = ()
    decorators: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Instance(Value):
    """An object of a project class; its attributes are shared by all that refer to it."""

    cls: ClassValue
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class Super(Value):
    """`super()`: what the bases behind the class `after` give to `owner`, an object or class."""

    owner: Instance | ClassValue
    after: ClassValue


@dataclass(frozen=True, slots=True)
class ModuleValue(Value):
    """A module of the project."""

    name: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class OneOf(Value):
    """One of a few different things, such as a function chosen by a condition."""

    options: tuple[Value, ...] = ()


CALLABLE = (Closure, Bound, Transformed, Factory, ClassValue)
MAX_OPTIONS = 4


def known(value: bool | int | float | str | None) -> Scalar:
    """The Python constant `value`."""
    return Scalar("none" if value is None else type(value).__name__, value, True)


def options(value: Value) -> Iterator[Value]:
    """The things that a value may be, itself if there is just one."""
    if isinstance(value, OneOf):
        yield from value.options
    else:
        yield value


def one_of(values: Iterable[Value]) -> Value:
    """The join of several values (Unknown of nothing)."""
    result: Value | None = None
    for value in values:
        result = value if result is None else join(result, value)
    return Unknown() if result is None else result


def join(left: Value, right: Value) -> Value:
    """What is known of a value that is either of the two."""
    if left == right:
        return left
    trace = join_traces(left.trace, right.trace)
    match left, right:
        case Array(), Array() if left.host == right.host:
            return _join_arrays(left, right, trace)
        case Scalar(), Scalar() if left.kind == right.kind:
            return Scalar(left.kind, trace=trace)
        case Items(), Items() if left.kind == right.kind and len(left.items) == len(right.items):
            return Items(left.kind, tuple(map(join, left.items, right.items)), trace=trace)
        case ((Items() | Many()), (Items() | Many())) if left.kind == right.kind:
            return Many(left.kind, join(element_of(left), element_of(right)), trace=trace)
        case Mapping(), Mapping():
            return _join_mappings(left, right, trace)
        case Key(), Key():
            return Key(None, left.batch if left.batch == right.batch else None, trace=trace)
        case Unknown(), _:
            return Unknown(trace=_either(left, right))
        case _, Unknown():
            return Unknown(trace=_either(left, right))
    found = tuple(dict.fromkeys((*options(left), *options(right))))
    return OneOf(found, trace=trace) if len(found) <= MAX_OPTIONS else Unknown(trace=trace)


def _either(left: Value, right: Value) -> Trace | None:
    """The trace of one thing of two: sure where both surely are tracers, or one is None."""
    trace = join_traces(left.trace, right.trace)
    sure = all(value == NONE or (value.trace is not None and value.trace.sure) for value in (left, right))
    return replace(trace, sure=sure) if trace is not None else None


def _join_arrays(left: Array, right: Array, trace: Trace | None) -> Array:
    shape: Shape | None = None
    if left.shape is not None and right.shape is not None and len(left.shape) == len(right.shape):
        shape = tuple(a if a == b else None for a, b in zip(left.shape, right.shape, strict=True))
    return Array(
        left.dtype if left.dtype == right.dtype else None,
        shape,
        left.weak if left.weak == right.weak else None,
        left.host,
        left.python if left.python == right.python else None,
        trace=trace,
    )


def _join_mappings(left: Mapping, right: Mapping, trace: Trace | None) -> Mapping:
    entries = []
    for key, value in left.entries:
        other = right.get(key)
        entries.append((key, value if other is None else join(value, other)))
    entries.extend((key, value) for key, value in right.entries if left.get(key) is None)
    complete = left.complete and right.complete and len(left.entries) == len(right.entries) == len(entries)
    return Mapping(tuple(entries), complete, join(left.default, right.default), trace=trace)


def join_traces(left: Trace | None, right: Trace | None) -> Trace | None:
    """The trace of a value that depends on both."""
    if left is None or right is None or left == right:
        return left or right
    return Trace(
        max(left.level, right.level),
        left.sure or right.sure,
        left.parameters | right.parameters,
        left.staged and right.staged,
    )


def element_of(value: Value) -> Value:
    """What iterating over a container yields, joined."""
    if isinstance(value, Items):
        return one_of(value.items)
    return value.element if isinstance(value, Many) else Unknown(trace=value.trace)


def with_trace(value: Value, trace: Trace | None) -> Value:
    """The same value with `trace` added to what it has."""
    return value if trace is None else replace(value, trace=join_traces(value.trace, trace))


def deep_trace(value: Value, depth: int = 4) -> Trace | None:
    """The trace of a value or of anything inside it."""
    trace = value.trace
    if depth == 0:
        return trace
    for part in parts(value):
        trace = join_traces(trace, deep_trace(part, depth - 1))
    return trace


def parts(value: Value) -> Iterator[Value]:
    """The values directly inside a container."""
    if isinstance(value, Items):
        yield from value.items
    elif isinstance(value, Many):
        yield value.element
    elif isinstance(value, Mapping):
        yield from (entry for _, entry in value.entries)
    elif isinstance(value, OneOf):
        yield from value.options


def leaves(value: Value) -> Iterator[Value]:
    """The leaves of a value read as a pytree of known structure."""
    found = list(parts(value))
    if not found and not isinstance(value, (Items, Mapping)):
        yield value
    for part in found:
        yield from leaves(part)


def is_traced(value: Value, level: Level = Level.TRACED) -> bool:
    """Whether the value itself is surely a tracer at least as abstract as `level`."""
    return value.trace is not None and value.trace.sure and value.trace.level >= level
