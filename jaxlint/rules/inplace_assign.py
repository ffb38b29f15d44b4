"""JAX404 inplace-assign: JAX arrays are immutable: `x[i] = v` raises, and `x += v` only binds a name."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import Assigned
from jaxlint.analysis.values import Array, Value, options
from jaxlint.model import Edit, Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.program.names import target_names
from jaxlint.registry import Rule
from jaxlint.repair.hoist import enclosing, names_read

RULE = Rule("JAX404", "inplace-assign", "an array is changed in place", Severity.ERROR, fix=Safety.SAFE)

METHODS = {"": "set", "+": "add", "*": "multiply", "/": "divide", "**": "power"}


def check(event: Assigned, context: Context) -> Iterator[Report]:
    """`x[i] = v` of an array, and `p -= step` of a loop variable that nobody reads."""
    if event.form == "item" and event.owner is not None and all(map(_is_device_array, options(event.owner))):
        assert isinstance(event.target, n.Subscript)
        written = context.text.at(event.target.base.span)
        message = f"`{written}` is a JAX array, which cannot be changed in place; use `{written}.at[...]`"
        yield Report(event.span, message, (), _updated(event, event.target, context))
    elif event.form == "name" and event.augmented is not None and event.local and _is_device_array(event.value):
        yield from _loop_variable(event, context)


def _is_device_array(value: Value) -> bool:
    return isinstance(value, Array) and not value.host and (value.dtype is not None or value.shape is not None)


def _updated(event: Assigned, target: n.Subscript, context: Context) -> Fix | None:
    """`x[i] += v` becomes `x = x.at[i].add(v)`."""
    statement, operator = event.statement, event.augmented or ""
    if not isinstance(target.base, n.Name) or operator not in METHODS:
        return None
    if not isinstance(statement, (n.Assign, n.AugmentedAssign)):
        return None
    if isinstance(statement, n.Assign) and (len(statement.targets) != 1 or statement.targets[0] is not target):
        return None
    assert statement.value is not None
    name, index = target.base.name, context.text.at(target.index.span)
    function = event.frame.function
    if function is not None and name not in function.bound | {p.name for p in function.parameters}:
        return None
    written = f"{name} = {name}.at[{index}].{METHODS[operator]}({context.text.at(statement.value.span)})"
    return fix(Safety.SAFE, "make a new array and bind the name to it", Edit(statement.span, written))


def _loop_variable(event: Assigned, context: Context) -> Iterator[Report]:
    """A loop's own variable is bound anew, and nothing reads it."""
    path = enclosing(context.module, event.span)
    loop = next((statement for statement in reversed(path) if isinstance(statement, n.For)), None)
    if loop is None or not isinstance(event.target, n.Name) or event.target.name not in set(target_names(loop.target)):
        return
    name = event.target.name
    body = path[-1] if not isinstance(path[-1], (n.For, n.While)) else loop
    reads = [read for statement in loop.body for read in names_read(statement) if read == name]
    outside = _reads_outside(path, loop, name, context)
    if len(reads) == 1 and not outside and isinstance(body, n.AugmentedAssign):
        message = f"`{name} {event.augmented}= ...` binds the name to a new array; what the loop runs over is unchanged"
        yield Report(body.span, message)


def _reads_outside(path: list[n.Stmt], loop: n.For, name: str, context: Context) -> bool:
    """Whether the rest of the function reads the name."""
    functions = [statement for statement in path if isinstance(statement, n.FunctionDefinition)]
    body = functions[-1].function.body if functions else context.module.body
    whole = sum(read == name for statement in body for read in names_read(statement))
    return whole > sum(read == name for read in names_read(loop))


CHECKS = {Assigned: check}
