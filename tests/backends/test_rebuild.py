"""A second build does only what has to be done again."""

from __future__ import annotations

import json
import zipfile

TABLES = """
[tool.enzyme-build]
rules = ["rules/*.toml"]

[[tool.enzyme-build.library]]
name = "wave"
package = "tiny"
sources = ["src/wave.c", "src/other.c"]
"""

FILES = {
    "src/wave.c": '#include "wave.h"\ndouble wave(double x) { return x * other(x); }\n',
    "src/other.c": '#include "wave.h"\ndouble other(double x) { return x + 1.0; }\n',
    "src/wave.h": "double wave(double x);\ndouble other(double x);\n",
    "rules/wave.toml": "# no rule yet\n",
}


def work(project):
    """Build and return what was done, as the lines of progress tell."""
    output = project.hook("build_wheel", "dist").ok()
    lines = [line.partition("enzyme-build: ")[2] for line in output.splitlines() if "enzyme-build: " in line]
    return [line for line in lines if not line.startswith("clang ")]


def test_a_second_build_does_nothing_and_gives_the_same_wheel(make_project):
    project = make_project(TABLES, **FILES)
    assert work(project) == [
        "tiny/libwave.so: compiled 2 of 2 sources, linked",
        "tiny/libwave.so: finalized",
        "tiny/libwave.so: now in build/lib.linux-x86_64-cpython-" + python_digits(project) + "/tiny",
    ]
    first = contents(project)
    assert work(project) == []
    assert contents(project) == first


def test_only_the_changed_source_is_compiled(make_project):
    project = make_project(TABLES, **FILES)
    work(project)
    project.edit("src/other.c", "x + 1.0", "x + 2.0")
    assert work(project)[:2] == ["tiny/libwave.so: compiled 1 of 2 sources, linked", "tiny/libwave.so: finalized"]


def test_a_changed_header_compiles_all_that_include_it(make_project):
    project = make_project(TABLES, **FILES)
    work(project)
    project.write("src/wave.h", FILES["src/wave.h"] + "double third(double x);\n")
    assert work(project)[0] == "tiny/libwave.so: compiled 2 of 2 sources, linked"


def test_a_changed_rule_finalizes_without_compiling(make_project):
    project = make_project(TABLES, **FILES)
    work(project)
    project.write("rules/wave.toml", '[[inactive]]\nfunction = "other"\n')
    done = work(project)
    assert done[0] == "tiny/libwave.so: finalized"
    manifest = json.loads(contents(project)["tiny/libwave.so.enzymebc.json"])
    assert [rule["symbol"] for rule in manifest["rules"]] == ["other"]
    assert work(project) == []


def test_a_library_that_is_renamed_does_not_stay_in_the_wheel(make_project):
    project = make_project(TABLES, **FILES)
    work(project)
    project.edit("pyproject.toml", 'name = "wave"', 'name = "ripple"')
    work(project)
    assert sorted(name for name in contents(project) if "lib" in name) == [
        "tiny/libripple.so",
        "tiny/libripple.so.enzymebc.json",
    ]


def contents(project):
    (wheel,) = (project.folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def python_digits(project):
    return project.run("-c", "import sys; print('%d%d' % sys.version_info[:2])").ok().strip()
