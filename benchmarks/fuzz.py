#!/usr/bin/env python3
"""Looks for inputs that break the linter or its fixes.

    fuzz.py files FOLDER... [--jobs N] [--limit N]
    fuzz.py mutants FOLDER... [--count N] [--seed N] [--jobs N]

`files` lints each Python file in the folders by itself. `mutants` makes inputs of the files in the folders: texts cut
off anywhere (as they are typed), lines and tokens left out, doubled, exchanged and put in from elsewhere, foreign
characters, and programs spliced of the statements of several files. All rules are on, and all fixes are applied.

An input is bad when it ends with an internal error, kills the process, takes more than a minute, or is left by its
fixes without a fixed point, or as a text that does not parse. Prints how many were tried, each bad one, and each of
which the user is told that a fix was left out; exit status 1 when there is a bad one. Such mutants are kept in the
folder that is named.
"""

from __future__ import annotations

import argparse
import ast
import copy
import io
import random
import signal
import sys
import tempfile
import time
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from jaxlint.config.settings import Options, settings_for  # noqa: E402
from jaxlint.engine import Linted, Loaded, lint, syntax_fault  # noqa: E402
from jaxlint.fixes.loop import fix_all  # noqa: E402
from jaxlint.source.text import SourceError, SourceFile  # noqa: E402

SLOW_S, CHUNK, TOLD = 60, 50, "told: "
FOREIGN = [
    "\0",
    "\ud800",
    "\f",
    "\r",
    "\r\n",
    "\t",
    "\ufeff",
    "é",
    "名",
    "😀",
    "\u2028",
    "\\",
    '"""',
    "'",
    "(",
    ")",
    "#",
    ":",
]
SETTINGS = settings_for(ROOT, Options(isolated=True, select=("ALL",)))

Input = tuple[str, bytes]  # a name and the content of a file


class TooSlow(Exception):
    """It takes more than a minute."""


def main() -> int:
    """Exit status 1 when an input is bad."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["files", "mutants"])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    files = sorted({file for folder in given.folders for file in folder.rglob("*.py") if file.is_file()})
    kept = Path(tempfile.mkdtemp(prefix="jaxlint-fuzz-"))
    tasks: list[Sequence[object]]
    if given.kind == "files":
        chosen = files[: given.limit]
        tasks = [chosen[start : start + CHUNK] for start in range(0, len(chosen), CHUNK)]
    else:
        seeds = range(given.seed, given.seed + given.count)
        tasks = [seeds[start : start + CHUNK] for start in range(0, len(seeds), CHUNK)]
    tried = bad = 0
    for count, problems in run(given.kind, files, tasks, given.jobs):
        tried += count
        bad += sum(not problem.startswith(TOLD) for _, problem in problems)
        for (name, data), problem in problems:
            if given.kind == "mutants":
                (kept / f"{name}.py").write_bytes(data)
                name = str(kept / f"{name}.py")
            print(f"{name}: {problem}", flush=True)
    print(f"{tried:,} {given.kind} tried, {bad} bad")
    return 1 if bad else 0


Checked = tuple[int, list[tuple[Input, str]]]


def run(kind: str, files: Sequence[Path], tasks: Sequence[Sequence[object]], jobs: int) -> Iterator[Checked]:
    """Checks the inputs of all tasks; those of a process that dies are looked at one by one."""
    waiting = list(tasks)
    while waiting:
        left = []
        with ProcessPoolExecutor(jobs) as pool:
            futures = {pool.submit(check_all, kind, files, task): task for task in waiting}
            for future in as_completed(futures):
                try:
                    yield future.result()
                except BrokenProcessPool:
                    task = futures[future]
                    if len(task) == 1:
                        yield 1, [(next(iter(inputs(kind, files, task))), "killed the process")]
                    else:
                        left += [[one] for one in task] if jobs == 1 or len(futures) == 1 else [task]
        jobs, waiting = (1, left) if len(left) != len(waiting) else (1, [[one] for task in left for one in task])


def check_all(kind: str, files: Sequence[Path], task: Sequence[object]) -> Checked:
    """How many inputs were tried, and the bad ones with what is wrong."""
    sys.setrecursionlimit(1000)
    signal.signal(signal.SIGALRM, _too_slow)
    found = []
    count = 0
    for one in inputs(kind, files, task):
        count += 1
        problem = check(one)
        if problem:
            found.append((one, problem))
    return count, found


def inputs(kind: str, files: Sequence[Path], task: Sequence[object]) -> Iterator[Input]:
    """The inputs that a task stands for."""
    for one in task:
        if isinstance(one, Path):
            yield str(one), one.read_bytes()
        else:
            yield f"mutant_{one}", mutant(files, int(str(one)))


def check(given: Input) -> str:
    """What is wrong with what the linter does to an input; empty when nothing is."""
    name, data = given
    start = time.monotonic()
    signal.alarm(SLOW_S)
    try:
        return _check(name, data) or (TooSlow.__doc__ or "" if time.monotonic() - start > SLOW_S else "")
    except TooSlow:
        return str(TooSlow.__doc__)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:300]
    finally:
        signal.alarm(0)


def _too_slow(signal: int, frame: FrameType | None) -> None:
    raise TooSlow


def _check(name: str, data: bytes) -> str:
    path = f"{Path(name).stem}.py"
    try:
        source = SourceFile.from_bytes(path, data)
    except SourceError:
        return ""
    loaded = Loaded((source,), {path: Path(path)})
    failures: list[str] = []

    def checked(sources: Loaded) -> Linted:
        linted = lint(sources, SETTINGS)
        failures.extend(map(str, linted.failures))
        return linted

    fixed = fix_all(loaded, checked, lambda _, findings: [one for one in findings if one.fix])
    (after,) = fixed.loaded.sources
    if failures:
        return failures[0][:300]
    if fixed.notes:
        note = fixed.notes[0][:300]
        return f"{TOLD}{note}" if note.endswith("left out") else note
    if after.text != source.text and syntax_fault(after):
        return "the fixed text does not parse"
    again = fix_all(fixed.loaded, checked, lambda _, findings: [one for one in findings if one.fix])
    return "the fixes are not idempotent" if again.loaded.sources[0].text != after.text else ""


# ---- mutants --------------------------------------------------------------------------------------------------------


def mutant(files: Sequence[Path], seed: int) -> bytes:
    """A text made of the files; the same for the same seed."""
    rng = random.Random(seed)
    text = rng.choice(files).read_text("utf-8", "replace")
    kinds = [_cut, _by_lines, _by_tokens, _foreign, _spliced, _spliced]
    for _ in range(rng.choice([1, 1, 2, 3])):
        text = rng.choice(kinds)(text, files, rng)
    return text.encode("utf-8", "surrogatepass")


def _cut(text: str, files: Sequence[Path], rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _by_lines(text: str, files: Sequence[Path], rng: random.Random) -> str:
    return "".join(_changed(text.splitlines(keepends=True), rng))


def _by_tokens(text: str, files: Sequence[Path], rng: random.Random) -> str:
    return "".join(_changed(_tokens(text), rng))


def _tokens(text: str) -> list[str]:
    """The text in pieces at the ends of its tokens; at each character where Python cannot take it apart."""
    pieces, last, lines = [], (1, 0), text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.end > last and token.end[0] <= len(lines):
                pieces.append(text[starts[last[0] - 1] + last[1] : starts[token.end[0] - 1] + token.end[1]])
                last = token.end
    except (tokenize.TokenError, SyntaxError, IndexError):
        return list(text)
    return [*pieces, text[starts[last[0] - 1] + last[1] :]]


def _changed(parts: list[str], rng: random.Random) -> Iterable[str]:
    for _ in range(rng.choice([1, 1, 2, 4])):
        if not parts:
            break
        at, other = rng.randrange(len(parts)), rng.randrange(len(parts))
        match rng.randrange(4):
            case 0:
                del parts[at]
            case 1:
                parts.insert(at, parts[other])
            case 2:
                parts[at], parts[other] = parts[other], parts[at]
            case _:
                parts[at] = parts[other]
    return parts


def _foreign(text: str, files: Sequence[Path], rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(FOREIGN) * rng.choice([1, 1, 2, 300]) + text[at:]


def _spliced(text: str, files: Sequence[Path], rng: random.Random) -> str:
    """Valid Python: statements and expressions of one program in the places of those of another."""
    try:
        one = ast.parse(text)
        other = ast.parse(rng.choice(files).read_text("utf-8", "replace"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    statements = [node for node in ast.walk(other) if isinstance(node, ast.stmt)]
    expressions = [node for node in ast.walk(other) if isinstance(node, ast.expr) and _is_plain(node)]
    for _ in range(rng.choice([1, 2, 5])):
        bodies = [node.body for node in ast.walk(one) if isinstance(getattr(node, "body", None), list)]
        body = rng.choice(bodies)
        if statements and rng.random() < 0.5:
            body.insert(rng.randrange(len(body) + 1), copy.deepcopy(rng.choice(statements)))
        elif expressions:
            _exchange(one, copy.deepcopy(rng.choice(expressions)), rng)
    try:
        made = ast.unparse(ast.fix_missing_locations(one))
        ast.parse(made)
    except (SyntaxError, ValueError, RecursionError, AttributeError, TypeError):
        return text
    return made


def _is_plain(node: ast.expr) -> bool:
    return not isinstance(node, (ast.Starred, ast.Slice, ast.FormattedValue)) and not isinstance(
        getattr(node, "ctx", None), (ast.Store, ast.Del)
    )


def _exchange(tree: ast.Module, new: ast.expr, rng: random.Random) -> None:
    """Puts an expression in the place of another."""
    places = [
        (parent, name, number)
        for parent in ast.walk(tree)
        for name, value in ast.iter_fields(parent)
        for number, child in enumerate(value if isinstance(value, list) else [value])
        if isinstance(child, ast.expr) and _is_plain(child) and not isinstance(parent, ast.JoinedStr)
    ]
    if not places:
        return
    parent, name, number = rng.choice(places)
    value = getattr(parent, name)
    if isinstance(value, list):
        value[number] = new
    else:
        setattr(parent, name, new)


if __name__ == "__main__":
    sys.exit(main())
