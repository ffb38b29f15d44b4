"""What one run of `check` does, from the paths to what is to be reported and written."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from jaxlint import baseline
from jaxlint.cli.judge import judging, misread_examples
from jaxlint.config.scope import scope
from jaxlint.config.settings import Options, Settings, settings_for
from jaxlint.engine import Linted, Loaded, lint, load, unreadable_finding
from jaxlint.fixes.diff import differences
from jaxlint.fixes.loop import Fixed, fix_all, text_with
from jaxlint.fixes.noqa import with_noqa
from jaxlint.fixes.on_disk import on_disk
from jaxlint.fixes.proved import changes, fix_proved
from jaxlint.fixes.verdicts import Verdicts
from jaxlint.fixes.write import WriteError, create, replace
from jaxlint.meter import Meter
from jaxlint.model import Finding, Safety
from jaxlint.report.report import Change, Report, by_cell, texts
from jaxlint.source.files import common_root, shown
from jaxlint.source.text import SourceError, SourceFile


class Job(Struct, frozen=True, kw_only=True):
    """What the user asked for. `stdin_name` is the name of standard input where that is what is checked.

    `executor` is the address of the Dask cluster that verifies. `page` asks for what the page of the evidence shows of
    each change. `write_baseline` is the file that is to hold all findings as known ones, `add_noqa` asks for comments
    that suppress them.
    """

    paths: tuple[str, ...]
    stdin_name: str | None
    options: Options
    fix: bool
    unsafe: bool
    diff: bool
    verify: bool
    device: str
    jobs: int
    meter: Meter
    executor: str | None = None
    page: bool = False
    write_baseline: Path | None = None
    add_noqa: bool = False


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of it. `problems` make the exit status 2, `notes` do not; `text` goes to standard output first."""

    report: Report
    output_format: str
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    text: str | None = None


def run(job: Job) -> Outcome:
    """Does the job. Raises `ConfigError` where the settings are wrong, `BaselineError` where the baseline is."""
    start = common_root([job.stdin_name] if job.stdin_name else job.paths)
    with job.meter.stage("read the settings"):
        settings = settings_for(start, job.options)
    settings, loaded, problems, notes = _load(job, settings)
    job.meter.count("files read", len(loaded.files))
    notes += misread_examples(loaded.sources) if job.verify else ()
    if job.write_baseline or job.add_noqa:
        return _take_over(job, settings, loaded, problems, notes)
    fixed = _fix(job, settings, loaded)
    problems += map(str, fixed.remaining.failures)
    notes += fixed.notes
    text = _write(job, loaded, fixed, problems)
    fixed = on_disk(loaded, fixed) if job.diff else fixed
    report = Report(
        findings=fixed.remaining.findings,
        fixed=fixed.applied,
        texts=texts(fixed.loaded.sources, fixed.remaining.findings),
        files=len(loaded.files),
        would=job.diff,
        changes=dict(_changes(fixed)) if job.page else {},
    )
    return Outcome(
        report=by_cell(report, fixed.loaded.sources, fixed.origins),
        output_format=settings.output_format,
        problems=tuple(problems),
        notes=tuple(notes),
        text=text,
    )


def _take_over(job: Job, settings: Settings, loaded: Loaded, problems: list[str], notes: list[str]) -> Outcome:
    """Writes down or suppresses all that is found, in the place of reporting it."""
    linted = lint(loaded, settings, job.meter, job.jobs)
    problems += map(str, linted.failures)
    if job.write_baseline:
        notes += _write_baseline(job.write_baseline, linted, loaded, problems)
    else:
        count = _replace(loaded, _with_noqa(loaded, linted, problems), problems)
        notes.append(f"`# noqa` comments were added to {count} file{'' if count == 1 else 's'}")
    return Outcome(
        report=Report((), files=len(loaded.files)),
        output_format=settings.output_format,
        problems=tuple(problems),
        notes=tuple(notes),
    )


def _write_baseline(file: Path, linted: Linted, loaded: Loaded, problems: list[str]) -> list[str]:
    try:
        create(file, baseline.rendered(linted.findings, texts(loaded.sources, linted.findings), file).encode())
    except WriteError as error:
        problems.append(f"{file}: {error}")
        return []
    return [f"{file} knows {len(linted.findings)} findings now; give it with `--baseline`"]


def _with_noqa(loaded: Loaded, linted: Linted, problems: list[str]) -> Iterator[tuple[SourceFile, SourceFile]]:
    """The files that get comments, before and after."""
    found: dict[str, list[Finding]] = {}
    for finding in linted.findings:
        found.setdefault(finding.path, []).append(finding)
    for source in loaded.sources:
        text = with_noqa(source.text, found.get(source.path, ()))
        if text != source.text:
            try:
                new = source.with_text(text)
            except SourceError as error:
                problems.append(f"{source.path}: {error}")
            else:
                yield source, new


def _changes(fixed: Fixed) -> Iterator[tuple[Finding, Change]]:
    """What the fix of each finding changes by itself."""
    sources = {source.path: source.text for source in fixed.loaded.sources}
    for finding in (*fixed.remaining.findings, *fixed.applied):
        before = fixed.origins.get(finding, sources.get(finding.path, ""))
        after, _ = text_with(SourceFile.from_text(finding.path, before), [finding])
        yield finding, Change(before, after)


def _load(job: Job, settings: Settings) -> tuple[Settings, Loaded, list[str], list[str]]:
    if job.stdin_name:
        return settings, _load_stdin(job.stdin_name), [], []
    with job.meter.stage("find files"):
        settings, found = scope(job.paths, settings, job.options)
    problems = [f"{path} {why}{_perhaps_command(path)}" for path, why in found.missing]
    notes = [f"{path} holds no Python files to lint" for path in found.empty]
    with job.meter.stage("read files"):
        return settings, load(found.files), problems, notes


def _load_stdin(name: str) -> Loaded:
    path = shown(Path(name))
    try:
        source = SourceFile.from_bytes(path, sys.stdin.buffer.read())
    except SourceError as error:
        return Loaded((), {path: Path(name)}, (unreadable_finding(path, error),))
    return Loaded((source,), {path: Path(name)})


def _perhaps_command(path: str) -> str:
    from difflib import get_close_matches

    from jaxlint.cli.main import COMMANDS

    near = get_close_matches(path, COMMANDS, n=1, cutoff=0.7)
    return f"; did you mean the command `{near[0]}`?" if near else ""


def _fix(job: Job, settings: Settings, loaded: Loaded) -> Fixed:
    """Lints, and where asked for fixes, verifies, or both."""

    known = baseline.read(settings.baseline) if settings.baseline else None

    def check(sources: Loaded) -> Linted:
        return baseline.only_new(lint(sources, settings, job.meter, job.jobs), sources, known)

    with ExitStack() as stack:
        judge = judging(job.device, job.jobs, settings.verify, job.executor) if job.verify else None
        verdicts = Verdicts(stack.enter_context(judge)) if judge else None
        if not job.fix:
            linted = check(loaded)
            judged = verdicts.judged(loaded, linted.findings) if verdicts else linted.findings
            return Fixed(loaded, (), Linted(tuple(judged), linted.failures))

        def wanted(finding: Finding) -> bool:
            return _applicable(finding, job, settings.of(loaded.files[finding.path]))

        if verdicts:
            return fix_proved(loaded, check, wanted, verdicts)
        return fix_all(loaded, check, lambda _, findings: list(filter(wanted, findings)))


def _applicable(finding: Finding, job: Job, settings: Settings) -> bool:
    if finding.fix is None or finding.code not in settings.fixable:
        return False
    return finding.fix.safety is Safety.SAFE or (job.unsafe and finding.fix.safety is Safety.UNSAFE)


def _write(job: Job, before: Loaded, fixed: Fixed, problems: list[str]) -> str | None:
    """Writes the changed files, or returns the text that goes to standard output instead."""
    changed = list(changes(before, fixed.loaded))
    if job.diff:
        return "".join(differences(old, new) for old, new in changed)
    if job.stdin_name and job.fix:
        sys.stdout.flush()
        data = b"".join(source.data for source in fixed.loaded.sources)
        sys.stdout.buffer.write(data)
        return ""
    _replace(before, changed, problems)
    return None


def _replace(before: Loaded, changed: Iterable[tuple[SourceFile, SourceFile]], problems: list[str]) -> int:
    """Writes the changed files; how many were written."""
    count = 0
    for old, new in changed:
        try:
            replace(before.files[old.path], old.data, new.data)
            count += 1
        except WriteError as error:
            problems.append(f"{old.path}: {error}")
    return count
