"""The setuptools hook: absent where it is not asked for, clear where the table is wrong."""

from __future__ import annotations

import zipfile

PLAIN = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "plain"
version = "1.0"
description = "speaks of enzyme-build, does not use it"

[tool.setuptools]
packages = ["tiny"]
"""

LOADED = """
import sys, setuptools
dist = setuptools.Distribution()
loaded = [name for name in sys.modules if name.startswith(("enzyme_build.", "msgspec"))]
print(sorted(loaded), "build_enzyme" in dist.cmdclass, "has_ext_modules" in vars(dist))
"""


def test_nothing_is_loaded_in_a_project_that_does_not_mention_us(make_project):
    project = make_project("", head=PLAIN.replace("enzyme-build", "something"))
    assert project.run("-c", LOADED).ok().split() == [
        "['enzyme_build.backends',",
        "'enzyme_build.backends.setuptools_hook']",
        "False",
        "False",
    ]


def test_a_project_without_the_table_is_left_alone_and_nothing_is_said(make_project):
    project = make_project("", head=PLAIN)
    output = project.run("-c", LOADED).ok()
    assert output.strip().endswith("False False")
    wheel = project.wheel()
    assert wheel.name == "plain-1.0-py3-none-any.whl"
    assert [name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith("plain-")] == ["tiny/__init__.py"]
    assert "enzyme" not in project.hook("build_wheel", "again", backend="setuptools.build_meta").ok()


def test_a_project_without_any_pyproject_is_left_alone(make_project):
    project = make_project("")
    (project.folder / "pyproject.toml").unlink()
    project.write("setup.py", "from setuptools import setup; setup(name='old', version='1', packages=['tiny'])")
    assert project.wheel().name == "old-1-py3-none-any.whl"


def test_a_table_without_libraries_changes_nothing(make_project):
    project = make_project('[tool.enzyme-build]\nconsumers = ["julia-1.12"]\n')
    assert project.wheel().name == "tiny-1.0-py3-none-any.whl"


def test_all_problems_of_the_table_are_shown_at_once_without_a_traceback(make_project):
    project = make_project(
        """
        [tool.enzyme-build]
        consumer = ["julia-1.12"]

        [[tool.enzyme-build.library]]
        name = "wave"
        package = "tiny"
        sources = ["src/wave.c"]
        include_dirs = ["include"]

        [[tool.enzyme-build.library]]
        name = "other"
        package = "tiny"
        bitcode = "no"
        """,
    )
    output = project.pip_wheel().failed()
    assert "4 problems in the configuration:" in output
    assert "pyproject.toml: tool.enzyme-build.consumer: unknown key; did you mean 'consumers'?" in output
    assert (
        "pyproject.toml: tool.enzyme-build.library[0].include_dirs: unknown key; did you mean 'include-dirs'?" in output
    )
    assert "pyproject.toml: tool.enzyme-build.library[1]: missing key 'sources'" in output
    assert "pyproject.toml: tool.enzyme-build.library[1].bitcode: expected a boolean, got" in output
    assert list(project.folder.glob("dist/*")) == []


def test_a_missing_source_is_named_with_the_one_that_is_there(make_project):
    table = '[[tool.enzyme-build.library]]\nname = "wave"\npackage = "tiny"\nsources = ["src/wvae.c"]\n'
    project = make_project(table, **{"src/wave.c": "int wave;\n"})
    output = project.pip_wheel().failed()
    assert "tool.enzyme-build.library[0].sources[0]: no such file: 'src/wvae.c'; did you mean 'src/wave.c'?" in output
