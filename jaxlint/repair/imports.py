"""Fixes of imports that bring in a removed or deprecated name."""

from __future__ import annotations

import re

from jaxlint import versions
from jaxlint.analysis.context import Context, fix, replace
from jaxlint.analysis.events import ApiUse
from jaxlint.analysis.uses import api_uses
from jaxlint.config.targets import Target
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.repair.calls import remove_item
from jaxlint.repair.contents import count_reads, is_quoted
from jaxlint.repair.hoist import enclosing, inner_blocks
from jaxlint.repair.rewrites import ARRAY_TYPES, SHARD_MAP, rewrite, shard_map_options, successor
from jaxlint.repair.text import insert_before, is_line_start
from jaxlint.versions import Change


def fix_import(use: ApiUse, change: Change, context: Context) -> Fix | None:
    """The repair of an import of a changed name or module, together with the uses that it binds."""
    entry, statement = use.imported, use.statement
    if entry is None or statement is None or entry.bound == "*":
        return None
    if entry.from_module is None:
        return _fix_module(use, entry, statement, change, context)
    if change.kind == "import":
        return None  # `from jax.config import ...` of something that is no attribute of `jax.config`
    if change.name == SHARD_MAP:
        return _fix_shard_map(use, entry, statement, change, context)
    dotted = _moved_to(entry, change, context)
    if dotted is None:
        return _by_uses(entry, statement, context)
    if change.name in ARRAY_TYPES:
        sure = all(other.in_annotation for other in _uses_of(entry, context))
        return _import_from(entry, statement, dotted, Safety.SAFE if sure else Safety.UNSAFE, context)
    together = _split_import(statement, dotted.rpartition(".")[0], context)
    return together or _import_from(entry, statement, dotted, Safety.SAFE, context)


def _moved_to(entry: n.ImportedName, change: Change, context: Context) -> str | None:
    """Where an imported name can be imported from today, under whatever name."""
    dotted = successor(change, context, entry.target.rpartition(".")[2])
    return None if dotted in (None, "None") else f"{dotted}{entry.target[len(change.name) :]}"


def _split_import(statement: n.Import, parent: str, context: Context) -> Fix | None:
    """Takes all names that went to the module `parent` from there, in one import; None for a single one.

    Only where the names stand in one line: removing them from a list over several lines takes one edit for each.
    """
    first, last = statement.names[0].span, statement.names[-1].span
    listed = Span(first.line, first.column, last.end_line, last.end_column)
    moved: list[str] = []
    kept: list[str] = []
    for entry in statement.names:
        change = versions.find(entry.target)
        is_gone = change is not None and versions.status(change, context.target) and change.name != SHARD_MAP
        dotted = _moved_to(entry, change, context) if change is not None and is_gone else None
        if dotted is not None and dotted.rpartition(".")[0] == parent and change and change.name not in ARRAY_TYPES:
            moved.append(_named(dotted.rpartition(".")[2], entry))
        else:
            kept.append(context.text.at(entry.span))
    if len(moved) < 2 or parent in ("", statement.names[0].from_module) or first.line != last.end_line:
        return None
    new = f"from {parent} import {', '.join(moved)}"
    if not kept:
        module = _module_span(statement, context)
        edits = None if module is None else [replace(module, parent), replace(listed, ", ".join(moved))]
    else:
        inserted = insert_before(statement.span, [new], context)
        edits = None if inserted is None else [inserted, replace(listed, ", ".join(kept))]
    return None if edits is None else fix(Safety.SAFE, f"Write `{new}`", edits)


def _named(leaf: str, entry: n.ImportedName) -> str:
    """A name in an import that is bound as the entry was."""
    return leaf if leaf == entry.bound else f"{leaf} as {entry.bound}"


def _fix_module(
    use: ApiUse, entry: n.ImportedName, statement: n.Import, change: Change, context: Context
) -> Fix | None:
    """`import jax.linear_util as lu` and its like."""
    package, _, leaf = change.name.rpartition(".")
    if change.kind == "import":
        if entry.loads != entry.target:
            return fix(Safety.SAFE, f"Import `{package}`", _package_alone(entry, statement, context))
        return _import_from(entry, statement, f"{package}.{leaf}", Safety.SAFE, context)
    dotted = successor(change, context)
    if dotted is not None and use.path == entry.loads:
        start = Span(entry.span.line, entry.span.column, entry.span.line, entry.span.column + len(change.name))
        if context.text.at(start) == change.name:
            return fix(Safety.SAFE, f"Import `{dotted}`", replace(start, dotted))
    return _by_uses(entry, statement, context)


def _fix_shard_map(
    use: ApiUse, entry: n.ImportedName, statement: n.Import, change: Change, context: Context
) -> Fix | None:
    if not versions.is_usable(change.replacement, change.replacement_since, context.target):
        return None
    rewrites = [shard_map_options(other, context) for other in _uses_of(entry, context)]
    if None in rewrites:
        return None
    sure = _is_read_only_here(entry, context) and all(each and each.safety is Safety.SAFE for each in rewrites)
    renamed = _import_from(entry, statement, change.replacement, Safety.SAFE if sure else Safety.UNSAFE, context)
    if renamed is None:
        return None
    return fix(renamed.safety, renamed.message, renamed.edits, *(each.edits for each in rewrites if each is not None))


def _import_from(
    entry: n.ImportedName, statement: n.Import, dotted: str, safety: Safety, context: Context
) -> Fix | None:
    """Takes the name from where it is now and keeps what the file calls it."""
    parent, _, leaf = dotted.rpartition(".")
    name = _named(leaf, entry)
    new = f"from {parent} import {name}" if parent else f"import {name}"
    message = f"Write `{new}`"
    if parent and parent == entry.from_module:
        return fix(safety, message, replace(entry.span, name))
    if len(statement.names) == 1:
        module = _module_span(statement, context) if parent else None
        if module is None:
            return fix(safety, message, replace(statement.span, new))
        return fix(safety, message, replace(module, parent), replace(entry.span, name))
    inserted = insert_before(statement.span, [new], context)
    return None if inserted is None else fix(safety, message, inserted, _without(entry, statement, context))


def _module_span(statement: n.Import, context: Context) -> Span | None:
    """Where the module's name stands in `from module import ...`."""
    first = context.text.line(statement.span.line)[statement.span.column - 1 :]
    match = re.match(r"from\s+([\w.]+)\s+import\b", first)
    if match is None:
        return None
    start = statement.span.column + match.start(1)
    return Span(statement.span.line, start, statement.span.line, start + len(match[1]))


def _without(entry: n.ImportedName, statement: n.Import, context: Context) -> Edit:
    """Takes one name out of an import statement, or the whole statement with its last name."""
    if len(statement.names) == 1:
        return _removed(statement, context)
    return remove_item([name.span for name in statement.names], statement.names.index(entry), context)


def _removed(statement: n.Import, context: Context) -> Edit:
    """Takes a statement out with its line; where it is all there is in a body, or shares its line, writes `pass`."""
    span, text = statement.span, context.text
    rest = text.line(span.end_line)[span.end_column - 1 :].strip()
    stands_alone = is_line_start(text, span.line, span.column) and (not rest or rest.startswith("#"))
    if stands_alone and _leaves_a_body(statement, context) and span.end_line < len(text.lines):
        return Edit(Span(span.line, 1, span.end_line + 1, 1), "")
    return Edit(span, "pass")


def _leaves_a_body(statement: n.Import, context: Context) -> bool:
    """Whether something is left where an import goes, should the other imports go too."""
    path = enclosing(context.module, statement.span)
    blocks = inner_blocks(path[-2]) if len(path) > 1 else ()
    block = next((block for block in blocks if any(other is statement for other in block)), None)
    return block is None or any(not isinstance(other, n.Import) for other in block)


def _package_alone(entry: n.ImportedName, statement: n.Import, context: Context) -> Edit:
    """`import jax` for `import jax.lib.x`, or nothing where the file has that already."""
    for other in context.module.body:
        if not isinstance(other, n.Import) or other.level or other.span >= statement.span:
            continue
        if any(name.bound == name.target == name.loads == entry.target for name in other.names):
            return _without(entry, statement, context)
    return replace(entry.span, entry.target)


def _by_uses(entry: n.ImportedName, statement: n.Import, context: Context) -> Fix | None:
    """Writes every use of what the import binds anew and drops the import; None if one use cannot be written anew."""
    is_bare = entry.from_module is None and entry.loads != entry.target  # `import jax.lib.x` binds `jax` too
    if not is_bare and not _is_read_only_here(entry, context):
        return None
    edits: list[Edit] = []
    uses = _uses_of(entry, context)
    safety, advice = Safety.SAFE, "Drop the import, which nothing uses"
    if not uses and not _fails_always(entry, context):
        safety = Safety.UNSAFE  # it may be there for other files
    for use in uses:
        change = versions.find(use.path)
        found = rewrite(use, change, context, statement) if change is not None else None
        if found is None:
            return None
        safety = found.safety if safety is Safety.SAFE else safety
        advice = f"Use `{found.text}`"
        edits.extend(edit for edit in found.edits if edit not in edits)
    if is_bare:
        edits.append(_package_alone(entry, statement, context))
    else:
        edits.append(_without(entry, statement, context))
    return fix(safety, advice, edits)


def _fails_always(entry: n.ImportedName, context: Context) -> bool:
    """Whether the import raises in every allowed version, so that no other file can rely on it."""
    change = versions.find(entry.loads if entry.from_module is None else entry.target)
    oldest = Target(context.target.minimum, context.target.minimum)
    return change is not None and versions.status(change, oldest) == versions.REMOVED


def _uses_of(entry: n.ImportedName, context: Context) -> list[ApiUse]:
    """The uses in expressions of what an import entry brings in."""
    path = entry.loads if entry.from_module is None else entry.target
    return [
        use
        for use in api_uses(context.module)
        if use.node is not None and f"{use.path}.".startswith(f"{path}.") and _root(use.node) == entry.bound
    ]


def _root(node: n.Expr) -> str | None:
    while isinstance(node, n.Attribute):
        node = node.base
    return node.name if isinstance(node, n.Name) else None


def _is_read_only_here(entry: n.ImportedName, context: Context) -> bool:
    """Whether all that rests on the imported name is seen: nothing re-exports it, and all its reads are resolved."""
    if context.module.path.endswith("__init__.py") or is_quoted(context.module, entry.bound):
        return False
    return count_reads(context.module, entry.bound) == len(_uses_of(entry, context))
