"""Wheels that scikit-build-core builds: nothing set beyond `requires`, and what is in the wheel is what Enzyme reads."""

from __future__ import annotations

import math
import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from enzyme_build.manifest import decode_manifest
from support.cmake import bitcode_sources, manifest_of, run

REPOSITORY = Path(__file__).resolve().parents[2]
SAMPLE = REPOSITORY / "sample_project"
HOST = """
void kernel(const double *, int, double *);
int main(void) {
    double x[2] = {0.5, 1.5}, d_x[2] = {0, 0}, out, d_out = 1.0;
    __enzyme_autodiff((void *)kernel, enzyme_dup, x, d_x, enzyme_const, 2, enzyme_dup, &out, &d_out);
    printf("%.17g %.17g\\n", d_x[0], d_x[1]);
}
"""


@pytest.fixture
def project(tmp_path):
    """A copy of sample_project that scikit-build-core builds with CMakeLists.txt."""
    folder = tmp_path / "sample_project"
    shutil.copytree(
        SAMPLE, folder, ignore=shutil.ignore_patterns("build", "dist", "*.egg-info", "*.so", "*.enzymebc.json")
    )
    (folder / "pyproject-cmake.toml").replace(folder / "pyproject.toml")
    return folder


@pytest.fixture
def pip(cmake_environment, enzyme, tmp_path):
    """A function that runs pip of the environment with the compiler of the consumers, the environment being active."""
    compiler = {"CC": str(enzyme.clang), "CXX": str(enzyme.clangxx)}
    path = {"PATH": f"{cmake_environment / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def execute(*arguments, **environment):
        command = (cmake_environment / "bin/python", "-m", "pip", *arguments)
        return run(*command, cwd=tmp_path, environment={**compiler, **path, **environment})

    return execute


def wheel_of(project, pip, *options, **environment):
    out = project.parent / "dist"
    shutil.rmtree(out, ignore_errors=True)
    pip("wheel", "-v", "--no-build-isolation", "--no-deps", "--wheel-dir", out, *options, project, **environment).ok()
    (wheel,) = out.glob("*.whl")
    return wheel


def slope(x):
    return math.exp(-x) * (2 * x * math.cos(x * x) - math.sin(x * x))


def test_enzyme_differentiates_through_the_installed_wheel(project, pip, enzyme, tmp_path):
    """Default settings and clang, whose llvm-strip would take the bitcode."""
    wheel = wheel_of(project, pip)
    assert wheel.name == "sample_project-0.1.0-py3-none-linux_x86_64.whl"
    pip("install", "--no-index", "--no-deps", "--target", tmp_path / "site", wheel).ok()
    library = tmp_path / "site/sample_project/libkernel.so"
    assert bitcode_sources(library) == ("src/kernel.c", "src/util.c")
    assert ".symtab" not in run("readelf", "-SW", library).ok()
    assert b"python" not in library.read_bytes()  # nothing of the machine that built it
    link = [library, library.with_name("libmy_square.so")]
    numbers = enzyme.differentiate(HOST, tmp_path / "enzyme", imports=[(library, "kernel")], typed=True, link=link)
    assert numbers == pytest.approx([slope(0.5), slope(1.5)], rel=1e-12)
    program = "import sample_project; print(sample_project.kernel([0.5, 1.5]))"
    value = float(run(sys.executable, "-c", program, cwd=tmp_path / "site").ok())
    assert value == pytest.approx(sum(math.exp(-x) * math.sin(x * x) for x in (0.5, 1.5)), rel=1e-12)


def test_setuptools_and_cmake_make_the_same_module_and_manifest(project, pip, enzyme):
    with_cmake = zipfile.ZipFile(wheel_of(project, pip))
    cmake = decode_manifest(with_cmake.read("sample_project/libkernel.so.enzymebc.json"), shown="cmake")
    shutil.copyfile(SAMPLE / "pyproject.toml", project / "pyproject.toml")
    with_setuptools = zipfile.ZipFile(wheel_of(project, pip, ENZYME_BUILD_LLVM=str(enzyme.clang)))
    setuptools = decode_manifest(with_setuptools.read("sample_project/libkernel.so.enzymebc.json"), shown="setuptools")
    assert cmake.library.section_sha256 == setuptools.library.section_sha256
    for name in cmake.__struct_fields__:
        if name not in {"library", "inputs"}:  # another linker command makes another build-id
            assert getattr(cmake, name) == getattr(setuptools, name), name


def test_pip_builds_it_in_isolation(project, pip, wheelhouse):
    """The CMake package is found by its entry point in an environment that is gone afterwards."""
    out = project.parent / "dist"
    for _ in range(2):  # with the build folder, and its cache, of the time before
        settings = ("-C", "build-dir=kept")
        pip("wheel", "--no-deps", "--find-links", wheelhouse, "--wheel-dir", out, *settings, project).ok()
        (wheel,) = out.glob("*.whl")
        assert "sample_project/libkernel.so.enzymebc.json" in zipfile.ZipFile(wheel).namelist()
        wheel.unlink()


def test_python_modules_of_pybind11_and_nanobind(pip, cmake_environment, tmp_path):
    project = tmp_path / "modules"
    shutil.copytree(REPOSITORY / "tests/packages/cmake_modules", project)
    wheel = wheel_of(project, pip, "-C", "cmake.define.CONSUMER=llvm-15")
    pip("install", "--no-index", "--no-deps", "--target", tmp_path / "site", wheel).ok()
    program = "from modules import with_{0} as module; print(module.kernel(3.0))"
    for name in ("pybind11", "nanobind"):
        (module,) = (tmp_path / "site/modules").glob(f"with_{name}.*.so")
        assert bitcode_sources(module) == (f"src/{name}.cpp", "src/kernel.cpp")
        manifest = manifest_of(module)
        assert manifest.python_extension
        assert manifest.roots == ("kernel",)
        (tmp_path / "site/modules/__init__.py").touch()
        assert run(cmake_environment / "bin/python", "-c", program.format(name), cwd=tmp_path / "site").ok() == "27.0\n"


def test_a_wheel_without_its_manifest_is_refused(project, pip):
    """The check of the finished wheel is what the backend of enzyme-build adds."""
    text = (project / "CMakeLists.txt").read_text()
    lost = text.replace(
        "enable_testing()",
        'install(CODE [[file(REMOVE "${CMAKE_INSTALL_PREFIX}/sample_project/libkernel.so.enzymebc.json")]])',
    )
    (project / "CMakeLists.txt").write_text(lost.replace("enzymebc_add_check(", "# "))
    out = project.parent / "dist"
    build = ("wheel", "-v", "--no-build-isolation", "--no-deps", "--wheel-dir", out)
    said = pip(*build, project).failed()
    assert "error EB015" in said
    assert "the check of sample_project-0.1.0-py3-none-linux_x86_64.whl failed; the report is above" in said
    assert not list(out.glob("*.whl"))
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(nothing LANGUAGES NONE)\ninstall(FILES CMakeLists.txt DESTINATION x)\n"
    )
    said = pip(*build, project).failed()
    assert "sample_project-0.1.0-py3-none-linux_x86_64.whl holds no library with a manifest" in said
    assert "install libraries with enzymebc_install()" in said
    text = (project / "pyproject.toml").read_text()
    (project / "pyproject.toml").write_text(text.replace("enzyme_build.scikit_build", "scikit_build_core.build"))
    pip(*build, project).ok()


@pytest.mark.parametrize("mode", ["redirect", "inplace"])
def test_editable(project, pip, cmake_environment, mode):
    options = ("--no-build-isolation", "--no-deps", "-C", f"editable.mode={mode}", "--editable", project)
    try:
        pip("install", *options).ok()
        if mode == "redirect":
            (library,) = (cmake_environment / "lib").rglob("sample_project/libkernel.so")
        else:
            library = project / "libkernel.so"
        assert bitcode_sources(library) == ("src/kernel.c", "src/util.c")
    finally:
        pip("uninstall", "--yes", "sample-project")


def test_an_sdist_is_enough_to_build_from(project, pip, cmake_environment, tmp_path):
    code = "from enzyme_build import scikit_build; print(scikit_build.build_sdist('dist'))"
    name = run(cmake_environment / "bin/python", "-c", code, cwd=project).ok().split()[-1]
    out = tmp_path / "out"
    pip("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", out, project / "dist" / name).ok()
    assert len(list(out.glob("*.whl"))) == 1


def test_the_backend_offers_the_optional_hooks_of_scikit_build_core(cmake_environment, project):
    code = (
        "from enzyme_build import scikit_build as backend; import os\n"
        "print(backend.prepare_metadata_for_build_wheel('.'), hasattr(backend, 'prepare_nothing'))"
    )
    said = run(cmake_environment / "bin/python", "-c", code, cwd=project).ok()
    assert said.splitlines()[-1] == "sample_project-0.1.0.dist-info False"
