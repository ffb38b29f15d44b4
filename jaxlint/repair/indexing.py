"""Writes the choice from a Python list by a traced index: `jnp.asarray(values)[i]`, `lax.switch(i, functions, x)`."""

from __future__ import annotations

from jaxlint.analysis.context import Context, fix
from jaxlint.analysis.events import ShapeUse
from jaxlint.analysis.values import (
    CALLABLE,
    Api,
    Array,
    Closure,
    Items,
    Many,
    Scalar,
    Transformed,
    Value,
    deep_trace,
    options,
    parts,
)
from jaxlint.model import Edit, Fix, Safety
from jaxlint.program import nodes as n
from jaxlint.program.names import expressions, walk
from jaxlint.repair.hoist import enclosing
from jaxlint.repair.numeric import NUMBERS, Reader
from jaxlint.repair.spelling import spell
from jaxlint.repair.text import operand


def as_array_choice(event: ShapeUse, context: Context) -> Fix | None:
    """The rewrite of `values[i]` for a list or tuple of numbers or arrays, and of `functions[i](x)`."""
    item = event.expression
    if (
        not isinstance(item, n.Subscript)
        or not event.what.startswith("index")
        or isinstance(item.index, (n.Slice, n.Sequence))
    ):
        return None
    reader = Reader(event.frame, context)
    elements = _elements(item.base, reader)
    if not elements or "#" in context.text.at(item.span):
        return None
    if all(map(_is_number, elements)):
        return _from_array(item, context)
    return _switch(item, context) if all(map(_is_function, elements)) else None


def _elements(e: n.Expr, reader: Reader) -> list[Value]:
    """What may be in the list or tuple that an expression names."""
    value = reader.value(e.name) if isinstance(e, n.Name) else None
    if not isinstance(value, (Items, Many)) or value.kind == "set":
        return []
    return [option for part in parts(value) for option in options(part)]


def _is_number(value: Value) -> bool:
    return isinstance(value, Array) or (isinstance(value, Scalar) and value.kind in NUMBERS)


def _is_function(value: Value) -> bool:
    return isinstance(value, CALLABLE) or (isinstance(value, Api) and value.path.startswith("jax."))


def _from_array(item: n.Subscript, context: Context) -> Fix:
    """Arrays of one shape are stacked; the result has the dtype that all of them promote to."""
    asarray = spell(context.module, "jax.numpy.asarray", item.span)
    text = f"{asarray.text}({context.text.at(item.base.span)})"
    return fix(Safety.UNSAFE, f"index an array made with `{asarray.text}`", Edit(item.base.span, text), asarray.edits)


def _switch(item: n.Subscript, context: Context) -> Fix | None:
    call = _call_of(item, context.module)
    if call is None or any(argument.star or argument.keyword for argument in call.arguments):
        return None
    switch = spell(context.module, "jax.lax.switch", item.span)
    text = context.text
    parts = [
        text.at(item.index.span),
        text.at(item.base.span),
        *(text.at(argument.span) for argument in call.arguments),
    ]
    if "#" in text.at(call.span):
        return None
    return fix(
        Safety.UNSAFE,
        f"choose with `{switch.text}`",
        Edit(call.span, f"{switch.text}({', '.join(parts)})"),
        switch.edits,
    )


def _call_of(item: n.Subscript, module: n.Module) -> n.Call | None:
    """The call whose function an expression is."""
    path = enclosing(module, item.span)
    for top in expressions(path[-1]) if path else ():
        for node in walk(top):
            if isinstance(node, n.Call) and node.function.span == item.span:
                return node
    return None


def unwrapped(event: ShapeUse, context: Context) -> Fix | None:
    """`jnp.arange(padded(n))` with a jitted `padded` as `jnp.arange(padded.__wrapped__(n))`, where `n` is static."""
    reader = Reader(event.frame, context)
    for node in walk(event.expression):
        if not isinstance(node, n.Call) or not isinstance(node.function, n.Name):
            continue
        value = reader.value(node.function.name)
        if not isinstance(value, Transformed) or value.site.kind != "jit" or not isinstance(value.function, Closure):
            continue
        names = (part.name for a in node.arguments for part in walk(a.value) if isinstance(part, n.Name))
        known = [reader.value(name) for name in names]
        if all(v is not None and deep_trace(v) is None for v in known):
            end = node.function.span
            text = operand(context.text.at(end), node.function)
            return fix(
                Safety.UNSAFE, f"call what `{text}` wraps, which is not traced", Edit(end, f"{text}.__wrapped__")
            )
    return None
