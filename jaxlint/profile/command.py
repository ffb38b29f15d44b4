"""Reads the words that say what is to be run."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from msgspec import Struct

_PYTHON = re.compile(r"python[\d.]*(\.exe)?")
_FLAGS = re.compile(r"-[bBdEIOPqRsSuv]+")


class CommandError(ValueError):
    """The words name nothing that can be run; the message says what to write."""


class Command(Struct, frozen=True):
    """What to run: `kind` is `script`, `notebook`, `module` or `code`; `flags` are those of the interpreter."""

    python: str
    flags: tuple[str, ...]
    kind: str
    target: str
    args: tuple[str, ...]


def command(words: Sequence[str], *, module: bool, python: str) -> Command:
    """Reads `SCRIPT [ARGS]`, `MODULE [ARGS]` where `module`, or `python [-m] … [ARGS]`. Raises `CommandError`."""
    left, flags = list(words), []
    if not module and left and _PYTHON.fullmatch(os.path.basename(left[0])):
        python, left = left[0], left[1:]
        while left and (_FLAGS.fullmatch(left[0]) or left[0] in ("-X", "-W")):
            count = 2 if left[0] in ("-X", "-W") else 1
            flags += left[:count]
            del left[:count]
        if left and left[0] in ("-m", "-c"):
            if len(left) < 2:
                raise CommandError(f"`{left[0]}` needs a word after it")
            return Command(python, tuple(flags), {"-m": "module", "-c": "code"}[left[0]], left[1], tuple(left[2:]))
    if not left or left[0] == "-":
        raise CommandError("name the program to run: `SCRIPT [ARGS]`, or `-m MODULE [ARGS]`")
    kind = "module" if module else "notebook" if left[0].endswith(".ipynb") else "script"
    return Command(python, tuple(flags), kind, left[0], tuple(left[1:]))
