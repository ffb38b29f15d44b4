"""The examples of the rules' pages and of the fixtures: how they are read, linted and fixed in memory."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from jaxlint.config.settings import Options, Settings, settings_for
from jaxlint.engine import Linted, Loaded, lint
from jaxlint.fixes.loop import Fixed, fix_all
from jaxlint.model import Finding, Safety
from jaxlint.registry import rules
from jaxlint.source.text import SourceFile

ROOT = Path(__file__).parent.parent
RUNNER = ROOT / "tests" / "data" / "run_examples.py"
PAGES = ROOT / "rules"
KINDS = ("bad", "good", "fixed")

# Several rules are separated by commas; a rule that reports twice on a line is named twice.
MARK = re.compile(r"#\s*(?P<mark>expect|todo-expect|todo-ok):(?P<names>[ \w,-]*)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page. `line` is where its fence stands; `options` are the words behind the kind."""

    page: str
    line: int
    kind: str
    options: dict[str, str]
    text: str
    before: Block | None = None  # the bad block that a fixed block belongs to

    def __str__(self) -> str:
        return f"rules/{self.page}.md:{self.line}"

    @property
    def id(self) -> str:
        """How test reports call it."""
        return f"{self.page}-{self.kind}-{self.line}"

    @property
    def target(self) -> str | None:
        """The JAX version that the block is written for, None for the newest."""
        return self.options.get("target")

    @property
    def runs(self) -> bool:
        """Whether it is to be run under the JAX at hand."""
        return "norun" not in self.options and self.target is None


def pages() -> list[str]:
    """The names of all pages."""
    return sorted(file.stem for file in PAGES.glob("*.md"))


@cache
def markdown(page: str) -> str:
    return (PAGES / f"{page}.md").read_text("utf-8")


@cache
def blocks(page: str) -> tuple[Block, ...]:
    """The Python examples of a page in order. Raises `ValueError` for a block that says no kind, or a wrong one."""
    found: list[Block] = []
    for token in MarkdownIt().parse(markdown(page)):
        words = token.info.split()
        if token.type != "fence" or not words or words[0] != "python":
            continue
        line = token.map[0] + 1 if token.map else 0
        kind = words[1] if len(words) > 1 else ""
        if kind not in KINDS:
            raise ValueError(f"rules/{page}.md:{line}: a Python block is bad, good or fixed, not `{token.info}`")
        options = dict(word.partition("=")[::2] for word in words[2:])
        above = found[-1] if found else None
        if kind == "fixed" and (above is None or above.kind != "bad"):
            raise ValueError(f"rules/{page}.md:{line}: a fixed block stands right below its bad one")
        if unknown := options.keys() - {"target", "norun", "raises", "runs"}:
            raise ValueError(f"rules/{page}.md:{line}: unknown words {sorted(unknown)}")
        if kind == "fixed" and above is not None and "target" in above.options:
            options["target"] = above.options["target"]
        found.append(Block(page, line, kind, options, token.content, above if kind == "fixed" else None))
    return tuple(found)


def all_blocks(*kinds: str) -> list[Block]:
    """The blocks of these kinds on all pages."""
    return [block for page in pages() for block in blocks(page) if block.kind in kinds]


def marks(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, mark and rule of each `# expect: rule`, `# todo-expect: rule` and `# todo-ok: rule`."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in MARK.finditer(line):
            for name in match["names"].split(","):
                yield number, match["mark"], name.strip()


def unmarked(text: str) -> list[str]:
    """The lines without marks: a fix leaves them where they are, but what is fixed expects nothing."""
    return [MARK.sub("", line).rstrip() for line in text.splitlines()]


def reported(text: str, *wanted: str) -> Counter[tuple[int, str]]:
    """Line and rule of what is to be reported; `wanted` limits it to the marks named."""
    return Counter((line, rule) for line, mark, rule in marks(text) if mark in wanted)


@cache
def settings(target: str | None = None) -> Settings:
    """Every rule on, no configuration read."""
    return settings_for(ROOT, Options(isolated=True, select=("ALL",), target_jax=target))


def loaded(**files: str) -> Loaded:
    """Files that exist in memory only; `a=text` is `a.py`."""
    sources = tuple(SourceFile.from_text(f"{name}.py", text) for name, text in files.items())
    return Loaded(sources, {source.path: Path(source.path) for source in sources})


def linted(text: str, target: str | None = None) -> Linted:
    """What every rule says of a text. Raises `AssertionError` for a failure inside."""
    return checked(lint(loaded(example=text), settings(target)))


def checked(outcome: Linted) -> Linted:
    assert not outcome.failures, "\n".join(map(str, outcome.failures))
    return outcome


def by_default(findings: Iterable[Finding]) -> list[Finding]:
    """Without what rules say that are off unless they are asked for."""
    on = {rule.name for rule in rules() if rule.on_by_default}
    return [one for one in findings if one.name in on]


def fixed(text: str, only: frozenset[str] | None = None, target: str | None = None, *, defaults: bool = False) -> Fixed:
    """The text after all fixes, those of some rules, or those of the rules on by default, to a fixed point."""

    def choose(_: Loaded, findings: Sequence[Finding]) -> list[Finding]:
        wanted = [one for one in findings if not only or one.name in only]
        wanted = by_default(wanted) if defaults else wanted
        return [one for one in wanted if one.fix and one.fix.safety is not Safety.DISPLAY]

    return fix_all(loaded(example=text), lambda files: checked(lint(files, settings(target))), choose)


def shown(text: str, findings: Counter[tuple[int, str]]) -> str:
    """Lines with what is said of them, for the message of a failed test."""
    lines = text.splitlines()
    return "\n".join(
        f"    {line:3} {rule}: {lines[line - 1].strip() if line <= len(lines) else '(behind the end)'}"
        for line, rule in sorted(findings.elements())
    )


def runner(programs: Mapping[str, str]) -> dict[str, dict[str, Any] | None]:
    """Runs programs under JAX in one process: for each what it raised, None where it ran through."""
    asked = json.dumps([{"name": name, "text": text} for name, text in programs.items()])
    command = [sys.executable, str(RUNNER)]
    run = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    outcomes: dict[str, dict[str, Any] | None] = json.loads(run.stdout.splitlines()[-1])
    return outcomes
