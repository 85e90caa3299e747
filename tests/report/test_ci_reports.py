"""The reports that CI systems read: JUnit XML and GitHub's workflow commands."""

from __future__ import annotations

import re
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from verdicts import CLEAN, EMPTY, FOUND

from enzyme_build.check.finding import Summary, Verdict, make_finding
from enzyme_build.report.github import render_github
from enzyme_build.report.junit import render_junit


def test_junit_counts_errors_as_failures_and_lets_warnings_pass() -> None:
    root = ET.fromstring(render_junit(FOUND))
    suites = {suite.get("name"): suite for suite in root}
    assert set(suites) == {"rules", "libkernel.so", "libgeo.so"}
    assert (root.get("tests"), root.get("failures")) == ("4", "3")
    assert (suites["libkernel.so"].get("tests"), suites["libkernel.so"].get("failures")) == ("2", "2")
    (case,) = suites["libgeo.so"]
    assert case.get("name") == "EB013 geo::far(double)"
    assert case.find("failure") is None
    assert "warning: geo::far(double) fails" in (case.findtext("system-out") or "")
    failure = suites["libkernel.so"].find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "EB001"
    assert "reached: kernel -> helper -> my_square" in (failure.text or "")
    assert 'function = "my_square"' in (failure.text or "")


def test_junit_of_a_clean_library_is_one_test_that_passes() -> None:
    root = ET.fromstring(render_junit(CLEAN))
    assert [(case.get("classname"), case.get("name")) for case in root.iter("testcase")] == [
        ("libgeo.so", "no findings")
    ]
    assert ET.fromstring(render_junit(EMPTY)).get("tests") == "0"


def test_junit_survives_bytes_that_xml_cannot_hold() -> None:
    finding = make_finding("EB001", "odd \x01 name", library="libx.so", symbol="a\x02b")
    text = render_junit(Verdict(findings=(finding,), summary=Summary()))
    (case,) = ET.fromstring(text).iter("testcase")
    assert case.get("name") == "EB001 a?b"


COMMAND = re.compile(r"::(error|warning) ([^:]*)::(.*)")


def test_github_commands_name_place_and_say_all_in_one_line() -> None:
    *commands, last = render_github(FOUND).splitlines()
    parsed = [COMMAND.fullmatch(command) for command in commands]
    assert all(parsed)
    assert last == "enzyme-build: 3 errors, 1 warnings"
    opaque = next(found for found in parsed if found and "my_square" in found[3])
    properties = dict(item.split("=") for item in opaque[2].split(","))
    assert properties == {"file": "src/kernel.c", "line": "1", "title": "EB001 opaque symbol"}
    assert "reached by kernel -> helper -> my_square\n" in unquote(opaque[3])


def test_github_text_is_encoded() -> None:
    finding = make_finding("EB004", "100% of a:b,c\nis empty", library="a,b:c.so")
    command = render_github(Verdict(findings=(finding,), summary=Summary())).splitlines()[0]
    assert command.startswith("::error file=a%2Cb%3Ac.so,title=EB004 .llvmbc is empty::100%25 of a:b,c%0Ais empty")
