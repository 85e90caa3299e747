"""The shipped JSON Schemas say the same as the structs, and judge documents as the loaders do."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from validate_pyproject import api, plugins
from validate_pyproject.errors import ValidationError

from enzyme_build.config import tool_schema
from enzyme_build.schemas import SCHEMAS, render_schema

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TESTS = Path(__file__).parents[1]
RESOURCES = files("enzyme_build.resources")


def shipped(name: str) -> dict[str, Any]:
    return json.loads(RESOURCES.joinpath(f"{name}.schema.json").read_text(encoding="utf-8"))


def judge(name: str, document: object) -> None:
    schema = shipped(name)
    jsonschema.validators.validator_for(schema)(schema).validate(document)


@pytest.mark.parametrize("name", SCHEMAS)
def test_shipped_schema_is_that_of_the_structs(name: str) -> None:
    text = RESOURCES.joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    assert text == render_schema(name), "the structs have changed: run `python -m enzyme_build.schemas`"


@pytest.mark.parametrize("name", SCHEMAS)
def test_shipped_schema_is_a_schema(name: str) -> None:
    schema = shipped(name)
    jsonschema.validators.validator_for(schema).check_schema(schema)


@pytest.mark.parametrize("name", ["config", "rules"])
def test_every_key_has_a_description(name: str) -> None:
    schema = shipped(name)
    for table in (schema, *(part for part in schema["$defs"].values() if part.get("type") == "object")):
        for key, value in table["properties"].items():
            assert value.get("description"), f"{table['title']}.{key} has no description"


@pytest.mark.parametrize("path", sorted((TESTS / "codegen" / "golden").glob("*.toml")), ids=lambda path: path.stem)
def test_rule_files_that_load_satisfy_the_schema(path: Path) -> None:
    judge("rules", tomllib.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[derivative]]\nfunction = 'f'", "is not valid under any of the given schemas"),
        ("[[inactive]]\nfunction = 'f'\nprototype = 'void f(void)'", "is valid under each of"),
        ("[[inactive]]\nfunktion = 'f'", "Additional properties are not allowed"),
        ("[[like]]\nfunction = 'f'", "'like' is a required property"),
    ],
)
def test_rule_files_that_do_not_load_fail_the_schema(text: str, message: str) -> None:
    with pytest.raises(jsonschema.ValidationError, match=message):
        judge("rules", tomllib.loads(text))


def pyproject(**library: object) -> dict[str, Any]:
    table = {"name": "kernel", "package": "demo", "sources": ["kernel.c"], **library}
    return {"project": {"name": "demo", "version": "1"}, "tool": {"enzyme-build": {"library": [table]}}}


def validator() -> api.Validator:
    return api.Validator(plugins=[plugins.PluginWrapper("enzyme-build", tool_schema)])


def test_validate_pyproject_accepts_a_right_table() -> None:
    validator()(pyproject(links=["other"], bitcode=False))


def test_validate_pyproject_names_a_wrong_key() -> None:
    with pytest.raises(ValidationError, match="surces"):
        validator()(pyproject(surces=["kernel.c"]))


def test_validate_pyproject_names_a_wrong_type() -> None:
    with pytest.raises(ValidationError, match=r"library\[0\].bitcode. must be boolean"):
        validator()(pyproject(bitcode="no"))


def test_help_text_of_the_plugin_says_what_the_table_is_for() -> None:
    assert "bitcode and rules for Enzyme" in plugins.PluginWrapper("enzyme-build", tool_schema).help_text
