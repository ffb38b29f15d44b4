"""How a use of a removed or deprecated name is written today: by another name, or by another form of the call."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from jaxlint import versions
from jaxlint.analysis import bindings
from jaxlint.analysis.context import Context, replace
from jaxlint.analysis.events import ApiUse
from jaxlint.analysis.uses import api_uses
from jaxlint.model import Edit, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.repair.calls import add_argument, rename_keyword
from jaxlint.repair.spelling import spell
from jaxlint.repair.text import operand
from jaxlint.versions import Change

# Classes of arrays and keys that annotations named; `isinstance` means something else with their successor.
ARRAY_TYPES = frozenset(
    (
        "jax.numpy.DeviceArray",
        "jax.random.KeyArray",
        "jax.random.PRNGKeyArray",
        "jax.interpreters.xla.Buffer",
        "jax.interpreters.xla.DeviceArray",
    )
)
SHARD_MAP = "jax.experimental.shard_map.shard_map"
PJIT = "jax.experimental.pjit.pjit"
SHARD_MAP_PARAMETERS = ("mesh", "in_specs", "out_specs", "check_vma")
PLAIN_JIT_OPTIONS = frozenset(
    (
        "static_argnums",
        "static_argnames",
        "donate_argnums",
        "donate_argnames",
        "keep_unused",
        "inline",
        "compiler_options",
    )
)


class Rewrite(Struct, frozen=True):
    """The edits that write one use anew, what they promise, and how the name is written now."""

    edits: tuple[Edit, ...]
    safety: Safety
    text: str


Rewriter = Callable[[ApiUse, n.Expr, Change, Context, "n.Import | None"], "Rewrite | None"]


def rewrite(use: ApiUse, change: Change, context: Context, without: n.Import | None = None) -> Rewrite | None:
    """How to write a use of a changed name, or None where nothing can stand in its place.

    Args:
        use: a use in an expression whose path is the changed name or lies below it.
        without: an import statement that will be gone, so that the new name must not rest on it.
    """
    part = changed_part(use, change)
    if part is None:
        return None
    return REWRITERS.get(change.name, _renamed)(use, part, change, context, without)


def changed_part(use: ApiUse, change: Change) -> n.Expr | None:
    """The part of a use's chain that stands for the changed name, or None where an import hides it."""
    node: n.Expr | None = use.node
    for _ in range(use.path.count(".") - change.name.count(".")):
        node = node.base if isinstance(node, n.Attribute) else None
    return node


def successor(change: Change, context: Context, like: str | None = None) -> str | None:
    """The name that can take the changed name's place in every targeted version; preferably one that ends in `like`."""
    if not change.drop_in and change.name not in ARRAY_TYPES:
        return None
    everywhere = versions.everywhere(change)
    if everywhere is not None and everywhere.rpartition(".")[2] == like:
        return everywhere
    if change.replacement and versions.is_usable(change.replacement, change.replacement_since, context.target):
        return change.replacement
    return everywhere


def _renamed(use: ApiUse, part: n.Expr, change: Change, context: Context, without: n.Import | None) -> Rewrite | None:
    dotted = successor(change, context)
    if dotted is None:
        return None
    if change.kind == "module":
        # Which module an import must load is plain only for a name in it.
        if use.node is None or use.path == change.name:
            return None
        dotted, part = dotted + use.path[len(change.name) :], use.node
    is_sure = change.name not in ARRAY_TYPES or use.in_annotation
    return _written(dotted, part, Safety.SAFE if is_sure else Safety.UNSAFE, context, without)


def _written(
    dotted: str, part: n.Expr, safety: Safety, context: Context, without: n.Import | None, *more: Edit
) -> Rewrite:
    if dotted == "None":
        return Rewrite((replace(part.span, dotted), *more), safety, dotted)
    spelling = spell(context.module, dotted, part.span, without)
    return Rewrite((replace(part.span, spelling.text), *spelling.edits, *more), safety, spelling.text)


def _get_backend(
    use: ApiUse, part: n.Expr, change: Change, context: Context, without: n.Import | None
) -> Rewrite | None:
    """`get_backend().platform` is `jax.default_backend()` in every release; other uses moved to `jax.extend`."""
    call = use.call
    if call is not None and not call.arguments and use.path == change.name:
        end = call.span
        match = re.match(r"\.platform\b", context.text.line(end.end_line)[end.end_column - 1 :])
        if match:
            spelling = spell(context.module, "jax.default_backend", part.span, without)
            span = Span(call.span.line, call.span.column, end.end_line, end.end_column + match.end())
            text = f"{spelling.text}()"
            return Rewrite((replace(span, text), *spelling.edits), Safety.SAFE, text)
    return _renamed(use, part, change, context, without)


def _index_update(method: str) -> Rewriter:
    def rewriter(
        use: ApiUse, part: n.Expr, change: Change, context: Context, without: n.Import | None
    ) -> Rewrite | None:
        """`index_update(x, i, y)` becomes `x.at[i].set(y)`; the arguments stay where they are."""
        call = use.call
        if call is None or use.path != change.name or len(call.arguments) < 3:
            return None
        array, index, value = call.arguments[:3]
        if any(argument.keyword or argument.star for argument in (array, index, value)):
            return None
        written = context.text.at(array.span)
        inside = operand(written, array.value)
        opened, closed = ("(", ")") if inside != written or "\n" in written else ("", "")
        first, last = _index_inside(index, context)
        edits = (
            _between(_start(call.span), _start(array.span), opened, context),
            _between(_end(array.span), first, f"{closed}.at[", context),
            _between(last, _start(value.span), f"].{method}(", context),
        )
        if None in edits:
            return None
        return Rewrite(tuple(filter(None, edits)), Safety.SAFE, f"{inside}.at[...].{method}(...)")

    return rewriter


Position = tuple[int, int]


def _start(span: Span) -> Position:
    return span.line, span.column


def _end(span: Span) -> Position:
    return span.end_line, span.end_column


def _between(start: Position, end: Position, content: str, context: Context) -> Edit | None:
    """The edit of a gap between two positions; None where a comment would be lost."""
    span = Span(*start, *end)
    return None if "#" in context.text.at(span) else Edit(span, content)


def _index_inside(argument: n.Argument, context: Context) -> tuple[Position, Position]:
    """Where the index expression stands: `i` of `i`, and `0, :` of `jax.ops.index[0, :]`."""
    node = argument.value
    if isinstance(node, n.Subscript):
        scope, _ = bindings.scope_at(context.module, node.span.line, node.span.column)
        if scope.chain(node.base) == "jax.ops.index" and context.text.at(argument.span).endswith("]"):
            line, column = _end(node.base.span)
            return (line, column + 1), (argument.span.end_line, argument.span.end_column - 1)
    return _start(argument.span), _end(argument.span)


def _with_flag(flag: str) -> Rewriter:
    def rewriter(
        use: ApiUse, part: n.Expr, change: Change, context: Context, without: n.Import | None
    ) -> Rewrite | None:
        """`enable_x64()` needs its argument written as `jax.enable_x64(True)`."""
        usable = versions.is_usable(change.replacement, change.replacement_since, context.target)
        if use.call is None or use.call.arguments or not usable:
            return None
        return _written(change.replacement, part, Safety.SAFE, context, without, add_argument(use.call, flag, context))

    return rewriter


def _pvary(use: ApiUse, part: n.Expr, change: Change, context: Context, without: n.Import | None) -> Rewrite | None:
    usable = versions.is_usable(change.replacement, change.replacement_since, context.target)
    if use.call is None or not usable or any(a.star or a.keyword == "axes" for a in use.call.arguments):
        return None
    more = add_argument(use.call, "to='varying'", context)
    return _written(change.replacement, part, Safety.SAFE, context, without, more)


def _shard_map(use: ApiUse, part: n.Expr, change: Change, context: Context, without: n.Import | None) -> Rewrite | None:
    if not versions.is_usable(change.replacement, change.replacement_since, context.target):
        return None
    options = shard_map_options(use, context)
    if options is None:
        return None
    return _written(change.replacement, part, options.safety, context, without, *options.edits)


def shard_map_options(use: ApiUse, context: Context) -> Rewrite | None:
    """The options of the experimental `shard_map` as `jax.shard_map` wants them: by keyword, with `check_vma`.

    None where an option has no equal (`auto`). A use that is neither a call nor in a `partial` is only likely right.
    """
    arguments = _arguments_of(use, context)
    if arguments is None:
        return Rewrite((), Safety.UNSAFE, "")
    edits: list[Edit] = []
    for position, argument in enumerate(arguments):
        if argument.star or argument.keyword in ("auto", "f"):
            return None
        if argument.keyword == "check_rep":
            edits.append(rename_keyword(argument, "check_vma"))
        elif argument.keyword is None and position >= 1:
            if position > len(SHARD_MAP_PARAMETERS):
                return None
            edits.append(rename_keyword(argument, SHARD_MAP_PARAMETERS[position - 1]))
    return Rewrite(tuple(edits), Safety.SAFE, "")


def _pjit(use: ApiUse, part: n.Expr, change: Change, context: Context, without: n.Import | None) -> Rewrite | None:
    """`pjit` without shardings is `jit`; with them it depends on what surrounds the call."""
    arguments = _arguments_of(use, context)
    if arguments is None or any(a.star or (a.keyword and a.keyword not in PLAIN_JIT_OPTIONS) for a in arguments):
        return None
    if sum(argument.keyword is None for argument in arguments) > 1:
        return None
    return _written(change.replacement, part, Safety.SAFE, context, without)


def _negative_infinity(
    use: ApiUse, part: n.Expr, change: Change, context: Context, without: n.Import | None
) -> Rewrite | None:
    """`jnp.NINF` is `-jnp.inf`, in parentheses unless brackets, commas or the ends of a line hold it."""
    spelling = spell(context.module, "jax.numpy.inf", part.span, without)
    before = context.text.line(part.span.line)[: part.span.column - 1].rstrip()[-1:]
    after = context.text.line(part.span.end_line)[part.span.end_column - 1 :].lstrip()[:1]
    is_held = before in ("", "(", "[", "{", ",", "=", ":") and after in ("", ")", "]", "}", ",", ":", "#")
    text = f"-{spelling.text}" if is_held else f"(-{spelling.text})"
    return Rewrite((replace(part.span, text), *spelling.edits), Safety.SAFE, text)


def _arguments_of(use: ApiUse, context: Context) -> tuple[n.Argument, ...] | None:
    """The arguments that a function is given, in its call or through `functools.partial`; None where none are seen."""
    if use.call is not None:
        return use.call.arguments
    for other in api_uses(context.module):
        call = other.call
        if other.path != "functools.partial" or call is None or not call.arguments:
            continue
        if call.arguments[0].value.span == use.span:
            return call.arguments[1:]
    return None


REWRITERS: dict[str, Rewriter] = {
    "jax.lib.xla_bridge.get_backend": _get_backend,
    "jax.ops.index_update": _index_update("set"),
    "jax.ops.index_add": _index_update("add"),
    "jax.ops.index_mul": _index_update("multiply"),
    "jax.ops.index_min": _index_update("min"),
    "jax.ops.index_max": _index_update("max"),
    "jax.experimental.enable_x64": _with_flag("True"),
    "jax.experimental.disable_x64": _with_flag("False"),
    "jax.lax.pvary": _pvary,
    "jax.numpy.NINF": _negative_infinity,
    SHARD_MAP: _shard_map,
    PJIT: _pjit,
}
