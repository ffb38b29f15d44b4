"""Reports of removed and deprecated names and parameters, with their fixes: what JAX901 and JAX902 have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jaxlint import versions
from jaxlint.analysis import bindings
from jaxlint.analysis.context import Context, Report, fix
from jaxlint.analysis.events import ApiUse
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.repair.calls import keyword_span, rename_keyword
from jaxlint.repair.imports import fix_import
from jaxlint.repair.rewrites import changed_part, rewrite, shard_map_options
from jaxlint.versions import DEPRECATED, REMOVED, Change, ParameterChange, version

# How many arguments may be positional where JAX made the options keyword-only.
POSITIONAL = {"jax.jit": 1, "jax.shard_map": 1}
# The order in which parameters that became positional-only are given.
ORDER = {
    "jax.numpy.where": ("condition", "x", "y"),
    "jax.numpy.clip": ("a",),
    "jax.jit": ("fun",),
    "jax.numpy.einsum": ("subscripts",),
}
# What the notes of the table say that the message says already, or that only the fix needs to know.
SILENT_NOTES = (
    "needs import",
    "gone before",
    "jax.tree_util.",
    "no public replacement",
    "internal API",
    "still accepted",
)


# Names


def name_reports(use: ApiUse, wanted: str, context: Context) -> Iterator[Report]:
    """The report of a use whose name the target has removed or deprecated, as `wanted` says.

    A name that an import or alias has brought in is reported where that stands, not again at each use; one that is
    written out at each use is reported at the first.
    """
    change = _import_change(use, context) if use.imported is not None else versions.find(use.path)
    if change is None or versions.status(change, context.target) != wanted:
        return
    if use.imported is not None:
        yield Report(use.span, message(change, wanted, context), fix=fix_import(use, change, context))
    elif not _is_known_from_import(use, wanted, context):
        part = changed_part(use, change)
        found = rewrite(use, change, context)
        repair = None if found is None else Fix(found.safety, f"Use `{found.text}`", found.edits)
        where = part.span if part is not None else use.span
        yield Report(where, message(change, wanted, context), fix=repair, fault=change.name)


def _import_change(use: ApiUse, context: Context) -> Change | None:
    """What an import runs into first: a name that is gone, or else one that is deprecated."""
    assert use.imported is not None
    module = use.imported.from_module
    found = [versions.find_module(module or use.path)]
    if module is not None:
        found.insert(0, versions.find(use.path))
    changes = [change for change in found if change is not None and versions.status(change, context.target)]
    return next((c for c in changes if versions.status(c, context.target) == REMOVED), changes[0] if changes else None)


def _is_known_from_import(use: ApiUse, wanted: str, context: Context) -> bool:
    """Whether the name at the root of the chain already stands for something that is reported where it is bound."""
    node, path = use.node, use.path
    while isinstance(node, n.Attribute):
        node, path = node.base, path.rpartition(".")[0]  # type: ignore[assignment]
    change = versions.find(path)
    status = None if change is None else versions.status(change, context.target)
    return status == REMOVED or (status == DEPRECATED and wanted == DEPRECATED)


def message(change: Change, status: str, context: Context) -> str:
    """What to tell about a changed name: since when, and what to use."""
    what = f"importing `{change.name}`" if change.kind == "import" else f"`{change.name}`"
    told = f"JAX {change.removed_in.removeprefix('<=')} removed {what}"
    if status == DEPRECATED:
        told = f"JAX {change.deprecated_in} deprecated {what}"
        told += f" and {change.removed_in} removes it" if change.removed_in else ""
    return told + _advice(change, context)


def _advice(change: Change, context: Context) -> str:
    notes = [] if change.drop_in and change.replacement else _told_notes(change.note)
    advice = f"; use `{change.replacement}`" if change.replacement else ""
    if change.replacement and not versions.exists(change.replacement_since, context.target):
        advice += f", which came with {change.replacement_since}"
    if notes:
        advice += f" ({'; '.join(notes)})" if advice else f": {'; '.join(notes)}"
    return advice or "; nothing public replaces it"


# Parameters


def parameter_reports(use: ApiUse, call: n.Call, wanted: str, context: Context) -> Iterator[Report]:
    """The reports of arguments whose parameters the target has removed or deprecated, as `wanted` says."""
    for change in versions.parameter_changes(use.path):
        if _parameter_status(change, context) != wanted:
            continue
        if change.change.startswith("keyword-only"):
            yield from _positional_report(use, call, change, context)
            continue
        for argument in call.arguments:
            if argument.keyword == change.parameter and not _may_be_none(argument.value, change, context):
                repair = _parameter_fix(use, call, argument, change, context)
                yield Report(keyword_span(argument), _parameter_message(change, wanted), fix=repair)


def partial_reports(use: ApiUse, call: n.Call, wanted: str, context: Context) -> Iterator[Report]:
    """The same for arguments that `functools.partial` keeps for a function of JAX."""
    keywords = {argument.keyword for argument in call.arguments}
    if not call.arguments or call.arguments[0].star or not keywords & versions.changed_parameters():
        return
    function = call.arguments[0].value
    if isinstance(function, (n.Name, n.Attribute)):
        scope, _ = bindings.scope_at(context.module, call.span.line, call.span.column)
        path = scope.chain(function)
        if path is not None:
            inner = n.Call(call.span, function, call.arguments[1:], call.arguments_span)
            kept = ApiUse(path, function.span, function, call=inner, guarded=use.guarded)
            yield from parameter_reports(kept, inner, wanted, context)


def _may_be_none(value: n.Expr, change: ParameterChange, context: Context) -> bool:
    """Whether an argument may be the None that asks for nothing and so warns of nothing, where the parameter stays.

    A wrapper hands `device=device` on from its own parameter, an object `backend=self.backend`.
    """
    if change.change != "deprecated":
        return False
    if isinstance(value, n.Name):
        _, functions = bindings.scope_at(context.module, value.span.line, value.span.column)
        return any(parameter.name == value.name for function in functions for parameter in function.parameters)
    return isinstance(value, n.Attribute) or (isinstance(value, n.Constant) and value.kind == "none")


def _parameter_status(change: ParameterChange, context: Context) -> str | None:
    newest = version(context.target.maximum)
    if change.change in ("added", "unchanged", "default changed"):
        return None
    withdrawn = re.match(r"warns only in [\d.]+-([\d.]+)", change.note)
    if withdrawn and newest > version(withdrawn[1]):
        return None
    if change.changed_in and newest >= version(change.changed_in):
        return REMOVED
    return DEPRECATED if change.deprecated_in and newest >= version(change.deprecated_in) else None


def _parameter_message(change: ParameterChange, status: str) -> str:
    name = f"the parameter `{change.parameter}` of `{change.function}`"
    if status == DEPRECATED:
        told = f"JAX {change.deprecated_in} deprecated {name}"
    elif change.change == "positional-only":
        return f"JAX {change.changed_in} takes {name} by position only"
    else:
        told = f"JAX {change.changed_in} removed {name}"
    if change.replacement:
        told += f"; use `{change.replacement}`"
    elif notes := _told_notes(change.note):
        told += f" ({'; '.join(notes)})"
    return told


def _told_notes(note: str) -> list[str]:
    """The parts of a note of the table that are for users."""
    parts = [part.strip() for part in note.split(";")]
    return [part for part in parts if part and not part.startswith(SILENT_NOTES)]


def _positional_report(use: ApiUse, call: n.Call, change: ParameterChange, context: Context) -> Iterator[Report]:
    """Options given by position to a function that takes them by keyword only. One report, at the first of them."""
    allowed = POSITIONAL.get(use.path)
    if allowed is None or any(argument.star for argument in call.arguments):
        return
    positional = [argument for argument in call.arguments if argument.keyword is None]
    if len(positional) > allowed:
        told = f"JAX {change.changed_in} takes the options of `{use.path}` by keyword only"
        options = shard_map_options(use, context) if use.path == "jax.shard_map" else None
        repair = None if options is None else fix(Safety.SAFE, "Pass by keyword", options.edits)
        yield Report(positional[allowed].span, told, fix=repair)


def _parameter_fix(
    use: ApiUse, call: n.Call, argument: n.Argument, change: ParameterChange, context: Context
) -> Fix | None:
    since = change.deprecated_in or change.changed_in
    if not change.drop_in:
        return None
    if change.change == "positional-only":
        return _by_position(use, call, context)
    if change.replacement.isidentifier() and versions.exists(since, context.target):
        return fix(Safety.SAFE, f"Write `{change.replacement}=`", rename_keyword(argument, change.replacement))
    return None


def _by_position(use: ApiUse, call: n.Call, context: Context) -> Fix | None:
    """Drops the keywords of leading arguments that stand in the order of the parameters."""
    order = ORDER.get(use.path, ())
    edits: list[Edit] = []
    for name, argument in zip(order, call.arguments, strict=False):
        if argument.star or argument.keyword not in (None, name):
            break
        written = re.match(rf"{name}\s*=\s*(?=\S)", context.text.at(argument.span))
        if argument.keyword is not None and written is not None and "\n" not in written[0]:
            start = argument.span
            edits.append(Edit(Span(start.line, start.column, start.line, start.column + written.end()), ""))
    by_keyword = {argument.keyword for argument in call.arguments} & set(order)
    return fix(Safety.SAFE, "Pass by position", edits) if edits and len(edits) == len(by_keyword) else None
