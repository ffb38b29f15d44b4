"""The engine's inside: lowers the files, runs the machine over them, and lets the rules judge its events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from jaxlint.analysis.context import Context, Report, Text
from jaxlint.analysis.events import DefaultKeySeen, SiteSeen
from jaxlint.analysis.folding import folded
from jaxlint.analysis.machine import Machine
from jaxlint.analysis.project import Lower, Project, Source
from jaxlint.analysis.uses import api_uses
from jaxlint.config.targets import Target
from jaxlint.model import Finding, Span
from jaxlint.program.room import room
from jaxlint.registry import Check, Rule, rule_modules
from jaxlint.source.text import LineMap

Failed = Callable[[str, Exception], None]


def findings(
    sources: Sequence[Source],
    relevant: Sequence[Source],
    target: Target,
    wrappers: Mapping[str, str],
    only: Collection[str] | None,
    lower: Lower,
    on_failure: Failed,
) -> list[Finding]:
    """See `jaxlint.analysis.analyse`; `relevant` are the files that are looked at for their own sake."""
    project = Project(sources, lower, on_failure)
    collector = Collector(project, sources, target, only)
    wanted = {source.path for source in relevant}
    names = [name for name, source in project.named() if source.path in wanted]
    with room():
        machine = Machine(project, collector.tell, wrappers, on_failure)
        machine.run(names)
        for name in names:
            module = project.get(name)
            if module is not None:
                for use in api_uses(module):
                    collector.tell_at(module.path, use)
    return collector.sorted()


class Collector:
    """Gives each event to the rules that want it and keeps one finding for each rule and place."""

    def __init__(
        self, project: Project, sources: Sequence[Source], target: Target, only: Collection[str] | None
    ) -> None:
        self.project = project
        self.target = target
        self.texts = {source.path: source.text for source in sources}
        self.names = {source.path: name for name, source in project.named()}
        self.contexts: dict[str, Context] = {}
        self.found: dict[tuple[str, str, Span], Finding] = {}
        self.faults: dict[tuple[str, str, Span], str] = {}
        self.checks: dict[type, list[tuple[Rule, Check]]] = {}
        for entry in rule_modules():
            if only is None or entry.rule.name in only:
                for event, check in entry.checks.items():
                    self.checks.setdefault(event, []).append((entry.rule, check))

    def tell(self, event: Any) -> None:
        """An event of abstract execution."""
        if type(event) in self.checks:
            self.tell_at(_path(event), event)

    def tell_at(self, path: str, event: Any) -> None:
        """An event in a file."""
        checks = self.checks.get(type(event))
        if checks is None:
            return
        context = self.context(path)
        for rule, check in checks:
            for report in check(event, context):
                self.add(rule, report, path)

    def add(self, rule: Rule, report: Report, path: str) -> None:
        """Keeps a report; of two for the same place, the one with a fix or else the first."""
        where = report.path or path
        finding = Finding(
            rule.code, rule.name, rule.severity, where, report.span, report.message, report.because, report.fix
        )  # fmt: skip
        key = (rule.code, where, report.span)
        old = self.found.get(key)
        if old is None or (old.fix is None and report.fix is not None):
            self.found[key] = finding
            if report.fault is not None:
                self.faults[key] = report.fault

    def context(self, path: str) -> Context:
        """What rules may ask of a file."""
        if path not in self.contexts:
            module = self.project[self.names[path]]
            self.contexts[path] = Context(module, text_of(self.texts[path]), self.target, self)
        return self.contexts[path]

    def text(self, path: str) -> Text:
        """The text of any file of the project."""
        return self.context(path).text

    def sorted(self) -> list[Finding]:
        """All findings in the order of files, lines and codes."""
        groups: dict[object, list[Finding]] = {}
        for key, finding in sorted(self.found.items(), key=lambda item: (item[0][1], item[0][2], item[0][0])):
            fault = self.faults.get(key)
            groups.setdefault(key if fault is None else (*key[:2], fault), []).append(finding)
        return [folded(group) for group in groups.values()]


def _path(event: Any) -> str:
    """The file in which an event happens."""
    match event:
        case SiteSeen():
            return event.value.site.path
        case DefaultKeySeen():
            return event.made.frame.path
    return str(event.frame.path)


def text_of(text: str) -> Text:
    """A text by lines, as Python counts them: form feeds and other separators do not end a line."""
    return Text(tuple(LineMap(text).whole()))
