"""Measures jaxlint beside other linters on the same files, all in one interleaved run.

    python benchmarks/measure.py [--rounds N] [--skip TOOL,...] FOLDER...

Processor time is what is compared (user and system, children included): other work on the machine disturbs it less
than the time on the clock. In each round every tool runs once, and the middle of the rounds counts. The files are
copied first, so that "one file changed" can change one.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PYTHON = sys.executable
ROOT = Path(__file__).parent.parent
REFERENCE = "pyflakes"


@dataclass(slots=True)
class Tool:
    """A command that is given a folder; `prepare` is called before each run of it and is not measured."""

    name: str
    command: Sequence[str]
    prepare: Callable[[], None] = lambda: None
    seconds: list[float] = field(default_factory=list)
    peak: int = 0  # MiB

    @property
    def middle(self) -> float:
        """The processor time of the middle round."""
        return statistics.median(self.seconds)


def main() -> None:
    """Measures and prints a table for each folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--skip", default="", metavar="TOOL,...", help="tools that are not run")
    given = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    print(start_table(given.rounds))
    for folder in given.folders:
        print(folder_table(folder, given.rounds, set(given.skip.split(","))))


def folder_table(folder: Path, rounds: int, skipped: set[str]) -> str:
    """The table of one folder."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "files")
        files = copied(folder, copy)
        lines = sum(file.read_bytes().count(b"\n") for file in files)
        found = [tool for tool in tools(copy, files, Path(temporary, "store")) if tool.name not in skipped]
        measure(found, rounds, copy)
        return table(f"{folder.name}: {len(files)} files, {lines:,} lines", found, lines)


def start_table(rounds: int) -> str:
    """What starting costs before a file is read."""
    found = [Tool("python -c pass", [PYTHON, "-c", "pass"]), Tool("jaxlint --version", jaxlint("--version"))]
    measure(found, rounds, ROOT)
    return table("start", found, None)


def jaxlint(*arguments: str) -> list[str]:
    """The command line of this checkout's jaxlint."""
    return [PYTHON, "-m", "jaxlint", *arguments]


def copied(folder: Path, copy: Path) -> list[Path]:
    """Copies the Python files of a folder; returns the copies."""
    files = []
    for file in sorted(folder.rglob("*.py")):
        if file.is_file():
            target = copy / file.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
            files.append(target)
    if not files:
        sys.exit(f"{folder} holds no Python files")
    return files


def tools(copy: Path, files: Sequence[Path], store: Path) -> list[Tool]:
    """Everything that can be run here; the files are all that a tool is given."""
    largest = max(files, key=lambda file: file.stat().st_size)
    changed = sorted(files, key=lambda file: file.stat().st_size)[len(files) // 2]

    def change() -> None:
        with changed.open("a", encoding="utf-8") as file:
            file.write("\n# changed\n")

    def change_largest() -> None:
        with largest.open("a", encoding="utf-8") as file:
            file.write("\n# changed\n")

    ours = ("--isolated", "--exit-zero", "--jobs", "1", "--output-format", "json")
    stored = jaxlint(*ours, "--cache-dir", str(store), str(copy))
    found = [
        Tool("jaxlint, cold", jaxlint(*ours, "--no-cache", str(copy))),
        Tool("jaxlint, a middling file changed", stored, change),
        Tool("jaxlint, the largest file changed", stored, change_largest),
        Tool("jaxlint, nothing changed", stored),
    ]
    if program := shutil.which("ruff", path=f"{Path(PYTHON).parent}{os.pathsep}{os.environ.get('PATH', '')}"):
        command = [program, "check", "--isolated", "--no-cache", "--exit-zero", "--quiet", str(copy)]
        found.append(Tool("ruff check", command))
    if importlib.util.find_spec("pyflakes"):
        found.append(Tool("pyflakes", [PYTHON, "-m", "pyflakes", str(copy)]))
    if importlib.util.find_spec("flake8"):
        options = ["--isolated", "--select", "F", "--jobs", "1", "--exit-zero"]
        found.append(Tool("flake8 --select F", [PYTHON, "-m", "flake8", *options, str(copy)]))
    return found


def measure(found: Sequence[Tool], rounds: int, folder: Path) -> None:
    """Runs each tool once in each round, after one round that counts for nothing."""
    for number in range(rounds + 1):
        for tool in found:
            tool.prepare()
            seconds, peak = run(tool.command, folder)
            if number:
                tool.seconds.append(seconds)
                tool.peak = max(tool.peak, peak)


def run(command: Sequence[str], folder: Path) -> tuple[float, int]:
    """Runs a command and gives its processor time in seconds and its largest memory in MiB."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    # Files such as typing.py lie in the folders that are linted, and must not be imported.
    safe = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "", "PYTHONSAFEPATH": "1"}
    environment = {**os.environ, **safe}
    child = os.fork()
    if child == 0:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.chdir(folder)
        os.execve(command[0], list(command), environment)
    os.close(nowhere)
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def table(title: str, found: Sequence[Tool], lines: int | None) -> str:
    """What was measured, in Markdown; ratios are to pyflakes where it ran, else to the last tool."""
    base = next((tool for tool in found if tool.name == REFERENCE), found[-1])
    rows = [
        f"| {tool.name} | {tool.middle:.2f} | {_rate(lines, tool.middle)} | {_ratio(tool, base)} | {tool.peak} |"
        for tool in found
    ]
    head = [f"| {title} | s | 1000 lines/s | ratio to {base.name} | MiB |", "|---|---:|---:|---:|---:|"]
    return "\n".join([*head, *rows, ""])


def _ratio(tool: Tool, base: Tool) -> str:
    return f"{tool.middle / base.middle:.2f}"


def _rate(lines: int | None, seconds: float) -> str:
    return f"{lines / seconds / 1000:.1f}" if lines else ""


if __name__ == "__main__":
    main()
