"""What the analysis tells the rules: one type for each kind of thing that a rule may want to look at.

Every event that comes from running code abstractly carries `where`, the chain of calls that leads there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jaxlint.analysis.values import Bound, ClassValue, Closure, Donation, Token, Transformed, Value
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.frames import Arguments, Frame, Use


@dataclass(frozen=True, slots=True)
class ApiUse:
    """A name of the outside world is used: every attribute chain and import that resolves to a dotted path.

    `path` is canonical as far as imports tell ('jax.tree_map' for `from jax import tree_map as t; t(...)`).
    `node` is the expression (Name or Attribute), None for an import; `imported` the import's entry with `statement`.
    `call` is the call whose function this is. `guarded` is true inside try/except, hasattr or version guards.
    """

    path: str
    span: Span
    node: n.Name | n.Attribute | None = None
    imported: n.ImportedName | None = None
    statement: n.Import | None = None
    call: n.Call | None = None
    guarded: bool = False
    in_annotation: bool = False


# Events of abstract execution. `frame` is where it happened; `frame.chain()` tells how it came there.


@dataclass(frozen=True, slots=True)
class Branch:
    """Python asks for the truth of a value.

    `form` says how: 'if', 'while', 'assert', 'conditional', 'and', 'or', 'not', 'chained comparison',
    'comprehension', 'min', 'max', 'sorted', 'in', 'bool', 'any', 'all', 'case'.
    `expression` is the thing tested and `statement` the statement or expression that tests it.
    """

    frame: Frame
    span: Span
    value: Value
    form: str
    expression: n.Expr
    statement: n.Stmt | n.Expr


@dataclass(frozen=True, slots=True)
class StaticWanted:
    """A traced parameter is used as only a static value can be: compared with a string, called, ..."""

    frame: Frame
    span: Span
    value: Value
    use: str


@dataclass(frozen=True, slots=True)
class RangeOver:
    """`range(value)` is built; `expression` is the argument."""

    frame: Frame
    span: Span
    value: Value
    expression: n.Expr


@dataclass(frozen=True, slots=True)
class ShapeUse:
    """A value stands where only a static size, shape, axis or index can: `what` says which ('shape', 'axis', ...)."""

    frame: Frame
    span: Span
    value: Value
    what: str
    function: str
    expression: n.Expr


@dataclass(frozen=True, slots=True)
class HostCall:
    """A tracer is handed to a function or conversion that needs a concrete value (`float`, `np.sin`, `.item()`)."""

    frame: Frame
    span: Span
    value: Value
    function: str
    call: n.Call


@dataclass(frozen=True, slots=True)
class Indexed:
    """`base[index]` is read; `written` when through `.at`."""

    frame: Frame
    span: Span
    base: Value
    index: Value
    node: n.Subscript
    written: bool = False


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A function outside the project is called, by its canonical name."""

    frame: Frame
    span: Span
    path: str
    arguments: Arguments
    call: n.Call
    result: Value


@dataclass(frozen=True, slots=True)
class MethodCall:
    """A method of an array, container or unknown object is called."""

    frame: Frame
    span: Span
    owner: Value
    name: str
    arguments: Arguments
    call: n.Call
    result: Value


@dataclass(frozen=True, slots=True)
class TransformMade:
    """A transform was applied to a function. `loops` counts the loops around it in its function."""

    frame: Frame
    value: Transformed
    node: n.Expr | n.Function
    loops: int


@dataclass(frozen=True, slots=True)
class FunctionCalled:
    """A function of the project is called, untransformed."""

    frame: Frame
    span: Span
    function: Closure
    arguments: Arguments
    call: n.Call
    result: Value
    can_be_jitted: Callable[[], bool]  # tries it


@dataclass(frozen=True, slots=True)
class PartialMade:
    """`functools.partial` bound arguments of a function (not of a transform)."""

    frame: Frame
    span: Span
    value: Bound
    call: n.Call


@dataclass(frozen=True, slots=True)
class TransformCalled:
    """A transformed function is called (`call` is None where a control-flow function or transform calls it).

    `body` is what the function itself gave inside a map, before the mapped axis was put back.
    """

    frame: Frame
    span: Span
    value: Transformed
    arguments: Arguments
    call: n.Call | None
    result: Value
    can_be_jitted: Callable[[], bool]  # tries it
    needs_value: Callable[[str], bool]  # tries whether the function asks for the value of a parameter
    body: Value | None = None


@dataclass(frozen=True, slots=True)
class ControlFlowCall:
    """`lax.scan` and its like ran their functions.

    `operands` are the arguments by parameter name, `results` what each function gave in its last round and `first`
    what it gave in its first, when it was handed what the call was.
    """

    frame: Frame
    span: Span
    path: str
    kind: str
    operands: dict[str, Value]
    results: dict[str, Value]
    first: dict[str, Value]
    arguments: Arguments
    call: n.Call
    runs_under_jit: Callable[[], bool]  # tries whether the function that makes the call could be jitted


@dataclass(frozen=True, slots=True)
class Looped:
    """One round of a `for` over `range` was run; `bounds` are the arguments of `range`.

    `before` and `after` are what the function's names held then. `can_be_traced` tries whether the body could be run
    with tracers for the loop's variable and for some of the names.
    """

    frame: Frame
    span: Span
    statement: n.For
    bounds: tuple[Value, ...]
    before: dict[str, Value]
    after: dict[str, Value]
    can_be_traced: Callable[[tuple[str, ...]], bool]


@dataclass(frozen=True, slots=True)
class Assigned:
    """An attribute, item or outer name is written. `owner` is the object written to (None for a name).

    `form` is 'attribute', 'item', 'name' or a mutating method's name such as 'append'. `local` says that the object
    was made in this call of the function, or (for names) that the name belongs to it.
    """

    frame: Frame
    span: Span
    form: str
    owner: Value | None
    value: Value
    target: n.Expr
    statement: n.Stmt | n.Expr
    local: bool
    augmented: str | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """An expression statement's value is dropped."""

    frame: Frame
    span: Span
    value: Value
    statement: n.ExpressionStatement


@dataclass(frozen=True, slots=True)
class Formatted:
    """An f-string is built; `values` are those of its parts."""

    frame: Frame
    span: Span
    values: tuple[Value, ...]
    node: n.FormattedString


@dataclass(frozen=True, slots=True)
class DonatedRead:
    """A name is read whose arrays were donated before, on the same path or in an earlier round of a loop."""

    frame: Frame
    span: Span
    name: str
    donation: Donation


@dataclass(frozen=True, slots=True)
class KeyReused:
    """A PRNG key is consumed that was consumed before, on the same path or in an earlier round of a loop.

    `how` and `earlier` are 'strong' (a sampler, a split) or 'weak' (handed to a function of unknown habits);
    `kind` is 'again', 'loop', 'mapped' (one key for all rows), 'carry' (a used key is the next round's), 'handed on'
    (a used key is returned) or 'shared' (two names, one key). `frame` and `span` are the place to blame, `node` the
    key's expression there; `uses` are the two uses, each with the calls that lead to it.
    """

    frame: Frame
    span: Span
    token: Token
    kind: str
    how: str
    earlier: str
    earlier_span: Span | None
    earlier_path: str | None
    node: n.Expr | None
    uses: tuple[Use, Use]


@dataclass(frozen=True, slots=True)
class KeyMade:
    """A PRNG key is made from a seed; `constant` when the seed is a literal."""

    frame: Frame
    span: Span
    constant: bool
    place: str  # 'call', 'default', 'field'
    loops: int


@dataclass(slots=True)
class DefaultKeySeen:
    """A PRNG key that is the default of a parameter, with the calls that rely on it; told at the end.

    `calls` are the places of the calls outside tests that leave the parameter out.
    """

    made: KeyMade
    calls: set[tuple[str, Span]] = field(default_factory=set)
    repeated: bool = False  # such a call stands in a loop, or in a function that is called in one


@dataclass(slots=True)
class SiteSeen:
    """What was seen of one place where a transform is applied; filled while the program runs, told at the end.

    `calls` counts the call expressions; the counts below it say from where: eagerly by visible code, inside a compiled
    function, under an eager vmap or grad, in a test, and in loops of the function that made it.
    """

    value: Transformed
    frame: Frame
    node: n.Expr | n.Function
    loops: int
    fresh: bool  # each run makes a new function object
    stays_traceable: Callable[[], bool]  # tries whether an outer jit could run it
    could_be: Callable[[Transformed], bool]  # tries whether this could stand in its place
    calls: int = 0
    eager_calls: int = 0
    staged_calls: int = 0
    mapped_calls: int = 0
    test_calls: int = 0
    calls_in_loop: int = 0
    inner_by_place: dict[tuple[str, Span], Transformed] = field(default_factory=dict)
    escapes: bool = False  # returned, stored or handed on
    immediate: bool = False  # called where it stands
    broken: bool = False  # applying or calling it raises
    repeated: bool = False  # made in a loop, or by a function that is called in one
    eager: list[tuple[Frame, n.Call, Arguments]] = field(default_factory=list)  # the eager calls by visible code
    texts: dict[str, Value] = field(default_factory=dict)  # the parameters that calls give texts or dtypes, traced
    told: frozenset[str] = frozenset()  # the parameters of which it was told that they must be static
    traced_self: ClassValue | None = None  # the class of the `self` that a jitted method traces though it is no pytree

    @property
    def inner(self) -> tuple[Transformed, ...]:
        """The jitted functions that ran under it without an outer jit."""
        return tuple(self.inner_by_place.values())
