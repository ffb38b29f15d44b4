"""`jaxlint profile`: runs a program and explains what JAX compiled more than once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from jaxlint.cli.output import emit, require_writable, wants_color
from jaxlint.config.file import ConfigError
from jaxlint.config.settings import Options, Settings, settings_for
from jaxlint.profile import json, text
from jaxlint.profile.command import CommandError, command
from jaxlint.profile.explain import NAMES
from jaxlint.profile.report import report
from jaxlint.profile.run import NotRun, run
from jaxlint.source.files import common_root


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, metavar="SCRIPT [ARGS]...")
@click.option("-m", "--module", is_flag=True, help="SCRIPT is the name of a module, as for `python -m`.")
@click.option("--python", metavar="FILE", default=sys.executable, help="The Python to run it with (default: this one).")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output-file", metavar="FILE", help="Where to write the report (default: standard output).")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True)
def profile(
    words: tuple[str, ...], module: bool, python: str, output_format: str, output_file: str | None, color: str
) -> int:  # fmt: skip
    """Run a program, and explain what JAX traced and compiled more than once.

    `jaxlint profile train.py --epochs 3`, `jaxlint profile -m package.train` and `jaxlint profile -- python train.py`
    run the program unchanged, with its own input and output; `jaxlint profile train.ipynb` runs the cells of a
    notebook. The report follows: what changed between two compilations of a function, where it was called, what
    that cost, and which rule treats it.

    Exit status: that of the program; 2 where it cannot be run.
    """
    file = Path(output_file) if output_file else None
    if file:
        require_writable(file)
    try:
        what = command(words, module=module, python=python)
        _settings([os.path.join(os.getcwd(), what.target) if what.kind in ("script", "notebook") else os.getcwd()])
        ran = run(what)
        told = report(what, ran, _settings)
    except (CommandError, ConfigError, NotRun) as error:
        raise click.UsageError(str(error)) from None
    if output_format == "json":
        emit(json.render(told), file)
    else:
        emit(text.render(told, color=color == "always" if file else wants_color(color, sys.stdout)), file)
    return ran.status


def _settings(files: Iterable[str]) -> Settings:
    """The linter's settings for files, with the rules that explain compilations on."""
    return settings_for(common_root(files), Options(extend_select=tuple(sorted(NAMES))))
