"""Makes what a compiled function reads of its surroundings an argument: in its header, and at each of its calls."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct, structs

from jaxlint.analysis.context import Context, fix, insert
from jaxlint.analysis.events import SiteSeen
from jaxlint.analysis.returned import rewritten
from jaxlint.analysis.values import Closure, Instance, Transformed, Value
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import bound_by, expressions, target_names, walk, walk_statements
from jaxlint.repair.calls import add_argument
from jaxlint.repair.contents import all_statements, calls_named, expressions_of, is_quoted
from jaxlint.repair.hoist import Path, enclosing, free_names, holds
from jaxlint.repair.source import spliced

BLANK = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
BRACKETS = (("(", "[", "{"), (")", "]", "}"))

APPENDABLE = frozenset({"grad", "value_and_grad"})
"""Transforms between jit and the function that take one more argument as it is."""

POSITIONAL_OPTIONS = ("in_shardings", "argnums", "in_axes")


@dataclass(frozen=True, slots=True)
class Captured:
    """Expressions of a function's body, all alike, that become its parameter `name`."""

    name: str
    nodes: tuple[n.Expr, ...]


def as_arguments(event: SiteSeen, captured: Sequence[Captured], context: Context) -> Fix | None:
    """The fix, where every use of the compiled function is a call in sight and the values may be traced."""
    closure = directly(event.value)
    if closure is None or closure.path != context.module.path or event.value.site.path != context.module.path:
        return None
    function, calls = closure.function, calls_of(event, closure, context)
    header = header_edit(function, [one.name for one in captured], context)
    if not calls or header is None or not event.could_be(rewritten(event.value, with_parameters(function, captured))):
        return None
    edits = [header, *body_edits(function, captured)]
    for call in calls:
        texts = [_at_call(one.nodes[0], call, closure, context) for one in captured]
        added = call_edit(function, call, [one.name for one in captured], texts, context)
        if added is None:
            return None
        edits.append(added)
    names = ", ".join(f"`{one.name}`" for one in captured)
    return fix(Safety.UNSAFE, f"pass {names} as an argument", edits)


def directly(value: Value) -> Closure | None:
    """The function behind a jit, with nothing in between that counts arguments."""
    while isinstance(value, Transformed):
        options = {name for name, _ in value.site.options}
        if value.site.kind not in ("jit", *APPENDABLE) or options & set(POSITIONAL_OPTIONS):
            return None
        value = value.function
    return value if isinstance(value, Closure) else None


# The function


def header_edit(function: n.Function, names: Sequence[str], context: Context) -> Edit | None:
    """The parameters `names` behind those that there are; behind defaults they are keyword-only."""
    parameters = function.parameters
    if any(p.kind.startswith("*") for p in parameters) or {p.name for p in parameters} & set(names):
        return None
    last = last_of_header(function, context)
    if last is None:
        return None
    line, column, token = last
    written = ("*, " if _needs_star(function) else "") + ", ".join(names)
    content = {"(": written, ",": f" {written},"}.get(token, f", {written}")
    return insert(line, column, content if token != "lambda" else f" {written}")


def last_of_header(function: n.Function, context: Context) -> tuple[int, int, str] | None:
    """The last token of a function's parameters, and where it ends; '(' or 'lambda' where there are none."""
    start = function.span if function.is_lambda else function.name_span
    lines = [context.text.line(number) for number in range(start.line, function.span.end_line + 1)]
    text = "\n".join((lines[0][start.column - 1 :], *lines[1:], ""))
    closing, depth, last = ":" if function.is_lambda else ")", 0, None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            depth += (token.string in BRACKETS[0]) - (token.string in BRACKETS[1]) if token.type == tokenize.OP else 0
            if token.string == closing and depth == 0 and last is not None:
                line, column = last.end
                return start.line + line - 1, column + (start.column if line == 1 else 1), last.string
            last = token if token.type not in BLANK else last
    except (tokenize.TokenError, SyntaxError):
        pass
    return None


def _needs_star(function: n.Function) -> bool:
    has_default = any(p.default is not None for p in function.parameters)
    return has_default and not _is_keyword_only(function)


def _is_keyword_only(function: n.Function) -> bool:
    return any(p.kind == "keyword-only" for p in function.parameters)


def body_edits(function: n.Function, captured: Sequence[Captured]) -> list[Edit]:
    """The new names in place of the expressions; a name that keeps its name needs no edit."""
    return [
        Edit(node.span, one.name)
        for one in captured
        for node in one.nodes
        if not (isinstance(node, n.Name) and node.name == one.name)
    ]


def with_parameters(function: n.Function, captured: Sequence[Captured]) -> n.Function:
    """The function as it will be."""
    kind = "keyword-only" if _needs_star(function) or _is_keyword_only(function) else "positional"
    added = tuple(n.Parameter(one.name, kind, None, None, function.name_span) for one in captured)
    names = {node.span: n.Name(node.span, one.name) for one in captured for node in one.nodes}
    return structs.replace(
        function, parameters=(*function.parameters, *added), body=tuple(_exchanged(s, names) for s in function.body)
    )


def _exchanged(node: Any, names: Mapping[Span, n.Name]) -> Any:
    """A node with expressions exchanged by their places."""
    if isinstance(node, tuple):
        return tuple(_exchanged(item, names) for item in node)
    if not isinstance(node, Struct) or isinstance(node, Span):
        return node
    if isinstance(node, (n.Attribute, n.Call, n.Name)) and node.span in names:
        return names[node.span]
    return structs.replace(node, **{name: _exchanged(getattr(node, name), names) for name in node.__struct_fields__})


# The calls


def call_edit(
    function: n.Function, call: n.Call, names: Sequence[str], texts: Sequence[str | None], context: Context
) -> Edit | None:
    """The arguments `texts` behind those of a call."""
    if None in texts or any(argument.star for argument in call.arguments):
        return None
    by_keyword = _needs_star(function) or _is_keyword_only(function) or any(a.keyword for a in call.arguments)
    written = [f"{name}={text}" if by_keyword else str(text) for name, text in zip(names, texts, strict=True)]
    return add_argument(call, ", ".join(written), context)


def calls_of(event: SiteSeen, closure: Closure, context: Context) -> list[n.Call] | None:
    """The calls of a compiled function; None where it is used in other ways, or by a name that is bound twice."""
    node, function = event.node, closure.function
    path = enclosing(context.module, event.value.site.span)
    if isinstance(closure.owner, Instance):
        return _calls_of_attribute(node, function, path, context)
    if isinstance(node, n.Function):
        is_method = len(path) > 1 and isinstance(path[-2], n.ClassDefinition)
        return None if is_method else calls_by_name(function.name, context)
    own = function.name if not function.is_lambda else _name_of(function, context)
    if own is not None and len(list(_reads(own, context))) != 1:
        return None
    return calls_of_value(node, path, context)


def calls_of_value(node: n.Expr, path: Path, context: Context) -> list[n.Call] | None:
    """The calls of what an expression gives: there and then, or by the name that it is bound to."""
    statement = path[-1] if path else None
    if isinstance(statement, n.Assign) and statement.value == node and len(statement.targets) == 1:
        target = statement.targets[0]
        return calls_by_name(target.name, context) if isinstance(target, n.Name) else None
    return [one for one in expressions_of(context.module, n.Call) if one.function == node] or None


def _name_of(function: n.Function, context: Context) -> str | None:
    """The name that a lambda is assigned to."""
    for statement in all_statements(context.module):
        match statement:
            case n.Assign(targets=(n.Name(name=name), *_), value=n.Lambda(function=found)) if found is function:
                return name
    return None


def calls_by_name(name: str, context: Context) -> list[n.Call] | None:
    """The calls `name(...)`; None where the name is used in other ways, or bound twice."""
    binders = [s for s in all_statements(context.module) if name in bound_by(s)]
    reads = {node.span for node in _reads(name, context)}
    calls = list(calls_named(context.module, n.Name, name))
    if len(binders) != 1 or is_quoted(context.module, name):
        return None
    return calls if reads == {call.function.span for call in calls} else None


def _reads(name: str, context: Context) -> Iterator[n.Name]:
    bound = {
        target.span
        for statement in all_statements(context.module)
        if isinstance(statement, n.Assign)
        for target in statement.targets
    }
    found = (node for node in expressions_of(context.module, n.Name) if node.name == name)
    return (node for node in found if node.span not in bound)


def _calls_of_attribute(node: object, function: n.Function, path: Path, context: Context) -> list[n.Call] | None:
    """The calls `object.name(...)` of `self.name = jax.jit(self.method)`."""
    statement = path[-1] if path else None
    if not isinstance(statement, n.Assign) or statement.value != node or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, n.Attribute) or len(list(_attributes(function.name, context))) != 1:
        return None
    spans = {one.span for one in _attributes(target.name, context)} - {target.span}
    calls = list(calls_named(context.module, n.Attribute, target.name))
    simple = all(isinstance(one.function, n.Attribute) and isinstance(one.function.base, n.Name) for one in calls)
    return calls if simple and spans == {one.function.span for one in calls} else None


def _attributes(name: str, context: Context) -> Iterator[n.Attribute]:
    return (node for node in expressions_of(context.module, n.Attribute) if node.name == name)


def _at_call(expression: n.Expr, call: n.Call, closure: Closure, context: Context) -> str | None:
    """What a captured expression is called where the function is called; None where its names mean other things."""
    function = closure.function
    given = _given(function, call, context, bound=isinstance(closure.owner, Instance))
    own = function.bound | {p.name for p in function.parameters}
    outer = free_names(expression) - own
    if not free_names(expression) & own <= given.keys() or not means_the_same(outer, function, call, context):
        return None
    edits = [
        Edit(node.span, given[node.name]) for node in walk(expression) if isinstance(node, n.Name) and node.name in own
    ]
    text = spliced(expression.span, edits, context)
    return text if "\n" not in text else None


def _given(function: n.Function, call: n.Call, context: Context, *, bound: bool) -> dict[str, str]:
    """What a call hands over for the parameters, where that can be written twice."""
    positional = [p.name for p in function.parameters if p.kind.startswith("positional")]
    given: dict[str, n.Expr] = {}
    if bound and isinstance(call.function, n.Attribute):
        given[positional.pop(0)] = call.function.base
    given |= zip(positional, (a.value for a in call.arguments if a.keyword is None), strict=False)
    given |= {a.keyword: a.value for a in call.arguments if a.keyword is not None}
    return {name: context.text.at(value.span) for name, value in given.items() if isinstance(value, n.Name)}


def means_the_same(names: frozenset[str], function: n.Function, call: n.Call, context: Context) -> bool:
    """Whether names mean at a call what they mean in the function, which binds none of them."""
    here, there = (enclosing(context.module, span) for span in (call.span, function.span))
    there = [statement for statement in there if getattr(statement, "function", None) is not function]
    inner = {name for node in _around(call.span, context) for name in _own_names(node)}
    return not names & inner and all(_owner(name, here) is _owner(name, there) for name in names)


def _owner(name: str, path: Path) -> n.Function | None:
    """The innermost function of a path that binds the name, None for the module."""
    functions = [statement.function for statement in path if isinstance(statement, n.FunctionDefinition)]
    return next((f for f in reversed(functions) if name in f.bound | {p.name for p in f.parameters}), None)


def _around(inner: Span, context: Context) -> Iterator[n.Comprehension | n.Lambda]:
    yield from (node for node in expressions_of(context.module, n.Comprehension) if holds(node.span, inner))
    yield from (node for node in expressions_of(context.module, n.Lambda) if holds(node.span, inner))


def _own_names(node: n.Comprehension | n.Lambda) -> Iterator[str]:
    if isinstance(node, n.Lambda):
        yield from (p.name for p in node.function.parameters)
    else:
        yield from (name for generator in node.generators for name in target_names(generator.target))


def reads_of(function: n.Function, name: str) -> tuple[n.Expr, ...]:
    """Where a function's own body reads a name."""
    return reads_in(function, lambda node: isinstance(node, n.Name) and node.name == name)


def reads_in(function: n.Function, wanted: Callable[[n.Expr], bool]) -> tuple[n.Expr, ...]:
    """The expressions of a function's own body that are wanted."""
    return tuple(
        node
        for statement in walk_statements(function.body)
        for expression in expressions(statement)
        for node in walk(expression)
        if wanted(node)
    )
