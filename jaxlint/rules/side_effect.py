"""JAX402 side-effect and JAX403 tracer-leak: what traced functions do to the world around them."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.api import CACHED, PYTREE_DECORATORS
from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import ApiCall, Assigned
from jaxlint.analysis.frames import Frame, steps
from jaxlint.analysis.scope import Scope
from jaxlint.analysis.values import Api, ClassValue, Closure, Instance, Items, Many, Mapping, Value, is_traced, leaves
from jaxlint.model import Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.program.names import expressions, walk, walk_statements
from jaxlint.registry import Rule
from jaxlint.repair.outside import kept_by_wrapper

EFFECT = Rule("JAX402", "side-effect", "an effect on Python state in a compiled loop happens once", Severity.ERROR)
LEAK = Rule(
    "JAX403", "tracer-leak", "a tracer is kept outside of the function that is traced", Severity.ERROR,
    fix=Safety.UNSAFE,
)  # fmt: skip

STAGED = frozenset({"jit", "pmap", "vmap", "scan", "fori_loop", "while_loop", "map", "cond", "switch", "checkpoint"})
LOOPS = frozenset({"scan", "fori_loop", "while_loop", "map"})
ADDING = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "appendleft", "item"})
TAKING = frozenset({"pop", "remove", "clear", "popleft", "popitem"})


def entry(frame: Frame) -> Frame | None:
    """The innermost frame in which a transform stages or maps its function."""
    return next((outer for outer in frame.chain() if outer.site is not None and outer.site.kind in STAGED), None)


def is_outer(frame: Frame, start: Frame, name: str) -> bool:
    """Whether a name belongs to a scope outside of the traced function."""
    scope: Scope | None = frame.scope.find(name)
    if scope is None:
        return False
    for inner in frame.chain():
        if inner is start:
            return True
        if _within(scope, inner, name):
            return False
    return True


def _within(scope: Scope, frame: Frame, name: str) -> bool:
    """Whether the function of a frame binds the name in that scope; comprehensions have scopes of their own in it."""
    own: Scope | None = frame.scope
    while own is not None and own is not scope:
        own = own.parent
    function = frame.function
    if own is None or function is None:
        return scope is frame.scope
    return scope is frame.scope or name in function.bound or any(p.name == name for p in function.parameters)


def check_assigned(event: Assigned, context: Context) -> Iterator[Report]:
    """A tracer that is stored outside, by attribute, name or container."""
    start = entry(event.frame)
    if start is None or event.frame.in_test() or not _holds_tracer(event.value) or _is_undone(event):
        return
    if event.form == "attribute":
        owner = event.owner
        kept = isinstance(owner, Instance) and _is_plain(owner) and _came_from_outside(event.frame, owner)
    elif event.form == "name":
        kept = not event.local and isinstance(event.target, n.Name) and _is_outer_name(event, start)
    else:
        root = _root(event.target) if event.form in ADDING and _is_container(event.owner) else None
        kept = root is not None and (is_outer(event.frame, start, root) or _is_kept_by_object(event))
    if kept:
        written = context.text.at(event.target.span)
        message = f"`{written}` keeps a tracer, which means nothing after the trace; return the value instead"
        yield Report(event.span, message, steps(event.frame), kept_by_wrapper(event.frame, context))


def _holds_tracer(value: Value) -> bool:
    return any(is_traced(leaf) for leaf in leaves(value))


def _is_container(owner: Value | None) -> bool:
    return isinstance(owner, (Items, Many, Mapping))


def _is_plain(owner: Instance) -> bool:
    """Whether the class is an ordinary one of the project: no pytree, no library's module."""
    cls = owner.cls
    bases = all(isinstance(base, ClassValue) or base == Api("builtins.object") for base in cls.bases)
    pytree = any(isinstance(mark, Api) and mark.path in PYTREE_DECORATORS for mark in cls.decorators)
    return bases and not pytree and owner.trace is None


def _is_kept_by_object(event: Assigned) -> bool:
    """Whether the container is an attribute of an object from outside, none of whose methods empties or renews it."""
    held = event.target.base if isinstance(event.target, n.Attribute) and event.form != "item" else None
    if not isinstance(held, n.Attribute) or not isinstance(held.base, n.Name):
        return False
    scope = event.frame.scope.find(held.base.name)
    owner = scope.names[held.base.name] if scope is not None else None
    if not isinstance(owner, Instance) or not _is_plain(owner) or not _came_from_outside(event.frame, owner):
        return False
    return not any(_renews(method, held.name) for method in _methods(owner.cls.definition))


def _methods(cls: n.Class) -> Iterator[n.Function]:
    found = (statement.function for statement in cls.body if isinstance(statement, n.FunctionDefinition))
    return (function for function in found if function.name not in ("__init__", "__post_init__", "setup"))


def _renews(function: n.Function, name: str) -> bool:
    """Whether a function takes something out of an attribute of that name, or binds it anew."""
    for statement in walk_statements(function.body):
        targets = statement.targets if isinstance(statement, n.Assign) else ()
        if any(isinstance(node, n.Attribute) and node.name == name for target in targets for node in walk(target)):
            return True
        for node in (node for expression in expressions(statement) for node in walk(expression)):
            method = node.function if isinstance(node, n.Call) else None
            owner = method.base if isinstance(method, n.Attribute) and method.name in TAKING else None
            if isinstance(owner, n.Attribute) and owner.name == name:
                return True
    return any(isinstance(statement, n.Delete) for statement in walk_statements(function.body))


def _came_from_outside(frame: Frame, owner: Instance) -> bool:
    """Whether the outermost traced function was handed the object, or finds it where it was defined."""
    inside: Frame | None = None
    outermost: Frame | None = None
    for outer in frame.chain():
        if outer.site is not None and outer.site.kind in STAGED and outer.site.transform.startswith("jax."):
            outermost = inside
        inside = outer
    if outermost is None:
        return False
    held = [*outermost.given, outermost.owner, *_around(outermost)]
    return any(isinstance(one, Instance) and one.attributes is owner.attributes for one in held)


def _around(frame: Frame) -> Iterator[Value]:
    """What the function of a frame finds in the scopes that it closes over."""
    scope = frame.scope.parent
    while scope is not None:
        yield from scope.names.values()
        scope = scope.parent


def _is_outer_name(event: Assigned, start: Frame) -> bool:
    """Whether a `global` or `nonlocal` name lies outside of the traced function."""
    assert isinstance(event.target, n.Name)
    parent = event.frame.scope.parent
    scope = parent.find(event.target.name) if parent is not None else None
    if scope is None:
        return False
    for inner in event.frame.chain():
        if inner is start:
            return True
        if _within(scope, inner, event.target.name):
            return False
    return True


def _root(node: n.Expr) -> str | None:
    while isinstance(node, (n.Attribute, n.Subscript)):
        node = node.base
    return node.name if isinstance(node, n.Name) else None


def _is_undone(event: Assigned) -> bool:
    """Whether the function takes back what it does: it writes the same place again, or empties the container."""
    function = event.frame.function
    if function is None:
        return False
    root, writes = _root(event.target), 0
    for statement in walk_statements(function.body):
        if isinstance(statement, (n.Assign, n.AugmentedAssign)):
            targets = statement.targets if isinstance(statement, n.Assign) else (statement.target,)
            writes += sum(_same_place(target, event.target) for target in targets)
        for expression in expressions(statement):
            for node in walk(expression):
                method = node.function if isinstance(node, n.Call) else None
                if isinstance(method, n.Attribute) and method.name in TAKING and _root(method) == root:
                    return True
    return event.form in ("attribute", "name") and writes > 1


def _same_place(left: n.Expr, right: n.Expr) -> bool:
    if isinstance(left, n.Attribute) and isinstance(right, n.Attribute):
        return left.name == right.name and _root(left) == _root(right)
    return isinstance(left, n.Name) and isinstance(right, n.Name) and left.name == right.name


def check_cached(event: ApiCall, context: Context) -> Iterator[Report]:
    """A cached function whose arrays are made while something is traced."""
    if event.path != CACHED or not event.frame.compiled or not _holds_tracer(event.result):
        return
    function = event.arguments.positional[0] if event.arguments.positional else None
    if not isinstance(function, Closure) or _evaluates_at_once(function.function):
        return
    if any(_holds_tracer(value) for value in event.arguments.positional[1:]):
        return  # tracers as keys of the cache: another fault
    message = (
        f"`{function.function.name}` is cached: what it makes while `{event.frame.name}` is traced is a tracer, "
        "and later calls get it back"
    )
    yield Report(event.span, message, steps(event.frame))


def _evaluates_at_once(function: n.Function) -> bool:
    names = (
        node.name
        for statement in walk_statements(function.body)
        for expression in expressions(statement)
        for node in walk(expression)
        if isinstance(node, (n.Name, n.Attribute))
    )
    return "ensure_compile_time_eval" in names


def check_counted(event: Assigned, context: Context) -> Iterator[Report]:
    """A counter outside of a compiled loop that the body moves."""
    start = entry(event.frame)
    if start is None or start.site is None or start.site.kind not in LOOPS or event.frame.in_test():
        return
    if event.augmented is None or _holds_tracer(event.value):
        return
    root = _root(event.target)
    if event.form == "item":
        counted = root is not None and is_outer(event.frame, start, root) and _is_container(event.owner)
    else:
        counted = event.form == "name" and not event.local and _is_outer_name(event, start)
    if counted:
        written = context.text.at(event.target.span)
        message = f"`{written}` is changed once, when `{start.site.transform}` traces its body, not in each round"
        yield Report(event.span, message, steps(event.frame))


def check_next(event: ApiCall, context: Context) -> Iterator[Report]:
    """`next` of an iterator from outside, in a traced function."""
    start = entry(event.frame)
    node = event.arguments.node(0, "iterator")
    if event.path != "builtins.next" or start is None or event.frame.in_test() or not isinstance(node, n.Name):
        return
    value = event.arguments.get(0, "iterator")
    if isinstance(value, (Items, Many)) and event.frame.compiled and is_outer(event.frame, start, node.name):
        message = f"`next({node.name})` runs once, when the function is traced: all rounds and calls get one element"
        yield Report(event.span, message, steps(event.frame))


RULES = (
    (EFFECT, {Assigned: check_counted, ApiCall: check_next}),
    (LEAK, {Assigned: check_assigned, ApiCall: check_cached}),
)
