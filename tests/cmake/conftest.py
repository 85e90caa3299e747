"""CMake projects, and an environment with the wheel of this project and the build backends that go with CMake."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv as venv_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.cmake import CMakeBuild

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.enzyme import Enzyme

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = REPOSITORY / "tests" / "packages"
# setuptools-scm: for the project in test_foreign_project.py
BACKENDS = ("scikit-build-core", "pybind11", "nanobind", "setuptools>=77", "setuptools-scm", "wheel")


@pytest.fixture(scope="session")
def cmake_environment(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with this project's wheel, scikit-build-core, pybind11 and nanobind in it."""
    folder = tmp_path_factory.mktemp("cmake-environment")
    venv_module.create(folder, with_pip=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", *BACKENDS, *wheelhouse.glob("*.whl")]
    subprocess.run([str(item) for item in pip], check=True)
    return folder


@pytest.fixture(scope="session")
def package(cmake_environment: Path) -> Path:
    """The folder of the installed CMake package."""
    done = subprocess.run(
        [cmake_environment / "bin" / "enzyme-build", "--cmake-dir"], check=True, capture_output=True, text=True
    )
    return Path(done.stdout.strip())


@pytest.fixture
def make_build(tmp_path: Path, package: Path, enzyme: Enzyme) -> Callable[..., CMakeBuild]:
    """A function that copies a project and returns a build of it, by default with clang, Ninja and `Release`."""

    def make(
        source: Path,
        *options: str,
        folder: str = "project",
        generator: str = "Ninja",
        c: str = "",
        cmake: str = "cmake",
    ) -> CMakeBuild:
        target = tmp_path / folder
        if not target.exists():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("build", "dist", "*.so", "*.enzymebc.json"))
        common = (
            f"-G{generator}",
            f"-DEnzymeBC_ROOT={package}",
            f"-DCMAKE_C_COMPILER={c or enzyme.clang}",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCONSUMER=llvm-15",
        )
        return CMakeBuild(target, target.with_name(f"{folder}-build"), (*common, *options), cmake=cmake)

    return make


@pytest.fixture
def plain(make_build: Callable[..., CMakeBuild]) -> Callable[..., CMakeBuild]:
    """A function that returns a fresh build of tests/packages/cmake_plain."""

    def make(*options: str, **others: str) -> CMakeBuild:
        return make_build(PACKAGES / "cmake_plain", *options, **others)

    return make


@pytest.fixture
def write_project(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a project of one CMakeLists.txt (its body) and further files, and returns its folder."""

    def write(body: str, folder: str = "written", languages: str = "C", **files: str) -> Path:
        source = tmp_path / folder
        head = f"cmake_minimum_required(VERSION 3.20)\nproject(written LANGUAGES {languages})\n"
        for name, text in {"CMakeLists.txt": head + body, **files}.items():
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return source

    return write


@pytest.fixture(scope="session")
def old_cmake(work_folder: Path) -> str:
    """The oldest CMake that the package promises to work with, from PyPI."""
    folder = work_folder / "cmake-3.20"
    program = folder / "cmake" / "data" / "bin" / "cmake"
    if not program.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, "cmake>=3.20,<3.21"]
        subprocess.run([str(item) for item in pip], check=True)
    return str(program)
