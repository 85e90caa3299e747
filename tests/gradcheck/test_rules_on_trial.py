"""Right rules pass at 200 points, seeded wrong ones are rejected with their numbers."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest
from rule_cases import RIGHT, WRONG

from enzyme_build.cli import main


def verdicts(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, dict]]:
    code = main(["gradcheck", *(str(argument) for argument in arguments), "--no-plugin", "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] == (code == 0)
    return code, {rule["symbol"]: rule for library in report["libraries"] for rule in library["rules"]}


def test_right_rules_pass_200_points(right: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = verdicts(capsys, right, "--seeds", 200)
    assert {symbol: rule["complaints"] for symbol, rule in found.items() if rule["complaints"]} == {}
    assert code == 0
    assert set(found) == {case.name for case in RIGHT}
    for case in RIGHT:
        rule = found[case.name]
        assert (rule["state"], rule["seeds"]) == ("passed", 200)
        assert rule["modes"] == ["reverse"] * case.reverse + ["forward"] * case.forward
        assert rule["comparisons"] >= 200
        assert rule["worst"] < 2e-3 if case.name == "single" else rule["worst"] < 1e-6
        assert set(rule["nanoseconds"]) == {"primal", *rule["modes"]}


@pytest.fixture(scope="module")
def rejected(wrong: Path) -> dict[str, dict]:
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        code = main(["gradcheck", str(wrong), "--no-plugin", "--format", "json", "--seeds", "3", "--timeout", "2"])
    assert code == 1
    return {rule["symbol"]: rule for rule in json.loads(written.getvalue())["libraries"][0]["rules"]}


@pytest.mark.parametrize("mistake", WRONG)
def test_seeded_wrong_rule_is_rejected(rejected: dict[str, dict], mistake: str) -> None:
    case, kind, words = WRONG[mistake]
    rule = rejected[case.name]
    assert rule["state"] == "failed"
    complaint = next((each for each in rule["complaints"] if each["kind"] == kind), None)
    assert complaint is not None, rule["complaints"]
    assert words in complaint["text"]
    assert complaint["fix"]
    if kind not in ("crash", "too-small", "not-finite"):
        assert complaint["found"] != complaint["expected"]


def test_the_report_for_people_names_rule_and_numbers(wrong: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["gradcheck", str(wrong), "--no-plugin", "--symbol", "wrong_factor", "--seeds", "5"])
    text = capsys.readouterr().out
    assert code == 1
    assert "failed: wrong_factor (reverse and forward), rules.toml:" in text
    assert "wrong-gradient: reverse: the adjoint of x[0] differs from finite differences; it is twice that" in text
    assert "x[0]: found " in text
    assert "(seed " in text
    assert "modes-disagree: forward and reverse mode contradict each other" in text
    assert text.endswith("1 checked: 1 failed\n")
