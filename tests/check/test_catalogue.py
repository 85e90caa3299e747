"""The catalogue of findings: complete, in order, and without a kind that says less than cause and next step."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import enzyme_build
from enzyme_build.check.finding import catalogue, make_finding

ENTRIES = tuple(catalogue().values())
PACKAGE = Path(enzyme_build.__file__).parent


def test_ids_are_in_order_and_without_gaps() -> None:
    assert [entry.id for entry in ENTRIES] == [f"EB{number:03}" for number in range(1, len(ENTRIES) + 1)]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_each_kind_has_level_title_cause_and_next_step(entry) -> None:
    assert entry.level in ("error", "warning")
    assert 5 < len(entry.title) <= 60
    for text in (entry.cause, entry.fix):
        assert len(text.split()) >= 4
        assert not text.endswith(".")
        assert text != entry.title


def test_every_id_that_the_code_names_is_in_the_catalogue() -> None:
    named = {
        found
        for file in PACKAGE.rglob("*.py")
        for found in re.findall(r"\"(EB\d{3})\"", file.read_text(encoding="utf-8"))
    }
    assert named <= set(catalogue())
    assert set(catalogue()) - named == set()  # and none is left over


def test_a_kind_of_a_newer_version_is_an_error_that_says_so() -> None:
    finding = make_finding("EB999", "text")
    assert (finding.id, finding.level) == ("EB999", "error")
    assert "newer version" in finding.cause
