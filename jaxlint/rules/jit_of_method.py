"""JAX112 jit-of-method: a jitted method whose static `self` changes, or whose traced `self` is no pytree.

The attributes are read once, when the method is traced, and stay as they were then: changing one has no effect. An
object that is no pytree cannot be traced at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import SiteSeen, TransformMade
from jaxlint.analysis.signature import signature, static_parameters
from jaxlint.analysis.values import Closure, Transformed
from jaxlint.model import Fix, Safety, Severity, Span, Step
from jaxlint.program import nodes as n
from jaxlint.program.names import expressions, walk, walk_statements
from jaxlint.registry import Rule
from jaxlint.repair.hoist import enclosing
from jaxlint.repair.statics import make_static

RULE = Rule(
    "JAX112", "jit-of-method", "a jitted method whose `self` cannot be traced, or is static and changes",
    Severity.WARNING, fix=Safety.UNSAFE,
)  # fmt: skip

MAKERS = frozenset({"__init__", "__post_init__", "setup", "__new__", "__setstate__"})


def check(event: TransformMade, context: Context) -> Iterator[Report]:
    """Attributes that a jitted method reads and another method assigns."""
    function = event.value.function
    if event.value.site.kind != "jit" or not isinstance(function, Closure) or not isinstance(event.node, n.Function):
        return
    known = signature(function)
    statics = static_parameters(event.value.site, known)
    if statics is None or not statics.holds(0, "self") or function.path != context.module.path:
        return
    path = enclosing(context.module, event.node.name_span)
    cls = next((s.definition for s in reversed(path) if isinstance(s, n.ClassDefinition)), None)
    if cls is None or cls.decorators:
        return  # a decorator may make it a pytree, or replace what is assigned
    changed = dict(_assigned_elsewhere(cls, event.node))
    for name, span in _read(event.node):
        if name in changed:
            because = Step(context.module.path, changed[name].line, f"`self.{name}` is assigned again here")
            message = (
                f"`self` is static, so `self.{name}` stays as it was when `{event.node.name}` was traced, "
                "whatever is assigned later; pass it as an argument"
            )
            yield Report(span, message, (because,))
            return


def check_traced(event: SiteSeen, context: Context) -> Iterator[Report]:
    """A `self` that `jit` traces although its class is no pytree: each call raises."""
    cls, function = event.traced_self, event.value.function
    if cls is None or not isinstance(function, Closure) or function.path != context.module.path:
        return
    method = function.function
    message = (
        f"`self` of `{method.name}` is traced, but `{cls.definition.name}` is no pytree, so that each call raises a "
        "TypeError; make `self` static, register the class, or jit a function of its arrays"
    )
    yield Report(event.value.site.span, message, (), _static_self(event.value, cls.definition, method, context))


def _static_self(value: Transformed, cls: n.Class, method: n.Function, context: Context) -> Fix | None:
    """Makes `self` static, where its attributes stay what they are and its hash is that of the object."""
    changed = {name for name, _ in _assigned_elsewhere(cls, method)}
    is_compared = any(isinstance(s, n.FunctionDefinition) and s.function.name == "__eq__" for s in cls.body)
    if cls.decorators or is_compared or changed & {name for name, _ in _read(method)}:
        return None
    edits = make_static(value.site, method, ["self"], context)
    return fix(Safety.UNSAFE, "make `self` static", edits) if edits else None


def _assigned_elsewhere(cls: n.Class, method: n.Function) -> Iterator[tuple[str, Span]]:
    makers = MAKERS | _helpers_of_makers(cls)
    for statement in cls.body:
        if (
            not isinstance(statement, n.FunctionDefinition)
            or statement.function.name in makers
            or statement.function is method
        ):
            continue
        for inner in walk_statements(statement.function.body):
            targets = (
                inner.targets
                if isinstance(inner, n.Assign)
                else (inner.target,)
                if isinstance(inner, n.AugmentedAssign)
                else ()
            )
            for target in targets:
                if isinstance(target, n.Attribute) and isinstance(target.base, n.Name) and target.base.name == "self":
                    yield target.name, target.span


def _helpers_of_makers(cls: n.Class) -> frozenset[str]:
    """The private methods that are called where objects are made, and by no other method of the class."""
    methods = [statement.function for statement in cls.body if isinstance(statement, n.FunctionDefinition)]
    read = {method.name: {name for name, _ in _read(method)} for method in methods}
    made = {name for maker in MAKERS for name in read.get(maker, ()) if name.startswith("_")}
    return frozenset(made).difference(*(names for name, names in read.items() if name not in MAKERS))


def _read(method: n.Function) -> Iterator[tuple[str, Span]]:
    for statement in walk_statements(method.body):
        for expression in expressions(statement):
            for node in walk(expression):
                if isinstance(node, n.Attribute) and isinstance(node.base, n.Name) and node.base.name == "self":
                    yield node.name, node.span


CHECKS = {TransformMade: check, SiteSeen: check_traced}
