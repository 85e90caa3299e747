"""JSON Schemas of msgspec structs, with the root struct's properties at the top level."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["struct_schema"]


def struct_schema(
    kind: type[msgspec.Struct], *, dialect: str, title: str, identity: str | None = None
) -> dict[str, Any]:
    """Return the schema of `kind`: msgspec makes the root a reference, which editors and validators show badly."""
    schema = msgspec.json.schema(kind)
    definitions = dict(schema["$defs"])
    root = definitions.pop(schema["$ref"].rpartition("/")[2])
    head = {"$schema": dialect} if identity is None else {"$schema": dialect, "$id": identity}
    return {**head, **root, "title": title, "$defs": definitions}
