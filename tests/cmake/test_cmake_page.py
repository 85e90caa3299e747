"""The examples of docs/cmake.md configure, build and install, and the page names everything that there is."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from support.cmake import CMakeBuild, bitcode_sources, run

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs/cmake.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = FENCE.findall(PAGE)
EXAMPLES = [text for language, label, text in BLOCKS if (language, label) == ("cmake", "example")]
FILES = {label.removeprefix("file="): text for _, label, text in BLOCKS if label.startswith("file=")}
# what is there before an example: the project of the page without its calls for `kernel`
PRELUDE = FILES["CMakeLists.txt"].partition("enzymebc_target(kernel")[0]


@pytest.fixture
def sample(tmp_path):
    """The files of sample_project."""
    folder = tmp_path / "sample_project"
    shutil.copytree(REPOSITORY / "sample_project", folder, ignore=shutil.ignore_patterns("build", "dist", "*.so"))
    return folder


def build_of(folder, package, enzyme):
    options = ("-GNinja", f"-DEnzymeBC_ROOT={package}", f"-DCMAKE_C_COMPILER={enzyme.clang}")
    return CMakeBuild(folder, folder.with_name("build"), options)


@pytest.mark.parametrize("example", EXAMPLES, ids=[re.search(r"enzymebc_\w+", text)[0] for text in EXAMPLES])
def test_an_example(sample, package, enzyme, example):
    (sample / "CMakeLists.txt").write_text(PRELUDE + example)
    build = build_of(sample, package, enzyme)
    build.configure().ok()
    build.build().ok()
    if "enable_testing" in example:
        build.test().ok()
    if "install(" in example:
        build.install(sample.with_name("installed"), "--strip").ok()
        assert bitcode_sources(sample.with_name("installed") / "lib/libkernel.so") == ("src/kernel.c", "src/util.c")


def test_the_first_project_with_the_commands_of_the_page(sample, cmake_environment, enzyme):
    (console,) = [text for language, _, text in BLOCKS if language == "console"]
    (sample / "CMakeLists.txt").write_text(FILES["CMakeLists.txt"])
    path = f"{cmake_environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "CC": str(enzyme.clang)}
    for command in re.findall(r"^\$ (.*)$", console, re.MULTILINE):
        if not command.startswith("pip "):  # the wheel of the working tree is installed there
            run("sh", "-c", command, cwd=sample, environment=environment).ok()
    assert bitcode_sources(sample / "installed/lib/libkernel.so") == ("src/kernel.c", "src/util.c")


def test_the_first_project_is_that_of_sample_project():
    def calls(text):
        return re.findall(r"^(?:add_library|target_\w+|enzymebc_target)\(.*?\)", text, re.MULTILINE)

    assert calls((REPOSITORY / "sample_project/CMakeLists.txt").read_text()) == calls(FILES["CMakeLists.txt"])
    head, _, text = (REPOSITORY / "sample_project/pyproject-cmake.toml").read_text().partition("\n")
    assert head.startswith("# In place of pyproject.toml")
    assert text == FILES["pyproject.toml"]


def test_the_page_names_every_function_argument_property_and_variable():
    text = "".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "cmake/EnzymeBC").glob("*.cmake"))
    functions = set(re.findall(r"^function\((enzymebc_\w+)", text, re.MULTILINE))
    assert len(functions) == 7
    keywords = set()
    for parsed in re.findall(r"cmake_parse_arguments\((.*?)\)\n", text, re.DOTALL):
        for quoted in re.findall(r'"([A-Z_;]+)"', parsed):
            keywords |= set(quoted.split(";"))
    names = set(re.findall(r"\bENZYMEBC_[A-Z]+\b", text))
    assert {"ENZYMEBC_PYTHON", "ENZYMEBC_EMBED"} <= names
    missing = [name for name in sorted(functions | keywords | names) if not re.search(rf"\b{name}\b", PAGE)]
    assert missing == []
