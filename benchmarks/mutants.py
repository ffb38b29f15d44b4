#!/usr/bin/env python3
"""Changes good fixes into wrong ones and asks the verifier about them: none may be confirmed or same.

    mutants.py [FILE_OR_FOLDER ...] [--per-fix N] [--seed N] [--jobs N]

For each file (default: `fixtures/`), each fix that jaxlint offers is applied alone, and the fixed text is mutated in
one place: a constant, an operator, an axis, a function, the order of arguments, a dropped statement. A mutant counts
as *seen* when the program itself prints something else with it. Those that are not seen may mean the same program
(`maximum(a, b)` for `maximum(b, a)`), so that each of them which is called good is listed, to be judged by a person.

Exit status 1 when a mutant that is seen is called confirmed or same.
"""

from __future__ import annotations

import argparse
import ast
import collections
import copy
import functools
import itertools
import random
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from jaxlint.config.settings import Options, settings_for  # noqa: E402
from jaxlint.engine import lint, load  # noqa: E402
from jaxlint.fixes.loop import text_with  # noqa: E402
from jaxlint.model import Verdict  # noqa: E402
from jaxlint.verify import Change, Verifier  # noqa: E402
from jaxlint.verify.compare_text import compare_text  # noqa: E402
from jaxlint.verify.jobs import Limits, ProgramJob, ProgramResult  # noqa: E402
from jaxlint.verify.pool import Server  # noqa: E402

GOOD = (Verdict.CONFIRMED, Verdict.SAME)
FUNCTIONS = {
    "sum": "mean", "mean": "sum", "sin": "cos", "cos": "sin", "exp": "expm1", "log": "log1p", "tanh": "sin",
    "maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "prod": "sum", "sqrt": "abs",
    "normal": "uniform", "uniform": "normal", "zeros": "ones", "ones": "zeros", "any": "all", "all": "any",
    "argmax": "argmin", "argmin": "argmax", "cumsum": "cumprod", "floor": "ceil", "square": "abs", "abs": "square",
    "relu": "gelu", "softmax": "log_softmax", "logical_and": "logical_or", "zeros_like": "ones_like", "add": "multiply",
    "outer": "add", "linspace": "geomspace", "isfinite": "isnan", "set": "add", "scan": "map", "ravel": "cumsum",
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Add, ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.USub: ast.UAdd,
}  # fmt: skip


class Fix(Struct, frozen=True):
    """One offered fix: the file's text without and with it."""

    path: str
    before: str
    after: str
    rule: str


class Mutant(Struct, frozen=True):
    """A wrong version of a fix; `kind` and `line` say what was done where."""

    fix: Fix
    kind: str
    line: int
    told: str
    text: str


class Judged(Struct, frozen=True):
    """A mutant with whether the program's own output shows it, and what the verifier said."""

    mutant: Mutant
    seen: bool
    verdict: str
    reason: str


# Fixes


def fixes(paths: Sequence[Path]) -> Iterator[Fix]:
    """What jaxlint offers for these files, each fix applied alone."""
    loaded = load(paths)
    sources = {source.path: source for source in loaded.sources}
    for finding in lint(loaded, settings_for(ROOT, Options(isolated=True, select=("ALL",)))).findings:
        source = sources[finding.path]
        after, _ = text_with(source, [finding])
        if after != source.text:
            yield Fix(str(loaded.files[source.path]), source.text, after, finding.name)


# Mutants


def mutants(fix: Fix, rng: random.Random, count: int) -> list[Mutant]:
    """Up to `count` different wrong versions, one change each, of as many kinds as there are."""
    by_kind: dict[str, list[Mutant]] = collections.defaultdict(list)
    for mutant in _all(fix):
        by_kind[mutant.kind].append(mutant)
    for found in by_kind.values():
        rng.shuffle(found)
    kinds = sorted(by_kind)
    rng.shuffle(kinds)
    rounds = itertools.zip_longest(*(by_kind[kind] for kind in kinds))
    return list(itertools.islice((m for one in rounds for m in one if m is not None), count))


def _all(fix: Fix) -> Iterator[Mutant]:
    tree, known = ast.parse(fix.after), {fix.before, fix.after}
    skipped = {id(part) for node in ast.walk(tree) for part in _inert(node)}
    for node in ast.walk(tree):
        if id(node) in skipped or not hasattr(node, "end_lineno"):
            continue
        for kind, told, new in _mutations(node):
            text = _replaced(fix.after, node, new)
            if text not in known and _parses(text):
                known.add(text)
                yield Mutant(fix, kind, node.lineno, told, text)


def _inert(node: ast.AST) -> Iterator[ast.AST]:
    """What computes nothing: annotations, docstrings, texts, imports, and the guard of a script."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr():
            yield from ast.walk(node)
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            yield from ast.walk(node.test)
        case ast.Expr(value=ast.Constant()):
            yield from (node, node.value)
        case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
            yield from ast.walk(annotation)
        case ast.FunctionDef(returns=ast.expr() as returns):
            yield from ast.walk(returns)


def _mutations(node: ast.AST) -> Iterator[tuple[str, str, str]]:
    """Kind, what is told, and the text for the place of the node."""
    match node:
        case ast.Constant(value=bool() as value):
            yield "constant", f"{value} → {not value}", repr(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", f"{value} → {_next(value)}", repr(_next(value))
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            yield "operator", _told(node), _unparsed(node, op=OPERATORS[type(op)]())
        case ast.UnaryOp(op=op) if type(op) in OPERATORS:
            yield "operator", _told(node), _unparsed(node, op=OPERATORS[type(op)]())
        case ast.Compare(ops=[op]) if type(op) in OPERATORS:
            yield "operator", _told(node), _unparsed(node, ops=[OPERATORS[type(op)]()])
        case ast.keyword(
            arg="axis" | "in_axes" | "out_axes" | "argnums" as name, value=ast.Constant(value=int() as axis)
        ):
            for other in {0, 1} - {axis}:
                yield "axis", f"{name}={axis} → {other}", f"{name}={other}"
        case ast.Attribute(attr=name) if name in FUNCTIONS:
            yield "function", f"{name} → {FUNCTIONS[name]}", _unparsed(node, attr=FUNCTIONS[name])
        case ast.Call(args=[first, second, *rest]) if not any(isinstance(a, ast.Starred) for a in node.args):
            yield "argument order", _told(node), _unparsed(node, args=[second, first, *rest])
        case ast.Assign() | ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield "dropped statement", _told(node), "pass"
        case ast.Return(value=ast.Tuple(elts=[first, second])):
            yield "argument order", _told(node), f"return {ast.unparse(second)}, {ast.unparse(first)}"


def _next(value: float) -> float:
    return value + 1 if isinstance(value, int) else value * 1.5 + 0.1


def _told(node: ast.AST) -> str:
    return textwrap.shorten(ast.unparse(node), 60)


def _unparsed(node: ast.AST, **fields: object) -> str:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    text = ast.unparse(ast.fix_missing_locations(other))
    return f"({text})" if isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp)) else text


def _replaced(text: str, node: ast.AST, new: str) -> str:
    """The text with the node's own characters replaced; what stands around them stays as it is."""
    lines = text.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    data = b"".join(lines)
    return (data[:start] + new.encode() + data[end:]).decode()


def _parses(text: str) -> bool:
    try:
        compile(text, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


# Judging


class Shower:
    """Says whether a mutant does something that the program itself shows."""

    def __init__(self, server: Server) -> None:
        self._run = functools.lru_cache(maxsize=64)(lambda path, text: server.run(ProgramJob(path, text)))

    def __call__(self, mutant: Mutant) -> bool:
        one, two = self._run(mutant.fix.path, mutant.fix.after), self._run(mutant.fix.path, mutant.text)
        if not (isinstance(one.result, ProgramResult) and isinstance(two.result, ProgramResult)):
            return bool(two.failure) and not one.failure
        if bool(one.result.fault) != bool(two.result.fault) or one.result.status != two.result.status:
            return True
        return compare_text(one.stdout, two.stdout)[0] != "same"


def judged(all_of_them: Sequence[Mutant], jobs: int) -> Iterator[Judged]:
    """Each mutant with its verdict, as they come in."""
    changes = [Change(m.fix.path, m.fix.before, m.text, m.fix.rule) for m in all_of_them]
    with Verifier(jobs=jobs) as verifier, Server(device="cpu", limits=Limits(wall_s=120)) as server:
        shows = Shower(server)
        for mutant, found in zip(all_of_them, verifier.iterate(changes), strict=True):
            yield Judged(mutant, shows(mutant), str(found.verdict), found.reason)


def line(row: Judged) -> str:
    """What is told of a mutant that was called good."""
    mutant, word = row.mutant, "HOLE" if row.seen else "not seen"
    where = f"{Path(mutant.fix.path).name}:{mutant.line}: {mutant.fix.rule}"
    return f"{word}: {where}: {mutant.kind}: {mutant.told}: {row.verdict}: {row.reason}"


def table(rows: Sequence[Judged]) -> str:
    """Markdown: how many mutants of each kind got which verdict."""
    verdicts = [str(verdict) for verdict in Verdict]
    lines = [f"| mutation | mutants | seen | {' | '.join(verdicts)} |", "|---" * (3 + len(verdicts)) + "|"]
    for kind in [*sorted({row.mutant.kind for row in rows}), "all"]:
        part = [row for row in rows if kind in (row.mutant.kind, "all")]
        counts = [sum(row.verdict == verdict for row in part) for verdict in verdicts]
        cells = [kind, len(part), sum(row.seen for row in part), *counts]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main() -> int:
    """Exit status 1 when a mutant that is seen is called good."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "fixtures"])
    parser.add_argument("--per-fix", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    files = sorted(f for p in options.paths for f in ([p] if p.is_file() else p.glob("*.py")) if ".fixed" not in f.name)
    rng = random.Random(options.seed)
    wanted = [mutant for fix in fixes(files) for mutant in mutants(fix, rng, options.per_fix)]
    print(f"{len(wanted)} mutants of the fixes in {len(files)} files", flush=True)
    rows = []
    for row in judged(wanted, options.jobs):
        rows.append(row)
        if row.verdict in GOOD:
            print(line(row), flush=True)
    print(table(rows))
    return 1 if any(row.seen and row.verdict in GOOD for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
