"""JAX112 jit-of-method: a jitted method with a static `self` whose attributes change.

The attributes are read once, when the method is traced, and stay as they were then: changing one has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report
from jaxlint.analysis.events import TransformMade
from jaxlint.analysis.signature import signature, static_parameters
from jaxlint.analysis.values import Closure
from jaxlint.model import Severity, Span, Step
from jaxlint.program import nodes as n
from jaxlint.program.names import expressions, walk, walk_statements
from jaxlint.registry import Rule
from jaxlint.repair.hoist import enclosing

RULE = Rule(
    "JAX112", "jit-of-method", "a jitted method reads attributes of a static `self` that change", Severity.WARNING
)

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


CHECKS = {TransformMade: check}
