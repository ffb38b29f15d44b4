"""Writes the builtins that compare (`min`, `max`, `sorted`, `in`, `any`, `all`) and `x or default` for arrays."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.analysis.context import fix
from jaxlint.analysis.values import Array, Scalar, options
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import expressions, walk
from jaxlint.repair.booleans import as_arrays, uses_function
from jaxlint.repair.hoist import enclosing
from jaxlint.repair.numeric import NUMBERS, Reader, Sureness
from jaxlint.repair.spelling import spell

PAIRS = {"min": "minimum", "max": "maximum"}


def of_extreme(e: n.Call, form: str, reader: Reader) -> Fix | None:
    """`min(a, b)` as `jnp.minimum(a, b)`; `min(values)` as `jnp.min(values)`."""
    operands = _operands(e, reader)
    if operands is None:
        return None
    if len(operands) == 1:
        return _renamed(e, form, reader) if _is_array(operands[0], reader) else None
    if not all(map(reader.sureness, operands)):
        return None
    pair = spell(reader.context.module, f"jax.numpy.{PAIRS[form]}", e.span)
    if len(operands) == 2 and len(e.arguments) == 2:
        edits = [Edit(e.function.span, pair.text)]
    elif "#" in reader.context.text.at(e.span):
        return None
    else:
        texts = [reader.context.text.at(o.span) for o in operands]
        nested = texts[0]
        for text in texts[1:]:
            nested = f"{pair.text}({nested}, {text})"
        edits = [Edit(e.span, nested)]
    return fix(_safety(operands, reader), f"use `{pair.text}`", edits, pair.edits)


def of_sorted(e: n.Call, reader: Reader) -> Fix | None:
    """`sorted([a, b])` as `jnp.sort(jnp.stack([a, b]))`; `sorted(values)` as `jnp.sort(values)`."""
    if len(e.arguments) != 1 or e.arguments[0].keyword or e.arguments[0].star:
        return None
    value = e.arguments[0].value
    if _is_array(value, reader):
        return _renamed(e, "sort", reader)
    if not isinstance(value, n.Sequence) or value.kind == "set" or not all(map(reader.sureness, value.elements)):
        return None
    sort, stack = (spell(reader.context.module, f"jax.numpy.{name}", e.span) for name in ("sort", "stack"))
    written = reader.context.text.at(e.arguments[0].span)
    edits = [Edit(e.function.span, sort.text), Edit(e.arguments[0].span, f"{stack.text}({written})")]
    return fix(_safety(value.elements, reader), f"use `{sort.text}`", edits, sort.edits)


def of_membership(e: n.Compare, reader: Reader) -> Fix | None:
    """`k in (2, 3)` as `jnp.isin(k, jnp.array([2, 3]))`."""
    ((operator, container),) = e.rest if len(e.rest) == 1 else ((None, None),)
    if (
        operator not in ("in", "not in")
        or container is None
        or not reader.sureness(e.left)
        or "#" in reader.context.text.at(e.span)
    ):
        return None
    choices = _choices(container, reader)
    if choices is None:
        return None
    isin, array = (spell(reader.context.module, f"jax.numpy.{name}", e.span) for name in ("isin", "array"))
    sign = "~" if operator == "not in" else ""
    text = f"{sign}{isin.text}({reader.context.text.at(e.left.span)}, {array.text}({choices}))"
    return fix(_safety([e.left], reader), f"use `{isin.text}`", Edit(e.span, text), isin.edits)


def _choices(container: n.Expr, reader: Reader) -> str | None:
    if isinstance(container, n.Sequence):
        if not container.elements or not all(map(reader.sureness, container.elements)):
            return None
        return f"[{', '.join(reader.context.text.at(element.span) for element in container.elements)}]"
    value = reader.value(container.name) if isinstance(container, n.Name) else None
    items = getattr(value, "items", ()) if getattr(value, "kind", "") in ("tuple", "list") else ()
    is_numbers = bool(items) and all(
        isinstance(i, Array) or (isinstance(i, Scalar) and i.kind in NUMBERS) for i in items
    )
    return reader.context.text.at(container.span) if is_numbers else None


def of_quantifier(e: n.Call, form: str, reader: Reader) -> Fix | None:
    """`any(x > 0)` as `jnp.any(x > 0)`; a list of truths becomes an array first."""
    if len(e.arguments) != 1 or e.arguments[0].keyword or e.arguments[0].star:
        return None
    value = e.arguments[0].value
    if _is_array(value, reader):
        return _renamed(e, form, reader)
    if (
        isinstance(value, n.Sequence)
        and value.kind != "set"
        and value.elements
        and all(map(reader.is_boolean, value.elements))
    ):
        function, array = (spell(reader.context.module, f"jax.numpy.{name}", e.span) for name in (form, "array"))
        written = reader.context.text.at(e.arguments[0].span)
        edits = [Edit(e.function.span, function.text), Edit(e.arguments[0].span, f"{array.text}({written})")]
        return fix(_safety(value.elements, reader), f"use `{function.text}`", edits, function.edits)
    return None


def of_boolean(e: n.Expr, reader: Reader) -> Fix | None:
    """`and`, `or`, `not` and chained comparisons of booleans, all at once."""
    text = as_arrays(e, reader)
    if text is None or text == reader.context.text.at(e.span):
        return None
    safety = Safety.UNSAFE if uses_function(e, reader) else Safety.SAFE
    return fix(safety, "combine with `&`, `|` and `~`", Edit(e.span, text))


def of_default(e: n.Boolean, reader: Reader) -> Fix | None:
    """`x or default` for an optional `x` as `default if x is None else x`."""
    if not isinstance(e.left, n.Name) or e.operator != "or" or not _may_be_none(e.left.name, reader):
        return None
    text = reader.context.text
    if "#" in text.at(e.span) or isinstance(e.right, (n.Conditional, n.Lambda, n.NamedExpression, n.Boolean)):
        return None
    name = e.left.name
    written = f"{text.at(e.right.span)} if {name} is None else {name}"
    if not _stands_alone(e, reader):
        written = f"({written})"
    return fix(Safety.UNSAFE, f"ask whether `{name}` is None", Edit(e.span, written))


def _may_be_none(name: str, reader: Reader) -> bool:
    value = reader.value(name)
    if value is not None and any(isinstance(o, Scalar) and o.kind == "none" for o in options(value)):
        return True
    function = reader.frame.function
    parameters = function.parameters if function is not None else ()
    return any(p.name == name and isinstance(p.default, n.Constant) and p.default.kind == "none" for p in parameters)


def _stands_alone(e: n.Expr, reader: Reader) -> bool:
    """Whether a conditional expression may stand in place of `e` without parentheses."""
    path = enclosing(reader.context.module, e.span)
    whole = list(expressions(path[-1])) if path else []
    if any(node.span == e.span for node in whole):
        return isinstance(path[-1], (n.Assign, n.Return)) and _is_one_line(e.span, reader)
    calls = (node for top in whole for node in walk(top) if isinstance(node, n.Call))
    return any(argument.value.span == e.span for call in calls for argument in call.arguments)


def _is_one_line(span: Span, reader: Reader) -> bool:
    return span.line == span.end_line


def _operands(e: n.Call, reader: Reader) -> list[n.Expr] | None:
    """What `min` or `max` compares; None where it is called with a key or default."""
    if any(argument.keyword or argument.star for argument in e.arguments):
        return None
    values = [argument.value for argument in e.arguments]
    if len(values) == 1 and isinstance(values[0], n.Sequence) and values[0].kind != "set":
        values = list(values[0].elements)
        return values if len(values) > 1 and not any(isinstance(v, n.Starred) for v in values) else None
    return values


def _safety(operands: Sequence[n.Expr], reader: Reader) -> Safety:
    """Safe where Python could never compare the operands; Python numbers would now come out as arrays."""
    return Safety.SAFE if any(map(reader.is_array, operands)) else Safety.UNSAFE


def _is_array(e: n.Expr, reader: Reader) -> bool:
    """Whether an expression surely is an array that can be iterated over."""
    if isinstance(e, n.Name):
        value = reader.value(e.name)
        return value is not None and all(isinstance(o, Array) and o.shape != () for o in options(value))
    return isinstance(e, (n.Compare, n.Binary, n.Call)) and reader.sureness(e) is Sureness.SURE


def _renamed(e: n.Call, name: str, reader: Reader) -> Fix:
    function = spell(reader.context.module, f"jax.numpy.{name}", e.span)
    safety = _safety([argument.value for argument in e.arguments], reader)
    return fix(safety, f"use `{function.text}`", Edit(e.function.span, function.text), function.edits)
