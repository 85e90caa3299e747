"""Arguments of the functions: what is wrong is said at once, with the function's name; what is right survives."""

from __future__ import annotations

import pytest

from support.cmake import bitcode_sources, manifest_of

SOURCES = {"kernel.c": "double kernel(double x) { return x * x; }", "rules/a.toml": "# none\n"}
KERNEL = "find_package(EnzymeBC REQUIRED)\nadd_library(kernel SHARED kernel.c)\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "enzymebc_target(kernel RULE a.toml)",
            "enzymebc_target(): does not know 'RULE;a.toml'; the keywords are RULES",
        ),
        ("enzymebc_target(kernel OPTIMIZE)", "enzymebc_target(): OPTIMIZE needs a value"),
        ("enzymebc_target(kernel RULES)", "enzymebc_target(): RULES needs a value"),
        ("enzymebc_target(kernal)", "enzymebc_target(): there is no target 'kernal'; call add_library() before"),
        ("enzymebc_target(kernel RULES rules/b.toml)", "enzymebc_target(): RULES: there is no file '"),
        ("enzymebc_target(kernel RULES rule/*.toml)", "enzymebc_target(): RULES: 'rule/*.toml' matches no file below"),
        ("enzymebc_target(kernel MODES backward)", "MODES: 'backward' is neither reverse nor forward"),
        ("enzymebc_target(kernel FAIL_ON info)", "FAIL_ON: 'info' is none of error, warning, never"),
        ("enzymebc_target(kernel OPTIMIZE Os)", "OPTIMIZE: 'Os' is none of O0, O1, O2, O3"),
        ("enzymebc_target(kernel WAIVE log)", "WAIVE: 'log' is not symbol=reason"),
        ("enzymebc_target(kernel NATIVE ROOTS kernel)", "NATIVE is for a library without bitcode"),
        ("enzymebc_target(kernel CONSUMERS julia-1.99)", "enzymebc_target(): enzyme-build:"),
        ('enzymebc_target(kernel CONSUMERS "$<1:llvm-15>")', "no generator expression can be used"),
        (
            "enzymebc_target(kernel)\nenzymebc_target(kernel)",
            "'kernel' is finalized already; give all arguments in one",
        ),
        (
            "add_library(parts STATIC kernel.c)\nenzymebc_target(parts)",
            "enzymebc_target(): 'parts' is of type STATIC_LIBRARY; it must be one of SHARED_LIBRARY, MODULE_LIBRARY",
        ),
        (
            "add_library(other SHARED IMPORTED)\nenzymebc_target(other)",
            "enzymebc_target(): 'other' is an imported target, which is not built here",
        ),
        ("enzymebc_embed()", "enzymebc_embed(): no target is given"),
        ("enzymebc_install(TARGETS kernel)", "'kernel' has no manifest; call enzymebc_target(kernel) before"),
        ("enzymebc_install(DESTINATION lib)", "enzymebc_install(): TARGETS is not given"),
        ("enzymebc_install(TARGET kernel)", "enzymebc_install(): does not know 'TARGET;kernel'"),
        ("enzymebc_add_check(c TARGETS nothing)", "enzymebc_add_check(): there is no target 'nothing'"),
        ("enzymebc_add_check(c)", "enzymebc_add_check(): TARGETS is not given"),
        ("enzymebc_generate_rules(OUTPUT a.c)", "enzymebc_generate_rules(): RULES is not given"),
        ("enzymebc_generate_rules(RULES rules/a.toml)", "give the SOURCES that include the file, or OUTPUT"),
        ("enzymebc_generate_rules(a RULES rules/a.toml)", "enzymebc_generate_rules(): does not know 'a'"),
        ("enzymebc_generate_rules(RULES rules/a.toml SOURCES a.cpp)", "SOURCES: 'a.cpp' is no C source"),
        ("enzymebc_get_manifest(manifest nothing)", "enzymebc_get_manifest(): there is no target 'nothing'"),
    ],
)
def test_mistakes_name_the_function(write_project, make_build, call, message):
    source = write_project(f"{KERNEL}{call}\n", **SOURCES)
    assert message in make_build(source, folder="written").configure().failed()


def test_a_library_for_two_pointer_modes_needs_a_twin(write_project, make_build):
    body = f"""{KERNEL}
add_library(parts OBJECT kernel.c)
add_library(other SHARED kernel.c)
target_link_libraries(kernel PRIVATE parts)
target_link_libraries(other PRIVATE parts)
enzymebc_target(kernel CONSUMERS llvm-15)
enzymebc_target(other CONSUMERS julia-1.11)
"""
    said = make_build(write_project(body, **SOURCES), folder="written").configure().failed()
    assert "'parts' is used for consumers with opaque pointers and for consumers with typed pointers" in said


def test_options_with_a_comma_or_a_space_arrive_as_written(write_project, make_build):
    body = f"""{KERNEL}
enzymebc_target(kernel ROOTS "square(double, int)" "*kernel" WAIVE "log step=writes, a log; no" MODES forward)
"""
    said = make_build(write_project(body, **SOURCES), folder="written").configure().failed()
    assert "is not symbol=reason, without semicolons" in said
    project = write_project(body.replace(";", " and"), **SOURCES)
    build = make_build(project, folder="written")
    build.configure().ok()
    said = build.build().failed()  # no such root
    assert "square(double, int)" in said
    assert "EB009" in said


def test_pattern_roots_and_defaults_from_variables(write_project, make_build):
    body = """find_package(EnzymeBC REQUIRED)
set(ENZYMEBC_CONSUMERS julia-1.11)
set(ENZYMEBC_OPTIMIZE O1)
add_library(kernel MODULE kernel.c)
set_target_properties(kernel PROPERTIES PREFIX "" SUFFIX ".abi3.so" LIBRARY_OUTPUT_DIRECTORY out)
enzymebc_target(kernel ROOTS "kern*")
"""
    build = make_build(write_project(body, **SOURCES), folder="written")
    build.configure().ok()
    build.build().ok()
    (library,) = build.folder.rglob("kernel.abi3.so")
    assert bitcode_sources(library) == ("kernel.c",)
    manifest = manifest_of(library)
    assert manifest.consumers == ("julia-1.11",)
    assert manifest.roots == ("kernel",)
    assert manifest.bitcode.optimization.startswith("default<O1>")
