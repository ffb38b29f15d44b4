"""Which code is meant for some versions of JAX only: what stands in a try, behind `hasattr` or a version test."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.bindings import Bindings
from jaxlint.program import nodes as n
from jaxlint.program.names import blocks, walk, walk_statements

CAUGHT = frozenset(
    ("ImportError", "ModuleNotFoundError", "AttributeError", "TypeError", "Exception", "BaseException")
)  # fmt: skip
EXPECTING = frozenset(
    ("pytest.raises", "pytest.warns", "pytest.deprecated_call", "contextlib.suppress", "unittest.TestCase.assertRaises")
)  # fmt: skip
EXPECTING_METHODS = ("assertRaises", "assertWarns", "assert_raises", "assert_warns")
LOOKING = frozenset(("hasattr", "getattr", "dir", "vars"))
SIGNATURES = frozenset(("inspect.signature", "inspect.getfullargspec", "importlib.util.find_spec"))


def catches_missing(statement: n.Try) -> bool:
    """Whether a try expects that a name, module or parameter may be missing."""
    return any(_catches(handler.type) for handler in statement.handlers)


def _catches(kind: n.Expr | None) -> bool:
    if isinstance(kind, n.Sequence):
        return any(map(_catches, kind.elements))
    if kind is None:
        return True
    name = kind.name if isinstance(kind, (n.Name, n.Attribute)) else ""
    return name in CAUGHT


def expects_failure(context: n.Expr, scope: Bindings) -> bool:
    """Whether a `with` item is there because its body fails or warns."""
    if not isinstance(context, n.Call):
        return False
    function = context.function
    if isinstance(function, n.Attribute) and function.name.startswith(EXPECTING_METHODS):
        return True
    return scope.chain(function) in EXPECTING


def ends(body: tuple[n.Stmt, ...]) -> bool:
    """Whether control never runs out at the end of a body."""
    last = body[-1] if body else None
    return isinstance(last, (n.Return, n.Raise)) or (isinstance(last, n.Jump) and last.kind != "pass")


def version_flags(module: n.Module, scope: Bindings) -> frozenset[str]:
    """The module's names that hold the outcome of a version test, and its functions that return one."""
    flags: set[str] = set()
    for statement in walk_statements(module.body):
        if isinstance(statement, n.Assign) and statement.value is not None:
            if is_guard(statement.value, scope, flags):
                flags.update(_names(statement.targets))
        elif isinstance(statement, n.FunctionDefinition):
            if any(is_guard(test, scope, flags) for test in _returned(statement.function)):
                flags.add(statement.function.name)
        elif (isinstance(statement, n.Try) and catches_missing(statement)) or (
            isinstance(statement, n.If) and is_guard(statement.test, scope, flags)
        ):
            flags.update(_constants(statement))
    return frozenset(flags)


def _returned(function: n.Function) -> Iterator[n.Expr]:
    """What a short function returns; long ones are no predicates."""
    if len(function.body) <= 4:
        for statement in walk_statements(function.body):
            if isinstance(statement, n.Return) and isinstance(statement.value, (n.Compare, n.Boolean, n.Call, n.Unary)):
                yield statement.value


def _constants(statement: n.Stmt) -> Iterator[str]:
    """The names that a guarded statement sets to True, False or None."""
    for block in blocks(statement):
        for inner in walk_statements(block):
            if (
                isinstance(inner, n.Assign)
                and isinstance(inner.value, n.Constant)
                and inner.value.kind in ("bool", "none")
            ):
                yield from _names(inner.targets)


def _names(targets: tuple[n.Expr, ...]) -> Iterator[str]:
    return (target.name for target in targets if isinstance(target, n.Name))


def is_guard(test: n.Expr, scope: Bindings, flags: frozenset[str] | set[str]) -> bool:
    """Whether a condition asks what the installed JAX has, or which version it is."""
    return any(_asks(node, scope, flags) for node in walk(test))


def fallback(statement: n.If) -> str | None:
    """Which branch of `if hasattr(value, ...)` runs where the attribute is missing: 'body', 'otherwise', or None.

    On a value (`hasattr(aval, "vma")`) such a test says little about the branch that has the attribute, but the other
    one is there for another version.
    """
    test, branch = statement.test, "otherwise"
    while isinstance(test, n.Unary) and test.operator == "not":
        test, branch = test.operand, "body" if branch == "otherwise" else "otherwise"
    is_hasattr = isinstance(test, n.Call) and isinstance(test.function, n.Name) and test.function.name == "hasattr"
    return branch if is_hasattr else None


def _asks(node: n.Expr, scope: Bindings, flags: frozenset[str] | set[str]) -> bool:
    if isinstance(node, (n.Name, n.Attribute)):
        return node.name in flags or "version" in node.name.lower() or node.name == "__dict__"
    if not isinstance(node, n.Call):
        return False
    if isinstance(node.function, n.Name) and node.function.name in LOOKING and node.arguments:
        return scope.chain(node.arguments[0].value) is not None
    return scope.chain(node.function) in SIGNATURES
