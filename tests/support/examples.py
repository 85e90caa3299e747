"""Invalid documents, each with the words that say what is wrong beside it."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path


def check_problems(example: Path, problems: Sequence[object]) -> None:
    """Compare the problems, one a line, with `<example>.errors.txt`."""
    found = "".join(f"{problem}\n" for problem in problems)
    expected_path = example.with_suffix(".errors.txt")
    expected = expected_path.read_text(encoding="utf-8") if expected_path.exists() else ""
    difference = "\n".join(
        difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", lineterm="")
    )
    assert found == expected, f"if the new words are right, put them into {expected_path.name}:\n{difference}"
