"""Where a file uses names of the outside world: every import and attribute chain that resolves to a dotted path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jaxlint.analysis import bindings, guards
from jaxlint.analysis.bindings import Bindings
from jaxlint.analysis.events import ApiUse
from jaxlint.program import nodes as n


def api_uses(module: n.Module) -> Iterator[ApiUse]:
    """Every use of an outside name in a module, each as the longest chain that is written, in the order of the text.

    Names are resolved by Python's scope rules and never across files. A name that some binding in its scope makes
    something else (`jnp = fake`) is not resolved.
    """
    scope = bindings.of_module(module)
    walker = _Walker(scope, guards.version_flags(module, scope))
    walker.block(module.body)
    return iter(walker.found)


class _Walker:
    """Walks statements and expressions once. `scope`, `guarded` and `annotation` say where the walk stands."""

    def __init__(self, scope: Bindings, flags: frozenset[str]) -> None:
        self.found: list[ApiUse] = []
        self.scope = scope
        self.flags = flags
        self.guarded = False
        self.annotation = False
        self.visits: dict[type, Callable[[Any], None]] = {}

    def visit(self, node: n.Node | None) -> None:
        if node is None:
            return
        kind = type(node)
        method = self.visits.get(kind)
        if method is None:
            method = self.visits[kind] = getattr(self, "_" + kind.__name__)
        method(node)

    def all(self, nodes: Iterable[n.Node | None]) -> None:
        for node in nodes:
            self.visit(node)

    def is_guard(self, test: n.Expr) -> bool:
        return self.guarded or guards.is_guard(test, self.scope, self.flags)

    def under(self, guarded: bool, *nodes: n.Node) -> None:
        """Visits nodes that are guarded, or not more than the walk is."""
        before, self.guarded = self.guarded, self.guarded or guarded
        self.all(nodes)
        self.guarded = before

    def block(self, body: tuple[n.Stmt, ...]) -> None:
        """Visits a body. Where a version test leaves it early, the rest is for the other versions only."""
        before = self.guarded
        for statement in body:
            self.visit(statement)
            if isinstance(statement, n.If) and guards.ends(statement.body) and self.is_guard(statement.test):
                self.guarded = True
        self.guarded = before

    def annotated(self, node: n.Expr | None) -> None:
        before, self.annotation = self.annotation, True
        self.visit(node)
        self.annotation = before

    def inside(self, scope: Bindings, body: tuple[n.Stmt, ...]) -> None:
        before, self.scope = self.scope, scope
        self.block(body)
        self.scope = before

    # Statements

    def _Import(self, node: n.Import) -> None:
        if node.level:
            return
        for name in node.names:
            path = name.loads if name.from_module is None else name.target
            self.found.append(ApiUse(path, name.span, imported=name, statement=node, guarded=self.guarded))

    def targets(self, targets: Iterable[n.Expr]) -> None:
        """Visits what is assigned to: a name there is no use, but what it stands in may be one."""
        for target in targets:
            if isinstance(target, (n.Sequence, n.Starred)):
                self.targets(target.elements if isinstance(target, n.Sequence) else (target.value,))
            elif not isinstance(target, n.Name):
                self.visit(target)

    def _Assign(self, node: n.Assign) -> None:
        self.targets(node.targets)
        self.annotated(node.annotation)
        self.visit(node.value)

    def _AugmentedAssign(self, node: n.AugmentedAssign) -> None:
        self.visit(node.target)  # read as well as written
        self.visit(node.value)

    def _value(self, node: n.ExpressionStatement | n.Return | n.Raise | n.Starred | n.Yield) -> None:
        self.visit(node.value)

    _ExpressionStatement = _Return = _Raise = _Starred = _Yield = _value

    def _Assert(self, node: n.Assert) -> None:
        self.visit(node.test)
        self.visit(node.message)

    def _Delete(self, node: n.Delete) -> None:
        self.targets(node.targets)

    def _nothing(self, node: n.Node) -> None:
        pass

    _Jump = _Scope = _Constant = _nothing

    def _If(self, node: n.If) -> None:
        before, guarded = self.guarded, self.is_guard(node.test)
        fallback = guards.fallback(node)
        self.under(guarded, node.test)
        self.guarded = guarded or fallback == "body"
        self.block(node.body)
        self.guarded = guarded or fallback == "otherwise"
        self.block(node.otherwise)
        self.guarded = before

    def _While(self, node: n.While) -> None:
        self.visit(node.test)
        self.block(node.body)
        self.block(node.otherwise)

    def _For(self, node: n.For) -> None:
        self.targets((node.target,))
        self.visit(node.iterable)
        self.block(node.body)
        self.block(node.otherwise)

    def _With(self, node: n.With) -> None:
        for context, target in node.items:
            self.visit(context)
            self.targets((target,) if target is not None else ())
        before = self.guarded
        self.guarded |= any(guards.expects_failure(context, self.scope) for context, _ in node.items)
        self.block(node.body)
        self.guarded = before

    def _Try(self, node: n.Try) -> None:
        before = self.guarded
        self.guarded |= guards.catches_missing(node)
        self.block(node.body)
        for handler in node.handlers:
            self.visit(handler.type)
            self.block(handler.body)
        self.guarded = before
        self.block(node.otherwise)
        self.block(node.final)

    def _Match(self, node: n.Match) -> None:
        self.visit(node.subject)
        for case in node.cases:
            self.visit(case.guard)
            self.block(case.body)

    def _FunctionDefinition(self, node: n.FunctionDefinition) -> None:
        function = node.function
        before = self.guarded
        # `@pytest.mark.skipif(jax.__version__ < ...)` guards the whole function.
        self.guarded |= any(isinstance(d, n.Call) and self.is_guard(d) for d in function.decorators)
        self.all(function.decorators)
        self.header(function)
        self.annotated(function.returns)
        self.inside(bindings.of_function(function, self.scope), function.body)
        self.guarded = before

    def header(self, function: n.Function) -> None:
        for parameter in function.parameters:
            self.annotated(parameter.annotation)
            self.visit(parameter.default)

    def _ClassDefinition(self, node: n.ClassDefinition) -> None:
        definition = node.definition
        self.all(definition.decorators)
        self.arguments(definition.bases)
        self.inside(bindings.of_class(definition, self.scope), definition.body)

    # Expressions

    def _Name(self, node: n.Name, call: n.Call | None = None) -> None:
        path = self.scope.path(node.name)
        if path is not None:
            self.tell(path, node, call)

    def _Attribute(self, node: n.Attribute, call: n.Call | None = None) -> None:
        path = self.scope.chain(node)
        if path is not None:
            self.tell(path, node, call)
            return
        base: n.Expr = node.base
        while isinstance(base, n.Attribute):
            base = base.base
        if not isinstance(base, n.Name):
            self.visit(base)

    def tell(self, path: str, node: n.Name | n.Attribute, call: n.Call | None) -> None:
        self.found.append(
            ApiUse(path, node.span, node, call=call, guarded=self.guarded, in_annotation=self.annotation)
        )  # fmt: skip

    def _Call(self, node: n.Call) -> None:
        function = node.function
        if isinstance(function, n.Attribute):
            self._Attribute(function, node)
        elif isinstance(function, n.Name):
            self._Name(function, node)
        else:
            self.visit(function)
        self.arguments(node.arguments)

    def arguments(self, arguments: tuple[n.Argument, ...]) -> None:
        for argument in arguments:
            self.visit(argument.value)

    def _Subscript(self, node: n.Subscript) -> None:
        self.visit(node.base)
        self.visit(node.index)

    def _Slice(self, node: n.Slice) -> None:
        self.all((node.lower, node.upper, node.step))

    def _Sequence(self, node: n.Sequence) -> None:
        self.all(node.elements)

    def _Dictionary(self, node: n.Dictionary) -> None:
        for key, value in node.items:
            self.visit(key)
            self.visit(value)

    def _Unary(self, node: n.Unary) -> None:
        self.visit(node.operand)

    def _Binary(self, node: n.Binary) -> None:
        self.all(_terms(node))

    def _Compare(self, node: n.Compare) -> None:
        self.visit(node.left)
        self.all(right for _, right in node.rest)

    def _Boolean(self, node: n.Boolean) -> None:
        terms = list(_terms(node))  # what stands behind a guard is guarded
        self.under(any(map(self.is_guard, terms[:-1])), *terms)

    def _Conditional(self, node: n.Conditional) -> None:
        self.under(self.is_guard(node.test), node.body, node.test, node.otherwise)

    def _Lambda(self, node: n.Lambda) -> None:
        self.header(node.function)
        self.inside(bindings.of_function(node.function, self.scope), node.function.body)

    def _Comprehension(self, node: n.Comprehension) -> None:
        outer = self.scope
        self.visit(node.generators[0].iterable)
        self.scope = bindings.of_comprehension(node, outer)
        self.all((node.key, node.element))
        for position, generator in enumerate(node.generators):
            if position:
                self.visit(generator.iterable)
            self.targets((generator.target,))
            self.all(generator.conditions)
        self.scope = outer

    def _FormattedString(self, node: n.FormattedString) -> None:
        self.all(node.parts)

    def _NamedExpression(self, node: n.NamedExpression) -> None:
        self.visit(node.value)


def _terms(node: n.Boolean | n.Binary) -> Iterator[n.Expr]:
    """The terms of `a and b or c`, or of `a + b - c`, from left to right.

    A chain leans to the left, and may have a thousand terms: it is walked down without recursion.
    """
    kind = type(node)
    spine: list[n.Expr] = []
    left: n.Expr = node
    while isinstance(left, kind):
        spine.append(left.right)
        left = left.left
    yield left
    yield from reversed(spine)
