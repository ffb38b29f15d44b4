"""The bridge to the verifier: the only place that starts it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from jaxlint.config.settings import VerifySettings
from jaxlint.fixes.verdicts import Judge, Request
from jaxlint.model import Verification
from jaxlint.source.text import SourceFile

if TYPE_CHECKING:
    from jaxlint.verify.jobs import Command

_INSTALL = "install `flake8-jaxlint[verify]` in the environment of the code that is checked"


@contextmanager
def judging(device: str, jobs: int, settings: VerifySettings) -> Iterator[Judge]:
    """A judge that runs changes on a device, `jobs` at a time; what it started is ended with it.

    Raises `click.ClickException` where what the verifier needs, the device included, is not there: verdicts from
    elsewhere are not what was asked for; and where the command cannot be followed.
    """
    try:
        from jaxlint.verify import Change, Unavailable, Verifier
    except ModuleNotFoundError as error:
        raise click.ClickException(f"verification needs {error.name}; {_INSTALL}") from error

    command = _command(settings)
    with Verifier(
        device=device, jobs=jobs, factories=settings.factories, root=settings.root, command=command
    ) as verifier:

        def judge(requests: Sequence[Request]) -> Sequence[Verification]:
            changes = [
                Change(request.path, request.before, request.after, rule=request.rule, lines=request.lines)
                for request in requests
            ]
            verdicts: list[Verification] = []
            try:
                verifier.check()
            except Unavailable as error:
                raise click.ClickException(str(error)) from None
            for verdict in verifier.iterate(changes):
                verdicts.append(verdict)
                _progress(len(verdicts), len(changes))
            return verdicts

        yield judge


def _command(settings: VerifySettings) -> Command | None:
    from jaxlint.verify.command import CommandError, read_command

    try:
        return None if settings.run is None else read_command(settings.run, settings.folder)
    except CommandError as error:
        raise click.UsageError(f"{settings.asked}: {error}") from None


def misread_examples(sources: Iterable[SourceFile]) -> Iterator[str]:
    """A note for each example comment that says nothing to the verifier, with its place and what is wrong."""
    from jaxlint.verify.examples import examples

    for source in sources:
        for problem in examples(source.text).problems:
            yield f"{source.path}:{problem.line}: this example is not used: {problem.message}"


def _progress(done: int, total: int) -> None:
    """Says on a terminal how far it is; running programs takes seconds each."""
    if sys.stderr.isatty():
        end = "\r\x1b[K" if done == total else ""
        sys.stderr.write(f"\r{done} of {total} fixes verified{end}")
        sys.stderr.flush()
