"""Functions with decorators, classes, objects and their attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import dropwhile, islice
from typing import TYPE_CHECKING

from jaxlint.analysis import applying, calls, evidence, layers
from jaxlint.analysis.api import CACHED, CACHES, DATACLASS_DECORATORS, PYTREE_DECORATORS
from jaxlint.analysis.frames import Arguments, Frame
from jaxlint.analysis.scope import Attributes, Scope
from jaxlint.analysis.signature import signature, static_parameters
from jaxlint.analysis.values import (
    Api,
    Bound,
    ClassValue,
    Closure,
    Factory,
    Instance,
    Super,
    Transformed,
    Unknown,
    Value,
)
from jaxlint.model import Span
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine

# Decorators that give back (a wrapper that behaves like) the function.
TRANSPARENT = frozenset(
    {"functools.wraps", "contextlib.contextmanager", "typing.overload", "typing.no_type_check", "jax.named_scope",
     "jaxtyping.jaxtyped", "beartype.beartype", "typeguard.typechecked", "builtins.staticmethod", "abc.abstractmethod",
     "typing.final", "typing_extensions.override", "jax.profiler.annotate_function", "flax.linen.compact",
     "flax.linen.nowrap", "haiku.transparent"}
) | CACHES  # fmt: skip
DESCRIPTORS = frozenset({"builtins.property", "builtins.classmethod", "functools.cached_property"})


def define_function(m: Machine, f: Frame, function: n.Function) -> Value:
    """The value that a `def` binds: the function with its decorators applied, innermost first."""
    value: Value = calls.make_closure(m, f, function)
    for decorator in reversed(function.decorators):
        value = _decorated(m, f, decorator, value, function)
    return value


def _decorated(m: Machine, f: Frame, decorator: n.Expr, value: Value, function: n.Function) -> Value:
    from jaxlint.analysis.expressions import evaluate

    if isinstance(decorator, n.Call):
        made = _decorator_call(m, f, decorator, value, function)
        if made is not None:
            return made
    applied = evaluate(m, f, decorator)
    if isinstance(applied, Api):
        return _outside_decorator(m, f, applied.path, decorator, value, function)
    if isinstance(applied, Factory):
        return applying.decorate(m, f, applied, decorator, value, function)
    if isinstance(applied, (Closure, Bound, Transformed, Instance, ClassValue)):
        return calls.call(m, f, applied, Arguments((value,), (), (None,)), None, decorator.span)
    m.executed.discard((f.path, function.span))
    return Unknown()


def _decorator_call(m: Machine, f: Frame, decorator: n.Call, value: Value, function: n.Function) -> Value | None:
    """`@functools.wraps(fn)`, `@lru_cache(...)` and other calls that give transparent decorators."""
    from jaxlint.analysis.imports import dotted

    path = dotted(m, f, decorator.function)
    if path in TRANSPARENT:
        calls.evaluate_arguments(m, f, decorator)
        return cached(f, value) if path in CACHES else value
    if isinstance(decorator.function, n.Attribute) and decorator.function.name in ("setter", "getter", "deleter"):
        return Unknown()
    return None


def _outside_decorator(m: Machine, f: Frame, path: str, decorator: n.Expr, value: Value, function: n.Function) -> Value:
    if path in m.transforms:
        return applying.decorate_plainly(m, f, path, decorator, value, function)
    if path in CACHES and path not in DESCRIPTORS:
        return cached(f, value)
    if path in DESCRIPTORS or path == "builtins.staticmethod":
        return Bound(Api(path), (value,), (), f.number)
    return value if path in TRANSPARENT else Unknown()


def cached(f: Frame, function: Value) -> Value:
    """A function whose results are kept: each call with equal arguments gives the same object."""
    return Bound(Api(CACHED), (function,), (), f.number)


def define_class(m: Machine, f: Frame, definition: n.Class) -> Value:
    """The class that a `class` statement binds."""
    from jaxlint.analysis.expressions import evaluate
    from jaxlint.analysis.statements import run_body

    bases = tuple(evaluate(m, f, base.value) for base in definition.bases if not base.star and base.keyword is None)
    decorators = tuple(evaluate(m, f, _decorator_name(d)) for d in definition.decorators)
    scope = Scope(f.scope, is_class=True)
    value = ClassValue(definition, scope, f.path, bases, decorators)
    for base in bases:
        note_open(m, base)
    scope.names["__class__"] = value
    outer, f.scope = f.scope, scope
    try:
        run_body(m, f, definition.body)
    finally:
        f.scope = outer
    return value


def _decorator_name(decorator: n.Expr) -> n.Expr:
    """The function of a decorator; in `partial(register_dataclass, ...)` the function that is configured."""
    if isinstance(decorator, n.Call):
        name = decorator.function
        is_partial = (isinstance(name, n.Name) and name.name == "partial") or (
            isinstance(name, n.Attribute) and name.name == "partial"
        )
        return decorator.arguments[0].value if is_partial and decorator.arguments else name
    return decorator


def lineage(cls: ClassValue) -> Iterator[Value]:
    """The class and its bases, nearest first; outside bases as they are."""
    yield cls
    for base in cls.bases:
        if isinstance(base, ClassValue):
            yield from lineage(base)
        else:
            yield base


def find(cls: ClassValue, name: str) -> Value | None:
    """What a class or its bases bind to `name`."""
    for base in lineage(cls):
        if isinstance(base, ClassValue) and name in base.scope.names:
            return base.scope.names[name]
    return None


def is_pytree(cls: ClassValue) -> bool:
    """Whether objects of the class may be traced: registered, or of a base that is not known to be plain."""
    for base in lineage(cls):
        if isinstance(base, ClassValue):
            if any(isinstance(d, Api) and d.path in PYTREE_DECORATORS for d in base.decorators):
                return True
            if any(isinstance(d, Unknown) for d in base.decorators):
                return True
        elif not (isinstance(base, Api) and base.path in PLAIN_BASES):
            return True
    return False


def note_open(m: Machine, value: Value) -> None:
    """Notes of a class that what its own body says of it is not all."""
    if isinstance(value, ClassValue):
        m.open_classes.add((value.path, value.definition.span))


def traced_self(m: Machine, value: Transformed) -> ClassValue | None:
    """The class of the object that a jitted method traces, where objects of the class surely cannot be traced."""
    function, site = value.function, value.site
    is_method = isinstance(function, Closure) and function.scope.is_class and function.function.parameters
    if not is_method or site.kind != "jit" or m.transforms[site.transform].auto_static:
        return None
    assert isinstance(function, Closure)
    cls = function.scope.names.get("__class__")
    first, statics = function.function.parameters[0], static_parameters(site, signature(function))
    if not isinstance(cls, ClassValue) or first.name != "self" or statics is None or statics.holds(0, "self"):
        return None
    held = cls.scope.names.get(function.function.name)
    is_whole = isinstance(held, Transformed) and held.site == site
    is_open = is_pytree(cls) or _is_made_otherwise(cls) or (cls.path, cls.definition.span) in m.open_classes
    return cls if is_whole and not is_open else None


def _is_made_otherwise(cls: ClassValue) -> bool:
    """Whether a metaclass or a base's `__init_subclass__` has a hand in what the class is."""
    known = [base for base in lineage(cls) if isinstance(base, ClassValue)]
    named = any(argument.keyword is not None or argument.star for base in known for argument in base.definition.bases)
    return named or any("__init_subclass__" in base.scope.names for base in known)


PLAIN_BASES = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "builtins.Exception"})


def is_dataclass(cls: ClassValue) -> bool:
    """Whether the class gets its `__init__` from its annotated fields."""
    if any(isinstance(d, Api) and d.path in DATACLASS_DECORATORS for d in cls.decorators):
        return True
    outside = ("typing.NamedTuple", "equinox.Module", "flax.struct.PyTreeNode", "flax.linen.Module")
    return any(isinstance(base, Api) and base.path in outside for base in lineage(cls))


def fields(cls: ClassValue) -> Iterator[n.Assign]:
    """The annotated fields of a class and its project bases, bases first."""
    for base in cls.bases:
        if isinstance(base, ClassValue):
            yield from fields(base)
    for statement in cls.definition.body:
        if (
            isinstance(statement, n.Assign)
            and statement.annotation is not None
            and isinstance(statement.targets[0], n.Name)
        ):
            yield statement


def instantiate(m: Machine, f: Frame, cls: ClassValue, arguments: Arguments, where: Span) -> Value:
    """Makes an object: runs `__init__`, or binds the fields of a dataclass."""
    instance = Instance(cls, Attributes())
    init = find(cls, "__init__")
    if isinstance(init, (Closure, Transformed)):
        calls.call(m, f, bind(init, instance), arguments, None, where)
        return instance
    if is_dataclass(cls):
        positional = list(arguments.positional)
        keywords = dict(arguments.keywords)
        for field in fields(cls):
            assert isinstance(field.targets[0], n.Name)
            name = field.targets[0].name
            if positional:
                instance.attributes.names[name] = positional.pop(0)
            elif name in keywords:
                instance.attributes.names[name] = keywords[name]
    else:
        calls.call_unknown(m, f, Unknown(), arguments, where)
    post = find(cls, "__post_init__")
    if isinstance(post, Closure):
        calls.call(m, f, bind(post, instance), Arguments(), None, where)
    return instance


def bind(method: Value, owner: Value) -> Value:
    """A function found on a class, bound to an object of it."""
    if isinstance(method, Closure):
        return replace(method, owner=owner)
    if isinstance(method, Transformed):
        return Bound(method, (owner,), (), method.born)
    return method


def get_attribute(m: Machine, f: Frame, base: Instance | ClassValue, name: str, e: n.Attribute) -> Value:
    """An attribute of an object or class of the project."""
    cls = base.cls if isinstance(base, Instance) else base
    if isinstance(base, Instance) and name in base.attributes.names:
        return base.attributes.names[name]
    found = find(cls, name)
    if found is None:
        return _missing(m, f, base, name, e)
    return _bound(m, f, base, found, e)


def get_inherited(m: Machine, f: Frame, base: Super, name: str, e: n.Attribute) -> Value:
    """An attribute of `super()`: unknown from the first base on that is not of the project."""
    cls = base.owner.cls if isinstance(base.owner, Instance) else base.owner
    behind = dropwhile(lambda one: not _is_class(one, base.after), lineage(cls))
    for other in islice(behind, 1, None):
        if not isinstance(other, ClassValue):
            return Unknown()
        if name in other.scope.names:
            return _bound(m, f, base.owner, other.scope.names[name], e)
    return Unknown()


def _is_class(value: Value, cls: ClassValue) -> bool:
    return isinstance(value, ClassValue) and value.definition is cls.definition


def _bound(m: Machine, f: Frame, base: Instance | ClassValue, found: Value, e: n.Attribute) -> Value:
    """What an object or class gives for something that a class body binds."""
    cls = base.cls if isinstance(base, Instance) else base
    if isinstance(found, Bound) and isinstance(found.function, Api) and found.function.path == CACHED:
        return replace(found, arguments=(bind(found.arguments[0], base),)) if isinstance(base, Instance) else found
    if isinstance(found, Bound) and isinstance(found.function, Api) and found.arguments:
        return _descriptor(m, f, base, cls, found.function.path, found.arguments[0], e)
    if isinstance(found, (Closure, Transformed)) and isinstance(base, Instance):
        return bind(found, base)
    return found


def _descriptor(m: Machine, f: Frame, base: Value, cls: ClassValue, path: str, inner: Value, e: n.Attribute) -> Value:
    if path in ("builtins.property", "functools.cached_property"):
        if isinstance(base, Instance) and isinstance(inner, Closure):
            with m.doubt(path == "functools.cached_property"):  # its value may be there since before tracing
                return calls.call(m, f, bind(inner, base), Arguments(), None, e.span)
        return Unknown()
    if path == "builtins.classmethod":
        return bind(inner, cls)
    if path == "builtins.staticmethod":
        return inner
    return bind(inner, base) if isinstance(base, Instance) else inner


def _missing(m: Machine, f: Frame, base: Instance | ClassValue, name: str, e: n.Attribute) -> Value:
    """An attribute that nothing visible sets: its annotation in the class body says what it may be."""
    cls = base.cls if isinstance(base, Instance) else base
    linen = layers.attribute(m, f, base, name, e.span) if isinstance(base, Instance) else None
    if linen is not None:
        return linen
    trace = replace(base.trace, sure=False) if base.trace is not None else None
    for field in fields(cls):
        target = field.targets[0]
        if isinstance(target, n.Name) and target.name == name and field.annotation is not None:
            value = evidence.annotated_value(m, Frame(cls.path, cls.scope), field.annotation)
            if value is not None and trace is None:
                return value
    token = m.token(name, cls.definition.span)
    return Unknown(trace=trace, token=token)


def bound_to_instance(m: Machine, f: Frame, closure: Closure) -> Closure:
    """A method found in a class body gets an object as its `self`, made as far as `__init__` tells."""
    cls = closure.scope.names.get("__class__") if closure.scope.is_class else None
    function = closure.function
    if not isinstance(cls, ClassValue) or not function.parameters or closure.owner is not None:
        return closure
    wrapped = cls.scope.names.get(function.name)
    if isinstance(wrapped, Bound) and isinstance(wrapped.function, Api):
        if wrapped.function.path == "builtins.staticmethod":
            return closure
        if wrapped.function.path == "builtins.classmethod":
            return replace(closure, owner=cls)
    return replace(closure, owner=prototype(m, f, cls, skip=function.name == "__init__"))


def prototype(m: Machine, f: Frame, cls: ClassValue, *, skip: bool = False) -> Instance:
    """An object of a class as its `__init__` makes it from unknown arguments; made once for all methods."""
    place = (cls.path, cls.definition.span)
    known = m.prototypes.get(place)
    if known is not None:
        return known
    instance = Instance(cls, Attributes())
    init = find(cls, "__init__")
    if isinstance(init, Closure) and not skip:
        m.prototypes[place] = instance
        bound = replace(init, owner=instance)
        arguments = Arguments((), tuple(evidence.unknown_arguments(m, f, bound)))
        calls.call_closure(m, f, bound, arguments, init.function.name_span, Frame(cls.path, Scope(), known=False))
    return instance


def is_method(closure: Closure) -> bool:
    """Whether the function stands directly in a class body."""
    return closure.scope.is_class
