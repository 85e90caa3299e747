"""The check against small real libraries, with the real Enzyme as the judge of what is said about each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from enzyme_build.model import Mode
from support.corpus import Package, build, differentiate, packages
from support.enzyme import Enzyme, EnzymeError

PACKAGES = packages()


def test_the_corpus_is_there() -> None:
    assert len(PACKAGES) >= 30
    assert all(package.expected.get("about") for package in PACKAGES)
    assert sum(not package.findings for package in PACKAGES) >= 10  # what must not be reported is half of the truth


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_findings_and_the_judge(package: Package, enzyme: Enzyme, tmp_path: Path) -> None:
    built = build(package, enzyme, tmp_path)
    found = built.verdict.findings
    told = [(finding.id, finding.symbol) for finding in found]
    assert sorted(told, key=str) == sorted(((each["id"], each.get("symbol")) for each in package.findings), key=str)
    for expected in package.findings:
        (finding,) = [each for each in found if (each.id, each.symbol) == (expected["id"], expected.get("symbol"))]
        assert list(finding.chain) == expected["chain"]
        if "level" in expected:
            assert finding.level == expected["level"]
        if "held_by" in expected:
            assert finding.held_by == expected["held_by"]
        if "demangled" in expected:
            assert finding.demangled == expected["demangled"]
        if "message" in expected:
            assert re.search(expected["message"], finding.message)
        if "line" in expected:
            assert expected["line"] in [str(caller.location) for caller in finding.callers]
    if built.verdict.summary.libraries:
        (summary,) = built.verdict.summary.libraries
        for kind, number in package.settle("classified", {}).items():
            assert summary.classified.get(kind, 0) == number, summary.classified
        if "note" in package.expected:
            assert package.expected["note"] in summary.notes
    _ask_enzyme(package, built, enzyme, tmp_path)


def _ask_enzyme(package: Package, built, enzyme: Enzyme, folder: Path) -> None:
    """Hold what the corpus says of Enzyme against the plugin, and the findings against both."""
    expected = package.settle("enzyme", {})
    if not expected:
        return
    asked = [mode for mode in Mode if {mode.value, f"{mode.value}_fails", "derivative", "fails"} & expected.keys()]
    for mode in asked:
        answer = differentiate(built, mode, enzyme, folder)
        failure = expected.get(f"{mode.value}_fails", expected.get("fails"))
        number = expected.get(mode.value, expected.get("derivative"))
        if number is None or (failure is not None and mode.value not in expected):
            assert isinstance(answer, EnzymeError), f"{mode}: {answer}"
            assert answer.step == "enzyme"
            assert re.search(failure, answer.text), answer.text
        else:
            assert answer == pytest.approx(number, rel=0, abs=expected.get("tolerance", 0.0)), f"{mode}: {answer}"
    wrong = "truth" in expected and expected["truth"] != expected.get("derivative")
    errors = any(each.get("level", "error") == "error" for each in package.findings) or package.settle("waivers", [])
    if wrong or "fails" in expected:
        assert errors, "a wrong number or a failure that nobody is told of"
