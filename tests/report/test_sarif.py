from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import jsonschema
import pytest
from verdicts import CLEAN, EMPTY, FOUND, OPAQUE

from enzyme_build.check.finding import Summary, Verdict, make_finding
from enzyme_build.report.sarif import render_sarif

# the parts of the SARIF 2.1.0 schema (OASIS) that a log with one run uses, with its own restrictions
SCHEMA = json.loads(Path(__file__).with_name("sarif-2.1.0-subset.schema.json").read_text("utf-8"))


@pytest.mark.parametrize("verdict", [FOUND, CLEAN, EMPTY], ids=["found", "clean", "empty"])
def test_the_log_fits_the_schema(verdict) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(render_sarif(verdict)), SCHEMA)


def test_a_log_that_is_wrong_does_not_fit() -> None:
    log = json.loads(render_sarif(FOUND))
    log["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError, match="'fatal' is not one of"):
        jsonschema.validate(log, SCHEMA)


def results(verdict: Verdict) -> dict[str, dict]:
    log = json.loads(render_sarif(verdict))
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    found = log["runs"][0]["results"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in found)
    return {result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]: result for result in found}


def place(result: dict) -> tuple[str, int | None]:
    physical = result["locations"][0]["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical.get("region", {}).get("startLine")


def test_a_finding_is_on_the_line_of_the_rule_or_the_call_else_in_the_library() -> None:
    found = results(FOUND)
    assert place(found["f"]) == ("rules/r.toml", 3)
    assert place(found["my_square"]) == ("src/kernel.c", 1)
    assert place(found["g"]) == ("libkernel.so", None)
    assert len(found["my_square"]["relatedLocations"]) == 7
    assert "Reached by kernel -> helper -> my_square." in found["my_square"]["message"]["text"]


def test_paths_are_uris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = make_finding("EB002", "x", library=f"{tmp_path}/dist/a b.whl: lib/libx.so", symbol="here")
    there = make_finding("EB002", "x", library="/opt/liby.so", symbol="there")
    found = results(Verdict(findings=(here, there), summary=Summary()))
    assert found["here"]["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "dist/a%20b.whl", "uriBaseId": "%SRCROOT%",
    }  # fmt: skip
    assert found["there"]["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "file:///opt/liby.so"}


def test_fingerprints_stay_when_lines_and_versions_change() -> None:
    def fingerprint(finding) -> str:
        (result,) = results(Verdict(findings=(finding,), summary=Summary())).values()
        return result["partialFingerprints"]["enzymeBuild/v1"]

    moved = dataclasses.replace(
        OPAQUE, callers=(), message="other words", library="x-2.0.whl: libs/libkernel-0123abcd.so"
    )
    assert fingerprint(moved) == fingerprint(OPAQUE)
    assert fingerprint(dataclasses.replace(OPAQUE, symbol="other")) != fingerprint(OPAQUE)
