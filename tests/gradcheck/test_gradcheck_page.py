"""The examples of docs/gradcheck.md work word for word; only measured numbers may differ."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from enzyme_build.check.finding import catalogue
from enzyme_build.gradcheck import judge, lints
from enzyme_build.rules.documents import TestArgumentTable, TestTable
from enzyme_build.rules.load import load_rules
from support.enzyme import Enzyme

PAGE = (Path(__file__).parents[2] / "docs" / "gradcheck.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = FENCE.findall(PAGE)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|\[\d\]")


@pytest.fixture(scope="module")
def folder(enzyme: Enzyme, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page")
    for _, label, text in BLOCKS:
        if label.startswith("file="):
            (made / label.removeprefix("file=")).write_text(text)
    tools = made / "tools"
    tools.mkdir()
    package = Path(__file__).parents[2]
    (tools / "enzyme-build").write_text(f'#!/bin/sh\nPYTHONPATH={package} exec {sys.executable} -m enzyme_build "$@"\n')
    (tools / "enzyme-build").chmod(0o755)
    (tools / "clang-15").symlink_to(enzyme.clang.resolve())
    return made


def play(folder: Path, text: str, **variables: str) -> None:
    """Run every command of a console block, and compare what it prints but for the numbers."""
    for step in text.split("$ ", 1)[1].split("\n$ "):
        command, _, shown = step.partition("\n")
        environment = {**os.environ, "PATH": f"{folder / 'tools'}:{os.environ['PATH']}", **variables}
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == int("failed" in shown), done.stdout + done.stderr
        assert plain(done.stdout) == plain(shown), done.stdout


def plain(text: str) -> list[str]:
    """Return the words of a report, measured numbers replaced; one that comes out as zero has no quotient."""
    words = " ".join(NUMBER.sub("N", line) for line in text.splitlines() if not line.lstrip().startswith("time:"))
    return words.split()


def test_the_page_from_the_wrong_rule_to_the_right_one(folder: Path, enzyme: Enzyme) -> None:
    wrong, corrected, plugin = (text for language, label, text in BLOCKS if language == "console")
    play(folder, wrong)
    source = folder / "kernel.c"
    text = source.read_text()
    assert "d_x[i] += factor * tape[i]" in text
    source.write_text(text.replace("d_x[i] += factor * tape[i]", "d_x[i] += 2 * factor * tape[i]"))
    for command in wrong.split("$ ")[1:3]:
        play(folder, f"$ {command}")
    play(folder, corrected)
    play(folder, plugin, ENZYME_PLUGIN=str(enzyme.plugin))


def test_the_other_rules_load(tmp_path: Path) -> None:
    for index, (language, label, text) in enumerate(BLOCKS):
        if language == "toml" and not label:
            (tmp_path / f"{index}.toml").write_text(text)
    rules = load_rules(["*.toml"], root=tmp_path).rules
    assert [rule.test.seeds for rule in rules] == [50]


def test_the_page_has_every_key_and_complaint() -> None:
    for field in msgspec.structs.fields(TestTable):
        assert f"| `{field.encode_name}` |" in PAGE
    for field in msgspec.structs.fields(TestArgumentTable):
        assert f"| `arguments.NAME.{field.encode_name}` |" in PAGE
    text = "".join(Path(module.__file__ or "").read_text() for module in (lints, judge))
    told = {"not-accumulated", "not-cleared", "second-call", "leak", "freed", "overwritten", "inactive-wrong"}
    told |= {"primal-result", "primal-changed", "inactive-changed"}
    for kind in told:
        assert f'"{kind}"' in text
        assert f"`{kind}`" in PAGE


def test_the_findings_on_the_page_are_those_of_the_catalogue() -> None:
    titles = {"EB044": "certificate that is out of date", "EB045": "rule that failed gradcheck"}
    for finding, title in titles.items():
        assert catalogue()[finding].title == title
        assert f"`{finding}`" in PAGE
