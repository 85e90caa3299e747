"""The report as JUnit XML, which CI servers show as tests: one suite a library, one case a finding."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from enzyme_build.check.finding import Finding, Verdict

__all__ = ["render_junit"]

_PROJECT = "rules"  # the suite of findings that belong to no single library
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, production [2]


def render_junit(verdict: Verdict) -> str:
    """Return the report: errors are failures, warnings are cases that pass and say something."""
    suites: dict[str, list[Finding]] = defaultdict(list)
    for library in verdict.summary.libraries:
        suites[library.name] = []
    for finding in verdict.findings:
        suites[finding.library or _PROJECT].append(finding)
    root = ET.Element("testsuites", name="enzyme-build check")
    for name, findings in suites.items():
        failures = sum(finding.level == "error" for finding in findings)
        suite = ET.SubElement(
            root, "testsuite", name=_clean(name), tests=str(len(findings) or 1), failures=str(failures), errors="0"
        )
        for finding in findings:
            _case(suite, name, finding)
        if not findings:
            ET.SubElement(suite, "testcase", classname=_clean(name), name="no findings")
    total = [sum(int(suite.get(key, "0")) for suite in root) for key in ("tests", "failures")]
    root.set("tests", str(total[0]))
    root.set("failures", str(total[1]))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _case(suite: ET.Element, library: str, finding: Finding) -> None:
    about = finding.demangled or finding.symbol or finding.place or finding.title
    case = ET.SubElement(suite, "testcase", classname=_clean(library), name=_clean(f"{finding.id} {about}"))
    lines = [finding.message]
    lines += [f"in: {finding.place}"] if finding.place else []
    lines += [f"reached: {' -> '.join(finding.chain)}"] if finding.chain else []
    lines += [f"used by: {each.caller} ({each.location})" for each in finding.callers if each.location is not None]
    lines += [f"why: {finding.cause}", f"fix: {finding.fix}"]
    lines += ["", finding.stanza] if finding.stanza else []
    text = _clean("\n".join(lines))
    if finding.level == "error":
        ET.SubElement(case, "failure", type=finding.id, message=_clean(finding.message)).text = text
    else:
        ET.SubElement(case, "system-out").text = f"warning: {text}"


def _clean(text: str) -> str:
    """Return the text without what XML cannot hold; symbols may have any byte in them."""
    return _NO_XML.sub("?", text)
