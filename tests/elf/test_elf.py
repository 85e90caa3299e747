from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from enzyme_build._run import capture
from enzyme_build.elf import (
    holds_symbols,
    native_fingerprint,
    read_elf,
    read_elf_bytes,
    read_section,
    read_section_bytes,
)
from enzyme_build.errors import BinaryError
from support.enzyme import Enzyme


def test_names_and_needs(libraries: Path) -> None:
    facts = read_elf(libraries / "libkernel.so")
    assert (facts.machine, facts.bits, facts.soname) == ("x86-64", 64, "libkernel.so.1")
    assert facts.needed[:2] == ("libplain.so.2", "libm.so.6")
    assert facts.runpath == ("$ORIGIN", "$ORIGIN/../lib")
    said = capture(["readelf", "-n", libraries / "libkernel.so"]).stdout
    assert facts.build_id is not None
    assert facts.build_id in said


def test_exported_symbols_with_kind_version_and_weakness(libraries: Path) -> None:
    exported = {symbol.name: symbol for symbol in read_elf(libraries / "libkernel.so").exported}
    assert set(exported) == {"counter", "kernel", "kernel_alias", "maybe", "table"}  # not hidden, not the version
    assert exported["kernel"].kind == "function"
    assert exported["table"].kind == exported["counter"].kind == "variable"
    assert exported["table"].size == 24
    assert exported["maybe"].weak
    assert not exported["kernel"].weak
    assert {symbol.version for symbol in exported.values()} == {"KERNEL_1.0"}
    assert exported["kernel"].address == exported["kernel_alias"].address != exported["maybe"].address


def test_undefined_symbols_with_the_version_they_want(libraries: Path) -> None:
    undefined = {symbol.name: symbol for symbol in read_elf(libraries / "libkernel.so").undefined}
    assert {"away", "shared_pointer", "sin"} <= set(undefined)
    assert undefined["sin"].version == "GLIBC_2.2.5"
    assert undefined["away"].version is None
    assert undefined["sin"].size == undefined["sin"].address == 0


def test_the_symbols_agree_with_nm_on_the_c_library() -> None:
    libc = Path("/lib/x86_64-linux-gnu/libc.so.6")
    said = capture(["nm", "-D", "--defined-only", "--without-symbol-versions", libc]).stdout
    ours = {symbol.name for symbol in read_elf(libc).exported}
    # nm also lists the versions themselves, which are absolute symbols
    theirs = {line.split()[-1] for line in said.splitlines() if line.split()[-2] != "A"}
    assert ours == theirs


def test_bitcode_section(libraries: Path) -> None:
    library = libraries / "libkernel.so"
    facts = read_elf(library)
    content = read_section(library, ".llvmbc")
    assert content is not None
    assert content.startswith(b"BC\xc0\xde")
    assert facts.bitcode_section
    assert facts.bitcode_size == len(content)
    assert facts.section_sha256 == hashlib.sha256(content).hexdigest()
    assert facts.has_command_section
    assert read_section_bytes(library.read_bytes(), ".llvmbc", shown="x") == content


def test_a_library_of_gcc_has_no_bitcode(libraries: Path) -> None:
    facts = read_elf(libraries / "libplain.so")
    assert not facts.bitcode_section
    assert facts.section_sha256 is None
    assert facts.bitcode_size == 0
    assert not facts.has_command_section
    assert read_section(libraries / "libplain.so", ".llvmbc") is None


def test_read_from_memory_is_the_same(libraries: Path) -> None:
    library = libraries / "libkernel.so"
    assert read_elf_bytes(library.read_bytes(), shown="libkernel.so") == read_elf(library)


@pytest.mark.parametrize("style", ["gnu", "sysv", "both"])
def test_holds_symbols_with_each_kind_of_hash_table(libraries: Path, tmp_path: Path, style: str) -> None:
    library = tmp_path / "lib.so"
    capture(["gcc", "-shared", "-fPIC", libraries / "plain.c", "-o", library, f"-Wl,--hash-style={style}"])
    assert holds_symbols(library, {"away", "shared_pointer", "sin", ""}) == {"away", "shared_pointer"}
    assert holds_symbols(library, ()) == set()


def test_holds_symbols_does_not_count_what_is_only_wanted() -> None:
    libm = Path("/lib/x86_64-linux-gnu/libm.so.6")
    names = {symbol.name for symbol in read_elf(libm).exported}
    assert holds_symbols(libm, names | {"fputs", "malloc"}) == names


def test_symbols_of_a_library_without_section_headers(libraries: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "lib.so"
    data = bytearray((libraries / "libplain.so").read_bytes())
    data[40:48] = bytes(8)  # e_shoff
    data[60:64] = bytes(4)  # e_shnum, e_shstrndx
    stripped.write_bytes(data)
    facts = read_elf(stripped)
    assert {symbol.name for symbol in facts.exported} == {"away", "shared_pointer"}
    assert facts.soname == "libplain.so.2"
    assert not facts.bitcode_section
    assert holds_symbols(stripped, {"away", "nothing"}) == {"away"}


@pytest.mark.parametrize("kind", ["GNU", "the toolchain's"])
def test_fingerprint_stays_when_the_section_is_replaced_or_removed(
    libraries: Path, tmp_path: Path, kind: str, enzyme: Enzyme
) -> None:
    objcopy = "objcopy" if kind == "GNU" else enzyme.objcopy
    library = tmp_path / "lib.so"
    shutil.copy(libraries / "libkernel.so", library)
    before = native_fingerprint(library)
    other = tmp_path / "other.bc"
    other.write_bytes(b"BC\xc0\xde" + bytes(50_000))
    capture([objcopy, f"--update-section=.llvmbc={other}", "--remove-section=.llvmcmd", library])
    assert read_section(library, ".llvmbc") == other.read_bytes()
    assert native_fingerprint(library) == before
    capture([objcopy, "--remove-section=.llvmbc", library])
    assert native_fingerprint(library) == before


def test_fingerprint_changes_with_one_byte_of_code(libraries: Path, tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    data = bytearray((libraries / "libkernel.so").read_bytes())
    text = read_section(libraries / "libkernel.so", ".text")
    assert text is not None
    data[data.find(text) + 1] ^= 0xFF
    library.write_bytes(data)
    assert native_fingerprint(library) != native_fingerprint(libraries / "libkernel.so")


def test_fingerprint_changes_with_a_run_path(libraries: Path, tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    data = (libraries / "libkernel.so").read_bytes().replace(b"$ORIGIN:$ORIGIN/../lib", b"$ORIGIN:$ORIGIN/../bin")
    library.write_bytes(data)
    assert read_elf(library).runpath == ("$ORIGIN", "$ORIGIN/../bin")
    assert native_fingerprint(library) != native_fingerprint(libraries / "libkernel.so")


def test_a_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BinaryError, match=r"none\.so: cannot be read: No such file"):
        read_elf(tmp_path / "none.so")


def test_a_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BinaryError, match="cannot be read: Is a directory"):
        read_elf(tmp_path)
