"""JAX404 inplace-assign: JAX arrays are immutable: `x[i] = v` raises, and `x += v` only binds a name."""

from __future__ import annotations

from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import Assigned
from jaxlint.analysis.values import Array, Level, Unknown, Value, is_traced, options
from jaxlint.model import Edit, Fix, Safety, Severity
from jaxlint.program import nodes as n
from jaxlint.program.names import target_names
from jaxlint.registry import Rule
from jaxlint.repair.hoist import enclosing, names_read
from jaxlint.repair.holders import Reach, reach
from jaxlint.repair.text import ATOMS, insert_after
from jaxlint.repair.write_back import write_back

RULE = Rule("JAX404", "inplace-assign", "an array is changed in place", Severity.ERROR, fix=Safety.SAFE)

METHODS = {"": "set", "+": "add", "*": "multiply", "/": "divide", "**": "power"}


def check(event: Assigned, context: Context) -> Iterator[Report]:
    """`x[i] = v` of an array, and `p -= step` of a loop variable that nobody reads."""
    if event.form == "item" and event.owner is not None and all(_is_fixed(o, event) for o in options(event.owner)):
        assert isinstance(event.target, n.Subscript)
        written = context.text.at(event.target.base.span)
        message = f"`{written}` is a JAX array, which cannot be changed in place; use `{written}.at[...]`"
        if _reach(event, context) is Reach.NONE:
            message += " and hand the new array on: whoever holds this one keeps it as it is"
        yield Report(event.span, message, (), _updated(event, event.target, context))
    elif event.form == "name" and event.augmented is not None and event.local and _is_device_array(event.value):
        yield from _loop_variable(event, context)


def _is_fixed(value: Value, event: Assigned) -> bool:
    """Whether an item of a value surely cannot be assigned to.

    That a parameter is annotated as an array alone does not make it one: NumPy arrays and references are passed too.
    What a name is bound to here was made by JAX.
    """
    assert isinstance(event.target, n.Subscript)
    if isinstance(value, Unknown):
        return is_traced(value) and _only_arrays_have(event.target.index)
    if not isinstance(value, Array) or value.host:
        return False
    base, function = event.target.base, event.frame.function
    is_bound = isinstance(base, n.Name) and (function is None or base.name in function.bound)
    is_made = (is_traced(value, Level.GRAD) or is_bound) and not _is_whole(event.target.index)
    return is_made or _is_device_array(value)


def _is_whole(index: n.Expr) -> bool:
    """Whether all of it is written, as references are (`out[...] = x` in kernels)."""
    return isinstance(index, n.Constant) and index.kind == "ellipsis"


def _only_arrays_have(index: n.Expr) -> bool:
    """Whether an index has a slice next to others, which neither lists nor dicts take."""
    return isinstance(index, n.Sequence) and any(isinstance(e, n.Slice) for e in index.elements)


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
    if function is not None and name not in function.bound | function.outer | {p.name for p in function.parameters}:
        return None
    updated = f"{name}.at[{index}].{METHODS[operator]}({context.text.at(statement.value.span)})"
    loop = _loop_of(name, enclosing(context.module, event.span))
    if loop is not None:
        return _stored(event, loop, name, f"{name} = {updated}", updated, context)
    reached = _reach(event, context)
    if reached is Reach.NONE:
        return None
    safety = Safety.SAFE if reached is Reach.WHOLE else Safety.UNSAFE
    return fix(safety, "make a new array and bind the name to it", Edit(statement.span, f"{name} = {updated}"))


def _reach(event: Assigned, context: Context) -> Reach | None:
    """What becomes of the new array, where the old one has a name."""
    if not isinstance(event.target, n.Subscript) or not isinstance(event.target.base, n.Name):
        return None
    function = event.frame.function
    body = function.body if function is not None else context.module.body
    return reach(event.target.base.name, function, body, event.statement.span)


def _loop_of(name: str, path: list[n.Stmt]) -> n.For | None:
    """The loop whose variable the name is."""
    loops = [statement for statement in path if isinstance(statement, n.For)]
    return next((loop for loop in reversed(loops) if name in set(target_names(loop.target))), None)


def _stored(event: Assigned, loop: n.For, name: str, bound: str, value: str, context: Context) -> Fix | None:
    """The new value of a loop's own variable goes into what the loop runs over."""
    back = write_back(loop, name, event.frame, context)
    if back is None:
        return None
    statement = event.statement
    is_last = _reads(loop, name) == 1 and not _reads_outside(enclosing(context.module, event.span), loop, name, context)
    after = None if is_last else insert_after(statement.span, [back.statement(name)], context)
    if not is_last and after is None:
        return None
    edits = [Edit(statement.span, back.statement(value) if is_last else bound), *([after] if after else [])]
    return fix(Safety.UNSAFE, "store the new array where the loop took the old one from", edits, back.header)


def _binds_tighter(value: n.Expr, operator: str) -> bool:
    """Whether the value needs no parentheses behind the operator."""
    is_term = operator in ("+", "-") and isinstance(value, n.Binary) and value.operator in ("*", "/", "//", "@", "**")
    return is_term or isinstance(value, (*ATOMS, n.Constant))


def _reads(loop: n.For, name: str) -> int:
    return sum(read == name for statement in loop.body for read in names_read(statement))


def _loop_variable(event: Assigned, context: Context) -> Iterator[Report]:
    """A loop's own variable is bound anew, and nothing reads it."""
    path = enclosing(context.module, event.span)
    loop = next((statement for statement in reversed(path) if isinstance(statement, n.For)), None)
    if loop is None or not isinstance(event.target, n.Name) or event.target.name not in set(target_names(loop.target)):
        return
    name = event.target.name
    body = path[-1] if not isinstance(path[-1], (n.For, n.While)) else loop
    outside = _reads_outside(path, loop, name, context)
    if _reads(loop, name) == 1 and not outside and isinstance(body, n.AugmentedAssign):
        message = f"`{name} {event.augmented}= ...` binds the name to a new array; what the loop runs over is unchanged"
        value = context.text.at(body.value.span)
        value = value if _binds_tighter(body.value, body.operator) else f"({value})"
        written = f"{name} {body.operator} {value}"
        yield Report(body.span, message, (), _stored(event, loop, name, written, written, context))


def _reads_outside(path: list[n.Stmt], loop: n.For, name: str, context: Context) -> bool:
    """Whether the rest of the function reads the name."""
    functions = [statement for statement in path if isinstance(statement, n.FunctionDefinition)]
    body = functions[-1].function.body if functions else context.module.body
    whole = sum(read == name for statement in body for read in names_read(statement))
    return whole > sum(read == name for read in names_read(loop))


CHECKS = {Assigned: check}
