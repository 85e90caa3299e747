"""What a project says of findings: levels, choice, waivers, baseline."""

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path

import pytest
from by_hand import declared, defined, describe, elf, module

from enzyme_build.check.baseline import make_baseline, read_baseline, stable_name, write_baseline
from enzyme_build.check.finding import Verdict
from enzyme_build.check.judge import judge
from enzyme_build.check.policy import Policy, apply_policy, policy_of, require_known_ids
from enzyme_build.config import CheckTable, WaiverTable
from enzyme_build.errors import ConfigError, ManifestError
from enzyme_build.manifest import WaiverRecord
from enzyme_build.model import Mode

TODAY = datetime.date(2026, 6, 30)


def verdict_of(*members, roots=(), waivers=(), shown: str = "libkernel.so", **more) -> Verdict:
    manifest = describe(module(*members), elf("kernel"), roots=roots)
    return judge([(shown, manifest, None)], waivers=waivers, today=TODAY, **more)


OPAQUE = verdict_of(defined("kernel", "f", "fflush"), declared("f"), declared("fflush", "i32 (ptr)"))
CLEAN = verdict_of(defined("kernel"))


def ids(verdict: Verdict) -> list[str]:
    return [finding.id for finding in verdict.findings]


def test_levels_by_id_and_by_pattern() -> None:
    assert ids(OPAQUE) == ["EB001", "EB013"]
    assert [each.level for each in OPAQUE.findings] == ["error", "warning"]
    raised = apply_policy(OPAQUE, Policy(levels={"EB013": "error"}))
    assert [each.level for each in raised.findings] == ["error", "error"]
    assert ids(apply_policy(OPAQUE, Policy(levels={"EB0*": "off", "EB001": "warning"}))) == ["EB001"]
    assert not apply_policy(OPAQUE, Policy(levels={"EB001": "off"})).errors


def test_select_and_ignore() -> None:
    assert ids(apply_policy(OPAQUE, Policy(select=("EB01?",)))) == ["EB013"]
    assert ids(apply_policy(OPAQUE, Policy(ignore=("EB013",)))) == ["EB001"]
    assert ids(apply_policy(OPAQUE, Policy(select=("EB001",), ignore=("EB001",)))) == []


def test_ids_that_no_finding_has_are_refused() -> None:
    require_known_ids(["EB001", "EB0*"], where="x")
    with pytest.raises(ConfigError, match="no finding is called 'EB0001'; did you mean 'EB001'"):
        require_known_ids(["EB0001"], where="--select")
    with pytest.raises(ConfigError, match=r"tool\.enzyme-build\.check: no finding is called 'opaque'"):
        policy_of(CheckTable(levels={"opaque": "off"}), root=Path())


def test_a_waiver_at_check_time_covers_findings_by_name_and_pattern() -> None:
    for symbol in ("f", "[f]"):
        waiver = WaiverRecord(symbol=symbol, reason="no derivative wanted")
        found = verdict_of(defined("kernel", "f"), declared("f"), waivers=[waiver])
        assert found.findings == ()
    other = verdict_of(defined("kernel", "f"), declared("f"), waivers=[WaiverRecord(symbol="g", reason="old")])
    assert ids(other) == ["EB017", "EB001"]


@pytest.mark.parametrize(("day", "ended"), [("2026-06-30", False), ("2026-06-29", True), ("someday", True)])
def test_a_waiver_ends_after_its_last_day(day: str, ended: bool) -> None:
    waiver = WaiverRecord(symbol="f", reason="until the rule is there", expires=day)
    found = verdict_of(defined("kernel", "f"), declared("f"), waivers=[waiver])
    assert ids(found) == (["EB037", "EB001"] if ended else [])
    if ended:
        assert f"ended on {day}, covers f" in found.findings[0].message
        assert found.findings[0].level == "error"


def test_a_waiver_is_for_symbols_and_not_for_files_or_rules() -> None:
    manifest = describe(module(defined("kernel")), elf("kernel"), roots=["kernels"])
    waiver = WaiverRecord(symbol="kernels", reason="x")
    found = judge([("libkernel.so", manifest, None)], waivers=[waiver], today=TODAY)
    assert "EB009" in ids(found)


def test_the_settings_of_a_project(tmp_path: Path) -> None:
    write_baseline(make_baseline(OPAQUE), tmp_path / "known.json")
    table = CheckTable(
        waivers=(WaiverTable(symbol="f", reason="x", expires="2026-01-01"),), ignore=("EB013",), baseline="known.json"
    )
    policy = policy_of(table, root=tmp_path)
    assert policy.waivers == (WaiverRecord(symbol="f", reason="x", expires="2026-01-01"),)
    assert policy.today is not None
    assert policy.baseline == make_baseline(OPAQUE)


def test_what_the_baseline_knows_does_not_count_and_what_is_new_does(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    write_baseline(make_baseline(OPAQUE), path)
    policy = Policy(baseline=read_baseline(path))
    known = apply_policy(OPAQUE, policy)
    assert (known.findings, known.summary.accepted) == ((), 2)
    more = verdict_of(defined("kernel", "f", "g"), declared("f"), declared("g"))
    assert [each.symbol for each in apply_policy(more, policy).findings] == ["g"]


def test_a_function_that_lost_a_mode_is_an_error_even_if_its_cause_is_waived() -> None:
    baseline = make_baseline(CLEAN)
    assert baseline.differentiable == {"libkernel.so": {"kernel": (Mode.REVERSE, Mode.FORWARD)}}
    one_mode = verdict_of(defined("kernel", "fflush"), declared("fflush", "i32 (ptr)"))
    lost = [each for each in apply_policy(one_mode, Policy(baseline=baseline)).findings if each.id == "EB038"]
    assert [each.message for each in lost] == ["kernel can no longer be differentiated in reverse mode"]
    assert lost[0].level == "error"
    gone = judge([("libkernel.so", describe(module(defined("other")), elf("other")), None)])
    (finding,) = apply_policy(gone, Policy(baseline=baseline)).findings
    assert finding.message == "kernel is no root any more"
    assert apply_policy(CLEAN, Policy(baseline=baseline)).findings == ()


def test_a_baseline_does_not_depend_on_folder_version_or_graft(tmp_path: Path) -> None:
    assert stable_name("dist/x-1.0.whl: x.libs/libkernel-0123abcd.so.1.2") == "libkernel.so"
    assert stable_name("build/libkernel.so") == "libkernel.so"
    renamed = verdict_of(
        defined("kernel", "f", "fflush"), declared("f"), declared("fflush", "i32 (ptr)"),
        shown="y-2.0.whl: y.libs/libkernel-89abcdef.so",
    )  # fmt: skip
    assert apply_policy(renamed, Policy(baseline=make_baseline(OPAQUE))).findings == ()
    write_baseline(make_baseline(renamed), tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text())["findings"][0]["library"] == "libkernel.so"


def test_a_baseline_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="cannot read the baseline"):
        read_baseline(tmp_path / "none.json")
    (tmp_path / "odd.json").write_text('{"schema": "enzymebc-baseline/9"}')
    with pytest.raises(ManifestError, match="not a baseline") as caught:
        read_baseline(tmp_path / "odd.json")
    assert "--write-baseline" in (caught.value.hint or "")


def test_a_root_that_reaches_an_error_is_not_differentiable() -> None:
    manifest = describe(module(defined("kernel", "f"), defined("other"), declared("f")), elf("kernel", "other"))
    (summary,) = judge([("x.so", manifest, None)]).summary.libraries
    assert summary.differentiable == {"kernel": (), "other": (Mode.REVERSE, Mode.FORWARD)}


def test_policy_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Policy().select = ("EB001",)  # type: ignore[misc]
