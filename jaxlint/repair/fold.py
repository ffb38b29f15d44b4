"""Folds the number of the round into a key that a loop makes anew each time."""

from __future__ import annotations

from jaxlint.analysis.context import Context, fix
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.repair.contents import expressions_of
from jaxlint.repair.hoist import enclosing, holds
from jaxlint.repair.spelling import fresh_name, spell
from jaxlint.repair.text import insert_before
from jaxlint.repair.write_back import counter, is_async


def folded(made: Span, context: Context) -> Fix | None:
    """`jax.random.key(0)` in loops: made before them, with each loop's counter folded in."""
    path = enclosing(context.module, made)
    start = max((i for i, s in enumerate(path) if isinstance(s, (n.FunctionDefinition, n.ClassDefinition))), default=-1)
    loops = [statement for statement in path[start + 1 :] if isinstance(statement, (n.For, n.While))]
    if not loops or not all(isinstance(loop, n.For) and _can_be_counted(loop, made, context) for loop in loops):
        return None
    inline = (*expressions_of(context.module, n.Lambda), *expressions_of(context.module, n.Comprehension))
    if any(holds(node.span, made) for node in inline):
        return None
    fold = spell(context.module, "jax.random.fold_in", made)
    name = text = fresh_name(context.module, "base_key")
    edits: list[Edit] = []
    for loop in loops:
        assert isinstance(loop, n.For)
        index, header = counter(loop, context)
        edits += header
        text = f"{fold.text}({text}, {index})"
    if len({edit.content for edit in edits}) < len(edits):
        return None  # two loops would get one counter
    before = insert_before(loops[0].span, [f"{name} = {context.text.at(made)}"], context)
    if before is None:
        return None
    return fix(Safety.UNSAFE, "fold the round into the key", before, Edit(made, text), edits, fold.edits)


def _can_be_counted(loop: n.For, made: Span, context: Context) -> bool:
    return not holds(loop.iterable.span, made) and not is_async(loop, context)
