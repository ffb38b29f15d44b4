"""JAX401 traced-print: `print` and logging of a tracer show no values, and only when the function is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import ApiCall, Formatted, MethodCall
from jaxlint.analysis.frames import Frame, steps
from jaxlint.analysis.values import Scalar, Value, is_traced, leaves
from jaxlint.model import Edit, Fix, Safety, Severity, Span
from jaxlint.program import nodes as n
from jaxlint.registry import Rule
from jaxlint.repair.division import bound_to
from jaxlint.repair.hoist import enclosing
from jaxlint.repair.spelling import Spelling, spell

RULE = Rule("JAX401", "traced-print", "printing a tracer", Severity.WARNING, fix=Safety.SAFE)

LEVELS = frozenset({"debug", "info", "warning", "error", "critical", "exception", "log"})


def check_call(event: ApiCall, context: Context) -> Iterator[Report]:
    """`print(x)` and `logging.info(..., x)`."""
    if event.path == "builtins.print" or event.path.rpartition(".")[0] in ("logging", "absl.logging"):
        yield from _told(event.frame, event.call, event.arguments.all(), event.path, context)


def check_method(event: MethodCall, context: Context) -> Iterator[Report]:
    """`log.info(..., x)` of a logger, and `print("{}".format(x))`."""
    if event.name == "format" and isinstance(event.owner, Scalar) and event.owner.kind == "str":
        yield from _formatted(event.frame, event.span, tuple(event.arguments.all()), context)
    elif event.name in LEVELS and _is_logger(event.call, context):
        yield from _told(event.frame, event.call, event.arguments.all(), f"method.{event.name}", context)


def check_formatted(event: Formatted, context: Context) -> Iterator[Report]:
    """An f-string with a tracer that is printed or logged."""
    yield from _formatted(event.frame, event.span, event.values, context)


def _formatted(frame: Frame, span: Span, values: tuple[Value, ...], context: Context) -> Iterator[Report]:
    if not any(is_traced(leaf) for value in values for leaf in leaves(value)):
        return  # nearly always: it is not worth looking where the string stands
    path = enclosing(context.module, span)
    statement = path[-1] if path else None
    if not isinstance(statement, n.ExpressionStatement) or not isinstance(statement.value, n.Call):
        return
    call = statement.value
    is_print = isinstance(call.function, n.Name) and call.function.name == "print"
    is_argument = any(argument.value.span == span for argument in call.arguments)
    if is_argument and (is_print or _is_logger(call, context)):
        yield from _told(frame, call, iter(values), "builtins.print" if is_print else "method", context)


def _is_logger(call: n.Call, context: Context) -> bool:
    """Whether the method is one of a name that is bound to `logging.getLogger(...)`."""
    function = call.function
    if not isinstance(function, n.Attribute) or function.name not in LEVELS or not isinstance(function.base, n.Name):
        return False
    bound = bound_to(function.base, context)
    maker = bound.function if isinstance(bound, n.Call) else None
    return isinstance(maker, (n.Attribute, n.Name)) and maker.name in ("getLogger", "get_logger")


def _told(frame: Frame, call: n.Call, values: Iterator[Value], path: str, context: Context) -> Iterator[Report]:
    is_inside = any(outer.site is not None for outer in frame.chain())  # else a tracer has leaked before
    if not is_inside or not any(is_traced(leaf) for value in values for leaf in leaves(value)):
        return
    what = "`print`" if path == "builtins.print" else "logging"
    message = f"{what} shows a tracer and no value, and runs only when the function is traced; use `jax.debug.print`"
    repaired = _printed(call, context) if path == "builtins.print" else _called_back(call, context)
    yield Report(call.span, message, steps(frame), repaired)


# print


def _printed(call: n.Call, context: Context) -> Fix | None:
    """`print("loss", x)` becomes `jax.debug.print("loss {}", x)`."""
    separator = " "
    pieces: list[tuple[str, list[str]]] = []
    for argument in call.arguments:
        if argument.star:
            return None
        if argument.keyword is not None:
            if argument.keyword == "flush":
                continue
            if argument.keyword != "sep" or not isinstance(argument.value, n.Constant):
                return None
            separator = str(argument.value.value)
            continue
        piece = _piece(argument.value, context)
        if piece is None:
            return None
        pieces.append(piece)
    text = separator.join(template for template, _ in pieces)
    values = [value for _, given in pieces for value in given]
    debug = spell(context.module, "jax.debug.print", call.span)
    written = f"{debug.text}({', '.join([_quoted(text), *values])})"
    return fix(Safety.SAFE, "print the values when the function runs", Edit(call.span, written), debug.edits)


def _piece(node: n.Expr, context: Context) -> tuple[str, list[str]] | None:
    """What one argument adds to the template, and the values to fill in."""
    if isinstance(node, n.Constant) and node.kind == "str":
        return _escaped(str(node.value)), []
    text = context.text.at(node.span)
    if isinstance(node, n.FormattedString):
        return _template(text)
    if isinstance(node, n.Call) and isinstance(node.function, n.Attribute) and node.function.name == "format":
        return None  # its own template would be shown as it is
    return ("{}", [text]) if "\n" not in text else None


def _template(text: str) -> tuple[str, list[str]] | None:
    """The pieces of an f-string as a template with its values."""
    try:
        parsed = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(parsed, ast.JoinedStr):
        return None
    template, values = "", []
    for part in parsed.values:
        if isinstance(part, ast.Constant):
            template += _escaped(str(part.value))
        elif isinstance(part, ast.FormattedValue):
            spec = part.format_spec
            parts = spec.values if isinstance(spec, ast.JoinedStr) else []
            if not all(isinstance(piece, ast.Constant) for piece in parts):
                return None
            given = "".join(str(piece.value) for piece in parts if isinstance(piece, ast.Constant))
            template += "{:" + given + "}" if given else "{}"
            values.append(ast.unparse(part.value))
    return template, values


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _quoted(text: str) -> str:
    written = repr(text)
    return '"' + written[1:-1] + '"' if written.startswith("'") and '"' not in written else written


# logging


def _called_back(call: n.Call, context: Context) -> Fix | None:
    """`log.info("%s", x)` becomes `jax.debug.callback(lambda x: log.info("%s", x), x)`."""
    names: list[str] = []
    for argument in call.arguments:
        if argument.star:
            return None
        if isinstance(argument.value, n.Name) and argument.value.name not in names:
            names.append(argument.value.name)
        elif not isinstance(argument.value, (n.Constant, n.Name)):
            return None
    if not names:
        return None
    callback: Spelling = spell(context.module, "jax.debug.callback", call.span)
    written = f"{callback.text}(lambda {', '.join(names)}: {context.text.at(call.span)}, {', '.join(names)})"
    return fix(Safety.UNSAFE, "log the values when the function runs", Edit(call.span, written), callback.edits)


CHECKS = {ApiCall: check_call, MethodCall: check_method, Formatted: check_formatted}
