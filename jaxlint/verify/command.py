"""A command of the user that starts Python, read so that the verifier can run the same in its own process."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from jaxlint.verify.jobs import Command, Start

_PYTHON = re.compile(r"(python|pypy)(\d(\.\d+)?)?(\.exe)?", re.IGNORECASE)
_SHEBANG = re.compile(rb"#!.*\b(python|pypy)|#!/bin/sh\n'''exec'")  # the second for paths too long for the first
_ALONE, _WITH_VALUE = re.compile(r"-[bBdEiIOPqsSuvx]+"), ("-W", "-X")
_ACCEPTED = (
    "only commands that start Python can be followed: `python script.py`, `python -m module`, `pytest`, "
    "or a console script that is written in Python"
)


class CommandError(ValueError):
    """The command cannot be run in the verifier's own process; the message says why and what can."""


def read_command(text: str, folder: str | os.PathLike[str]) -> Command:
    """What the command starts, with which arguments, in which folder. Raises `CommandError`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise CommandError(f"`{text}` cannot be read as a command: {str(error).lower()}") from None
    if not words:
        raise CommandError(f"the command is empty: {_ACCEPTED}")
    place = os.path.abspath(folder)
    if _PYTHON.fullmatch(os.path.basename(words[0])):
        return _python(text, words[1:], place)
    if os.path.basename(words[0]) in ("pytest", "py.test"):
        return Command(text, place, Start.MODULE, "pytest", tuple(words[1:]))
    path = _program(words[0], place)
    with open(path, "rb") as file:
        if not _SHEBANG.match(file.read(200)):
            raise CommandError(f"`{words[0]}` is no Python program: {_ACCEPTED}")
    return Command(text, place, Start.SCRIPT, path, tuple(words[1:]))


def _python(text: str, words: Sequence[str], folder: str) -> Command:
    words = list(words)
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c"):
        flag = words.pop(0)
        if flag in _WITH_VALUE and words:
            words.pop(0)
        elif not (_ALONE.fullmatch(flag) or flag[:2] in _WITH_VALUE):
            raise CommandError(f"`{text}`: the flag `{flag}` of Python cannot be followed")
    if not words or (words[0] in ("-m", "-c") and len(words) == 1):
        raise CommandError(f"`{text}` runs nothing: name a script, or a module after `-m`")
    if words[0] == "-m":
        return Command(text, folder, Start.MODULE, words[1], tuple(words[2:]))
    if words[0] == "-c":
        return Command(text, folder, Start.CODE, words[1], tuple(words[2:]))
    script = os.path.join(folder, words[0])
    if not os.path.exists(script):
        raise CommandError(f"`{text}`: there is no script {words[0]}")
    return Command(text, folder, Start.SCRIPT, script, tuple(words[1:]))


def _program(word: str, folder: str) -> str:
    if "=" in word:
        raise CommandError(f"`{word}` sets a variable, which a command here cannot do: {_ACCEPTED}")
    path = os.path.normpath(os.path.join(folder, word)) if os.sep in word else shutil.which(word)
    if path is None or not Path(path).is_file():
        raise CommandError(f"there is no program `{word}`: {_ACCEPTED}")
    return path
