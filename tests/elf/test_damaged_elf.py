"""What is no sound shared library: always a `BinaryError` with a reason, never anything else."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest

from enzyme_build.elf import holds_symbols, native_fingerprint, read_elf, read_elf_bytes, read_section
from enzyme_build.errors import BinaryError

FOREIGN = {
    "macho": (b"\xcf\xfa\xed\xfe" + bytes(100), r"not an ELF file but a Mach-O file \(macOS\)"),
    "fat": (b"\xca\xfe\xba\xbe" + bytes(100), r"a universal Mach-O file"),
    "pe": (b"MZ\x90\x00" + bytes(100), r"a PE file \(Windows\)"),
    "bitcode": (b"BC\xc0\xde" + bytes(100), "an LLVM bitcode file"),
    "text": (b"hello, this is text\n" * 10, "not an ELF file but text"),
    "script": (b"/* GNU ld script */\nGROUP ( /lib/libm.so.6 )\n", r"a linker script \(text\)"),
    "zip": (b"PK\x03\x04" + bytes(100), "a zip archive"),
    "empty": (b"", "an empty file"),
    "noise": (bytes(range(1, 100)) + b"\0", r"something unknown \(it starts with 01 02 03 04\)"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_other_files_are_named(name: str, tmp_path: Path) -> None:
    data, message = FOREIGN[name]
    file = tmp_path / "lib.so"
    file.write_bytes(data)
    with pytest.raises(BinaryError, match=message) as caught:
        read_elf(file)
    assert caught.value.hint is not None
    with pytest.raises(BinaryError, match=message):
        read_section(file, ".llvmbc")


def test_an_archive_is_named(libraries: Path) -> None:
    with pytest.raises(BinaryError, match="an ar archive"):
        read_elf(libraries / "libkernel.a")


def test_an_object_file_is_no_shared_library(libraries: Path) -> None:
    with pytest.raises(BinaryError, match=r"kernel\.o: an object file without a dynamic section") as caught:
        read_elf(libraries / "kernel.o")
    assert "-shared" in str(caught.value)


def test_a_truncated_library_says_so(libraries: Path) -> None:
    data = (libraries / "libkernel.so").read_bytes()
    with pytest.raises(BinaryError, match="truncated ELF file: the section header table ends at byte"):
        read_elf_bytes(data[:-100], shown="lib.so")


def test_a_corrupt_section_header_says_so(libraries: Path) -> None:
    data = bytearray((libraries / "libkernel.so").read_bytes())
    start = int.from_bytes(data[40:48], "little")  # e_shoff
    for offset in range(start + 64, len(data), 64):
        data[offset : offset + 4] = b"\xff\xff\xff\x7f"  # sh_name points far outside
    with pytest.raises(BinaryError, match="section 1 has no name: the section header table is corrupt"):
        read_elf_bytes(bytes(data), shown="lib.so")


@pytest.mark.parametrize("step", [37, 251])
def test_no_cut_gives_anything_but_a_binary_error(libraries: Path, tmp_path: Path, step: int) -> None:
    data = (libraries / "libkernel.so").read_bytes()
    file = tmp_path / "lib.so"
    for length in [*range(0, min(len(data), 2000), step), *range(2000, len(data), step * 20)]:
        file.write_bytes(data[:length])
        for question in (read_elf, native_fingerprint, lambda path: holds_symbols(path, {"kernel"})):
            with pytest.raises(BinaryError, match=r"lib\.so: "):
                question(file)


@pytest.mark.parametrize("seed", range(150))
def test_no_damage_gives_anything_but_success_or_a_binary_error(libraries: Path, tmp_path: Path, seed: int) -> None:
    data = bytearray((libraries / "libkernel.so").read_bytes())
    chance = random.Random(seed)
    headers = int.from_bytes(data[40:48], "little")
    for _ in range(chance.choice((1, 3, 20))):
        # the tables are where damage hurts: ELF header, program headers, dynamic tables, section headers
        place = chance.choice(
            (chance.randrange(4, 900), chance.randrange(headers, len(data)), chance.randrange(4, 4000))
        )
        data[place] = chance.choice((0, 0xFF, 0x7F, chance.randrange(256)))
    file = tmp_path / "lib.so"
    file.write_bytes(data)
    for question in (
        read_elf,
        native_fingerprint,
        lambda path: holds_symbols(path, {"kernel", "nothing"}),
        lambda path: read_section(path, ".llvmbc"),
    ):
        with contextlib.suppress(BinaryError):
            question(file)
