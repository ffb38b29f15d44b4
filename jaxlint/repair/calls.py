"""Edits of a call's arguments that leave the rest of the call as it is written."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.analysis.context import Context
from jaxlint.model import Edit, Span
from jaxlint.program import nodes as n


def argument_text(argument: n.Argument, context: Context) -> str:
    """What stands for an argument's value, parentheses included, without its keyword or star."""
    text = context.text.at(argument.span)
    if argument.keyword is not None:
        text = text[len(argument.keyword) :].lstrip()[1:]
    return text.removeprefix(argument.star).strip()


def keyword_span(argument: n.Argument) -> Span:
    """Where the keyword of an argument stands; the whole argument where it has none."""
    span = argument.span
    if argument.keyword is None:
        return span
    return Span(span.line, span.column, span.line, span.column + len(argument.keyword))


def rename_keyword(argument: n.Argument, keyword: str) -> Edit:
    """Gives an argument another keyword, or one where it had none."""
    if argument.keyword is not None:
        return Edit(keyword_span(argument), keyword)
    start = argument.span
    return Edit(Span(start.line, start.column, start.line, start.column), f"{keyword}=")


def add_argument(call: n.Call, text: str, context: Context) -> Edit:
    """Puts one more argument (`axis=0`) at the end of a call, before its trailing comma and comments if it has any."""
    if not call.arguments:
        at = _end_of_function(call, context)
        return Edit(Span(*at, *at), text)
    last = call.arguments[-1]
    line, column = last.span.end_line, last.span.end_column
    is_bare_generator = len(call.arguments) == 1 and _is_bare_generator(last, context)
    content = f", {text}"
    if is_bare_generator:
        start = last.span
        whole = context.text.at(last.span)
        return Edit(start, f"({whole}), {text}")
    if last.star == "**" and not text.startswith("*"):
        return Edit(Span(last.span.line, last.span.column, last.span.line, last.span.column), f"{text}, ")
    if last.span.line > call.arguments[0].span.line and _starts_line(last.span, context):
        content = f",\n{context.text.indentation(last.span.line)}{text}"
    return Edit(Span(line, column, line, column), content)


def remove_argument(call: n.Call, index: int, context: Context) -> Edit:
    """Takes an argument out of a call together with one comma; comments behind other arguments stay."""
    return remove_item([argument.span for argument in call.arguments], index, context)


def remove_item(items: Sequence[Span], index: int, context: Context) -> Edit:
    """Takes one of the items out that stand between commas (arguments, imported names), with one comma."""
    item = items[index]
    if index + 1 < len(items):
        following = items[index + 1]
        return Edit(Span(item.line, item.column, following.line, following.column), "")
    end = _after_comma(item, context)
    if index == 0:
        return Edit(Span(item.line, item.column, *end), "")
    if _starts_line(item, context) and not context.text.line(end[0])[end[1] - 1 :].strip():
        return Edit(Span(item.line, 1, end[0] + 1, 1), "")
    before = items[index - 1]
    return Edit(Span(before.end_line, before.end_column, item.end_line, item.end_column), "")


def _end_of_function(call: n.Call, context: Context) -> tuple[int, int]:
    """The position just inside the closing parenthesis of a call without arguments."""
    span = call.span
    line = context.text.line(span.end_line)
    assert line[span.end_column - 2] == ")"
    return span.end_line, span.end_column - 1


def _after_comma(argument: Span, context: Context) -> tuple[int, int]:
    """The position behind the comma that follows an argument on its line, else the argument's end."""
    rest = context.text.line(argument.end_line)[argument.end_column - 1 :]
    stripped = rest.lstrip()
    if stripped.startswith(","):
        return argument.end_line, argument.end_column + len(rest) - len(stripped) + 1
    return argument.end_line, argument.end_column


def _starts_line(item: Span, context: Context) -> bool:
    return not context.text.line(item.line)[: item.column - 1].strip()


def _is_bare_generator(argument: n.Argument, context: Context) -> bool:
    is_generator = isinstance(argument.value, n.Comprehension) and argument.value.kind == "generator"
    return is_generator and not context.text.at(argument.span).startswith("(")
