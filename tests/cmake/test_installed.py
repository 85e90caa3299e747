"""Installed libraries keep their bitcode through strip, and tell other projects where their manifests are."""

from __future__ import annotations

from pathlib import Path

import pytest

from enzyme_build.elf import read_elf
from support.cmake import bitcode_sources, manifest_of, run

PACKAGES = Path(__file__).resolve().parents[1] / "packages"
SOURCES = ("src/scale.c", "src/kernel.c", "src/shared_source.c", "src/shift.c")
HOST = """
double top(double);
int main(void) {
    printf("%.17g %.17g\\n", __enzyme_autodiff((void *)top, 0.5), __enzyme_fwddiff((void *)top, 0.5, 1.0));
}
"""
# of (2 (x + 1)^2 + x^3) x^2 at 0.5
SLOPE = (4.0 * 1.5 + 3.0 * 0.25) * 0.25 + (2.0 * 1.5**2 + 0.125) * 1.0


@pytest.fixture
def llvm_strip(enzyme):
    return enzyme.llvm_tool("llvm-strip")


@pytest.fixture
def installed(plain, llvm_strip, tmp_path):
    """The prefix that cmake_plain was installed to, stripped by llvm-strip."""
    build = plain(f"-DCMAKE_STRIP={llvm_strip}")
    build.configure().ok()
    build.build().ok()
    build.install(tmp_path / "prefix", "--strip").ok()
    return tmp_path / "prefix"


def test_llvm_strip_at_installation(installed, llvm_strip):
    kernel = installed / "lib/libkernel.so.1.2.3"
    assert bitcode_sources(kernel) == SOURCES
    assert ".symtab" not in run("readelf", "-SW", kernel).ok()  # it was stripped
    run(llvm_strip, kernel).ok()  # and this is what it was kept from
    assert not read_elf(kernel).bitcode_section


def test_libraries_manifests_and_rules_are_installed(installed):
    names = sorted(path.relative_to(installed).as_posix() for path in installed.rglob("*") if not path.is_dir())
    assert names == [
        "lib/cmake/plain/plainConfig-release.cmake",
        "lib/cmake/plain/plainConfig.cmake",
        "lib/enzymebc/kernel/cube.toml",
        "lib/libbase.so",
        "lib/libbase.so.enzymebc.json",
        "lib/libcube.so",
        "lib/libcube.so.enzymebc.json",
        "lib/libkernel.so",
        "lib/libkernel.so.1",
        "lib/libkernel.so.1.2.3",
        "lib/libkernel.so.1.2.3.enzymebc.json",
    ]


def test_another_project_merges_what_it_finds(installed, make_build, enzyme, tmp_path):
    build = make_build(PACKAGES / "cmake_downstream", f"-Dplain_DIR={installed}/lib/cmake/plain", folder="downstream")
    build.configure().ok()
    build.build().ok()
    top = build.folder / "libtop.so"
    assert bitcode_sources(top) == ("top.c",)
    merged = {each.soname: each.merged for each in manifest_of(top).dependencies if each.manifest}
    assert merged == {"libkernel.so.1": True, "libbase.so": True}
    link = [top, *(installed / "lib" / name for name in ("libkernel.so", "libbase.so", "libcube.so"))]
    numbers = enzyme.differentiate(HOST, tmp_path / "enzyme", imports=[(top, "top")], link=link)
    assert numbers == pytest.approx([SLOPE, SLOPE], rel=1e-12)
    assert "1/1 Test #1: together" in build.test().ok()
    manifest = installed / "lib/libkernel.so.1.2.3.enzymebc.json"
    manifest.unlink()  # without it the kernel is what any library is: opaque
    build.edit("top.c", "kernel(x) *", "kernel(x) +")
    assert "kernel has neither bitcode nor a rule" in build.build().failed()


def test_what_a_strip_program_takes_all_the_same_is_put_back(plain, llvm_strip, tmp_path):
    script = tmp_path / "my strip"
    script.write_text(f'#!/bin/sh\nexec "{llvm_strip}" --strip-all "$@"\n')
    script.chmod(0o755)
    build = plain()
    build.edit("CMakeLists.txt", "enable_testing()", f'cmake_language(DEFER CALL set CMAKE_STRIP "{script}")')
    build.configure().ok()
    build.build().ok()
    build.edit("CMakeLists.txt", "enzymebc_add_check", "# enzymebc_add_check")
    said = build.install(tmp_path / "prefix", "--strip").ok()
    kernel = tmp_path / "prefix/lib/libkernel.so.1.2.3"
    assert f"{kernel}: a strip step had removed the bitcode; it is there again" in said
    assert bitcode_sources(kernel) == SOURCES


def test_what_cannot_be_put_back_fails_the_installation(plain, tmp_path):
    script = tmp_path / "strip"
    script.write_text('#!/bin/sh\nfor last; do :; done\nobjcopy --remove-section=.note.gnu.build-id "$last"\n')
    script.chmod(0o755)
    build = plain()
    build.edit("CMakeLists.txt", "enable_testing()", f'cmake_language(DEFER CALL set CMAKE_STRIP "{script}")')
    build.edit("CMakeLists.txt", "enzymebc_add_check", "# enzymebc_add_check")
    build.edit(
        "CMakeLists.txt",
        "  MANIFEST_OUTPUT_VARIABLE manifest)",
        "  MANIFEST_OUTPUT_VARIABLE manifest)\nenable_testing()",
    )
    build.configure().ok()
    build.build().ok()
    said = build.install(tmp_path / "prefix", "--strip").failed()
    assert "enzymebc_install(): kernel lost its bitcode while it was installed" in said
    assert "it has another build-id" in said


def test_a_staged_installation(plain, tmp_path):
    build = plain()
    build.environment["DESTDIR"] = str(tmp_path / "stage")
    build.configure().ok()
    build.build().ok()
    build.install(Path("/usr/x y"), "--strip").ok()
    assert bitcode_sources(tmp_path / "stage/usr/x y/lib/libkernel.so.1.2.3") == SOURCES
