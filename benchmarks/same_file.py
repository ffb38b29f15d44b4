#!/usr/bin/env python3
"""The same file against itself, many times on a busy machine: it is never confirmed, since nothing is better.

    same_file.py [FILE_OR_FOLDER ...] [--trials N] [--load N] [--jobs N]

Two equal texts are told apart from two versions without running them, so that in one of them each function and the
module get a statement that does nothing. Prints the verdicts as a Markdown table; exit status 1 when one is
`confirmed` or `different`.
"""

from __future__ import annotations

import argparse
import ast
import collections
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from load import busy  # noqa: E402

from jaxlint.model import Verdict, Verification  # noqa: E402
from jaxlint.verify import Change, Verifier  # noqa: E402

NOTHING = "0  # changes nothing"


def again(path: Path) -> Change:
    """The file against itself, with a statement that does nothing wherever there is room for one."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    firsts = {function.body[-1] for function in functions if function.body[-1].lineno > function.lineno}
    for statement in sorted(firsts, key=lambda node: -node.lineno):
        lines.insert(statement.lineno - 1, f"{' ' * statement.col_offset}{NOTHING}\n")
    return Change(str(path), text, "".join(lines).rstrip("\n") + f"\n{NOTHING}\n")


def table(rows: Sequence[tuple[str, Verification]]) -> str:
    """Markdown: how often each file got which verdict."""
    verdicts = [str(verdict) for verdict in Verdict]
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for name, found in [*rows, *(("all", found) for _, found in rows)]:
        counts[name][str(found.verdict)] += 1
    lines = [f"| file | {' | '.join(verdicts)} |", "|---" * (1 + len(verdicts)) + "|"]
    return "\n".join([*lines, *(f"| {n} | {' | '.join(str(c[v]) for v in verdicts)} |" for n, c in counts.items())])


def main() -> int:
    """Exit status 1 when a file is better than, or different from, itself."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "fixtures", ROOT / "fixtures" / "demo"])
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--load", type=int, default=4, help="other busy processes")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    files = sorted(f for p in options.paths for f in ([p] if p.is_file() else p.glob("*.py")))
    changes = list(itertools.islice(itertools.cycle(map(again, files)), options.trials))
    rows: list[tuple[str, Verification]] = []
    with busy(options.load), Verifier(jobs=options.jobs) as verifier:
        for change, found in zip(changes, verifier.iterate(changes), strict=True):
            rows.append((Path(change.path).name, found))
            if found.verdict in (Verdict.CONFIRMED, Verdict.DIFFERENT):
                print(f"{change.path}: {found.verdict}: {found.reason}", flush=True)
    print(table(sorted(rows, key=lambda row: row[0])))
    return int(any(found.verdict in (Verdict.CONFIRMED, Verdict.DIFFERENT) for _, found in rows))


if __name__ == "__main__":
    sys.exit(main())
