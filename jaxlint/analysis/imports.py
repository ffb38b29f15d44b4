"""Imports: which project module or outside name an import binds, and the dotted name of an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlint.analysis.api import canonical
from jaxlint.analysis.frames import Frame
from jaxlint.analysis.values import Api, ModuleValue, Unknown, Value
from jaxlint.program import nodes as n

if TYPE_CHECKING:
    from jaxlint.analysis.machine import Machine


def bind(m: Machine, f: Frame, statement: n.Import) -> None:
    """Binds the names of an import statement in the frame's scope."""
    prefix = _package(m, f, statement.level) if statement.level else ""
    for name in statement.names:
        target = f"{prefix}.{name.target}".strip(".") if statement.level else name.target
        module = f"{prefix}.{name.from_module or ''}".strip(".") if statement.level else name.from_module
        if name.bound == "*":
            _bind_star(m, f, module or target)
        elif name.from_module is None and not statement.level:
            f.scope.names[name.bound] = resolve(m, target)
        else:
            f.scope.names[name.bound] = member(m, module or "", target, is_relative=statement.level > 0)


def resolve(m: Machine, path: str) -> Value:
    """The value of a dotted module path."""
    scope = m.load(path)
    if scope is not None:
        return ModuleValue(path, scope)
    return Api(canonical(path))


def member(m: Machine, module: str, target: str, *, is_relative: bool) -> Value:
    """The value that `from module import name` gives, `target` being `module.name`."""
    name = target.rpartition(".")[2]
    if target in m.declared:
        return Api(target)
    scope = m.load(module)
    if scope is not None:
        if name in scope.names:
            return scope.names[name]
        sub = m.load(target)
        return ModuleValue(target, sub) if sub is not None else Unknown()
    sub = m.load(target)
    if sub is not None:
        return ModuleValue(target, sub)
    return Unknown() if is_relative else Api(canonical(target))


def _bind_star(m: Machine, f: Frame, module: str) -> None:
    scope = m.load(module)
    if scope is not None:
        f.scope.names.update({k: v for k, v in scope.names.items() if not k.startswith("_")})
    elif module in ("jax.numpy", "jax", "jax.lax", "jax.random"):
        for name in STAR_NAMES.get(module, ()):
            f.scope.names[name] = Api(f"{module}.{name}")


STAR_NAMES = {
    "jax": ("jit", "vmap", "grad", "pmap", "value_and_grad", "random", "lax", "numpy", "tree", "nn", "hessian",
            "jacfwd", "jacrev", "jvp", "vjp", "checkpoint"),
    "jax.numpy": ("array", "zeros", "ones", "arange", "sum", "mean", "dot", "where", "exp", "log", "sin", "cos", "sqrt",
                  "linspace", "stack", "concatenate", "eye", "ndarray"),
    "jax.lax": ("scan", "cond", "fori_loop", "while_loop", "map", "switch"),
    "jax.random": ("PRNGKey", "key", "split", "normal", "uniform", "fold_in", "bernoulli", "randint"),
}  # fmt: skip


def _package(m: Machine, f: Frame, level: int) -> str:
    """The dotted package that `level` dots mean in the file of the frame."""
    name = next((key for key, module in m.modules.items() if module.path == f.path), "")
    is_package = f.path.replace("\\", "/").endswith("/__init__.py")
    parts = name.split(".") if name else []
    drop = level - 1 if is_package else level
    return ".".join(parts[: len(parts) - drop] if drop else parts)


def dotted(m: Machine, f: Frame, expression: n.Expr) -> str | None:
    """The canonical outside name that an expression stands for, found without evaluating anything but names."""
    if isinstance(expression, n.Name):
        scope = f.scope.find(expression.name)
        if scope is None:
            return f"builtins.{expression.name}"
        value = scope.names[expression.name]
        return value.path if isinstance(value, Api) else None
    if isinstance(expression, n.Attribute):
        base = dotted(m, f, expression.base)
        return None if base is None else canonical(f"{base}.{expression.name}")
    return None
