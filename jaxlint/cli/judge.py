"""The bridge to the verifier: the only place that starts it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from jaxlint.cli.output import note
from jaxlint.config.settings import VerifySettings
from jaxlint.fixes.verdicts import Judge, Request
from jaxlint.model import Verdict, Verification
from jaxlint.report.printable import printable
from jaxlint.source.text import SourceFile

if TYPE_CHECKING:
    from jaxlint.verify import Verifier
    from jaxlint.verify.jobs import Command
    from jaxlint.verify.judging import Judging

_INSTALL = "install `flake8-jaxlint[verify]` in the environment of the code that is checked"


def _address(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """`dask://HOST:PORT` as Dask itself writes it: `tcp://HOST:PORT`."""
    if value is None:
        return None
    scheme, _, place = value.partition("://")
    host, _, port = place.rpartition(":")
    if scheme != "dask" or not host or not port.isdecimal():
        raise click.BadParameter(f"{value!r} is not of the form dask://HOST:PORT")
    return f"tcp://{place}"


EXECUTOR = click.option(
    "--executor",
    metavar="dask://HOST:PORT",
    callback=_address,
    help="Verify on the workers of this Dask cluster.",
)


@contextmanager
def judging(device: str, jobs: int, settings: VerifySettings, executor: str | None = None) -> Iterator[Judge]:
    """A judge that runs changes on a device, `jobs` at a time; what it started is ended with it.

    `executor` is the address of the Dask cluster that runs them in the place of this machine.

    Raises `click.ClickException` where what the verifier needs, the device included, is not there: verdicts from
    elsewhere are not what was asked for; and where the command cannot be followed.
    """
    try:
        from jaxlint.verify import Change, Unavailable, Verifier
    except ModuleNotFoundError as error:
        raise click.ClickException(f"verification needs {error.name}; {_INSTALL}") from error

    command, root = _command(settings), os.path.abspath(settings.root)
    make = partial(Verifier, device=device, factories=settings.factories, root=root, command=command)
    folders = [*([root] if settings.factories else []), *([command.folder] if command else [])]
    interrupted = _Interrupted()
    with make(jobs=jobs) if executor is None else _cluster(executor, make, folders) as verifier:

        def judge(requests: Sequence[Request]) -> Sequence[Verification]:
            changes = [
                Change(request.path, request.before, request.after, rule=request.rule, lines=request.lines)
                for request in requests
            ]
            verdicts: list[Verification] = []
            try:
                interrupted.check()
                verifier.check()
                for request, verdict in zip(requests, verifier.iterate(changes), strict=True):
                    verdicts.append(verdict)
                    _progress(request, verdict, len(verdicts), len(changes))
            except Unavailable as error:
                raise click.ClickException(str(error)) from None
            except KeyboardInterrupt:
                verdicts += interrupted.instead(len(verdicts), len(changes))
            return verdicts

        yield judge


class _Interrupted:
    """Whether the user has interrupted the judgement: what was known by then is reported, the rest is not judged."""

    def __init__(self) -> None:
        self._stopped = False

    def check(self) -> None:
        """Raises KeyboardInterrupt once more where the user has done so: nothing is judged after that."""
        if self._stopped:
            raise KeyboardInterrupt

    def instead(self, done: int, wanted: int) -> list[Verification]:
        """What stands for the verdicts that are wanted and were not reached."""
        if not self._stopped:
            note(f"interrupted: {done} of {wanted} fixes were judged")
        self._stopped = True
        return [Verification(Verdict.UNVERIFIED, "it was interrupted before this fix was judged")] * (wanted - done)


def _cluster(address: str, make: Callable[..., Verifier], folders: Sequence[str]) -> Judging:
    try:
        from jaxlint.verify.cluster import Cluster
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"`--executor` needs {error.name}: install `flake8-jaxlint[verify,dask]`, here and on the workers"
        ) from None
    return Cluster(address, make, folders)


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


def _progress(request: Request, verdict: Verification, done: int, total: int) -> None:
    """Says each of several verdicts as it comes, for it takes from seconds to minutes; the report comes at the end."""
    if total > 1:
        lines = f":{request.lines[0]}" if request.lines else ""
        place = f"{os.path.relpath(request.path)}{lines} {request.rule or 'all fixes'}"
        sys.stderr.write(printable(f"[{done}/{total}] {place}: {verdict.verdict.value}, {verdict.reason}") + "\n")
        sys.stderr.flush()
