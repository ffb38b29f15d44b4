"""Writes `if` statements and conditional expressions whose branches only compute values without the branch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jaxlint.analysis.context import fix
from jaxlint.model import Edit, Fix, Safety, Span
from jaxlint.program import nodes as n
from jaxlint.program.names import walk
from jaxlint.repair.choices import SHORT, Leaf, Tree, Written, choice, leaf, reads, value, written
from jaxlint.repair.hoist import enclosing, free_names, inner_blocks
from jaxlint.repair.numeric import Reader
from jaxlint.repair.source import WIDTH, around, comments
from jaxlint.repair.text import is_line_start


def of_conditional(e: n.Conditional, reader: Reader) -> Fix | None:
    """`a if test else b` as `jnp.where(test, a, b)`."""
    reader = reader.believing(e.test)
    then, otherwise = leaf(e.body, reader), leaf(e.otherwise, reader)
    if then is None or otherwise is None or "#" in reader.context.text.at(e.span):
        return None
    tree = choice(e.test, then, otherwise, reader)
    code = written(tree, reader, e.span, e.span.column - 1) if tree is not None else None
    return _fix(code, [Edit(e.span, code.text)]) if code is not None else None


def of_if(statement: n.If, reader: Reader) -> Fix | None:
    """An `if` whose branches only assign names, or only return values (the last one perhaps behind the `if`)."""
    text, span = reader.context.text, statement.span
    if text.at(span).startswith("elif") or not is_line_start(text, span.line, span.column):
        return None
    believing = reader.believing(statement.test)
    return _assignments(statement, believing) or _returns(statement, believing)


def _fix(code: Written, edits: Sequence[Edit]) -> Fix:
    function = "lax.cond" if "lax.cond(" in code.text else "jnp.where"
    return fix(Safety.UNSAFE, f"choose with `{function}`", edits, code.edits)


# Assignments


def _assignments(statement: n.If, reader: Reader) -> Fix | None:
    trees = _assigned(statement, reader, {})
    if not trees:
        return None
    indentation = reader.context.text.indentation(statement.span.line)
    codes: dict[str, Written] = {}
    for name, tree in trees.items():
        code = written(tree, reader, statement.span, len(indentation) + len(name) + 3)
        if code is None:
            return None
        codes[name] = code
    lines = _in_order(codes, trees)
    edits = _replaced(statement, statement.span, lines, reader) if lines is not None else None
    if edits is None:
        return None
    whole = Written(
        "\n".join(lines or ()), tuple(dict.fromkeys(edit for code in codes.values() for edit in code.edits))
    )
    return _fix(whole, edits)


def _assigned(statement: n.If, reader: Reader, names: Mapping[str, Leaf]) -> dict[str, Tree] | None:
    """What the branches put into names; None where they do anything else."""
    then, otherwise = _block(statement.body, reader, names), _block(statement.otherwise, reader, names)
    if then is None or otherwise is None:
        return None
    found: dict[str, Tree] = {}
    for name in dict.fromkeys((*then, *otherwise)):
        kept = leaf(n.Name(statement.span, name), reader) if name not in then or name not in otherwise else None
        first, second = then.get(name, _kept(name, kept)), otherwise.get(name, _kept(name, kept))
        tree = choice(statement.test, first, second, reader) if first is not None and second is not None else None
        if tree is None:
            return None
        found[name] = tree
    return found


def _kept(name: str, unchanged: Leaf | None) -> Leaf | None:
    """A name that a path leaves alone: it must hold something already."""
    if unchanged is None or not unchanged.computable:
        return None
    return Leaf(name, unchanged.sureness, True, frozenset({name}), is_tight=True)


def _block(body: Sequence[n.Stmt], reader: Reader, names: Mapping[str, Leaf]) -> dict[str, Tree] | None:
    found: dict[str, Tree] = {}
    for statement in body:
        if isinstance(statement, n.Jump) and statement.kind == "pass":
            continue
        if isinstance(statement, n.If):
            made = _assigned(statement, reader, names)
        else:
            made = _simple(statement, reader, names)
        # What reads a name that the same branch has assigned would need a copy of its value.
        if made is None or any((reads(tree) | {name}) & found.keys() for name, tree in made.items()):
            return None
        found |= made
    return found


def _simple(statement: n.Stmt, reader: Reader, names: Mapping[str, Leaf]) -> dict[str, Tree] | None:
    """The names and the value of `x = a`, `x = y = a` or `x += a`."""
    match statement:
        case n.Assign(targets=targets, value=assigned, annotation=None) if assigned is not None:
            found = leaf(assigned, reader, names)
            named = [target.name for target in targets if isinstance(target, n.Name)]
            return dict.fromkeys(named, found) if found is not None and len(named) == len(targets) else None
        case n.AugmentedAssign(target=n.Name(name=name) as target, operator=operator, value=change):
            old, new = leaf(target, reader, names), leaf(change, reader, names)
            if old is None or new is None or not old.sureness or not new.sureness:
                return None
            right = new.text if new.is_tight else f"({new.text})"
            return {name: Leaf(f"{old.text} {operator} {right}", new.sureness, True, old.reads | new.reads)}
    return None


def _in_order(codes: Mapping[str, Written], trees: Mapping[str, Tree]) -> list[str] | None:
    """One assignment for each name, in an order in which none reads what an earlier one has changed."""
    waiting = dict(codes)
    lines: list[str] = []
    while waiting:
        free = [name for name in waiting if not any(name in reads(trees[other]) for other in waiting if other != name)]
        if not free:
            together = f"{', '.join(waiting)} = {', '.join(code.text for code in waiting.values())}"
            return [*lines, together] if len(together) <= WIDTH and "\n" not in together else None
        lines.append(f"{free[0]} = {waiting.pop(free[0]).text}")
    return lines


# Returns


def _returns(statement: n.If, reader: Reader) -> Fix | None:
    then = _returned(statement.body, reader)
    if then is None:
        return None
    if statement.otherwise:
        otherwise = _returned(statement.otherwise, reader)
        return _return_choice(statement, then, otherwise, statement.span, (), reader)
    kept: list[n.Stmt] = []
    assigned: dict[str, Leaf] = {}
    for following in _following(statement, reader.context.module):
        if isinstance(following, n.Return):
            otherwise = _returned_value(following, _without_text(assigned, reader), {})
            is_free = not assigned.keys() & (free_names(statement.test) | reads(then))
            return _return_choice(statement, then, otherwise, following.span, kept, reader) if is_free else None
        made = _simple(following, _without_text(assigned, reader), {})
        if made is None or not all(isinstance(tree, Leaf) and tree.sureness for tree in made.values()):
            return None
        assigned |= {name: tree for name, tree in made.items() if isinstance(tree, Leaf)}
        kept.append(following)
    return None


def _without_text(assigned: Mapping[str, Leaf], reader: Reader) -> Reader:
    """A reader that knows the names of statements that stay where they are."""
    return reader.knowing({name: known.sureness for name, known in assigned.items()})


def _returned(body: Sequence[n.Stmt], reader: Reader) -> Tree | None:
    """The value that a branch returns whatever happens; simple assignments before are written into it."""
    names: dict[str, Leaf] = {}
    for statement in body[:-1]:
        made = _simple(statement, reader, names)
        if made is None:
            return None
        names |= {name: tree for name, tree in made.items() if isinstance(tree, Leaf)}
    last = body[-1] if body else None
    if isinstance(last, n.Return):
        return _returned_value(last, reader, names)
    if isinstance(last, n.If) and last.otherwise and not names:
        then, otherwise = _returned(last.body, reader), _returned(last.otherwise, reader)
        return choice(last.test, then, otherwise, reader) if then is not None and otherwise is not None else None
    return None


def _returned_value(statement: n.Return, reader: Reader, names: Mapping[str, Leaf]) -> Tree | None:
    if statement.value is None:
        return None
    for name, known in names.items():
        times = sum(isinstance(node, n.Name) and node.name == name for node in walk(statement.value))
        if times > 1 and len(known.text) > SHORT:
            return None
    return value(statement.value, reader, names)


def _following(statement: n.If, module: n.Module) -> Iterator[n.Stmt]:
    """The statements behind one in its block."""
    path = enclosing(module, statement.span)
    outer = [module.body] if len(path) < 2 else list(inner_blocks(path[-2]))
    for block in outer:
        spans = [other.span for other in block]
        if statement.span in spans:
            yield from block[spans.index(statement.span) + 1 :]


def _return_choice(
    statement: n.If, then: Tree, otherwise: Tree | None, end: Span, kept: Sequence[n.Stmt], reader: Reader
) -> Fix | None:
    tree = choice(statement.test, then, otherwise, reader) if otherwise is not None else None
    indentation = reader.context.text.indentation(statement.span.line)
    code = written(tree, reader, statement.span, len(indentation) + len("return ")) if tree is not None else None
    if code is None:
        return None
    line = f"return {code.text}"
    if not kept:
        edits = _replaced(statement, around(statement.span, end), [line], reader)
    else:
        start, first = statement.span, kept[0].span
        edits = _replaced(statement, Span(start.line, start.column, first.line, first.column), [], reader)
        edits = [*edits, Edit(end, line)] if edits is not None and not _has_comments(end, reader) else None
    return _fix(code, edits) if edits is not None else None


def _has_comments(span: Span, reader: Reader) -> bool:
    return bool(comments(span, reader.context))


# Places


def _replaced(statement: n.If, region: Span, lines: Sequence[str], reader: Reader) -> list[Edit] | None:
    """The edit that puts lines in place of a region that starts with the `if`; the region's comments stay above them.

    The comment behind the condition stays behind the first line where nothing else stands there.
    """
    found = comments(region, reader.context)
    if found is None:
        return None
    text = reader.context.text
    indentation = text.indentation(region.line)
    header = [c for c in found if c.line == statement.test.span.end_line and c.column > statement.test.span.end_column]
    rest = text.line(region.end_line)[region.end_column - 1 :].strip()
    written_lines = list(lines)
    if header and lines and "\n" not in lines[0] and not (len(lines) == 1 and rest):
        written_lines[0] = f"{lines[0]}  {header[0].text}"
        found = [comment for comment in found if comment not in header]
    above = [comment.text for comment in found if not any(comment.text in line for line in lines)]
    content = f"\n{indentation}".join((*above, *written_lines))
    if not lines and above:
        content += f"\n{indentation}"
    return [Edit(region, content)]
