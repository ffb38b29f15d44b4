"""What a change touches: the callables to be replayed and the lines that must have run.

Works on `ast`, runs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from jaxlint.verify.jobs import Range, Target
from jaxlint.verify.lazy import is_inert, order, parted, place

_MAX_CONSTANTS = 24
_NOT_LOOSE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class Change(Struct, frozen=True):
    """One change of one file to be judged.

    `path` gives the folder for imports and data and need not exist; `rule` is the name of the rule whose fix this
    is, for rules whose fix is meant to change values; `lines` are the lines of `before` that the fix touches.
    """

    path: str
    before: str
    after: str
    rule: str | None = None
    lines: tuple[int, ...] = ()


class Touched(Struct, frozen=True):
    """What the change touches.

    `watch` are the statements of the fixed text, and the expressions that are evaluated at need, that a run must have
    reached. `names` are the globals whose values
    depend on the change, `changed` those that it binds itself, and `prints` says whether something printed may depend
    on it: nothing else is evidence. `constants` are the numbers in the code that it reaches, around which inputs are
    worth trying. `called` are the file's own callables that changed code without parameters calls,
    `dropped` the names that the fixed text no longer defines, `gone` what the original alone has, which a run of it
    must have reached.
    """

    targets: tuple[Target, ...]
    watch: tuple[Range, ...]
    names: frozenset[str]
    changed: frozenset[str]
    prints: bool
    constants: tuple[float, ...]
    called: tuple[str, ...]
    dropped: tuple[str, ...]
    gone: tuple[Range, ...]
    loose: bool  # statements outside functions and classes have changed
    equal: bool  # the two texts mean the same program: they differ in comments and layout at most


def touched(before: str, after: str) -> Touched:
    """Compare the two texts; SyntaxError when one of them cannot be parsed."""
    old, new = ast.parse(before), ast.parse(after)
    names = _changed_names(old, new)
    uses = _uses(new)
    reached = _callers(names, uses)
    bound = set(_units(new))
    targets = [
        Target(name, name in names, not any(_mentions(name, used) for user, used in uses.items() if user != name))
        for name in bound
        if name in reached
    ]
    targets.sort(key=lambda target: (not target.direct, target.name))
    apart = parted(before, old, new)
    watch = (*_watch(before, after, old, new), *apart.new_at_need)
    everywhere = _acts_everywhere(old, new)
    prints = everywhere or _prints(old, new, reached)
    return Touched(
        tuple(targets),
        watch,
        frozenset(reached | bound if everywhere else reached),
        frozenset(names),
        prints,
        _constants(old, new, reached),
        _called(old, new),
        tuple(sorted(_defined(old) - bound - set(_imported(new)))),
        tuple(dict.fromkeys((*_gone(before, old, new), *apart.gone, *apart.gone_at_need))),
        _loose(old, new),
        ast.dump(old) == ast.dump(new),
    )


def is_same_place(before: str, after: str, line: int, other: int) -> bool:
    """Whether a line of the one text is what became of a line of the other: the same one, or both are in one edit."""
    matcher = SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if a < line <= b:
            return c < other <= d and (tag != "equal" or line - a == other - c)
    return False


def bound(tree: ast.Module) -> frozenset[str]:
    """The names that a module binds, methods under `Class.method`; `*` stands for what a star import binds."""
    return frozenset(_units(tree))


def _units(tree: ast.Module) -> dict[str, list[ast.AST]]:
    """Name → the top-level statements that bind it; methods under `Class.method`."""
    units: dict[str, list[ast.AST]] = {}
    for statement in _flat(tree.body):
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                units.setdefault(name, []).append(statement)
            case ast.ClassDef(name=name, body=body):
                rest = [part for part in body if not isinstance(part, ast.FunctionDef)]
                header = ast.ClassDef(
                    name, statement.bases, statement.keywords, rest or [ast.Pass()], statement.decorator_list
                )
                units.setdefault(name, []).append(header)
                for method in body:
                    if isinstance(method, ast.FunctionDef):
                        units.setdefault(f"{name}.{method.name}", []).append(method)
            case _:
                for name in _bound_names(statement):
                    units.setdefault(name, []).append(_header(statement))
    return units


def _header(statement: ast.stmt) -> ast.AST:
    """The part of a statement that is its own: compound statements without their bodies, which are units themselves."""
    match statement:
        case ast.For():
            return ast.Tuple([statement.target, statement.iter], ast.Load())
        case ast.While() | ast.If():
            return statement.test
        case ast.With():
            return ast.Tuple([item.context_expr for item in statement.items], ast.Load())
        case ast.Try():
            return ast.Pass()
    return statement


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Top-level statements, also those inside top-level if, try, with and for."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            for field in ("body", "orelse", "finalbody"):
                yield from _flat(getattr(statement, field, []))
            for handler in getattr(statement, "handlers", []):
                yield from _flat(handler.body)


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield (alias.asname or alias.name).split(".")[0]
        return
    if isinstance(statement, ast.Expr):  # a method may change the object that it belongs to
        if isinstance(statement.value, ast.Call) and isinstance(statement.value.func, ast.Attribute):
            yield from _base(statement.value.func)
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            yield from _base(node)


def _base(node: ast.expr) -> Iterator[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _prints(old: ast.Module, new: ast.Module, reached: set[str]) -> bool:
    """Whether a statement that the change reaches may print: at module level, or inside a function that it reaches."""
    loose = [s for s in _flat(new.body) if not isinstance(s, (ast.FunctionDef, ast.ClassDef))]
    added = set(_only_in(new, old))
    top = [s for s in loose if s in added or any(_mentions(name, _read(s)) for name in reached)]
    inside = [node for name, nodes in _units(new).items() if name in reached for node in nodes]
    return any(_may_print(node) for node in [*top, *inside])


def _loose(old: ast.Module, new: ast.Module) -> bool:
    was, now = ([ast.dump(s) for s in _flat(tree.body) if not isinstance(s, _NOT_LOOSE)] for tree in (old, new))
    return was != now


def _only_in(tree: ast.Module, other: ast.Module) -> list[ast.stmt]:
    """The top-level statements that the other text does not have."""
    known = {ast.dump(statement) for statement in _flat(other.body)}
    return [statement for statement in _flat(tree.body) if ast.dump(statement) not in known]


def _called(old: ast.Module, new: ast.Module) -> tuple[str, ...]:
    """What changed statements outside of functions, and changed functions without parameters, call of the file's own.

    No other arguments can be tried on such code, so that what it passes on must be the same.
    """
    used = set().union(*(_read(statement) for statement in _only_in(new, old) if not _has_parameters(statement)))
    return tuple(sorted(name for name in _units(new).keys() - set(_imported(new)) if name in used))


def _defined(tree: ast.Module) -> set[str]:
    """The public names that the text itself defines: no imports, no names of which nothing but a call is known."""
    calls = {name for s in _flat(tree.body) if isinstance(s, ast.Expr) for name in _bound_names(s)}
    return {name for name in _units(tree) if not name.startswith("_")} - calls - set(_imported(tree))


def _imported(tree: ast.Module) -> Iterator[str]:
    imports = (s for s in _flat(tree.body) if isinstance(s, (ast.Import, ast.ImportFrom)))
    return (name for statement in imports for name in _bound_names(statement))


def _has_parameters(statement: ast.stmt) -> bool:
    match statement:
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
            return any(ast.iter_child_nodes(arguments))
    return isinstance(statement, (ast.ClassDef, ast.Import, ast.ImportFrom))


def _acts_everywhere(old: ast.Module, new: ast.Module) -> bool:
    """Whether a changed statement calls something imported for its effect, as `jax.config.update` does."""
    imported = set(_imported(new))
    changed = (statement for statement in _only_in(new, old) if isinstance(statement, ast.Expr))
    return any(name in imported for statement in changed for name in _bound_names(statement))


def _constants(old: ast.Module, new: ast.Module, reached: set[str]) -> tuple[float, ...]:
    nodes = [n for tree in (old, new) for name, parts in _units(tree).items() if name in reached for n in parts]
    constants = (part.value for node in nodes for part in ast.walk(node) if isinstance(part, ast.Constant))
    found = {float(value) for value in constants if isinstance(value, (int, float)) and abs(value) < 1e6}
    return tuple(sorted(found)[:_MAX_CONSTANTS])


def _may_print(node: ast.AST) -> bool:
    words = ("print", "log", "write", "info", "debug", "warning")
    calls = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(_last_name(func).endswith(words) for func in calls)


def _last_name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _changed_names(old: ast.Module, new: ast.Module) -> set[str]:
    was, now = _units(old), _units(new)
    changed = {name for name in now if [ast.dump(n) for n in now[name]] != [ast.dump(n) for n in was.get(name, [])]}
    classes = {name for name in changed if isinstance(now[name][-1], ast.ClassDef)}
    return changed | {name for name in now if name.split(".")[0] in classes}


def _uses(tree: ast.Module) -> dict[str, set[str]]:
    """Unit → the names and attribute names that it reads; module-level code that binds nothing is the unit ''."""
    uses: dict[str, set[str]] = {"": set()}
    for name, statements in _units(tree).items():
        uses[name] = set().union(*map(_read, statements))
    for statement in _flat(tree.body):
        if isinstance(statement, ast.Expr):
            uses[""] |= _read(statement)
    return uses


def _read(node: ast.AST) -> set[str]:
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add("." + part.attr)
    return found


def _mentions(name: str, used: set[str]) -> bool:
    owner, _, method = name.rpartition(".")
    return f".{method}" in used or (method in ("__call__", "__init__") and owner in used) if owner else name in used


def _callers(names: set[str], uses: dict[str, set[str]]) -> set[str]:
    reached = set(names)
    while True:
        more = {user for user, used in uses.items() if user and any(_mentions(name, used) for name in reached)}
        # What __init__ sets, every method may use.
        built = tuple(name.removesuffix("__init__") for name in reached if name.endswith(".__init__"))
        more |= {user for user in uses if built and user.startswith(built)}
        if more <= reached:
            return reached
        reached |= more


def _watch(before: str, after: str, old: ast.Module, new: ast.Module) -> tuple[Range, ...]:
    """The statements on changed lines of the fixed text; for a changed `def` line, the first statement of its body."""
    ranges: set[Range] = set()
    was, now = before.splitlines(), after.splitlines()
    for tag, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        known = {ast.dump(s) for s in filter(None, (_innermost(old, line) for line in range(a + 1, b + 1)))}
        lines = range(c + 1, d + 1) if d > c else (c,)
        for line in lines:
            statement = _innermost(new, line)
            if statement is not None and (d == c or ast.dump(statement) not in known):
                ranges.update(_must_run(statement, now))
    return tuple(sorted(ranges, key=order))


def _gone(before: str, old: ast.Module, new: ast.Module) -> tuple[Range, ...]:
    """The statements outside of functions that the new text does not have."""
    gone = [statement for statement in _only_in(old, new) if not isinstance(statement, _NOT_LOOSE)]
    return tuple(part for statement in gone for part in _must_run(statement, before.splitlines()))


def _innermost(tree: ast.Module, line: int) -> ast.stmt | None:
    found: ast.stmt | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or not _first_line(node) <= line <= (node.end_lineno or node.lineno):
            continue
        if found is None or _first_line(node) >= _first_line(found):
            found = node
    return found


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _must_run(statement: ast.stmt, lines: Sequence[str]) -> Iterator[Range]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            body = [part for part in statement.body if not is_inert(part)] or statement.body
            yield place(body[0], lines)
        case ast.ClassDef() | ast.Global() | ast.Nonlocal() | ast.Pass():
            return
        case ast.If() | ast.For() | ast.While() | ast.With() | ast.Try():
            last = max(statement.lineno, statement.body[0].lineno - 1)
            if not isinstance(statement, ast.Try):
                yield Range(statement.lineno, last)
        case _ if not is_inert(statement):
            yield place(statement, lines)
