"""Compiles what runs op by op: a function by a decorator, an eager transform by `jax.jit` around it."""

from __future__ import annotations

from jaxlint.analysis.context import Context, fix, insert
from jaxlint.analysis.values import Site
from jaxlint.model import Edit, Fix, Safety
from jaxlint.program import nodes as n
from jaxlint.program.names import walk_statements
from jaxlint.repair.hoist import enclosing, out_of_loop, to_module
from jaxlint.repair.options import call_at
from jaxlint.repair.spelling import spell


def can_be_decorated(function: n.Function, context: Context) -> bool:
    """Whether it is a plain function at the top of the module, without decorators."""
    is_plain = not (function.is_lambda or function.decorators or function.is_generator or function.is_async)
    return is_plain and any(getattr(statement, "function", None) is function for statement in context.module.body)


def only_computes(function: n.Function) -> bool:
    """Whether a body only assigns its own names and returns: calls for their effect would run once."""
    return not function.outer and all(map(_only_binds, walk_statements(function.body)))


def _only_binds(statement: n.Stmt) -> bool:
    match statement:
        case n.Assign(targets=targets):
            return all(isinstance(target, (n.Name, n.Sequence)) for target in targets)
        case n.AugmentedAssign(target=target):
            return isinstance(target, n.Name)
        case n.ExpressionStatement(value=value):
            return isinstance(value, n.Constant)
    return isinstance(statement, (n.Return, n.FunctionDefinition, n.If, n.For, n.Jump))


def jitted(function: n.Function, context: Context) -> Fix:
    """Puts `@jax.jit` above a function."""
    jit = spell(context.module, "jax.jit", function.span)
    edit = insert(function.span.line, function.span.column, f"@{jit.text}\n")
    return fix(Safety.UNSAFE, f"jit `{function.name}`", edit, jit.edits)


def compiled_once(site: Site, name: str, context: Context) -> Fix | None:
    """Puts `jax.jit` around an application `jax.vmap(f)`, and takes it out of the loop or function around it."""
    call = call_at(site.span, context) if site.form == "call" and site.path == context.module.path else None
    if call is None:
        return None
    jit = spell(context.module, "jax.jit", site.span)

    def wrap(text: str) -> str:
        return f"{jit.text}({text})"

    message = "compile the transformed function as a whole, once"
    path = enclosing(context.module, site.span)
    moved = to_module(call, name, context, wrap) if any(isinstance(s, n.FunctionDefinition) for s in path) else None
    moved = moved or out_of_loop(call, name, context, wrap)
    if moved is not None:
        return fix(Safety.UNSAFE, message, moved[1], jit.edits)
    if any(isinstance(statement, (n.For, n.While)) for statement in path):
        return None  # a new function in each round
    return fix(Safety.UNSAFE, message, Edit(site.span, wrap(context.text.at(site.span))), jit.edits)
