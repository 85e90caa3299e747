"""The examples of the README work word for word, and print what it says they print."""

from __future__ import annotations

import math
import os
import re
import subprocess
import venv as venv_module
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from enzyme_build import errors
from enzyme_build.config import tool_schema
from enzyme_build.toolchain import load_consumers

BUILD = "from enzyme_build.setuptools import build_wheel; build_wheel('dist')"
README = Path(__file__).resolve().parents[2] / "README.md"
FENCE = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    label: str
    text: str


BLOCKS = [Block(language, label, text) for language, label, text in FENCE.findall(README.read_text(encoding="utf-8"))]
FILES = {block.label.removeprefix("file="): block.text for block in BLOCKS if block.label.startswith("file=")}


@pytest.fixture
def project(tmp_path):
    """The folder with the README's files, which was empty before."""
    for name, text in FILES.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "project"


@pytest.fixture
def environment(tmp_path, wheelhouse):
    """The environment of a user's shell: a new virtual environment is active, and pip finds this project's wheel."""
    venv_module.create(tmp_path / "venv", with_pip=True)
    links = f"{os.environ.get('PIP_FIND_LINKS', '')} {wheelhouse}".strip()
    path = f"{tmp_path / 'venv/bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PIP_FIND_LINKS": links}


def test_every_block_is_for_something():
    kinds = {(block.language, block.label.partition("=")[0]) for block in BLOCKS}
    assert kinds == {
        ("toml", "file"),
        ("toml", "stated"),
        ("c", "file"),
        ("python", "file"),
        ("console", ""),
        ("console", "norun"),
        ("text", "report"),
    }


def test_the_five_minutes(project, environment):
    (block,) = [block for block in BLOCKS if (block.language, block.label) == ("console", "")]
    for step in block.text.split("$ ")[1:]:
        command, _, shown = step.partition("\n")
        if command.startswith("cd "):
            project = (project / command.removeprefix("cd ")).resolve()
            continue
        done = subprocess.run(
            command, shell=True, cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout == shown


@pytest.mark.parametrize("stated", [False, True], ids=["functions", "stated"])
def test_the_derivative_of_the_example_is_right(project, venv, enzyme, tmp_path, stated):
    if stated:
        (block,) = [block for block in BLOCKS if block.label == "stated"]
        (project / "rules/gravity.toml").write_text(block.text)
        (project / "src/gravity_rule.c").unlink()
        configuration = (project / "pyproject.toml").read_text()
        assert ', "src/gravity_rule.c"' in configuration
        (project / "pyproject.toml").write_text(configuration.replace(', "src/gravity_rule.c"', ""))
    """With the real Enzyme, which reads LLVM 15: build with its clang."""
    done = subprocess.run(
        [venv, "-c", BUILD],
        cwd=project,
        env={**os.environ, "ENZYME_BUILD_LLVM": str(enzyme.clang)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(next((project / "dist").glob("*.whl"))) as archive:
        archive.extractall(tmp_path / "site")
    library = tmp_path / "site/pendulum/libpendulum.so"
    host = """
        double energy(double);
        int main(void) {
            printf("%.17g\\n", __enzyme_autodiff((void *)energy, 0.7));
            printf("%.17g\\n", __enzyme_fwddiff((void *)energy, 0.7, 1.0));
        }
    """
    link = [library.with_name("libgravity.so")]
    numbers = enzyme.differentiate(host, tmp_path / "enzyme", imports=[(library, "energy")], link=link)
    height = 1.0 - math.cos(0.7)
    slope = 9.81 * (1.0 - height) / (1.0 + height) ** 3 * math.sin(0.7)  # of 9.81 * h / (1 + h)**2
    assert numbers == pytest.approx([slope, slope], rel=1e-12)


def test_the_report_of_a_failed_check(project, venv):
    (block,) = [block for block in BLOCKS if block.label == "report"]
    (project / "rules/gravity.toml").write_text("# no rule\n")
    done = subprocess.run([venv, "-c", BUILD], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr[done.stderr.index("pendulum/libpendulum.so\n") :] == block.text


def test_the_table_of_exit_codes_is_that_of_the_errors():
    table = dict(re.findall(r"^\| (\d) \| (.*) \|$", README.read_text(encoding="utf-8"), re.MULTILINE))
    assert table[str(errors.UsageError.exit_code)] == "wrong usage"
    assert table[str(errors.EnzymeBuildError.exit_code)].startswith("wrong configuration")
    assert table[str(errors.ToolError.exit_code)] == "a tool is missing or failed"


def test_the_table_of_consumers_is_that_of_the_profiles():
    text = README.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| LLVM (\d+) and older \| (.*?) \|", text, re.MULTILINE)
    written = {name: (int(major), set(pointers.split(" or "))) for name, major, pointers in rows}
    profiles = {each.name: (each.llvm_major, {mode.value for mode in each.pointers}) for each in load_consumers()}
    assert written == profiles


def test_every_key_of_the_tables_is_named():
    text = README.read_text(encoding="utf-8")
    schema = tool_schema("enzyme-build")
    for table in (schema, *schema["$defs"].values()):
        for key in table.get("properties", {}):
            assert f"`{key}`" in text or f"{key} =" in text or f"[.{key}]" in text, key
