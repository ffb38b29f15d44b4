"""The findings as JUnit XML: a test case for each finding, which fails; one that passes where there is none."""

from __future__ import annotations

import re
from itertools import groupby
from xml.etree import ElementTree

from jaxlint.model import Finding
from jaxlint.report.report import Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    """One test suite for each file with findings."""
    total = str(len(report.findings))
    root = ElementTree.Element("testsuites", name="jaxlint", tests=total, failures=total, errors="0")
    for path, findings in groupby(report.findings, key=lambda finding: finding.path):
        _suite(root, path, list(findings))
    if not report.findings:
        root.set("tests", "1")
        suite = ElementTree.SubElement(root, "testsuite", name="jaxlint", tests="1", failures="0", errors="0")
        ElementTree.SubElement(suite, "testcase", name="no findings", classname="jaxlint")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _suite(root: ElementTree.Element, path: str, findings: list[Finding]) -> None:
    count = str(len(findings))
    suite = ElementTree.SubElement(root, "testsuite", name=_xml(path), tests=count, failures=count, errors="0")
    for finding in findings:
        name = f"{finding.code} {finding.name}"
        case = ElementTree.SubElement(suite, "testcase", name=name, classname=_xml(path), file=_xml(path))
        case.set("line", str(finding.span_in_file.line))
        failure = ElementTree.SubElement(
            case, "failure", type=finding.severity.value, message=_xml(finding.message_in_file)
        )
        failure.text = _xml("\n".join(_details(finding)))


def _details(finding: Finding) -> list[str]:
    steps = [f"because {step.place}:{step.line}: {step.message}" for step in finding.because]
    return [f"{finding.place}:{finding.span.line}:{finding.span.column}: {finding.message}", *steps]


def _xml(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return _NOT_XML.sub("�", text)
