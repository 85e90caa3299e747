"""Library tables: links across packages, C++, options, native-only libraries, and the classes of the user."""

from __future__ import annotations

import json
import zipfile

import pytest
from elftools.elf.elffile import ELFFile


def runpath(wheel, member):
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as stream:
        tags = ELFFile(stream).get_section_by_name(".dynamic").iter_tags()
        return [
            tag.runpath if tag.entry.d_tag == "DT_RUNPATH" else tag.rpath for tag in tags if "PATH" in tag.entry.d_tag
        ]


def test_libraries_of_two_packages_find_each_other_after_the_installation(make_project, installed):
    project = make_project(
        """
        [[tool.enzyme-build.library]]
        name = "outer"
        package = "tiny"
        sources = ["src/outer.cpp"]
        links = ["inner"]
        define = ["SCALE=3.0", "QUIET"]
        include-dirs = ["include"]
        compile-args = ["-std=c++14"]

        [[tool.enzyme-build.library]]
        name = "inner"
        package = "tiny.deep.down"
        sources = ["src/inner.c"]
        include-dirs = ["include"]
        """,
        **{
            "include/inner.h": '#ifdef __cplusplus\nextern "C"\n#endif\ndouble inner(double x);\n',
            "src/inner.c": '#include "inner.h"\ndouble inner(double x) { return x * x; }\n',
            "src/outer.cpp": """
                #include "inner.h"
                #ifndef QUIET
                #error define was not passed on
                #endif
                template <class T> static T scaled(T x) { return T(SCALE) * inner(x); }
                extern "C" double outer(double x) { return scaled(x); }
            """,
        },
    )
    wheel = project.wheel()
    assert runpath(wheel, "tiny/libouter.so") == ["$ORIGIN/deep/down"]
    assert runpath(wheel, "tiny/deep/down/libinner.so") == []
    code = """
import ctypes
library = ctypes.CDLL("tiny/libouter.so")
library.outer.restype, library.outer.argtypes = ctypes.c_double, [ctypes.c_double]
print(library.outer(2.0))
"""
    assert installed(wheel)(code) == "12.0"
    manifest = json.loads(zipfile.ZipFile(wheel).read("tiny/libouter.so.enzymebc.json"))
    assert {record["soname"]: record.get("merged") for record in manifest["dependencies"]}["libinner.so"] is True
    assert not [name for name, record in manifest["symbols"].items() if record["status"] == "opaque"]
    assert manifest["consumers"][0].startswith("llvm-")  # none was asked for: the toolchain's own


def test_libraries_of_one_package_need_only_origin(sample_wheel):
    assert runpath(sample_wheel, "sample_project/libkernel.so") == ["$ORIGIN"]


def test_a_library_below_a_src_layout_goes_where_the_package_goes(make_project):
    head_tables = """
        [tool.setuptools.package-dir]
        "" = "python"

        [[tool.enzyme-build.library]]
        name = "wave"
        package = "tiny"
        sources = ["c/wave.c"]
    """
    project = make_project(head_tables, **{"python/tiny/__init__.py": "", "c/wave.c": "int wave(void) { return 1; }\n"})
    assert "tiny/libwave.so" in zipfile.ZipFile(project.wheel()).namelist()
    project.run("-c", "from setuptools import setup; setup()", "build_enzyme", "--inplace").ok()
    assert (project.folder / "python/tiny/libwave.so").is_file()


@pytest.mark.parametrize("where", ["setup.py", "pyproject.toml"])
def test_command_classes_of_the_user_are_kept(make_project, where):
    table = '[[tool.enzyme-build.library]]\nname = "wave"\npackage = "tiny"\nsources = ["src/wave.c"]\n'
    project = make_project(table, **{"src/wave.c": "int wave(void) { return 1; }\n"})
    project.write(
        "commands.py",
        """
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build import build

class Build(build):
    def run(self):
        print("the user's build runs")
        super().run()

class Wheel(bdist_wheel):
    def run(self):
        print("the user's bdist_wheel runs")
        super().run()
""",
    )
    if where == "setup.py":
        project.write(
            "setup.py",
            "import sys; sys.path.insert(0, '.')\n"
            "from setuptools import setup; from commands import Build, Wheel\n"
            "setup(cmdclass={'build': Build, 'bdist_wheel': Wheel})\n",
        )
    else:
        project.edit(
            "pyproject.toml",
            'packages = ["tiny"]\n',
            'packages = ["tiny"]\npy-modules = ["commands"]\n'
            'cmdclass = { build = "commands.Build", bdist_wheel = "commands.Wheel" }\n',
        )
    output = project.hook("build_wheel", "dist").ok()
    assert "the user's build runs" in output
    assert "the user's bdist_wheel runs" in output
    (wheel,) = (project.folder / "dist").glob("*.whl")
    assert wheel.name == "tiny-1.0-py3-none-linux_x86_64.whl"
    assert "tiny/libwave.so.enzymebc.json" in zipfile.ZipFile(wheel).namelist()
