"""Fixtures that several groups of tests share."""

from __future__ import annotations

import os
import subprocess
import sys
import venv as venv_module
from pathlib import Path

import pytest

from enzyme_build.toolchain import Toolchain
from support.enzyme import Enzyme
from support.enzyme_plugin import get_enzyme
from support.toolchains import Toolchains, find_toolchains

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def work_folder() -> Path:
    """Where downloads are kept between runs: `.work` of the repository, unless ENZYME_BUILD_WORK says otherwise."""
    return Path(os.environ.get("ENZYME_BUILD_WORK", REPOSITORY / ".work"))


@pytest.fixture(scope="session")
def enzyme(work_folder: Path) -> Enzyme:
    """The real Enzyme; its absence is a failure, never a skip."""
    return Enzyme(**{name: Path(path) for name, path in get_enzyme(work_folder / "enzyme").items()})


@pytest.fixture(scope="session")
def toolchains(enzyme: Enzyme) -> Toolchains:
    """Two real toolchains, of LLVM 15 and of a newer one."""
    return find_toolchains(enzyme.clang)


@pytest.fixture(scope="session", params=["older", "newer"])
def each_toolchain(request: pytest.FixtureRequest, toolchains: Toolchains) -> Toolchain:
    """Each of the two in turn."""
    return getattr(toolchains, request.param)


@pytest.fixture(scope="session")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of this project, built from the working tree."""
    folder = tmp_path_factory.mktemp("wheelhouse")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, REPOSITORY]
    subprocess.run([str(item) for item in command], check=True)
    return folder


@pytest.fixture(scope="session")
def venv(wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel of this project, setuptools and wheel in it; its python is returned."""
    folder = tmp_path_factory.mktemp("venv")
    venv_module.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    command = [python, "-m", "pip", "install", "--quiet", "setuptools>=77", "wheel", *wheelhouse.glob("*.whl")]
    subprocess.run([str(item) for item in command], check=True)
    return python
