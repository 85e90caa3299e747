"""The verdict goes into the manifest, survives a rebuild, and is out of date when the function or its rule changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from rule_cases import PRODUCT, SQUARE, SQUARE_PROTOTYPE, Case, case

from enzyme_build.check.run import check_paths
from enzyme_build.cli import main
from enzyme_build.manifest import CertificateRecord, manifest_path, read_manifest
from enzyme_build.model import Mode

PROVEN = case("proven", "double NAME(double x, double y)", PRODUCT)
OTHER = case("other", SQUARE_PROTOTYPE, SQUARE)
CHANGED = case(
    "proven", "double NAME(double x, double y)", PRODUCT, ("return x * x * sin(y);", "return 1 + x * x * sin(y);")
)
NEW_RULE = case(
    "proven", "double NAME(double x, double y)", PRODUCT, ("x * x * cos(y) * seed}", "x * cos(y) * x * seed}")
)
WRONG = case("proven", "double NAME(double x, double y)", PRODUCT, ("x * x * cos(y) * seed", "0"))
NEIGHBOUR = 'const char *neighbour(int n) { static int calls; calls += n; return calls > 3 ? "more" : "less"; }'


def certify(library: Path) -> int:
    return main(["gradcheck", str(library), "--no-plugin", "--seeds", "3", "--update-manifest", "--format", "json"])


def findings(library: Path) -> list[tuple[str, str | None]]:
    return [
        (finding.title, finding.symbol)
        for finding in check_paths([library]).findings
        if "certificate" in finding.title or "gradcheck" in finding.title
    ]


def test_certificates_are_written_and_kept(make: Callable[..., Path], tmp_path: Path) -> None:
    library = make(tmp_path, [PROVEN, OTHER])
    assert certify(library) == 0
    manifest = read_manifest(manifest_path(library))
    first = manifest.certificates[1]
    assert [each.symbol for each in manifest.certificates] == ["other", "proven"]
    assert first == CertificateRecord(
        symbol="proven",
        modes=(Mode.REVERSE, Mode.FORWARD),
        seeds=3,
        level=1,
        passed=True,
        digest=manifest.rules[0].digest,
        section_sha256=manifest.library.section_sha256,
    )
    assert first.digest is not None
    assert findings(library) == []
    make(tmp_path, [PROVEN, OTHER])  # built again
    assert read_manifest(manifest_path(library)).certificates == manifest.certificates
    assert findings(library) == []


@pytest.mark.parametrize("changed", [CHANGED, NEW_RULE], ids=["function", "rule"])
def test_a_change_makes_the_certificate_stale(make: Callable[..., Path], tmp_path: Path, changed: Case) -> None:
    library = make(tmp_path, [PROVEN, OTHER])
    certify(library)
    make(tmp_path, [changed, OTHER], extra=NEIGHBOUR)
    assert findings(library) == [("certificate that is out of date", "proven")]
    certify(library)
    assert findings(library) == []


def test_unrelated_code_changes_nothing(make: Callable[..., Path], tmp_path: Path) -> None:
    library = make(tmp_path, [PROVEN, OTHER])
    certify(library)
    make(tmp_path, [OTHER, PROVEN], extra=NEIGHBOUR)
    assert findings(library) == []


def test_a_rule_that_failed_is_an_error_of_the_check(make: Callable[..., Path], tmp_path: Path) -> None:
    library = make(tmp_path, [WRONG, OTHER])
    assert certify(library) == 1
    found = check_paths([library])
    assert [finding.title for finding in found.errors] == ["rule that failed gradcheck"]
    assert "the rule for proven did not pass: wrong-gradient, modes-disagree" in found.errors[0].message
    assert found.exit_code == 1


def test_a_certificate_goes_with_its_rule(make: Callable[..., Path], tmp_path: Path) -> None:
    library = make(tmp_path, [PROVEN, OTHER])
    certify(library)
    make(tmp_path, [OTHER])
    assert [each.symbol for each in read_manifest(manifest_path(library)).certificates] == ["other"]
