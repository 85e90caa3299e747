"""Libraries, folders and wheels with real libraries in them, finished by the pipeline and then damaged as people do."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from enzyme_build.check.run import check_paths
from enzyme_build.cli import main
from enzyme_build.errors import BinaryError, UsageError
from support.enzyme import Enzyme
from support.library import build_library, native_library, run

KERNEL = {"kernel.c": "double kernel(double x) { extern double helper(double); return helper(x) * x; }"}
HELPER = {"helper.c": "#include <math.h>\n__attribute__((noinline)) double helper(double x) { return sin(x); }"}


@pytest.fixture(scope="module")
def made(enzyme: Enzyme, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder: `good/` with a finished library and a native one, `raw/` with three that nobody finished."""
    folder = tmp_path_factory.mktemp("made")
    good, raw = folder / "good", folder / "raw"
    finished = build_library(enzyme, good, "kernel", KERNEL | HELPER)
    native_library(enzyme, good, "plain", "double plain(double x) { return x; }")
    build_library(enzyme, raw, "one", HELPER)
    build_library(enzyme, raw, "two", KERNEL | HELPER)
    build_library(enzyme, raw, "marker", HELPER, embed=["-fembed-bitcode-marker"])
    for leftover in [*folder.rglob("*.o"), *folder.rglob("*.c")]:
        leftover.unlink()
    assert main(["finalize", str(finished), "--consumer", "llvm-15"]) == 0
    return folder


@pytest.fixture
def good(made: Path, tmp_path: Path) -> Path:
    """A copy of the finished folder, to be damaged."""
    return Path(shutil.copytree(made / "good", tmp_path / "good"))


def wheel_of(folder: Path, wheel: Path) -> Path:
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("pkg/__init__.py", "")
        for file in sorted(folder.iterdir()):
            archive.write(file, f"pkg/{file.name}")
    return wheel


def ids(*paths: Path) -> list[str]:
    return [finding.id for finding in check_paths(paths).findings]


def test_a_finished_library(made: Path) -> None:
    verdict = check_paths([made / "good" / "libkernel.so"])
    assert verdict.findings == ()
    assert dict(verdict.summary.libraries[0].statuses) == {"bitcode": 2}


def test_a_folder_passes_by_what_was_never_meant_to_have_bitcode(made: Path) -> None:
    verdict = check_paths([made / "good"])
    assert verdict.findings == ()
    assert verdict.summary.native == (str(made / "good" / "libplain.so"),)
    assert ids(made / "good" / "libplain.so") == ["EB002"]  # but not when it is named


def test_a_wheel_is_read_in_memory(made: Path, tmp_path: Path) -> None:
    wheel = wheel_of(made / "good", tmp_path / "pkg-1.0-py3-none-any.whl")
    before = sorted(tmp_path.iterdir())
    verdict = check_paths([wheel])
    assert verdict.findings == ()
    assert verdict.summary.libraries[0].name == f"{wheel}: pkg/libkernel.so"
    assert sorted(tmp_path.iterdir()) == before


def test_links_to_a_library_are_not_counted_twice(good: Path) -> None:
    (good / "libkernel.so.1").symlink_to("libkernel.so")
    assert len(check_paths([good]).summary.libraries) == 1


def test_bitcode_that_nobody_finished(made: Path) -> None:
    raw = made / "raw"
    assert ids(raw / "libone.so") == ["EB015"]
    assert ids(raw / "libtwo.so") == ["EB003"]
    assert ids(raw / "libmarker.so") == ["EB004"]
    assert sorted(ids(raw)) == ["EB003", "EB004", "EB015"]


def test_stripped_bitcode(good: Path, enzyme: Enzyme) -> None:
    run(enzyme.objcopy, "--remove-section=.llvmbc", good / "libkernel.so")
    (finding,) = check_paths([good]).findings
    assert finding.id == "EB007"
    assert "has no section .llvmbc any more" in finding.message


def test_a_stripped_wheel(good: Path, enzyme: Enzyme, tmp_path: Path) -> None:
    run(enzyme.objcopy, "--remove-section=.llvmbc", good / "libkernel.so")
    assert ids(wheel_of(good, tmp_path / "x.whl")) == ["EB007"]


def test_garbage_in_the_section(good: Path, enzyme: Enzyme, tmp_path: Path) -> None:
    garbage = tmp_path / "garbage"
    garbage.write_bytes(b"not bitcode at all")
    run("objcopy", f"--update-section=.llvmbc={garbage}", good / "libkernel.so")
    assert ids(good) == ["EB007"]
    (good / "libkernel.so.enzymebc.json").unlink()
    (finding,) = check_paths([good]).findings
    assert finding.id == "EB026"
    assert "not LLVM bitcode" in finding.message


def test_a_renamed_library(good: Path) -> None:
    (good / "libkernel.so").rename(good / "libkernel-1a2b.so")
    assert sorted(ids(good)) == ["EB015", "EB025"]


def test_a_damaged_manifest_does_not_hide_the_other_libraries(good: Path, made: Path) -> None:
    (good / "libkernel.so.enzymebc.json").write_text("{}")
    shutil.copy(made / "raw" / "libtwo.so", good)
    findings = check_paths([good]).findings
    assert sorted(finding.id for finding in findings) == ["EB003", "EB026"]
    assert any("schema is None" in finding.message for finding in findings)


def test_a_truncated_library_in_a_folder_is_a_finding(good: Path) -> None:
    data = (good / "libkernel.so").read_bytes()
    (good / "libkernel.so").write_bytes(data[: len(data) // 2])
    (finding,) = check_paths([good]).findings
    assert finding.id == "EB026"
    assert "truncated ELF file" in finding.message


def test_nothing_to_check(tmp_path: Path, made: Path) -> None:
    (tmp_path / "empty").mkdir()
    (finding,) = check_paths([tmp_path / "empty"]).findings
    assert finding.id == "EB024"
    assert "0 shared libraries in it" in finding.message
    (tmp_path / "native").mkdir()
    shutil.copy(made / "good" / "libplain.so", tmp_path / "native")
    wheel = wheel_of(tmp_path / "native", tmp_path / "native.whl")
    (finding,) = check_paths([wheel]).findings
    assert (finding.id, finding.level) == ("EB024", "error")
    assert "1 shared library in it, none with bitcode or a manifest" in finding.message


def test_paths_that_are_wrong(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none: no such file or folder"):
        check_paths([tmp_path / "none"])
    (tmp_path / "text.so").write_text("hello\n")
    with pytest.raises(BinaryError, match=r"text\.so: not an ELF file but text"):
        check_paths([tmp_path / "text.so"])
    (tmp_path / "bad.whl").write_text("hello\n")
    with pytest.raises(BinaryError, match=r"bad\.whl: not a sound wheel"):
        check_paths([tmp_path / "bad.whl"])
