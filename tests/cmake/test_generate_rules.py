"""Rules for those who load Enzyme into their compiler, in the sources that the plugin differentiates."""

from __future__ import annotations

import pytest

from support.cmake import run

# Stands for a clang with Enzyme's plugin in it, which no package here has: registrations are read first, then the code is
# optimised, then differentiated.
PLUGIN_CLANG = """#!/bin/sh
set -e
for word; do [ "$previous" = -o ] && object=$word; previous=$word; done
"$@" -emit-llvm -Xclang -disable-llvm-passes
"{opt}" -load-pass-plugin "{plugin}" -vectorize-slp=false -passes="preserve-nvvm,default<O1>,enzyme" "$object" -o "$object.bc"
"$1" -O1 -c "$object.bc" -o "$object"
"""
BODY = """
find_package(EnzymeBC REQUIRED)
add_library(cube SHARED cube.c)
foreach(program twice thrice)
  add_executable(${program} ${program}.c)
  set_target_properties(${program} PROPERTIES C_COMPILER_LAUNCHER "${PLUGIN_CLANG}")
  set_source_files_properties(${program}.c PROPERTIES COMPILE_OPTIONS "-fno-math-errno")
  target_link_libraries(${program} PRIVATE cube)
endforeach()
enzymebc_generate_rules(RULES rules/*.toml SOURCES twice.c thrice.c OUTPUT_VARIABLE rules)
add_custom_target(show COMMAND "${CMAKE_COMMAND}" -E cat "${rules}" DEPENDS "${rules}")
"""
PROGRAM = """
#include <stdio.h>
#include "cube_rule.h"
double __enzyme_autodiff(void *, double);
static double scaled(double x) { return FACTOR * cube(x); }
int main(void) { printf("%%g\\n", __enzyme_autodiff((void *)scaled, 2.0)); }
"""
FILES = {
    "cube_rule.h": (
        "double cube(double);\n"
        "double augmented_cube(double x) { return cube(x); }\n"
        "double gradient_cube(double x, double d_result) { return 3.0 * x * x * d_result; }\n"
    ),
    "cube.c": "double cube(double x) { return x * x * x; }\n",
    "rules/cube.toml": (
        '[[derivative]]\nprototype = "double cube(double x)"\n'
        'reverse = { augmented = "augmented_cube", gradient = "gradient_cube" }\n'
    ),
    "twice.c": PROGRAM.replace("FACTOR", "2.0").replace("%%", "%"),
    "thrice.c": PROGRAM.replace("FACTOR", "3.0").replace("%%", "%"),
}


@pytest.fixture
def plugin_clang(enzyme, tmp_path):
    script = tmp_path / "plugin-clang"
    script.write_text(PLUGIN_CLANG.format(opt=enzyme.opt, plugin=enzyme.plugin))
    script.chmod(0o755)
    return f"-DPLUGIN_CLANG={script}"


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_the_sources_of_two_programs_use_the_rule(write_project, make_build, plugin_clang, generator):
    source = write_project(BODY, **FILES)
    build = make_build(source, plugin_clang, folder="written", generator=generator)
    build.configure().ok()
    build.build().ok()
    assert [run(build.folder / name).ok() for name in ("twice", "thrice")] == ["24\n", "36\n"]
    assert "__enzyme_register_gradient_cube" in build.build("--target", "show").ok()
    build.edit("cube_rule.h", "3.0 * x * x * d_result", "-3.0 * x * x * d_result")
    build.edit("rules/cube.toml", "[[derivative]]", "# changed\n[[derivative]]")
    build.build().ok()
    assert [run(build.folder / name).ok() for name in ("twice", "thrice")] == ["-24\n", "-36\n"]


def test_without_the_rule_the_plugin_says_that_it_cannot(write_project, make_build, plugin_clang):
    source = write_project(BODY.replace("SOURCES twice.c thrice.c", ""), **FILES)
    build = make_build(source, plugin_clang, folder="written")
    build.configure().ok()
    assert "Enzyme: No reverse pass found for cube" in build.build().failed()
