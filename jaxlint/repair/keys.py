"""Fixes for keys that are used twice: splits them, one part for each use, or folds in what tells the rounds apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from jaxlint.analysis.context import Context, fix, insert
from jaxlint.analysis.events import KeyReused
from jaxlint.analysis.frames import Frame, Use
from jaxlint.analysis.keys import name_in
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import blocks, children, expressions, target_names, walk, walk_statements
from jaxlint.repair.spelling import fresh_name, spell
from jaxlint.repair.text import insert_before

READERS = frozenset({"fold_in", "key_data", "clone", "eval_shape", "make_jaxpr", "print", "isinstance", "len", "key_impl"})
LOOPS = (n.For, n.While)


def key_fix(event: KeyReused, context: Context) -> Fix | None:
    """The repair of a reuse, where the place that is to blame leaves room for one."""
    if event.frame.path != context.module.path:
        return None
    return _FIXES[event.kind](event, context)


class Site(Struct, frozen=True):
    """Where a use stands in a function: the statements around it, outermost first, each with its block."""

    blocks: tuple[tuple[n.Stmt, ...], ...]
    statements: tuple[n.Stmt, ...]

    @property
    def statement(self) -> n.Stmt:
        """The innermost statement."""
        return self.statements[-1]

    def loop(self) -> n.For | n.While | None:
        """The innermost loop around, if its body holds the use."""
        for outer, inner in zip(reversed(self.statements[:-1]), reversed(self.statements), strict=False):
            if isinstance(outer, LOOPS):
                return outer if _holds(outer.body, inner.span) else None
        return None


class Key(Struct, frozen=True):
    """A key as a function writes it; `local` names can be bound anew."""

    text: str
    local: bool

    @property
    def stem(self) -> str:
        """The word to name parts of it by."""
        word = self.text.partition("[")[0].rpartition(".")[2]
        return word.removesuffix("s") if "[" in self.text and len(word) > 2 else word


def body_of(frame: Frame, context: Context) -> tuple[n.Stmt, ...]:
    """The statements of a call in progress."""
    return frame.function.body if frame.function is not None else context.module.body


def locate(body: tuple[n.Stmt, ...], span: Span) -> Site | None:
    """The statements around a place; functions defined on the way are not entered."""
    around: list[tuple[n.Stmt, ...]] = []
    statements: list[n.Stmt] = []
    found: tuple[n.Stmt, ...] | None = body
    while found is not None:
        statement = next((s for s in found if _inside(span, s.span)), None)
        if statement is None or isinstance(statement, (n.FunctionDefinition, n.ClassDefinition)):
            return None
        around.append(found)
        statements.append(statement)
        found = next((block for block in blocks(statement) if _holds(block, span)), None)
    return Site(tuple(around), tuple(statements)) if statements else None


def _holds(block: tuple[n.Stmt, ...], span: Span) -> bool:
    return any(_inside(span, statement.span) for statement in block)


def _inside(inner: Span, outer: Span) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def key_in(event: KeyReused, frame: Frame, context: Context) -> Key:
    """The reused key as the function of a frame writes it."""
    text = name_in(frame, event.token)
    function = frame.function
    if not text.isidentifier():
        return Key(text, False)
    if function is None:
        return Key(text, True)
    names = {parameter.name for parameter in function.parameters} | function.bound
    return Key(text, text in names and text not in function.outer and not function.is_lambda)


# Reads


class Read(Struct, frozen=True):
    """A place where the key is read; `draws` when it is handed to a call, at most once a run of the block."""

    span: Span
    draws: bool


def reads(statements: Sequence[n.Stmt], key: Key, context: Context) -> list[Read]:
    """Where the statements read the key, until one binds it anew."""
    found: list[Read] = []
    for statement in statements:
        found.extend(_reads_in(statement, key, context, True))
        if _rebinds(statement, key):
            break
    return found


def _reads_in(statement: n.Stmt, key: Key, context: Context, once: bool) -> Iterator[Read]:
    written = statement.targets if isinstance(statement, n.Assign) else ()
    for expression in expressions(statement):
        if not any(expression is target for target in written):
            yield from _reads_of(expression, key, context, once, False)
    once = once and not isinstance(statement, LOOPS)
    for block in blocks(statement):
        for inner in block:
            yield from _reads_in(inner, key, context, once)
    if isinstance(statement, n.FunctionDefinition):
        for inner in statement.function.body:
            yield from _reads_in(inner, key, context, False)


def _reads_of(node: n.Expr, key: Key, context: Context, once: bool, given: bool) -> Iterator[Read]:
    if isinstance(node, (n.Name, n.Attribute, n.Subscript)) and context.text.at(node.span) == key.text:
        yield Read(node.span, once and given)
        return
    if isinstance(node, n.Lambda):
        for statement in node.function.body:
            yield from _reads_in(statement, key, context, False)
        return
    if isinstance(node, n.Call):
        yield from _reads_of(node.function, key, context, once, False)
        takes = _last_name(node.function) not in READERS
        for argument in node.arguments:
            yield from _reads_of(argument.value, key, context, once, takes and not argument.star)
        return
    for child in children(node):
        yield from _reads_of(child, key, context, once and not isinstance(node, n.Comprehension), False)


def _last_name(function: n.Expr) -> str:
    return function.name if isinstance(function, (n.Name, n.Attribute)) else ""


def _rebinds(statement: n.Stmt, key: Key) -> bool:
    if isinstance(statement, n.Assign):
        return any(name == key.text for target in statement.targets for name in target_names(target))
    return isinstance(statement, n.Return)


# Fixes


def _one_part_each(event: KeyReused, context: Context) -> Fix | None:
    """Uses in one run of a block: the key is split before the first, and each takes a part."""
    pair = _meeting(event.uses)
    if pair is None:
        return None
    frame, first, second = pair
    if frame.path != context.module.path:
        return None
    body, key = body_of(frame, context), key_in(event, frame, context)
    one, other = locate(body, first), locate(body, second)
    if one is None or other is None:
        return None
    if other.statement.span < one.statement.span:
        return _other_half(one, first, key, body, context) or _renewed(one, first, key, context)
    depth = max((i for i, block in enumerate(one.blocks) if i < len(other.blocks) and block is other.blocks[i]), default=None)
    if depth is None or one.loop() is not other.loop():
        return _renewed(one, first, key, context) if key.local else None
    block, start = one.blocks[depth], one.statements[depth]
    rest = block[[s is start for s in block].index(True) :]
    return _split_for(rest, key, context, later=_reads_after(body, block, key, context))


def _reads_after(body: tuple[n.Stmt, ...], block: tuple[n.Stmt, ...], key: Key, context: Context) -> bool:
    """Whether the key is read behind the block."""
    end = block[-1].span
    return any(read.span > end for statement in body for read in _reads_in(statement, key, context, True))


def _split_for(rest: Sequence[n.Stmt], key: Key, context: Context, *, later: bool) -> Fix | None:
    found = reads(rest, key, context)
    draws = [read.span for read in found if read.draws]
    renewed = any(not read.draws for read in found) or (later and not any(_rebinds(s, key) for s in rest))
    if not draws or (renewed and not key.local) or (len(draws) < 2 and not renewed):
        return None
    return _with_parts(rest[0], draws, key, renewed, context)


def _with_parts(before: n.Stmt, draws: Sequence[Span], key: Key, renewed: bool, context: Context) -> Fix | None:
    """Splits the key before a statement; each draw gets a part, and with `renewed` the name gets one of its own."""
    parts = _names(key, len(draws), context, alone=renewed)
    split = spell(context.module, "jax.random.split", before.span)
    targets = [key.text, *parts] if renewed else parts
    count = "" if len(targets) == 2 else f", {len(targets)}"
    line = insert_before(before.span, [f"{', '.join(targets)} = {split.text}({key.text}{count})"], context)
    if line is None:
        return None
    uses = [Edit(span, part) for span, part in zip(draws, parts, strict=True)]
    return fix(Safety.UNSAFE, f"split `{key.text}`, one part for each use", line, uses, split.edits)


def _names(key: Key, count: int, context: Context, *, alone: bool) -> list[str]:
    if count == 1 and alone:
        return [fresh_name(context.module, "subkey")]
    return [fresh_name(context.module, f"{key.stem}_{number}") for number in range(1, count + 1)]


def _renewed(site: Site, use: Span, key: Key, context: Context) -> Fix | None:
    """One use takes a part of the key, and the name goes on with another."""
    draws = [read.span for read in _reads_in(site.statement, key, context, True) if _inside(read.span, use)]
    if not key.local or len(draws) != 1:
        return None
    return _with_parts(site.statement, draws, key, True, context)


def _other_half(site: Site, use: Span, key: Key, body: tuple[n.Stmt, ...], context: Context) -> Fix | None:
    """`key, fresh = split(key)` stands before, and nobody takes `fresh`."""
    unused = unused_part(body, key, use)
    draws = [read.span for read in _reads_in(site.statement, key, context, True) if _inside(read.span, use)]
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
        if _last_name(statement.value.function) == "split" and key.text in (*names, *parents):
            for name in names:
                if name != key.text and not _is_read(body, name):
                    return name
    return None


def _is_read(body: tuple[n.Stmt, ...], name: str) -> bool:
    written = {id(target) for s in walk_statements(body) if isinstance(s, n.Assign) for t in s.targets for target in walk(t)}
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
    spans = [read.span for read in _reads_in(statement, key, context, True) if _inside(read.span, span)]
    if len(spans) != 1:
        return None
    comprehension = _comprehension_around(statement, span)
    if comprehension is not None:
        return _enumerated(comprehension.generators[0].target, comprehension.generators[0].iterable, spans[0], key, context)
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
        if isinstance(node, n.Comprehension) and _inside(span, node.element.span)
    ]
    return found[-1] if found else None


def _folded(read: Span, key: Key, index: str, context: Context, *more: Edit) -> Fix:
    folding = spell(context.module, "jax.random.fold_in", read)
    content = f"{folding.text}({key.text}, {index})"
    return fix(Safety.UNSAFE, f"fold `{index}` into `{key.text}`", Edit(read, content), more, folding.edits)


def _enumerated(target: n.Expr, iterable: n.Expr, read: Span, key: Key, context: Context) -> Fix | None:
    """Folds in the number of the round, which the loop counts already or is made to count."""
    if isinstance(iterable, n.Call) and isinstance(iterable.function, n.Name):
        if iterable.function.name == "range" and isinstance(target, n.Name):
            return _folded(read, key, target.name, context)
        if iterable.function.name == "enumerate" and isinstance(target, n.Sequence) and isinstance(target.elements[0], n.Name):
            return _folded(read, key, target.elements[0].name, context)
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
    for statement in _all_statements(context.module.body):
        for expression in expressions(statement):
            for node in walk(expression):
                if isinstance(node, n.Call) and _last_name(node.function) == "fori_loop" and _takes(node, function):
                    return function.parameters[0].name
    return None


def _takes(call: n.Call, function: n.Function) -> bool:
    given = [argument.value for argument in call.arguments]
    return any(
        (isinstance(value, n.Name) and value.name == function.name)
        or (isinstance(value, n.Lambda) and value.function.span == function.span)
        for value in given
    )


def _all_statements(body: tuple[n.Stmt, ...]) -> Iterator[n.Stmt]:
    for statement in walk_statements(body):
        yield statement
        if isinstance(statement, n.FunctionDefinition):
            yield from _all_statements(statement.function.body)
        elif isinstance(statement, n.ClassDefinition):
            yield from _all_statements(statement.definition.body)


def _carried(event: KeyReused, context: Context) -> Fix | None:
    """A used key goes to the next round: the other half of its split goes instead, or the use takes a part."""
    frame = event.frame
    body, key = body_of(frame, context), key_in(event, frame, context)
    site = locate(body, event.span)
    if site is None:
        return None
    handed = [read.span for read in _reads_in(site.statement, key, context, True)]
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
        if isinstance(statement, n.Assign) and isinstance(statement.value, n.Call) and statement.span < event.span:
            if any(isinstance(t, n.Name) and t.name == base for t in statement.targets):
                return _split_off(statement, statement.value, site.statement, key, base, context)
    return None


def _split_off(
    statement: n.Assign, split: n.Call, last: n.Stmt, key: Key, base: str, context: Context
) -> Fix | None:
    if _last_name(split.function) != "split" or not split.arguments or not isinstance(split.arguments[0].value, n.Name):
        return None
    returned = [node for e in expressions(last) for node in walk(e) if isinstance(node, n.Subscript) and isinstance(node.base, n.Name) and node.base.name == base]
    if len(returned) != 1:
        return None
    parent = split.arguments[0].value
    name = fresh_name(context.module, f"next_{parent.name}")
    function = context.text.at(split.function.span)
    line = insert_before(statement.span, [f"{name}, {parent.name} = {function}({parent.name})"], context)
    if line is None:
        return None
    return fix(Safety.UNSAFE, "split off the key that is handed on", line, Edit(returned[0].span, name))


def _shared(event: KeyReused, context: Context) -> Fix | None:
    """One key under two names: each gets a part."""
    frame = event.frame
    body, key = body_of(frame, context), key_in(event, frame, context)
    site = locate(body, event.span)
    if site is None:
        return None
    found = [read.span for read in _reads_in(site.statement, key, context, True) if _inside(read.span, event.span)]
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
    unmapped = [i for i, axis in enumerate(axes.elements) if isinstance(axis, n.Constant) and axis.kind == "none"]
    keys = [i for i in unmapped if _is_key(call.arguments[i].value, event, context)]
    mapped = [i for i, axis in enumerate(axes.elements) if isinstance(axis, n.Constant) and axis.value == 0 and axis.kind == "int"]
    rows = [call.arguments[i].value for i in mapped if isinstance(call.arguments[i].value, (n.Name, n.Attribute))]
    if len(keys) != 1 or not rows:
        return None
    argument = call.arguments[keys[0]].value
    split = spell(context.module, "jax.random.split", argument.span)
    written = f"{split.text}({context.text.at(argument.span)}, {context.text.at(rows[0].span)}.shape[0])"
    edits = [Edit(axes.elements[keys[0]].span, "0"), Edit(argument.span, written)]
    return fix(Safety.UNSAFE, "split one key for each row and map over them", edits, split.edits)


def _is_key(node: n.Expr, event: KeyReused, context: Context) -> bool:
    return context.text.at(node.span) == name_in(event.frame, event.token) or node.span == event.token.span


def _axes(vmap: n.Call) -> n.Sequence | None:
    for position, argument in enumerate(vmap.arguments):
        if argument.keyword == "in_axes" or (argument.keyword is None and position == 1):
            return argument.value if isinstance(argument.value, n.Sequence) else None
    return None


def _call_at(statement: n.Stmt, span: Span) -> n.Call | None:
    return next(
        (node for e in expressions(statement) for node in walk(e) if isinstance(node, n.Call) and node.span == span), None
    )


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
