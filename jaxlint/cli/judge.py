"""The bridge to the verifier: the only place that starts it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from jaxlint.fixes.verdicts import Judge, Request
from jaxlint.model import Verification

_INSTALL = "install `flake8-jaxlint[verify]` in the environment of the code that is checked"


@contextmanager
def judging(device: str, jobs: int) -> Iterator[Judge]:
    """A judge that runs changes on a device, `jobs` at a time; what it started is ended with it.

    Raises `click.ClickException` where what the verifier needs is not installed.
    """
    try:
        from jaxlint.verify import Change, Verifier
    except ModuleNotFoundError as error:
        raise click.ClickException(f"verification needs {error.name}; {_INSTALL}") from error

    with Verifier(device=device, jobs=jobs) as verifier:

        def judge(requests: Sequence[Request]) -> Sequence[Verification]:
            changes = [
                Change(request.path, request.before, request.after, rule=request.rule, lines=request.lines)
                for request in requests
            ]
            verdicts: list[Verification] = []
            for verdict in verifier.iterate(changes):
                verdicts.append(verdict)
                _progress(len(verdicts), len(changes))
            return verdicts

        yield judge


def _progress(done: int, total: int) -> None:
    """Says on a terminal how far it is; running programs takes seconds each."""
    if sys.stderr.isatty():
        end = "\r\x1b[K" if done == total else ""
        sys.stderr.write(f"\r{done} of {total} fixes verified{end}")
        sys.stderr.flush()
