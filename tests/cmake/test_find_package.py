"""find_package(EnzymeBC) from every place it may be in, and what it says when a part is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv as venv_module
from pathlib import Path

import pytest

import enzyme_build
from support.cmake import CMakeBuild, run

REPOSITORY = Path(__file__).resolve().parents[2]
FIND = 'find_package(EnzymeBC {} REQUIRED)\nmessage(STATUS "found ${{EnzymeBC_VERSION}} in ${{EnzymeBC_DIR}}")\n'


@pytest.fixture
def outside():
    """The environment of a shell in which no virtual environment is active."""
    path = os.pathsep.join(entry for entry in os.environ["PATH"].split(os.pathsep) if ".work/venv" not in entry)
    return {"PATH": path, "VIRTUAL_ENV": "", "PYTHONPATH": ""}


def find(source, *options, environment=None, folder="found"):
    build = CMakeBuild(source, source.with_name(folder), environment=environment or {})
    return build, build.configure(*options)


def test_the_version_of_the_cmake_part_is_that_of_the_python_part():
    text = (REPOSITORY / "cmake/EnzymeBC/EnzymeBCConfigVersion.cmake").read_text(encoding="utf-8")
    assert re.findall(r'PACKAGE_VERSION "([^"]+)"', text) == [enzyme_build.__version__]


def test_the_folder_that_the_command_prints(write_project, package, outside):
    source = write_project(FIND.format("0.1"), languages="NONE")
    build, done = find(source, f"-DEnzymeBC_ROOT={package}", environment=outside)
    assert f"found {enzyme_build.__version__} in {package}" in done.ok()
    cached = [line for line in (build.folder / "CMakeCache.txt").read_text().splitlines() if "enzymebc" in line.lower()]
    assert all(re.match(r"//|EnzymeBC_(DIR|ROOT):", line) for line in cached), cached


def test_an_active_environment(write_project, cmake_environment, outside):
    source = write_project(FIND.format(""), languages="NONE")
    path = f"{cmake_environment / 'bin'}{os.pathsep}{outside['PATH']}"
    _, done = find(source, environment={**outside, "PATH": path})
    assert f"in {cmake_environment}/share/cmake/EnzymeBC" in done.ok()


def test_a_prefix(write_project, wheelhouse, cmake_environment, tmp_path, outside):
    """A prefix that pip installed to, without an environment around it."""
    command = ("-m", "pip", "install", "--quiet", "--no-deps", "--ignore-installed", "--prefix", tmp_path / "prefix")
    run(sys.executable, *command, *wheelhouse.glob("*.whl")).ok()
    source = write_project(FIND.format(""), languages="NONE")
    options = (f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}", f"-DENZYMEBC_PYTHON={cmake_environment}/bin/python")
    assert f"in {tmp_path}/prefix/share/cmake/EnzymeBC" in find(source, *options, environment=outside)[1].ok()


def test_a_prefix_that_cmake_installed_to(write_project, cmake_environment, tmp_path, outside):
    """The CMake part from one place, as a distribution packs it, the Python part from another."""
    python = f"-DENZYMEBC_PYTHON={cmake_environment}/bin/python"
    own = CMakeBuild(REPOSITORY, tmp_path / "own")
    own.configure(python).ok()
    own.install(tmp_path / "prefix").ok()
    assert (tmp_path / "prefix/share/cmake/EnzymeBC/run.py").exists()
    source = write_project(FIND.format(""), languages="NONE")
    _, done = find(source, f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}", python, environment=outside)
    assert f"in {tmp_path}/prefix/share/cmake/EnzymeBC" in done.ok()


@pytest.mark.parametrize(
    "how",
    [
        f'add_subdirectory("{REPOSITORY}" EnzymeBC)',
        "\n".join(
            (
                "include(FetchContent)",
                f'FetchContent_Declare(EnzymeBC SOURCE_DIR "{REPOSITORY}")',
                "FetchContent_MakeAvailable(EnzymeBC)",
            )
        ),
    ],
    ids=["add_subdirectory", "FetchContent"],
)
def test_the_source_tree_as_part_of_a_project(write_project, cmake_environment, enzyme, outside, how):
    body = f"{how}\n{FIND.format('')}add_library(kernel SHARED kernel.c)\nenzymebc_target(kernel)\n"
    source = write_project(body, **{"kernel.c": "double kernel(double x) { return x * x; }"})
    options = (f"-DENZYMEBC_PYTHON={cmake_environment}/bin/python", f"-DCMAKE_C_COMPILER={enzyme.clang}")
    build, done = find(source, "-GNinja", *options, environment=outside)
    assert f"in {REPOSITORY}/cmake/EnzymeBC" in done.ok()
    build.build().ok()
    assert (build.folder / "libkernel.so.enzymebc.json").exists()


@pytest.mark.parametrize("wanted", ["0.1", "0.1.0 EXACT", "0", "0.1...<1"])
def test_versions_that_fit(write_project, package, wanted):
    source = write_project(FIND.format(wanted), languages="NONE")
    find(source, f"-DEnzymeBC_ROOT={package}")[1].ok()


@pytest.mark.parametrize("wanted", ["0.0.1", "0.2", "1", "0.2...<1", "0...<0.1"])
def test_versions_that_do_not_fit(write_project, package, wanted):
    source = write_project(FIND.format(wanted), languages="NONE")
    said = find(source, f"-DEnzymeBC_ROOT={package}")[1].failed()
    assert f"EnzymeBCConfig.cmake, version: {enzyme_build.__version__}" in said


def test_a_missing_python_part(write_project, tmp_path, outside):
    venv_module.create(tmp_path / "empty")
    folder = tmp_path / "alone/EnzymeBC"
    shutil.copytree(REPOSITORY / "cmake/EnzymeBC", folder)
    source = write_project(FIND.format(""), languages="NONE")
    python = tmp_path / "empty/bin/python"
    _, done = find(source, f"-DEnzymeBC_ROOT={folder}", f"-DENZYMEBC_PYTHON={python}", environment=outside)
    said = done.failed()
    assert f"the CMake part of enzyme-build {enzyme_build.__version__} is here" in said
    assert f"{python} has no module 'enzyme_build'" in said
    assert f"-m pip install enzyme-build=={enzyme_build.__version__}" in said


def test_a_python_that_does_not_exist(write_project, package, outside):
    source = write_project(FIND.format(""), languages="NONE")
    _, done = find(source, f"-DEnzymeBC_ROOT={package}", "-DENZYMEBC_PYTHON=/nowhere/python", environment=outside)
    assert "ENZYMEBC_PYTHON is /nowhere/python, which does not exist" in done.failed()


def test_a_python_part_of_another_version(write_project, cmake_environment, tmp_path, outside):
    folder = tmp_path / "alone/EnzymeBC"
    shutil.copytree(REPOSITORY / "cmake/EnzymeBC", folder)
    version = folder / "EnzymeBCConfigVersion.cmake"
    version.write_text(version.read_text().replace(f'"{enzyme_build.__version__}"', '"0.9.9"'))
    source = write_project(FIND.format(""), languages="NONE")
    python = f"-DENZYMEBC_PYTHON={cmake_environment}/bin/python"
    _, done = find(source, f"-DEnzymeBC_ROOT={folder}", python, environment=outside)
    assert f"configured for version 0.9.9, Python finds {enzyme_build.__version__}" in done.failed()


def test_an_environment_that_went_away(write_project, cmake_environment, package, tmp_path, outside):
    """An isolated build's environment has another name each time; its folder is found anew, its Python too."""
    moved = tmp_path / "first"
    shutil.copytree(package, moved / "enzyme_build/cmake")
    (moved / "enzyme_build/__init__.py").write_text("")
    for part in package.parent.iterdir():
        if part.name not in {"cmake", "__init__.py"}:
            (moved / "enzyme_build" / part.name).symlink_to(part)
    (moved / "enzyme_build/__init__.py").write_bytes((package.parent / "__init__.py").read_bytes())
    source = write_project(FIND.format(""), languages="NONE")
    first = find(
        source, f"-DEnzymeBC_ROOT={moved}/enzyme_build/cmake", f"-DENZYMEBC_PYTHON={cmake_environment}/bin/python"
    )
    assert f"in {moved}" in first[1].ok()
    shutil.rmtree(moved)
    second = find(source, f"-DEnzymeBC_ROOT={package}", "-UENZYMEBC_PYTHON", environment=outside)
    assert f"in {package}" in second[1].ok()


def test_without_required_the_project_decides(write_project, package, outside):
    body = 'find_package(EnzymeBC)\nmessage(STATUS "found: ${EnzymeBC_FOUND}")\n'
    source = write_project(body, languages="NONE")
    options = (f"-DEnzymeBC_ROOT={package}", "-DENZYMEBC_PYTHON=/nowhere/python")
    said = find(source, *options, environment=outside)[1].ok()
    assert "found: 0" in said
    assert "ENZYMEBC_PYTHON is /nowhere/python" in said


def test_a_build_notices_another_version_of_the_python_part(package, cmake_environment):
    done = subprocess.run(
        [cmake_environment / "bin/python", package / "run.py", "0.0.1", "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert "hint: run CMake again" in done.stderr
