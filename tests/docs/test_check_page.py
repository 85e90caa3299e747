"""The pages on the check: the catalogue is that of the code, the hooks do what the page says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from enzyme_build._toml import tomllib
from enzyme_build.cli import main
from enzyme_build.config import load_config
from enzyme_build.report.explain import findings_page

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "check.md").read_text(encoding="utf-8")
TABLES = [tomllib.loads(text) for text in re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]


def test_the_page_of_findings_is_that_of_the_code() -> None:
    written = (REPOSITORY / "docs" / "findings.md").read_text(encoding="utf-8")
    assert written == findings_page(), "write it anew: python -m enzyme_build.report.explain > docs/findings.md"


def test_the_settings_on_the_page_are_right(tmp_path: Path) -> None:
    (settings,) = [table for table in TABLES if "enzyme-build" in table["tool"]]
    text = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[TABLES.index(settings)]
    (tmp_path / "pyproject.toml").write_text(text)
    config = load_config(tmp_path)
    assert config is not None
    assert config.check.waivers[0].expires == "2027-06-30"
    assert config.check.baseline == "enzyme-baseline.json"


def test_every_format_and_option_on_the_page_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--help"]) == 0
    told = capsys.readouterr().out
    for word in set(re.findall(r"--[a-z][a-z-]+", PAGE)) | set(re.findall(r"--format (\w+)", PAGE)):
        assert word in told, word


def test_the_audit_command_judges_a_wheel(tmp_path: Path, venv: Path) -> None:
    (table,) = [table["tool"]["cibuildwheel"] for table in TABLES if "cibuildwheel" in table["tool"]]
    assert table["audit-requires"] == ["enzyme-build"]
    wheel = tmp_path / "empty-1.0-py3-none-any.whl"
    subprocess.run([sys.executable, "-m", "zipfile", "-c", wheel, __file__], check=True)
    command = shlex.split(table["audit-command"].format(wheel=wheel))
    command[0] = str(venv.with_name(command[0]))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "EB024 nothing to check" in done.stdout


def test_the_pre_commit_hook_runs_on_rule_files(tmp_path: Path, venv: Path) -> None:
    hook = dict(re.findall(r"^[- ] (\w+): (.*)$", (REPOSITORY / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE))
    assert hook["id"] in PAGE
    assert re.search(hook["files"], "rules/geo.toml")
    assert re.search(hook["files"], "python/rules/geo.toml")
    assert not re.search(hook["files"], "pyproject.toml")
    (tmp_path / "good.toml").write_text('[[inactive]]\nfunction = "log_step"\n')
    (tmp_path / "bad.toml").write_text('[[inactiv]]\nfunction = "log_step"\n')
    entry = shlex.split(hook["entry"])
    entry[0] = str(venv.with_name(entry[0]))
    good = subprocess.run([*entry, "good.toml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stderr
    bad = subprocess.run([*entry, "bad.toml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert bad.returncode != 0
    assert "inactiv" in bad.stderr
