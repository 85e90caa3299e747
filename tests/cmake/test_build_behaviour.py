"""What is built when: nothing twice, and everything that a change touches."""

from __future__ import annotations

import re
import time

import pytest

from support.cmake import bitcode_sources, compile_commands, manifest_of

SOURCES = ("src/scale.c", "src/kernel.c", "src/shared_source.c", "src/shift.c")
HOST = """
double kernel(double);
int main(void) {
    printf("%.17g %.17g\\n", __enzyme_autodiff((void *)kernel, 0.5), __enzyme_fwddiff((void *)kernel, 0.5, 1.0));
}
"""
SLOPE = 4.0 * 1.5 + 3.0 * 0.5**2  # of 2 (x + 1)^2 + x^3 at 0.5


def files(build):
    return {
        path: path.stat().st_mtime_ns for path in build.folder.rglob("*") if path.suffix in {".o", ".so", ".3", ".json"}
    }


def library(build, name="libkernel.so"):
    (found,) = (path for path in build.folder.rglob(name) if path.is_symlink() or path.is_file())
    return found.resolve()


def test_object_static_and_finalized_libraries_become_one_module_that_enzyme_differentiates(plain, enzyme, tmp_path):
    build = plain()
    build.configure().ok()
    build.build("-j8").ok()
    kernel = library(build)
    assert bitcode_sources(kernel) == SOURCES
    manifest = manifest_of(kernel)
    assert manifest.roots == ("kernel", "thrice", "twice")
    assert {each.soname: each.merged for each in manifest.dependencies if each.manifest} == {
        "libbase.so": True,
        "libcube.so": False,
    }
    assert manifest.rules[0].file == "rules/cube.toml"
    link = [kernel, library(build, "libcube.so"), library(build, "libbase.so")]
    numbers = enzyme.differentiate(HOST, tmp_path / "enzyme", imports=[(kernel, "kernel")], link=link)
    assert numbers == pytest.approx([SLOPE, SLOPE], rel=1e-12)
    assert (build.folder / "manifest-Release.txt").read_text() == f"{kernel}.enzymebc.json"
    assert "1/1 Test #1: plain_check" in build.test().ok()


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles", "Ninja Multi-Config"])
def test_a_second_build_does_nothing(plain, generator):
    build = plain(generator=generator)
    build.configure().ok()
    build.build().ok()
    before = files(build)
    said = build.build().ok()
    assert "finalize" not in said
    assert "Building" not in said
    assert files(build) == before
    if generator == "Ninja":
        explained = build.explained().ok()
        assert "no work to do" in explained
        # but for the look at what `rules/*.toml` matches now
        dirty = [line for line in explained.splitlines() if line.endswith("is dirty")]
        assert all("verify_globs" in line or "VerifyGlobs" in line for line in dirty), dirty
    build.build("--target", "clean").ok()
    assert not list(build.folder.rglob("*.enzymebc.json"))


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_a_changed_rule_links_again_what_needs_it(plain, generator):
    build = plain(generator=generator)
    build.configure().ok()
    build.build().ok()
    before = files(build)
    time.sleep(0.01)
    build.edit("rules/cube.toml", "forward =", "# forward =")
    build.build().ok()
    changed = {path.name for path, when in files(build).items() if before.get(path) != when}
    assert changed == {"libkernel.so.1.2.3.enzymebc.json", "libkernel.so.1.2.3", "libkernel.so"}  # the last is a link
    assert "tangent" not in manifest_of(library(build)).rules[0].functions
    (build.source / "rules/more.toml").write_text('[[inactive]]\nfunction = "thrice"\n')
    build.build().ok()
    assert [rule.symbol for rule in manifest_of(library(build)).rules] == ["cube", "thrice"]


def test_a_changed_header_and_a_changed_linked_library(plain):
    build = plain()
    build.configure().ok()
    build.build().ok()
    first = manifest_of(library(build)).library.section_sha256
    build.edit("include/shift.h", "1.0", "2.0")
    said = build.build().ok()
    assert "shift.c.o" in said
    assert "scale.c.o" not in said
    second = manifest_of(library(build)).library.section_sha256
    assert second != first
    build.edit("src/base.c", "x * x", "x * x * x")
    said = build.build().ok()
    assert "kernel.c.o" not in said
    assert manifest_of(library(build)).library.section_sha256 != second


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_a_failed_check_fails_again(plain, generator):
    build = plain(generator=generator)
    build.edit("CMakeLists.txt", "RULES rules/*.toml", "")
    build.configure().ok()
    said = build.build().failed()
    assert "error EB001 opaque symbol" in said
    assert "cube has neither bitcode nor a rule" in said
    assert "EB001" in build.build().failed()
    build.edit("CMakeLists.txt", 'ROOTS kernel "', 'NO_CHECK ROOTS kernel "')
    build.build().ok()
    assert "***Failed" in build.test().failed()  # the check of ctest stays
    build.edit("CMakeLists.txt", "NO_CHECK", 'WAIVE "cube=measured, not differentiated"')
    build.build().ok()
    assert manifest_of(library(build)).symbols["cube"].status == "waived"


def test_several_configurations_side_by_side(plain):
    build = plain(generator="Ninja Multi-Config")
    build.configure().ok()
    for configuration in ("Debug", "Release"):
        build.build("--config", configuration).ok()
        assert build.test("-C", configuration).ok()
    debug, release = (build.folder / name / "libkernel.so.1.2.3" for name in ("Debug", "Release"))
    assert bitcode_sources(debug) == bitcode_sources(release) == SOURCES
    assert f"{build.source}/src".encode() in debug.read_bytes()  # a debugger finds the sources
    assert f"{build.source}/src".encode() not in release.read_bytes()


def test_a_path_with_spaces_and_letters_of_all_the_world(plain):
    plain(folder="plain").configure().ok()
    ordinary = plain(folder="plain")
    ordinary.build().ok()
    build = plain(folder="mein Pröjekt 项目")
    build.configure().ok()
    build.build().ok()
    names = [manifest_of(library(each)).library.section_sha256 for each in (build, ordinary)]
    assert names[0] == names[1]  # where it was built leaves no trace in the bitcode
    prefix = build.folder / "out of it"
    build.install(prefix, "--strip").ok()
    assert bitcode_sources(prefix / "lib/libkernel.so.1.2.3") == SOURCES


def test_what_other_tools_read_is_sound(plain):
    build = plain()
    build.configure().ok()
    for entry in compile_commands(build):
        assert re.match(r"\S*clang", entry["command"]), entry
        assert "run.py" not in entry["command"]
    embedded = {entry["file"] for entry in compile_commands(build) if "-fembed-bitcode=bitcode" in entry["command"]}
    assert {path.rpartition("/")[2] for path in embedded} == {
        "scale.c", "shift.c", "base.c", "kernel.c", "shared_source.c"
    }  # fmt: skip


def test_the_oldest_cmake(plain, old_cmake):
    build = plain(cmake=old_cmake)
    build.configure().ok()
    build.build().ok()
    assert bitcode_sources(library(build)) == SOURCES
    build.install(build.folder / "prefix", "--strip").ok()
    assert bitcode_sources(build.folder / "prefix/lib/libkernel.so.1.2.3") == SOURCES
