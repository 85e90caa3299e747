"""Extension modules that setuptools builds, given bitcode by a table."""

from __future__ import annotations

import json
import subprocess
import sysconfig
import zipfile

from elftools.elf.elffile import ELFFile

SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")

MODULE = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "curve.h"

static PyObject *call(PyObject *self, PyObject *argument) {
    (void)self;
    double x = PyFloat_AsDouble(argument);
    if (x == -1.0 && PyErr_Occurred()) return NULL;
    return PyFloat_FromDouble(curve(x));
}

static PyMethodDef methods[] = {{"curve", call, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_ext", NULL, -1, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__ext(void) { return PyModule_Create(&module); }
"""

FILES = {
    "src/module.c": MODULE,
    "src/curve.c": '#include "curve.h"\n#include <math.h>\ndouble curve(double x) { return FACTOR * sin(x); }\n',
    "include/curve.h": "double curve(double x);\n",
}

TABLES = """
[[tool.setuptools.ext-modules]]
name = "tiny._ext"
sources = ["src/module.c", "src/curve.c"]
include-dirs = ["include"]
define-macros = [["FACTOR", "2.0"]]

[[tool.setuptools.ext-modules]]
name = "tiny._plain"
sources = ["src/plain.c"]

[[tool.enzyme-build.extension]]
module = "tiny._ext"
"""

PLAIN = MODULE.replace("_ext", "_plain").replace('#include "curve.h"', "static double curve(double x) { return x; }")


def test_the_module_works_and_carries_bitcode_and_a_manifest(make_project, installed):
    project = make_project(TABLES, **FILES, **{"src/plain.c": PLAIN})
    wheel = project.wheel()
    digits = project.run("-c", "import sys; print('%d%d' % sys.version_info[:2])").ok().strip()
    assert wheel.name == f"tiny-1.0-cp{digits}-cp{digits}-linux_x86_64.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("tiny/_")]
        assert sorted(name for name in names if not name.endswith("__init__.py")) == [
            f"tiny/_ext{SUFFIX}",
            f"tiny/_ext{SUFFIX}.enzymebc.json",
            f"tiny/_plain{SUFFIX}",
        ]
        with archive.open(f"tiny/_ext{SUFFIX}") as stream:
            assert ELFFile(stream).get_section_by_name(".llvmbc").data_size > 0
        with archive.open(f"tiny/_plain{SUFFIX}") as stream:
            assert ELFFile(stream).get_section_by_name(".llvmbc") is None
        manifest = json.loads(archive.read(f"tiny/_ext{SUFFIX}.enzymebc.json"))
    assert manifest["symbols"]["curve"]["status"] == "bitcode"
    assert manifest["roots"] == ["curve"]  # PyInit__ext is no root: what it calls is not differentiated
    result = installed(wheel)("from tiny import _ext, _plain; print(_ext.curve(1.0), _plain.curve(1.0))")
    assert result == "1.682941969615793 1.0"


def test_a_second_build_does_nothing(make_project):
    project = make_project(TABLES, **FILES, **{"src/plain.c": PLAIN})
    first = project.hook("build_wheel", "dist").ok()
    assert "enzyme-build: tiny._ext: compiled 2 of 2 c sources" in first
    again = project.hook("build_wheel", "dist").ok()
    assert "compiled" not in again
    assert "finalized" not in again


def test_a_changed_rule_is_taken_up_without_compiling(make_project):
    project = make_project(TABLES + 'rules = ["rules/*.toml"]\n', **FILES, **{"src/plain.c": PLAIN})
    project.write("rules/curve.toml", "# none yet\n")
    project.hook("build_wheel", "dist").ok()
    project.write("rules/curve.toml", '[[inactive]]\nfunction = "curve"\n')
    output = project.hook("build_wheel", "dist").ok()
    assert "compiled" not in output
    assert f"tiny/_ext{SUFFIX}: finalized" in output


def test_an_opaque_symbol_fails_the_build_and_leaves_no_module(make_project):
    files = {**FILES, "src/curve.c": "double elsewhere(double); double curve(double x) { return elsewhere(x); }\n"}
    project = make_project(TABLES, **files, **{"src/plain.c": PLAIN})
    output = project.pip_wheel().failed()
    assert "EB001" in output
    assert "elsewhere" in output
    assert list(project.folder.glob("build/lib*/tiny/_ext*")) == []
    assert list(project.folder.glob("dist/*.whl")) == []


def test_a_table_that_names_no_module_says_which_there_are(make_project):
    project = make_project(TABLES.replace('module = "tiny._ext"', 'module = "tiny._etx"'), **FILES)
    project.write("src/plain.c", PLAIN)
    output = project.pip_wheel().failed()
    assert (
        "pyproject.toml: tool.enzyme-build.extension[0].module: setuptools builds no extension module 'tiny._etx'; "
        "did you mean 'tiny._ext'" in output
    )


def test_flags_of_a_foreign_compiler_are_dropped_with_a_note(make_project):
    project = make_project(TABLES, **FILES, **{"src/plain.c": PLAIN})
    flags = {"CFLAGS": "-O2 -flto-partition=none -DFROM_ENVIRONMENT"}
    output = project.run(
        "-c",
        "from enzyme_build.setuptools import build_wheel; print(build_wheel('dist', {'--global-option': '-v'}))",
        environment=flags,
    ).ok()
    assert "enzyme-build: tiny._ext: flag not passed on: -flto-partition=none: " in output


def test_strict_and_lenient_editable_hold_the_manifest(make_project):
    project = make_project(TABLES, **FILES, **{"src/plain.c": PLAIN})
    project.hook("build_editable", "dist").ok()
    assert (project.folder / f"tiny/_ext{SUFFIX}.enzymebc.json").is_file()
    for leftover in (project.folder / "tiny").glob("_ext*"):
        leftover.unlink()
    code = "from enzyme_build.setuptools import build_editable; build_editable('dist', {'editable_mode': 'strict'})"
    project.run("-c", code).ok()
    tree = next((project.folder / "build").glob("__editable__*"))
    assert sorted(path.name for path in (tree / "tiny").iterdir() if "_ext" in path.name) == [
        f"_ext{SUFFIX}",
        f"_ext{SUFFIX}.enzymebc.json",
    ]


def test_a_module_can_link_a_library_of_a_table(make_project, installed):
    tables = """
        [[tool.setuptools.ext-modules]]
        name = "tiny.sub._ext"
        sources = ["src/module.c"]
        include-dirs = ["include"]
        libraries = ["curve"]

        [[tool.enzyme-build.library]]
        name = "curve"
        package = "tiny"
        sources = ["src/curve.c"]
        include-dirs = ["include"]
        define = ["FACTOR=1.0"]

        [[tool.enzyme-build.extension]]
        module = "tiny.sub._ext"
    """
    project = make_project(tables, **FILES, **{"tiny/sub/__init__.py": ""})
    project.edit("pyproject.toml", 'packages = ["tiny"]', 'packages = ["tiny", "tiny.sub"]')
    wheel = project.wheel()
    manifest = json.loads(zipfile.ZipFile(wheel).read(f"tiny/sub/_ext{SUFFIX}.enzymebc.json"))
    assert {record["soname"]: record.get("merged") for record in manifest["dependencies"]}["libcurve.so"] is True
    assert installed(wheel)("from tiny.sub import _ext; print(_ext.curve(1.0))") == "0.8414709848078965"


def test_what_is_in_the_sdist_builds_the_module(make_project, tmp_path):
    project = make_project(TABLES, **FILES, **{"src/plain.c": PLAIN, "src/private.h": ""})
    project.edit("src/curve.c", '#include "curve.h"', '#include "curve.h"\n#include "private.h"')
    project.write("MANIFEST.in", "recursive-include include *.h\n")  # setuptools leaves an extension's headers out
    project.hook("build_sdist", "dist").ok()
    (sdist,) = (project.folder / "dist").glob("*.tar.gz")
    (tmp_path / "unpacked").mkdir()
    subprocess.run(["tar", "-xf", sdist, "-C", tmp_path / "unpacked"], check=True)
    unpacked = type(project)(next((tmp_path / "unpacked").iterdir()), project.python)
    assert (unpacked.folder / "src/private.h").is_file()
    assert unpacked.wheel()


def test_the_module_is_loadable_at_once(make_project, tmp_path):
    """RTLD_NOW finds every symbol: nothing of the rules reached native code."""
    project = make_project(TABLES, **FILES, **{"src/plain.c": PLAIN})
    with zipfile.ZipFile(project.wheel()) as archive:
        archive.extractall(tmp_path / "site")
    code = "import os, sys; sys.setdlopenflags(os.RTLD_NOW); from tiny import _ext"
    subprocess.run([project.python, "-c", code], cwd=tmp_path / "site", check=True)
