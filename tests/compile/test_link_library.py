"""Linking with the real clang."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from enzyme_build import _run
from enzyme_build.compile import CompileRequest, LinkRequest, compile_sources, link_library, linking_language
from enzyme_build.errors import ToolError
from enzyme_build.model import PointerMode
from enzyme_build.toolchain import Toolchain, consumer, find_toolchain


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return find_toolchain([consumer("julia-1.10")])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "a project, é"
    root.mkdir()
    (root / "helper.c").write_text("double helper(double x) { return 2 * x; }\n")
    (root / "kernel.c").write_text("double helper(double); double kernel(double x) { return helper(x) + 1; }\n")
    return root


def objects(root: Path, toolchain: Toolchain, *sources: str) -> tuple[Path, ...]:
    request = CompileRequest(root=root, sources=sources, build_directory=root / "objects", pointers=PointerMode.TYPED)
    return compile_sources(request, toolchain=toolchain).objects


def kernel(root: Path, toolchain: Toolchain, **more) -> LinkRequest:
    return LinkRequest(
        root=root, output=root / "out" / "libkernel.so", objects=objects(root, toolchain, "kernel.c"), **more
    )


def helper(root: Path, toolchain: Toolchain) -> LinkRequest:
    return LinkRequest(root=root, output=root / "out" / "libhelper.so", objects=objects(root, toolchain, "helper.c"))


def test_a_library_finds_its_neighbour_and_has_name_and_build_id(root: Path, toolchain: Toolchain):
    assert link_library(helper(root, toolchain), toolchain=toolchain)
    request = kernel(root, toolchain, library_directories=(root / "out",), libraries=("helper", "m"), origin_rpath=True)
    assert link_library(request, toolchain=toolchain)
    moved = (root / "out").rename(root / "moved")
    function = ctypes.CDLL(str(moved / "libkernel.so")).kernel
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    assert function(3.0) == 7.0
    said = _run.capture(["readelf", "-dnW", moved / "libkernel.so"]).stdout
    assert "soname: [libkernel.so]" in said
    assert "path: [$ORIGIN]" in said
    assert "NT_GNU_BUILD_ID" in said


def test_without_the_rpath_it_is_not_recorded(root: Path, toolchain: Toolchain):
    link_library(helper(root, toolchain), toolchain=toolchain)
    assert "ORIGIN" not in _run.capture(["readelf", "-dW", root / "out" / "libhelper.so"]).stdout


def test_the_bitcode_is_still_in_the_library(root: Path, toolchain: Toolchain):
    link_library(helper(root, toolchain), toolchain=toolchain)
    assert ".llvmbc" in _run.capture(["readelf", "-SW", root / "out" / "libhelper.so"]).stdout


def test_a_library_that_is_current_is_not_linked(root: Path, toolchain: Toolchain):
    request = kernel(root, toolchain)
    assert link_library(request, toolchain=toolchain)
    assert not link_library(request, toolchain=toolchain)


@pytest.mark.parametrize("what", ["object", "output", "gone", "arguments", "library", "script"])
def test_a_change_links_again(root: Path, toolchain: Toolchain, what: str):
    link_library(helper(root, toolchain), toolchain=toolchain)
    (root / "exported.map").write_text("{ global: *; };\n")
    arguments: tuple[str, ...] = ("-Wl,--version-script=exported.map",)
    more = {"library_directories": (root / "out",), "libraries": ("helper",)}
    assert link_library(kernel(root, toolchain, arguments=arguments, **more), toolchain=toolchain)
    output = root / "out" / "libkernel.so"
    if what == "object":
        (root / "kernel.c").write_text("double kernel(double x) { return x; }\n")
    elif what == "output":
        output.write_bytes(output.read_bytes() + b" ")  # as finalize or strip would
    elif what == "gone":
        output.unlink()
    elif what == "arguments":
        arguments = ("-Wl,--as-needed", *arguments)
    elif what == "script":
        (root / "exported.map").write_text("{ global: kernel; local: *; };\n")
    else:
        (root / "helper.c").write_text("double helper(double x) { return 3 * x; }\n")
        link_library(helper(root, toolchain), toolchain=toolchain)
    assert link_library(kernel(root, toolchain, arguments=arguments, **more), toolchain=toolchain)
    assert not link_library(kernel(root, toolchain, arguments=arguments, **more), toolchain=toolchain)


def test_cxx_is_linked_as_cxx(root: Path, toolchain: Toolchain):
    (root / "k.cpp").write_text("#include <iostream>\nvoid k() { std::cout << 1; }\n")
    assert linking_language(["a.c", "k.cpp"]) == "c++"
    assert linking_language(["a.c"]) == "c"
    output = root / "libk.so"
    request = LinkRequest(root=root, output=output, objects=objects(root, toolchain, "k.cpp"), language="c++")
    link_library(request, toolchain=toolchain)
    assert "libstdc++.so.6" in _run.capture(["readelf", "-dW", output]).stdout


def test_a_failed_link_shows_the_linkers_text_and_leaves_the_old_library_alone(root: Path, toolchain: Toolchain):
    link_library(kernel(root, toolchain), toolchain=toolchain)
    output = root / "out" / "libkernel.so"
    before = output.read_bytes()
    with pytest.raises(ToolError) as caught:
        link_library(kernel(root, toolchain, libraries=("no_such_library",)), toolchain=toolchain)
    assert "libkernel.so does not link" in caught.value.message
    assert "cannot find -lno_such_library" in caught.value.message
    assert "development package" in str(caught.value.hint)
    assert output.read_bytes() == before
    assert not list(output.parent.glob("*.partial"))
    with pytest.raises(ToolError, match="undefined reference to `helper'") as caught:
        link_library(kernel(root, toolchain, arguments=("-Wl,-z,defs",)), toolchain=toolchain)
    assert "`libraries` or `links`" in str(caught.value.hint)


def test_an_output_folder_that_cannot_be_made_is_an_error(root: Path, toolchain: Toolchain):
    (root / "out").write_text("a file where the folder should be")
    with pytest.raises(ToolError, match="cannot be written: "):
        link_library(kernel(root, toolchain), toolchain=toolchain)


def test_a_name_with_a_comma_is_a_soname_too(root: Path, toolchain: Toolchain):
    output = root / "lib a,b.so"
    request = LinkRequest(root=root, output=output, objects=objects(root, toolchain, "helper.c"))
    link_library(request, toolchain=toolchain)
    assert "soname: [lib a,b.so]" in _run.capture(["readelf", "-dW", output]).stdout
