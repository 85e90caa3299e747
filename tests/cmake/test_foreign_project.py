"""A CMake project that knows nothing of Enzyme gets bitcode, a manifest and a check by three added lines."""

from __future__ import annotations

import os
import tarfile

import pytest

from enzyme_build.elf import read_elf
from support.cmake import CMakeBuild, bitcode_sources, manifest_of, run

NAME, VERSION = "spglib", "2.8.0"  # symmetry of crystals: C, 23 sources, a versioned and exported shared library
ADDED = """
find_package(EnzymeBC REQUIRED)
enzymebc_target(Spglib_symspg NO_CHECK)
enzymebc_add_check(bitcode TARGETS Spglib_symspg)
"""
HOST = """
int spg_delaunay_reduce(double lattice[3][3], double symprec);
int spg_get_multiplicity(const double [3][3], const double [][3], const int [], int, double);
double mat_get_determinant_d3(const double a[3][3]);
int main(void) {
    double a[9] = {2, 0, 0, 0, 3, 0, 0, 0, 4}, d_a[9] = {0};
    __enzyme_autodiff((void *)mat_get_determinant_d3, enzyme_dup, a, d_a);
    for (int i = 0; i < 9; i += 4) printf("%.17g ", d_a[i]);
}
"""


@pytest.fixture
def project(work_folder, cmake_environment, tmp_path):
    """The unpacked sdist; it is downloaded once."""
    folder = work_folder / "sdists"
    sdist = folder / f"{NAME}-{VERSION}.tar.gz"
    if not sdist.exists():
        command = ("-m", "pip", "download", "--no-deps", "--no-build-isolation", "--no-binary", NAME, "--dest", folder)
        path = f"{cmake_environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
        run(cmake_environment / "bin/python", *command, f"{NAME}=={VERSION}", environment={"PATH": path}).ok()
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path)
    return tmp_path / f"{NAME}-{VERSION}"


def test_three_lines(project, package, enzyme, tmp_path):
    options = (
        "-GNinja", f"-DEnzymeBC_ROOT={package}", f"-DCMAKE_C_COMPILER={enzyme.clang}", "-DSPGLIB_WITH_TESTS=OFF"
    )  # fmt: skip
    build = CMakeBuild(project, tmp_path / "build", options)
    build.edit("CMakeLists.txt", "add_subdirectory(src)\n", f"add_subdirectory(src)\nenable_testing(){ADDED}")
    build.configure().ok()
    build.build().ok()
    library = (build.folder / "libsymspg.so").resolve()
    sources = bitcode_sources(library)
    assert len(sources) == 23
    assert "src/niggli.c" in sources
    manifest = manifest_of(library)
    assert {f"spg_{name}" for name in ("get_symmetry", "niggli_reduce")} <= set(manifest.roots)
    said = build.test().failed()  # the check has something to say of it, and names its functions
    assert "checked 1 library" in said
    assert "spg_" in said
    numbers = enzyme.differentiate(
        HOST, tmp_path / "enzyme", imports=[(library, "mat_get_determinant_d3")], link=[library]
    )
    assert numbers == pytest.approx([12.0, 8.0, 6.0])
    build.install(tmp_path / "prefix", "--strip").ok()  # their own installation, stripped by llvm-strip
    assert read_elf((tmp_path / "prefix/lib/libsymspg.so").resolve()).bitcode_section
