"""Read what matters of a shared library: its names, what it needs, and the section that holds bitcode.

The only module that knows pyelftools; everything that can go wrong inside it becomes a `BinaryError` in `_reading`.
Sources of fact: System V ABI (gABI) for the tables, the GNU extensions of the LSB for symbol versions.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Literal

from elftools.common.exceptions import ELFError
from elftools.construct.core import ConstructError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection, GNUVerNeedSection
from elftools.elf.sections import NoteSection, Section

from enzyme_build._elf_parts import GnuHash, what_is
from enzyme_build.errors import BinaryError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

__all__ = [
    "COMMAND_SECTION",
    "FOREIGN_ERRORS",
    "SECTION",
    "ElfFacts",
    "ElfSymbol",
    "holds_symbols",
    "native_fingerprint",
    "read_elf",
    "read_elf_bytes",
    "read_section",
    "read_section_bytes",
]

SECTION = ".llvmbc"
COMMAND_SECTION = ".llvmcmd"

Kind = Literal["function", "variable", "other"]

# everything that parsing a damaged file makes pyelftools, construct and struct raise
FOREIGN_ERRORS = (
    ELFError, ConstructError, struct.error, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError,
    TypeError, ValueError,
)  # fmt: skip

# st_info and st_other (gABI, figure 4-16 and following)
_LOCAL, _WEAK = 0, 2
_KINDS: dict[int, Kind] = {1: "variable", 2: "function", 5: "variable", 6: "variable", 10: "function"}
_SECTION_SYMBOL, _FILE_SYMBOL = 3, 4
_INTERNAL, _HIDDEN = 1, 2
_UNDEFINED, _ABSOLUTE = 0, 0xFFF1
_ALLOCATED = 0x2


@dataclass(frozen=True, kw_only=True, slots=True)
class ElfSymbol:
    """A dynamic symbol; `version` is that of the GNU version tables.

    `size` in bytes and `address` are 0 for undefined ones; two names of one function share an address.
    """

    name: str
    kind: Kind
    weak: bool = False
    version: str | None = None
    size: int = 0
    address: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class ElfFacts:
    """A shared library from outside: `bits` is 32 or 64, `bitcode_size` the bytes of `.llvmbc`.

    `machine` is `x86-64`, `AArch64` or another name of pyelftools; `section_sha256` that of the content of `.llvmbc`,
    `None` without such a section; symbols are sorted by name and version.
    """

    machine: str
    bits: int
    soname: str | None = None
    needed: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    build_id: str | None = None
    exported: tuple[ElfSymbol, ...] = ()
    undefined: tuple[ElfSymbol, ...] = ()
    bitcode_section: bool = False
    bitcode_size: int = 0
    section_sha256: str | None = None
    has_command_section: bool = False


def read_elf(path: Path) -> ElfFacts:
    """Return the facts of the library at `path`; raises `BinaryError` for anything that is no sound shared library."""
    with _opened(path) as stream:
        return _read(stream, shown=str(path))


def read_elf_bytes(data: bytes, *, shown: str) -> ElfFacts:
    """Return the facts of a library held in memory; `shown` names it in messages."""
    return _read(io.BytesIO(data), shown=shown)


def read_section(path: Path, name: str) -> bytes | None:
    """Return the content of section `name` of the file at `path`, `None` when it has none."""
    with _opened(path) as stream:
        return _section(stream, name, shown=str(path))


def read_section_bytes(data: bytes, name: str, *, shown: str) -> bytes | None:
    """Return the content of section `name` of a file held in memory, `None` when it has none."""
    return _section(io.BytesIO(data), name, shown=shown)


def holds_symbols(path: Path, names: Collection[str]) -> set[str]:
    """Return those of `names` that the library at `path` defines for others.

    Looked up in the GNU hash table, which lists exactly those; without one, all dynamic symbols are read.
    """
    shown = str(path)
    with _opened(path) as stream, _reading(shown):
        file = _File(stream, shown=shown)
        wanted = set(names)
        table = file.gnu_hash()
        if table is None:
            return wanted & {symbol.name for symbol in file.symbols()[0]}
        symbols, strings = file.symbol_table()
        hashed = GnuHash(
            table=table,
            symbols=symbols,
            strings=strings,
            symbol_size=file.symbol_format.size,
            order=file.order,
            bits=file.elf.elfclass,
        )
        return {name for name in wanted if hashed.holds(name.encode())}


def native_fingerprint(path: Path) -> str:
    """Return a digest of what a loader sees: program headers and all allocated sections, dynamic symbols included.

    It stays the same when a section that is not loaded, such as `.llvmbc`, is replaced, added or removed.
    """
    shown = str(path)
    with _opened(path) as stream, _reading(shown):
        file = _File(stream, shown=shown)
        digest = hashlib.sha256(file.program_headers())
        for section in file.elf.iter_sections():
            if not section["sh_flags"] & _ALLOCATED:
                continue
            head = (section.name, section["sh_type"], section["sh_flags"], section["sh_addr"], section["sh_size"])
            digest.update(repr(head).encode())
            if section["sh_type"] != "SHT_NOBITS":
                digest.update(file.content(section))
        return digest.hexdigest()


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        stream = path.open("rb")
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
        raise BinaryError(msg) from error
    with stream:
        yield stream


@contextlib.contextmanager
def _reading(shown: str) -> Iterator[None]:
    """Turn whatever a damaged file makes the parser raise into a `BinaryError`."""
    try:
        yield
    except (*FOREIGN_ERRORS, OSError) as error:
        reason = str(error).strip() or type(error).__name__
        msg = f"{shown}: damaged ELF file: {reason}"
        raise BinaryError(msg, hint="build the library anew; the file was truncated or overwritten") from error


def _read(stream: IO[bytes], *, shown: str) -> ElfFacts:
    with _reading(shown):
        file = _File(stream, shown=shown)
        tags: dict[str, list[str]] = {"needed": [], "soname": [], "rpath": [], "runpath": []}
        for tag in file.dynamic.iter_tags():
            kind = str(tag.entry.d_tag).removeprefix("DT_").lower()
            if kind in tags:
                tags[kind].append(getattr(tag, kind))
        bitcode = file.sections.get(SECTION)
        content = None if bitcode is None else file.content(bitcode)
        exported, undefined = file.symbols()
        return ElfFacts(
            machine=file.machine,
            bits=file.elf.elfclass,
            soname=next(iter(tags["soname"]), None),
            needed=tuple(tags["needed"]),
            runpath=tuple(entry for text in tags["runpath"] or tags["rpath"] for entry in text.split(":") if entry),
            build_id=file.build_id(),
            exported=exported,
            undefined=undefined,
            bitcode_section=content is not None,
            bitcode_size=len(content or b""),
            section_sha256=None if content is None else hashlib.sha256(content).hexdigest(),
            has_command_section=COMMAND_SECTION in file.sections,
        )


def _section(stream: IO[bytes], name: str, *, shown: str) -> bytes | None:
    with _reading(shown):
        file = _File(stream, shown=shown)
        section = file.sections.get(name)
        return None if section is None else file.content(section)


class _File:
    """An ELF file whose headers lie inside it; raises `BinaryError` or one of `FOREIGN_ERRORS` otherwise."""

    def __init__(self, stream: IO[bytes], *, shown: str) -> None:
        self.stream = stream
        self.shown = shown
        self.size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        start = stream.read(64)
        if start[:4] != b"\x7fELF":
            msg = f"{shown}: not an ELF file but {what_is(start)}"
            raise BinaryError(msg, hint="give a shared library for Linux (`lib*.so`)")
        stream.seek(0)
        self.elf: Any = ELFFile(stream)
        header = self.elf.header
        self._inside("the section header table", header["e_shoff"], header["e_shnum"] * header["e_shentsize"])
        self._inside("the program header table", header["e_phoff"], header["e_phnum"] * header["e_phentsize"])
        self.dynamic: Any = None
        for segment in self.elf.iter_segments():
            self._inside(f"a segment ({segment['p_type']})", segment["p_offset"], segment["p_filesz"])
            if isinstance(segment, DynamicSegment):
                self.dynamic = segment
        if self.dynamic is None:
            kind = {"ET_REL": "an object file", "ET_EXEC": "a static program"}.get(header["e_type"], "an ELF file")
            msg = f"{shown}: {kind} without a dynamic section, not a shared library"
            raise BinaryError(msg, hint="link it into a shared library first (`-shared`)")
        self.sections: dict[str, Any] = {}
        for number, section in enumerate(self.elf.iter_sections()):
            if not section.name and section["sh_type"] != "SHT_NULL":
                msg = f"section {number} has no name: the section header table is corrupt"
                raise ValueError(msg)
            self.sections[section.name] = section

    @property
    def machine(self) -> str:
        """The architecture, as people call it."""
        architecture = str(self.elf.get_machine_arch())
        return {"x64": "x86-64"}.get(architecture, architecture)

    def _inside(self, what: str, offset: int, size: int) -> None:
        if offset + size > self.size:
            msg = f"{self.shown}: truncated ELF file: {what} ends at byte {offset + size}, the file at {self.size}"
            raise BinaryError(msg, hint="build or copy the library anew")

    def bytes_at(self, offset: int, size: int, what: str) -> bytes:
        """Return `size` bytes of the file; `what` names them when they are not all there."""
        self._inside(what, offset, size)
        self.stream.seek(offset)
        return self.stream.read(size)

    def content(self, section: Section) -> bytes:
        """Return the bytes of a section as they are in the file."""
        if section["sh_type"] == "SHT_NOBITS":
            return b""
        return self.bytes_at(section["sh_offset"], section["sh_size"], f"section {section.name}")

    def program_headers(self) -> bytes:
        """Return the raw program header table."""
        header = self.elf.header
        return self.bytes_at(header["e_phoff"], header["e_phnum"] * header["e_phentsize"], "the program header table")

    def build_id(self) -> str | None:
        """Return the GNU build-id in hexadecimal."""
        section = self.sections.get(".note.gnu.build-id")
        if not isinstance(section, NoteSection):
            return None
        notes = (note["n_desc"] for note in section.iter_notes() if note["n_type"] == "NT_GNU_BUILD_ID")
        return next((str(note) for note in notes), None)

    def _tag(self, name: str) -> int | None:
        """Return the value of the first dynamic tag `name`."""
        tag = next(self.dynamic.iter_tags(name), None)
        return None if tag is None else int(tag.entry.d_val)

    def _offset(self, address: int) -> int:
        return int(next(self.elf.address_offsets(address)))

    def symbol_table(self) -> tuple[bytes, bytes]:
        """Return the dynamic symbol table and its strings, raw: from the section, or the segment in a file without."""
        section = next((item for item in self.sections.values() if item["sh_type"] == "SHT_DYNSYM"), None)
        if section is not None:
            return self.content(section), self.content(self.elf.get_section(section["sh_link"]))
        table, strings, length = (self._tag(f"DT_{name}") for name in ("SYMTAB", "STRTAB", "STRSZ"))
        if table is None or strings is None or length is None:
            return b"", b""
        size = self.dynamic.num_symbols() * self.symbol_format.size
        return (
            self.bytes_at(self._offset(table), size, "the dynamic symbol table"),
            self.bytes_at(self._offset(strings), length, "the dynamic string table"),
        )

    @property
    def order(self) -> str:
        """The byte order, as `struct` spells it."""
        return "<" if self.elf.little_endian else ">"

    @property
    def symbol_format(self) -> struct.Struct:
        """The layout of one symbol (gABI, figure 4-15)."""
        return struct.Struct(self.order + ("IBBHQQ" if self.elf.elfclass == 64 else "IIIBBH"))

    def gnu_hash(self) -> bytes | None:
        """Return the GNU hash table and all that follows it in its segment or section; `None` when there is none."""
        section = next((item for item in self.sections.values() if item["sh_type"] == "SHT_GNU_HASH"), None)
        return None if section is None else self.content(section)

    def symbols(self) -> tuple[tuple[ElfSymbol, ...], tuple[ElfSymbol, ...]]:
        """Return what the library defines for others, and what it wants of others."""
        table, strings = self.symbol_table()
        layout = self.symbol_format
        wide = self.elf.elfclass == 64
        versions = self._versions(len(table) // layout.size)
        version_names = {name for name in versions.values() if name}
        exported: list[ElfSymbol] = []
        undefined: list[ElfSymbol] = []
        for number, entry in enumerate(layout.iter_unpack(table[: len(table) - len(table) % layout.size])):
            if wide:
                name_at, info, other, index, value, size = entry
            else:
                name_at, value, size, info, other, index = entry
            binding, kind, visibility = info >> 4, info & 15, other & 3
            if binding == _LOCAL or kind in (_SECTION_SYMBOL, _FILE_SYMBOL) or visibility in (_INTERNAL, _HIDDEN):
                continue
            name = _string(strings, name_at)
            if not name or (index == _ABSOLUTE and not value and name in version_names):
                continue  # GNU ld writes each version it defines as an absolute symbol
            symbol = ElfSymbol(
                name=name,
                kind=_KINDS.get(kind, "other"),
                weak=binding == _WEAK,
                version=versions.get(number),
                size=size if index != _UNDEFINED else 0,
                address=value if index != _UNDEFINED else 0,
            )
            (undefined if index == _UNDEFINED else exported).append(symbol)

        def by_name(symbol: ElfSymbol) -> tuple[str, str]:
            return symbol.name, symbol.version or ""

        return tuple(sorted(exported, key=by_name)), tuple(sorted(undefined, key=by_name))

    def _versions(self, count: int) -> dict[int, str]:
        """Return the version of each symbol number that has one."""
        names: dict[int, str] = {}
        numbers: tuple[int, ...] = ()
        for section in self.sections.values():
            if isinstance(section, GNUVerDefSection):
                for definition, auxiliaries in section.iter_versions():
                    names[definition["vd_ndx"] & 0x7FFF] = next(auxiliaries).name
            elif isinstance(section, GNUVerNeedSection):
                for _library, auxiliaries in section.iter_versions():
                    names |= {item["vna_other"] & 0x7FFF: item.name for item in auxiliaries}
            elif section["sh_type"] == "SHT_GNU_versym":
                data = self.content(section)[: 2 * count]
                numbers = struct.unpack(f"{self.order}{len(data) // 2}H", data[: len(data) // 2 * 2])
        found = ((symbol, number & 0x7FFF) for symbol, number in enumerate(numbers))
        return {symbol: names[number] for symbol, number in found if number > 1 and number in names}


def _string(strings: bytes, start: int) -> str:
    end = strings.find(b"\0", start)
    if start >= len(strings) or end < 0:
        msg = f"a symbol's name lies outside the string table (at {start} of {len(strings)})"
        raise ValueError(msg)
    return strings[start:end].decode("utf-8", "backslashreplace")
