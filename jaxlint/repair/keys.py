"""Fixes for keys that are used twice: splits them, one part for each use, or folds in what tells the rounds apart."""

from __future__ import annotations

from collections.abc import Sequence

from jaxlint.analysis.context import Context, fix, insert
from jaxlint.analysis.events import KeyReused
from jaxlint.analysis.frames import Frame, Use
from jaxlint.analysis.keys import name_in
from jaxlint.analysis.values import Array
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import expressions, target_names, walk, walk_statements
from jaxlint.repair.contents import calls_named
from jaxlint.repair.key_reads import Key, Site, body_of, inside, key_in, last_name, locate, reads, reads_in, rebinds
from jaxlint.repair.spelling import fresh_name, spell
from jaxlint.repair.text import insert_before


def key_fix(event: KeyReused, context: Context) -> Fix | None:
    """The repair of a reuse, where the place that is to blame leaves room for one."""
    if event.frame.path != context.module.path:
        return None
    return _FIXES[event.kind](event, context)


# Fixes


def _one_part_each(event: KeyReused, context: Context) -> Fix | None:
    """Uses in one run of a block: the key is split before the first, and each takes a part."""
    pair = _meeting(event.uses)
    if pair is None:
        return None
    frame, first, second = pair
    if frame.path != context.module.path:
        return None
    if frame is not event.frame and key_in(event, event.frame, context).kept:
        return _at_each_call(event, context)
    body, key = body_of(frame, context), key_in(event, frame, context)
    one, other = locate(body, first), locate(body, second)
    if one is None or other is None:
        return None
    if other.statement.span < one.statement.span:
        return _other_half(one, first, key, body, context) or _renewed(one, first, key, context)
    shared = (i for i, pair in enumerate(zip(one.blocks, other.blocks, strict=False)) if pair[0] is pair[1])
    depth = max(shared, default=None)
    if depth is None or one.loop() is not other.loop():
        return _renewed(one, first, key, context) if key.local else None
    block, start = one.blocks[depth], one.statements[depth]
    rest = block[[s is start for s in block].index(True) :]
    return _split_for(rest, key, context, later=_reads_after(body, block, key, context))


def _at_each_call(event: KeyReused, context: Context) -> Fix | None:
    """An object's key that one method draws from at each call: the object goes on with another part.

    Where it does so already, the use elsewhere is to blame, of which nothing is known here.
    """
    key = key_in(event, event.frame, context)
    site = locate(body_of(event.frame, context), event.span)
    if site is None or site.loop() is not None:
        return None
    is_renewed = isinstance(site.statement, n.Assign) and rebinds(site.statement, key)
    return None if is_renewed else _renewed(site, event.span, key, context)


def _reads_after(body: tuple[n.Stmt, ...], block: tuple[n.Stmt, ...], key: Key, context: Context) -> bool:
    """Whether the key is read behind the block."""
    end = block[-1].span
    return any(read.span > end for statement in body for read in reads_in(statement, key, context, True))


def _split_for(rest: Sequence[n.Stmt], key: Key, context: Context, *, later: bool) -> Fix | None:
    found = reads(rest, key, context)
    draws = [read.span for read in found if read.draws]
    is_rebound = any(isinstance(s, n.Assign) and rebinds(s, key) for s in rest)
    renewed = any(not read.draws for read in found) or (later and not any(rebinds(s, key) for s in rest))
    renewed |= key.kept and not is_rebound
    if not draws or (renewed and not key.local) or (len(draws) < 2 and not renewed):
        return None
    return _with_parts(rest[0], draws, key, renewed, context)


def _with_parts(before: n.Stmt, draws: Sequence[Span], key: Key, renewed: bool, context: Context) -> Fix | None:
    """Splits the key before a statement; each draw gets a part, and with `renewed` the name gets one of its own."""
    parts = _names(key, len(draws), before.span, context, alone=renewed)
    split = spell(context.module, "jax.random.split", before.span)
    targets = [key.text, *parts] if renewed else parts
    count = "" if len(targets) == 2 else f", {len(targets)}"
    line = insert_before(before.span, [f"{', '.join(targets)} = {split.text}({key.text}{count})"], context)
    if line is None:
        return None
    uses = [Edit(span, part) for span, part in zip(draws, parts, strict=True)]
    return fix(Safety.UNSAFE, f"split `{key.text}`, one part for each use", line, uses, split.edits)


def _names(key: Key, count: int, at: Span, context: Context, *, alone: bool) -> list[str]:
    if count == 1 and alone:
        return [fresh_name(context.module, "subkey", at)]
    return [fresh_name(context.module, f"{key.stem}_{number}", at) for number in range(1, count + 1)]


def _renewed(site: Site, use: Span, key: Key, context: Context) -> Fix | None:
    """One use takes a part of the key, and the name goes on with another."""
    draws = [read.span for read in reads_in(site.statement, key, context, True) if inside(read.span, use)]
    if not key.local or len(draws) != 1:
        return None
    return _with_parts(site.statement, draws, key, True, context)


def _other_half(site: Site, use: Span, key: Key, body: tuple[n.Stmt, ...], context: Context) -> Fix | None:
    """`key, fresh = split(key)` stands before, and nobody takes `fresh`."""
    unused = unused_part(body, key, use)
    draws = [read.span for read in reads_in(site.statement, key, context, True) if inside(read.span, use)]
    if unused is None or len(draws) != 1:
        return None
    return fix(Safety.UNSAFE, f"use `{unused}`, the other part of the split", Edit(draws[0], unused))


def unused_part(body: tuple[n.Stmt, ...], key: Key, before: Span) -> str | None:
    """The part of the split that made the key, or that consumed it, that nothing reads."""
    for statement in walk_statements(body):
        if not isinstance(statement, n.Assign) or not isinstance(statement.value, n.Call) or statement.span > before:
            continue
        names = [name for target in statement.targets for name in target_names(target)]
        parents = [a.value.name for a in statement.value.arguments if isinstance(a.value, n.Name)]
        if last_name(statement.value.function) == "split" and key.text in (*names, *parents):
            for name in names:
                if name not in (key.text, "_") and not _is_read(body, name):
                    return name
    return None


def _is_read(body: tuple[n.Stmt, ...], name: str) -> bool:
    assigned = (t for s in walk_statements(body) if isinstance(s, n.Assign) for t in s.targets)
    written = {id(node) for target in assigned for node in walk(target)}
    return any(
        isinstance(node, n.Name) and node.name == name and id(node) not in written
        for statement in walk_statements(body)
        for expression in expressions(statement)
        for node in walk(expression)
    )


def _in_a_loop(event: KeyReused, context: Context) -> Fix | None:
    """One use in each round: the round's number is folded in, or the key is split in each round."""
    frame, span = event.frame, event.span
    body, key = body_of(frame, context), key_in(event, frame, context)
    site = locate(body, span)
    if site is None:
        return None
    statement = site.statement
    spans = [read.span for read in reads_in(statement, key, context, True) if inside(read.span, span)]
    if len(spans) != 1:
        return None
    comprehension = _comprehension_around(statement, span)
    if comprehension is not None:
        generator = comprehension.generators[0]
        return _enumerated(generator.target, generator.iterable, spans[0], key, context)
    loop = site.loop()
    if loop is None:
        index = _round_number(frame, context)
        return _folded(spans[0], key, index, context) if index is not None else None
    if key.local:
        return _with_parts(statement, spans, key, True, context)
    if isinstance(loop, n.For):
        return _enumerated(loop.target, loop.iterable, spans[0], key, context)
    return None


def _comprehension_around(statement: n.Stmt, span: Span) -> n.Comprehension | None:
    found = [
        node
        for expression in expressions(statement)
        for node in walk(expression)
        if isinstance(node, n.Comprehension) and inside(span, node.element.span)
    ]
    return found[-1] if found else None


def _folded(read: Span, key: Key, index: str, context: Context, *more: Edit) -> Fix:
    folding = spell(context.module, "jax.random.fold_in", read)
    content = f"{folding.text}({key.text}, {index})"
    number = "the number of the round" if more else f"`{index}`"
    return fix(Safety.UNSAFE, f"fold {number} into `{key.text}`", Edit(read, content), more, folding.edits)


def _enumerated(target: n.Expr, iterable: n.Expr, read: Span, key: Key, context: Context) -> Fix | None:
    """Folds in the number of the round, which the loop counts already or is made to count."""
    if isinstance(iterable, n.Call) and isinstance(iterable.function, n.Name):
        if iterable.function.name == "range" and isinstance(target, n.Name):
            index = target.name if target.name != "_" else fresh_name(context.module, "i")
            renamed = [Edit(target.span, index)] if index != target.name else []
            return _folded(read, key, index, context, *renamed)
        counter = target.elements[0] if isinstance(target, n.Sequence) else None
        if iterable.function.name == "enumerate" and isinstance(counter, n.Name):
            return _folded(read, key, counter.name, context)
    before = context.text.line(target.span.line)[: target.span.column - 1].rstrip("( ")
    if before.removesuffix("for").rstrip().endswith("async"):
        return None  # `enumerate` takes no asynchronous iterator
    index = fresh_name(context.module, "i")
    written = context.text.at(target.span)
    if isinstance(target, n.Sequence) and not written.startswith(("(", "[")):
        if context.text.line(target.span.line)[: target.span.column - 1].endswith("("):
            return None
        written = f"({written})"
    around = (
        Edit(target.span, f"{index}, {written}"),
        insert(iterable.span.line, iterable.span.column, "enumerate("),
        insert(iterable.span.end_line, iterable.span.end_column, ")"),
    )
    return _folded(read, key, index, context, *around)


def _round_number(frame: Frame, context: Context) -> str | None:
    """The parameter of a `fori_loop` body that counts the rounds."""
    function = frame.function
    if function is None or len(function.parameters) < 2:
        return None
    loops = (call for kind in (n.Name, n.Attribute) for call in calls_named(context.module, kind, "fori_loop"))
    return function.parameters[0].name if any(_takes(loop, function) for loop in loops) else None


def _takes(call: n.Call, function: n.Function) -> bool:
    given = [argument.value for argument in call.arguments]
    return any(
        (isinstance(value, n.Name) and value.name == function.name)
        or (isinstance(value, n.Lambda) and value.function.span == function.span)
        for value in given
    )


def _carried(event: KeyReused, context: Context) -> Fix | None:
    """A used key goes to the next round: the other half of its split goes instead, or the use takes a part."""
    frame = event.frame
    body, key = body_of(frame, context), key_in(event, frame, context)
    site = locate(body, event.span)
    if site is None:
        return None
    handed = [read.span for read in reads_in(site.statement, key, context, True)]
    unused = unused_part(body, key, event.span)
    if unused is not None and len(handed) == 1:
        other = fix(Safety.SAFE, f"hand on `{unused}`, the other part of the split", Edit(handed[0], unused))
        return other if _is_split(event.uses[0]) else _at_use(event, frame, key, context) or other
    return _at_use(event, frame, key, context)


def _is_split(use: Use) -> bool:
    return use.action == "split"


def _at_use(event: KeyReused, frame: Frame, key: Key, context: Context) -> Fix | None:
    place = next((p for p in event.uses[0].places if p.frame.number == frame.number), None)
    if place is None:
        return None
    body = body_of(frame, context)
    site = locate(body, place.span)
    if site is None or site.loop() is not None:
        return None
    return _other_half(site, place.span, key, body, context) or _renewed(site, place.span, key, context)


def _handed_on(event: KeyReused, context: Context) -> Fix | None:
    """A used key is returned: a fresh one is split off before, or the use takes a part."""
    frame = event.frame
    body, key = body_of(frame, context), key_in(event, frame, context)
    site = locate(body, event.span)
    if site is None:
        return None
    if key.text.isidentifier():
        return _at_use(event, frame, key, context)
    base = key.text.partition("[")[0]
    for statement in body:
        if statement.span > event.span or not isinstance(statement, n.Assign):
            continue
        is_it = any(isinstance(target, n.Name) and target.name == base for target in statement.targets)
        if is_it and isinstance(statement.value, n.Call):
            return _split_off(statement, statement.value, site.statement, base, context)
    return None


def _split_off(statement: n.Assign, split: n.Call, last: n.Stmt, base: str, context: Context) -> Fix | None:
    if last_name(split.function) != "split" or not split.arguments or not isinstance(split.arguments[0].value, n.Name):
        return None
    returned = [node for e in expressions(last) for node in walk(e) if _is_part_of(node, base)]
    if len(returned) != 1:
        return None
    parent = split.arguments[0].value
    name = fresh_name(context.module, f"next_{parent.name}")
    function = context.text.at(split.function.span)
    line = insert_before(statement.span, [f"{name}, {parent.name} = {function}({parent.name})"], context)
    if line is None:
        return None
    return fix(Safety.UNSAFE, "split off the key that is handed on", line, Edit(returned[0].span, name))


def _is_part_of(node: n.Expr, base: str) -> bool:
    return isinstance(node, n.Subscript) and isinstance(node.base, n.Name) and node.base.name == base


def _shared(event: KeyReused, context: Context) -> Fix | None:
    """One key under two names: each gets a part."""
    frame = event.frame
    body, key = body_of(frame, context), key_in(event, frame, context)
    site = locate(body, event.span)
    if site is None:
        return None
    found = [read.span for read in reads_in(site.statement, key, context, True) if inside(read.span, event.span)]
    if len(found) < 2:
        return None
    return _with_parts(site.statement, found, key, False, context)


def _per_row(event: KeyReused, context: Context) -> Fix | None:
    """One key for all rows of a vmap: one key a row, and an axis to map them over."""
    body = body_of(event.frame, context)
    site = locate(body, event.span)
    call = _call_at(site.statement, event.span) if site is not None else None
    if call is None or not isinstance(call.function, n.Call) or any(a.star or a.keyword for a in call.arguments):
        return None
    axes = _axes(call.function)
    if axes is None or len(axes.elements) != len(call.arguments):
        return None
    given = [argument.value for argument in call.arguments]
    unmapped = [i for i, axis in enumerate(axes.elements) if _is_constant(axis, "none", None)]
    keys = [i for i in unmapped if _is_key(given[i], event, context)]
    mapped = [given[i] for i, axis in enumerate(axes.elements) if _is_constant(axis, "int", 0)]
    rows = [value for value in mapped if _is_array(value, event.frame)]
    if len(keys) != 1 or not rows:
        return None
    argument = given[keys[0]]
    split = spell(context.module, "jax.random.split", argument.span)
    written = f"{split.text}({context.text.at(argument.span)}, {context.text.at(rows[0].span)}.shape[0])"
    edits = [Edit(axes.elements[keys[0]].span, "0"), Edit(argument.span, written)]
    return fix(Safety.UNSAFE, "split one key for each row and map over them", edits, split.edits)


def _is_array(node: n.Expr, frame: Frame) -> bool:
    """Whether a name holds an array, so that it has a shape (a pytree has none)."""
    scope = frame.scope.find(node.name) if isinstance(node, n.Name) else None
    return scope is not None and isinstance(node, n.Name) and isinstance(scope.names[node.name], Array)


def _is_key(node: n.Expr, event: KeyReused, context: Context) -> bool:
    return context.text.at(node.span) == name_in(event.frame, event.token) or node.span == event.token.span


def _is_constant(node: n.Expr, kind: str, value: int | None) -> bool:
    return isinstance(node, n.Constant) and node.kind == kind and node.value == value


def _axes(vmap: n.Call) -> n.Sequence | None:
    for position, argument in enumerate(vmap.arguments):
        if argument.keyword == "in_axes" or (argument.keyword is None and position == 1):
            return argument.value if isinstance(argument.value, n.Sequence) else None
    return None


def _call_at(statement: n.Stmt, span: Span) -> n.Call | None:
    found = (node for expression in expressions(statement) for node in walk(expression))
    return next((node for node in found if isinstance(node, n.Call) and node.span == span), None)


def _meeting(uses: tuple[Use, Use]) -> tuple[Frame, Span, Span] | None:
    """The innermost call that both uses are part of, and where each stands in it."""
    old, new = uses
    for place in new.places:
        for other in old.places:
            if other.frame.number == place.frame.number:
                return place.frame, other.span, place.span
    return None


_FIXES = {
    "again": _one_part_each, "loop": _in_a_loop, "mapped": _per_row, "carry": _carried, "handed on": _handed_on,
    "shared": _shared,
}  # fmt: skip
