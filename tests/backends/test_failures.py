"""A build that cannot be right fails, says why, and leaves nothing half-done behind."""

from __future__ import annotations

import os
import subprocess
import zipfile

import pytest

TABLE = """
[[tool.enzyme-build.library]]
name = "wave"
package = "tiny"
sources = ["src/wave.c"]
"""

OPAQUE = "double elsewhere(double); double wave(double x) { return elsewhere(x); }\n"
CLEAR = "double wave(double x) { return x * x; }\n"


def left_behind(project):
    """Return the libraries and manifests outside of the work folder."""
    found = [path for pattern in ("*.so", "*.json", "*.whl") for path in project.folder.rglob(pattern)]
    inside = [path.relative_to(project.folder) for path in found]
    return [path for path in inside if not (path.parts[0] == "build" and path.parts[1].startswith("enzyme."))]


def test_removing_the_rule_fails_the_build_and_names_the_symbol(sample):
    (sample.folder / "rules/my_square.toml").write_text("# nothing\n")
    output = sample.pip_wheel().failed()
    assert "EB001" in output
    assert "my_square" in output
    assert "[[derivative]]" in output  # the stanza to paste
    assert "the check of sample_project/libkernel.so, sample_project/libmy_square.so failed" in output or (
        "the check of sample_project/libmy_square.so, sample_project/libkernel.so failed" in output
    )
    assert left_behind(sample) == []


def test_the_good_build_after_a_failed_one_succeeds(sample):
    rules = sample.folder / "rules/my_square.toml"
    text = rules.read_text()
    rules.write_text("# nothing\n")
    sample.pip_wheel().failed()
    rules.write_text(text)
    assert sample.wheel()


def test_a_failing_check_is_only_shown_when_the_project_says_so(make_project):
    project = make_project(TABLE + '[tool.enzyme-build.check]\nfail-on = "never"\n', **{"src/wave.c": OPAQUE})
    output = project.hook("build_wheel", "dist").ok()
    assert "EB001" in output
    assert "elsewhere" in output


def test_the_compilers_own_text_is_shown(make_project):
    project = make_project(TABLE, **{"src/wave.c": "double wave(double x) { return y; }\n"})
    output = project.pip_wheel().failed()
    assert "src/wave.c:1:32: error: use of undeclared identifier 'y'" in output
    assert left_behind(project) == []


def test_the_linkers_own_text_is_shown(make_project):
    project = make_project(TABLE + 'libraries = ["nowhere_to_be_found"]\n', **{"src/wave.c": CLEAR})
    output = project.pip_wheel().failed()
    assert "nowhere_to_be_found" in output
    assert "libwave.so does not link" in output
    assert left_behind(project) == []


def test_a_wrong_rule_file_is_shown_with_file_and_key(make_project):
    rules = '[[derivative]]\nprototype = "double wave(double x)"\nreversed = {}\n\n[[inactiv]]\nfunction = "f"\n'
    project = make_project(TABLE + 'rules = ["rules/*.toml"]\n', **{"src/wave.c": CLEAR, "rules/wave.toml": rules})
    output = project.pip_wheel().failed()
    assert "rules/wave.toml" in output
    assert "did you mean 'reverse'" in output
    assert "did you mean 'inactive'" in output
    assert left_behind(project) == []


def test_a_library_whose_package_would_miss_its_python_files_is_refused(make_project):
    project = make_project(TABLE, **{"src/wave.c": CLEAR})
    project.edit("pyproject.toml", '[tool.setuptools]\npackages = ["tiny"]\n', "")
    output = project.pip_wheel().failed()  # the folder src/ made setuptools look for packages there
    assert "package 'tiny' is not among the packages of this distribution" in output
    assert "[tool.setuptools] packages = ['tiny']" in output


def test_a_strip_step_between_build_and_wheel_is_noticed(make_project):
    project = make_project(TABLE, **{"src/wave.c": CLEAR})
    project.write(
        "setup.py",
        """
import subprocess
from setuptools import setup
from setuptools.command.install_lib import install_lib

class Stripping(install_lib):
    def install(self):
        files = super().install()
        for file in files:
            if file.endswith(".so"):
                subprocess.run(["objcopy", "--remove-section=.llvmbc", file], check=True)
        return files

setup(cmdclass={"install_lib": Stripping})
""",
    )
    output = project.pip_wheel().failed()
    assert "strip" in output
    assert list((project.folder / "dist").glob("*.whl")) == []


def test_a_manifest_that_does_not_reach_the_wheel_is_noticed(make_project):
    project = make_project(TABLE, **{"src/wave.c": CLEAR})
    project.write(
        "setup.py",
        """
import os
from setuptools import setup
from setuptools.command.install_lib import install_lib

class Losing(install_lib):
    def install(self):
        files = super().install()
        for file in files:
            if file.endswith(".json"):
                os.unlink(file)
        return [file for file in files if not file.endswith(".json")]

setup(cmdclass={"install_lib": Losing})
""",
    )
    output = project.pip_wheel().failed()
    assert "lacks what was built for it:" in output
    assert "- tiny/libwave.so.enzymebc.json" in output


def test_a_build_folder_that_cannot_be_written_is_named(make_project):
    project = make_project(TABLE, **{"src/wave.c": CLEAR})
    project.hook("get_requires_for_build_wheel").ok()  # the egg-info, which setuptools itself writes
    project.write("setup.cfg", "[build]\nbuild_base = /proc/no-such-folder\n")  # read-only, for root too
    output = project.hook("build_wheel", "dist").failed()
    assert "/proc/no-such-folder" in output
    assert "error:" in output


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_files_in_the_wheel_are_readable_whatever_the_umask(make_project, umask):
    project = make_project(TABLE, **{"src/wave.c": CLEAR})
    code = "from enzyme_build.setuptools import build_wheel; print(build_wheel('dist'))"
    subprocess.run(
        [project.python, "-c", code],
        cwd=project.folder,
        check=True,
        umask=umask,
        stdout=subprocess.DEVNULL,
        env={**os.environ},
    )
    (wheel,) = (project.folder / "dist").glob("*.whl")
    modes = {info.filename: info.external_attr >> 16 & 0o777 for info in zipfile.ZipFile(wheel).infolist()}
    assert modes["tiny/libwave.so"] & 0o500 == 0o500
    assert modes["tiny/libwave.so.enzymebc.json"] & 0o400
