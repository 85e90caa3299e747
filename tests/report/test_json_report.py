from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest
from verdicts import CLEAN, EMPTY, FOUND

from enzyme_build.report.json_report import json_schema, render_json

SHIPPED = json.loads(resources.files("enzyme_build.resources").joinpath("report.schema.json").read_text("utf-8"))


def test_the_shipped_schema_is_that_of_the_code() -> None:
    assert json_schema() == SHIPPED, (
        "write it anew: json.dumps(json_schema(), indent=2, sort_keys=True) to resources/report.schema.json"
    )


@pytest.mark.parametrize("verdict", [FOUND, CLEAN, EMPTY], ids=["found", "clean", "empty"])
def test_reports_fit_the_schema(verdict) -> None:
    jsonschema.Draft202012Validator.check_schema(SHIPPED)
    jsonschema.validate(json.loads(render_json(verdict)), SHIPPED)


def test_a_report_with_an_unknown_key_or_level_does_not_fit() -> None:
    report = json.loads(render_json(FOUND))
    with pytest.raises(jsonschema.ValidationError, match="Additional properties"):
        jsonschema.validate(report | {"extra": 1}, SHIPPED)
    report["findings"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError, match="'fatal' is not one of"):
        jsonschema.validate(report, SHIPPED)


def test_what_is_in_it() -> None:
    report = json.loads(render_json(FOUND))
    assert (report["version"], report["ok"], report["errors"], report["warnings"]) == (1, False, 3, 1)
    opaque = next(finding for finding in report["findings"] if finding["symbol"] == "my_square")
    assert opaque["chain"] == ["kernel", "helper", "my_square"]
    assert opaque["callers"][0] == {"caller": "caller1", "file": "src/kernel.c", "line": 1}
    assert opaque["held_by"] == "libmy_square.so"
    assert report["libraries"][0]["statuses"] == {"bitcode": 2, "opaque": 2}
    assert report["native"] == ["libplain.so"]


def test_a_clean_report_is_ok_and_the_same_every_time() -> None:
    assert json.loads(render_json(CLEAN))["ok"] is True
    assert render_json(FOUND) == render_json(FOUND)
    assert render_json(FOUND).endswith("}\n")
