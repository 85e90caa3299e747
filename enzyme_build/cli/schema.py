"""`enzyme-build schema`: print the JSON Schema of a document that this package reads or writes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["configure", "execute"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = "Print a JSON Schema: of [tool.enzyme-build], of a rule file, or of a manifest."
    parser.add_argument("document", choices=("config", "rules", "manifest"))


def execute(arguments: argparse.Namespace) -> int:
    """Print the schema that is shipped."""
    from importlib.resources import files  # noqa: PLC0415

    resource = files("enzyme_build.resources").joinpath(f"{arguments.document}.schema.json")
    sys.stdout.write(resource.read_text(encoding="utf-8"))
    return 0
