"""`jaxlint compare`: verifies any two versions of a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from msgspec import to_builtins

from jaxlint.cli.judge import EXECUTOR, judging, misread_examples
from jaxlint.cli.output import note, wants_color
from jaxlint.config.file import ConfigError
from jaxlint.config.settings import Options, verify_settings_for
from jaxlint.engine import syntax_fault
from jaxlint.fixes.verdicts import Request
from jaxlint.model import Verdict
from jaxlint.report.json import dump
from jaxlint.report.verdicts import by_itself
from jaxlint.source.files import common_root, shown
from jaxlint.source.text import SourceError, SourceFile


@click.command()
@click.argument("before")
@click.argument("after")
@click.option("--run", metavar="COMMAND", help="A command of Python that calls the code, for arguments.")
@click.option("--device", type=click.Choice(["cpu", "gpu", "tpu"]), default="cpu", show_default=True)
@EXECUTOR
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def compare(
    before: str, after: str, run: str | None, device: str, executor: str | None, output_format: str, color: str
) -> int:
    """Run two versions of a file and say whether they behave the same, and which is better.

    This runs the code. Exit status: 0 for confirmed and same, 1 for different and unverified.
    """
    old, new = _read(before), _read(after)
    try:
        settings = verify_settings_for(common_root([before]), Options(run=run))
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    for message in misread_examples([old]):
        note(message)
    with judging(device, 1, settings, executor) as judge:
        (verification,) = judge(
            [Request(os.path.abspath(before), old.runnable(old.text), new.runnable(new.text), None, ())]
        )
    if output_format == "json":
        click.echo(dump(to_builtins(verification)), nl=False)
    else:
        click.echo(by_itself(verification, color=wants_color(color, sys.stdout)), color=True)
    return 0 if verification.verdict in (Verdict.CONFIRMED, Verdict.SAME) else 1


def _read(path: str) -> SourceFile:
    try:
        source = SourceFile.read(shown(Path(path)), file=Path(path))
    except SourceError as error:
        raise click.UsageError(f"{path}: the file {error.message}") from None
    fault = syntax_fault(source)
    if fault:
        raise click.UsageError(f"{path}:{fault.span.line}:{fault.span.column}: {fault.message}")
    return source
