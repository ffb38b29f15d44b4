"""`jaxlint check`: finds, fixes, verifies and reports."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from jaxlint.baseline import BaselineError
from jaxlint.cli.clean import CACHE_DIR
from jaxlint.cli.complete import complete_rules
from jaxlint.cli.job import Job, Outcome, run
from jaxlint.cli.judge import EXECUTOR
from jaxlint.cli.output import emit, note, wants_color
from jaxlint.cli.progress import progress
from jaxlint.config.file import ConfigError
from jaxlint.config.form import OUTPUT_FORMATS
from jaxlint.config.settings import Options
from jaxlint.meter import Meter
from jaxlint.report import statistics, text
from jaxlint.report.report import Report

_Command = Callable[..., Any]


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for value in values for word in value.replace(",", " ").split())


def _codes(name: str, help: str) -> Callable[[_Command], _Command]:
    return click.option(name, multiple=True, metavar="CODES", help=help, shell_complete=complete_rules)


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATHS]", type=click.Path())
@click.option("--fix", is_flag=True, help="Apply the fixes that keep the program's meaning.")
@click.option("--unsafe-fixes", is_flag=True, help="Apply also those that nearly always do (with --fix or --diff).")
@click.option("--diff", is_flag=True, help="Show what the fixes would change; write nothing.")
@click.option("--verify", is_flag=True, help="Run the code with and without each fix; fix only what proves good.")
@click.option(
    "--run", metavar="COMMAND", help="A command of Python that calls the code, for arguments (with --verify)."
)
@click.option("--device", type=click.Choice(["cpu", "gpu", "tpu"]), help="Where to verify (default: cpu).")
@EXECUTOR
@click.option("--report", metavar="FILE.html", help="Write a page that shows the evidence (with --verify).")
@_codes("--select", "Rules to use: codes, prefixes, names, ALL; separated by commas.")
@_codes("--ignore", "Rules not to use.")
@_codes("--extend-select", "Rules to use beside those selected.")
@click.option("--force-exclude", is_flag=True, help="Leave out excluded files even when they are named.")
@click.option("--target-jax", metavar="VERSION", help="The JAX version the code runs with (default: what it asks for).")
@click.option("--isolated", is_flag=True, help="Read no configuration and no project metadata.")
@click.option("--config", metavar="FILE", help="The configuration file to use.")
@click.option("--baseline", metavar="FILE", help="Report nothing that this file, made before, knows.")
@click.option("--write-baseline", metavar="FILE", help="Make such a file of all that is found now.")
@click.option("--add-noqa", is_flag=True, help="Suppress all that is found, by comments in the code.")
@click.option("--no-cache", is_flag=True, help="Work out everything anew, and store nothing.")
@CACHE_DIR
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use (default: half of the cores).")
@click.option("--output-format", type=click.Choice(OUTPUT_FORMATS), help="How to report (default: text).")
@click.option("--output-file", metavar="FILE", help="Where to write the report (default: standard output).")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
@click.option("--show-files", is_flag=True, help="List the files that would be checked.")
@click.option("--show-settings", is_flag=True, help="Print the settings that hold, as TOML.")
@click.option("--show-timings", is_flag=True, help="Say on standard error how long each stage took.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead.")
@click.option("--stdin-filename", metavar="FILE", help="Read standard input and treat it as this file.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Whether to use colour.")
def check(**given: Any) -> int:
    """Find misuse of JAX transforms in files and folders (default: the working folder).

    Exit status: 0 nothing found, 1 findings, 2 wrong use or internal failure.
    """
    job = _job(given)
    try:
        if given["show_files"] or given["show_settings"]:
            return _show(job, files=given["show_files"])
        with progress(job.meter, sys.stderr, sys.stdout):
            outcome = run(job)
    except (ConfigError, BaselineError) as error:
        raise click.UsageError(str(error)) from None
    for message in (*outcome.problems, *outcome.notes):
        note(message)
    if outcome.text is not None:
        sys.stdout.write(outcome.text)
    with job.meter.stage("report"):
        if not job.write_baseline and not job.add_noqa:
            _report(job, outcome, given)
        if given["report"]:
            _page(outcome.report, Path(given["report"]))
    if given["show_timings"]:
        sys.stderr.write("\n".join([*job.meter.lines(), ""]))
    if outcome.problems:
        return 2
    return 1 if _found(job, outcome) and not given["exit_zero"] else 0


def _show(job: Job, *, files: bool) -> int:
    from jaxlint.cli import show

    for line in show.files(job) if files else show.settings(job):
        print(line)
    return 0


def _found(job: Job, outcome: Outcome) -> bool:
    return bool(outcome.report.findings or (job.diff and outcome.report.fixed))


def _job(given: dict[str, Any]) -> Job:
    stdin = given["stdin_filename"]
    paths = given["paths"] or (("-",) if stdin else (".",))
    if "-" in paths and len(paths) > 1:
        raise click.UsageError("standard input (`-`) cannot be checked together with other paths")
    if stdin and paths != ("-",):
        raise click.UsageError("`--stdin-filename` names standard input; give `-` or no path with it")
    if given["unsafe_fixes"] and not (given["fix"] or given["diff"]):
        note("`--unsafe-fixes` does nothing without `--fix` or `--diff`")
    if given["device"] and not given["verify"]:
        raise click.UsageError("`--device` says where fixes are verified; give `--verify` too")
    if given["executor"] and not given["verify"]:
        raise click.UsageError("`--executor` says where verification runs; give `--verify` too")
    _check_page(given)
    _check_alone(given)
    if given["run"] is not None and not given["verify"]:
        raise click.UsageError("`--run` is for `--verify`: it finds the arguments to verify with")
    if given["statistics"] and (given["output_format"] or "text") not in ("text", "json"):
        raise click.UsageError("`--statistics` comes as text or json only")
    return Job(
        paths=paths,
        stdin_name=(stdin or "stdin.py") if paths == ("-",) else None,
        options=_options(given),
        fix=given["fix"] or given["diff"],
        unsafe=given["unsafe_fixes"],
        diff=given["diff"],
        verify=given["verify"],
        device=given["device"] or "cpu",
        executor=given["executor"],
        jobs=given["jobs"] or max(1, (os.cpu_count() or 1) // 2),
        meter=Meter(),
        page=given["report"] is not None,
        add_noqa=given["add_noqa"],
        write_baseline=Path(given["write_baseline"]) if given["write_baseline"] else None,
    )


def _options(given: dict[str, Any]) -> Options:
    config = Path(given["config"]) if given["config"] else None
    if config and given["isolated"]:
        raise click.UsageError("`--config` and `--isolated` exclude each other")
    return Options(
        select=_split(given["select"]) if given["select"] else None,
        ignore=_split(given["ignore"]),
        extend_select=_split(given["extend_select"]),
        target_jax=given["target_jax"],
        config=config,
        isolated=given["isolated"],
        output_format=given["output_format"],
        force_exclude=given["force_exclude"],
        run=given["run"],
        cache=not (given["no_cache"] or given["stdin_filename"] or "-" in given["paths"]),
        cache_dir=Path(given["cache_dir"]) if given["cache_dir"] else None,
        baseline=Path(given["baseline"]) if given["baseline"] else None,
    )


def _check_alone(given: dict[str, Any]) -> None:
    """What takes over old code does nothing else."""
    chosen = [name for name in ("write_baseline", "add_noqa") if given[name]]
    others = [name for name in ("fix", "diff", "verify") if given[name]]
    others += ["baseline"] if given["baseline"] and given["write_baseline"] else []
    if len(chosen) == 2 or (chosen and others):
        names = [f"`--{name.replace('_', '-')}`" for name in (*chosen, *others)]
        raise click.UsageError(f"{' and '.join(names[:2])} exclude each other")


def _check_page(given: dict[str, Any]) -> None:
    """Before anything is run, since that may take long."""
    if given["report"] is None:
        return
    if not given["verify"]:
        raise click.UsageError("`--report` shows what verification finds; give `--verify` too")
    if given["report"] == given["output_file"]:
        raise click.UsageError("`--report` and `--output-file` name the same file")
    if not Path(given["report"]).absolute().parent.is_dir():
        raise click.UsageError(f"{given['report']}: there is no such folder to write the report in")


def _page(report: Report, file: Path) -> None:
    from jaxlint.report.html import render

    emit(render(report), file)
    note(f"the evidence is in {file}")


def _report(job: Job, outcome: Outcome, given: dict[str, Any]) -> None:
    file = Path(given["output_file"]) if given["output_file"] else None
    color = wants_color(given["color"], sys.stdout) if file is None else given["color"] == "always"
    format_ = outcome.output_format
    rendered = _statistics(outcome.report, format_) if given["statistics"] else _rendered(outcome, format_, color)
    if file is None and outcome.text is not None:  # standard output has the text or the diff
        sys.stderr.write(rendered)
    else:
        emit(rendered, file)


def _statistics(report: Report, format_: str) -> str:
    return statistics.render_json(report) if format_ == "json" else statistics.render_text(report)


def _rendered(outcome: Outcome, format_: str, color: bool) -> str:
    if format_ == "text":
        return text.render(outcome.report, color=color)
    from importlib import import_module

    render: Callable[[Report], str] = import_module(f"jaxlint.report.{format_}").render
    return render(outcome.report)
