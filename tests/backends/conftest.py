"""Real builds of small projects, by pip and by setuptools."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.commands import Done, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SAMPLE = Path(__file__).resolve().parents[2] / "sample_project"
GENERATED = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", "*.so", "*.enzymebc.json")

PYPROJECT = """
[build-system]
requires = ["setuptools>=77", "enzyme-build"]
build-backend = "enzyme_build.setuptools"

[project]
name = "tiny"
version = "1.0"

[tool.setuptools]
packages = ["tiny"]
"""


@dataclass(frozen=True)
class Project:
    """A project folder and the Python that builds it."""

    folder: Path
    python: Path

    def run(self, *arguments: object, environment: Mapping[str, str] | None = None, cwd: Path | None = None) -> Done:
        return run(self.python, *arguments, cwd=cwd or self.folder, environment=environment)

    def pip_wheel(self, *arguments: object, out: str = "dist") -> Done:
        options = ("--no-build-isolation", "--no-deps", "--wheel-dir", out)
        return self.run("-m", "pip", "wheel", "-v", *options, *arguments, ".")

    def wheel(self, *arguments: object, out: str = "dist") -> Path:
        """Return the wheel of the project, built in its folder."""
        self.pip_wheel(*arguments, out=out).ok()
        (wheel,) = (self.folder / out).glob("*.whl")
        return wheel

    def hook(self, name: str, *arguments: object, backend: str = "enzyme_build.setuptools") -> Done:
        """Call a PEP 517 hook as a front end does, and print what it returns."""
        code = f"import {backend} as backend, sys; print(backend.{name}(*sys.argv[1:]))"
        return self.run("-c", code, *arguments)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} is not once in {name}"
        self.write(name, text.replace(old, new))


@pytest.fixture
def make_project(tmp_path: Path, venv: Path) -> Callable[..., Project]:
    """A function that writes files into a new folder, `pyproject.toml` with the usual head, and returns the project."""

    def make(tables: str, folder: str = "project", head: str = PYPROJECT, **files: str) -> Project:
        project = Project(tmp_path / folder, venv)
        project.write("pyproject.toml", head + tables)
        for name, text in {"tiny/__init__.py": "", **files}.items():
            project.write(name, text)
        return project

    return make


@pytest.fixture
def sample(tmp_path: Path, venv: Path) -> Project:
    """A fresh copy of sample_project."""
    folder = tmp_path / "sample_project"
    shutil.copytree(SAMPLE, folder, ignore=GENERATED)
    return Project(folder, venv)


@pytest.fixture(scope="session")
def sample_wheel(tmp_path_factory: pytest.TempPathFactory, venv: Path) -> Path:
    """The wheel of sample_project."""
    folder = tmp_path_factory.mktemp("sample") / "sample_project"
    shutil.copytree(SAMPLE, folder, ignore=GENERATED)
    return Project(folder, venv).wheel()


@pytest.fixture
def installed(tmp_path: Path, venv: Path) -> Callable[[Path], Callable[[str], str]]:
    """A function that unpacks a wheel as an installer does, and returns one that runs code which imports from it."""

    def unpack(wheel: Path) -> Callable[[str], str]:
        folder = tmp_path / f"site-{wheel.stem}"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)

        def execute(code: str) -> str:
            done = subprocess.run(
                [sys.executable, "-c", code],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout.strip()

        return execute

    return unpack
