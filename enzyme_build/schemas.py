"""The JSON Schemas that are shipped under `resources/`, made from the structs that read the documents.

`python -m enzyme_build.schemas` writes them anew; a test fails when they differ from the structs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SCHEMAS", "render_schema", "write_schemas"]


def _config_schema() -> dict[str, Any]:
    from enzyme_build.config import tool_schema  # noqa: PLC0415 - each schema loads only what it needs

    return tool_schema("enzyme-build")


def _rules_schema() -> dict[str, Any]:
    from enzyme_build.rules.documents import rules_schema  # noqa: PLC0415 - as above

    return rules_schema()


def _manifest_schema() -> dict[str, Any]:
    from enzyme_build.manifest import json_schema  # noqa: PLC0415 - as above

    return json_schema()


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    "config": _config_schema,
    "rules": _rules_schema,
    "manifest": _manifest_schema,
}


def render_schema(name: str) -> str:
    """Return the JSON text of the schema `name` (`config`, `rules` or `manifest`)."""
    return json.dumps(_settled(SCHEMAS[name]()), indent=2, ensure_ascii=False) + "\n"


def _settled(part: Any) -> Any:
    """Return the schema as every msgspec would make it: descriptions on one line, alternatives in one order."""
    if isinstance(part, list):
        return [_settled(item) for item in part]
    if not isinstance(part, dict):
        return part
    settled = {key: _settled(value) for key, value in part.items()}
    if isinstance(settled.get("description"), str):
        settled["description"] = " ".join(settled["description"].split())
    if "anyOf" in settled:
        settled["anyOf"].sort(key=json.dumps)
    return settled


def write_schemas(folder: Path) -> None:
    """Write every schema to `folder` as `<name>.schema.json`."""
    for name in SCHEMAS:
        (folder / f"{name}.schema.json").write_text(render_schema(name), encoding="utf-8")


if __name__ == "__main__":
    write_schemas(Path(__file__).parent / "resources")
