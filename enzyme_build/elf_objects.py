"""Read object files, archives of them, and which source each function of a library came from.

Sources of fact: gABI for symbol tables, DWARF 5 section 3.1 for units, the `ar(5)` format with GNU's and BSD's index.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from enzyme_build.elf import FOREIGN_ERRORS, SECTION
from enzyme_build.errors import BinaryError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

__all__ = ["ArchiveFacts", "ObjectFacts", "function_origins", "read_archive", "read_object"]

_ARCHIVE, _THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER = 60
_BITCODE = b"BC\xc0\xde"
_INDEXES = ("/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED")


@dataclass(frozen=True, kw_only=True, slots=True)
class ObjectFacts:
    """An object file: `lto` when it is bare LLVM bitcode, `bitcode_size` of its `.llvmbc` or `None` without one.

    `compilers` is what `.comment` says, `functions` the functions that it defines for others, sorted.
    """

    lto: bool = False
    bitcode_size: int | None = None
    compilers: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchiveFacts:
    """An archive: its members by name (none for a thin one), and how many symbols its index lists, `None` without."""

    members: tuple[tuple[str, bytes], ...]
    indexed: int | None
    thin: bool = False


def read_object(data: bytes, *, shown: str) -> ObjectFacts:
    """Return the facts of an object file; raises `BinaryError` for anything else."""
    if data.startswith(_BITCODE):
        return ObjectFacts(lto=True)
    if not data.startswith(b"\x7fELF"):
        msg = f"{shown}: not an object file"
        raise BinaryError(msg, hint="give an object file (`*.o`), an archive (`*.a`), a library, a folder or a wheel")
    try:
        elf: Any = ELFFile(io.BytesIO(data))
        section = elf.get_section_by_name(SECTION)
        comment = elf.get_section_by_name(".comment")
        said = b"" if comment is None else comment.data()
        return ObjectFacts(
            bitcode_size=None if section is None else len(section.data().strip(b"\0")),
            compilers=tuple(dict.fromkeys(part.decode("utf-8", "replace") for part in said.split(b"\0") if part)),
            functions=tuple(sorted(_defined_functions(elf))),
        )
    except FOREIGN_ERRORS as error:
        msg = f"{shown}: damaged object file: {str(error).strip() or type(error).__name__}"
        raise BinaryError(msg, hint="compile it anew") from error


def _defined_functions(elf: Any) -> Iterator[str]:
    for section in elf.iter_sections():
        if not isinstance(section, SymbolTableSection):
            continue
        for symbol in section.iter_symbols():
            information = symbol["st_info"]
            # assemblers leave the kind out unless the source says `.type name, @function`
            kinds = ("STT_FUNC", "STT_GNU_IFUNC", "STT_NOTYPE")
            defined = symbol["st_shndx"] != "SHN_UNDEF"
            if defined and information["bind"] != "STB_LOCAL" and information["type"] in kinds:
                yield symbol.name


def read_archive(data: bytes, *, shown: str) -> ArchiveFacts:
    """Return the facts of an `ar` archive; raises `BinaryError` for anything else, or one that is cut short."""
    if not data.startswith((_ARCHIVE, _THIN)):
        msg = f"{shown}: not an ar archive"
        raise BinaryError(msg, hint="give a static library (`lib*.a`)")
    thin = data.startswith(_THIN)
    members = []
    indexed = None
    names = b""
    position = len(_ARCHIVE)
    while position + _HEADER <= len(data):
        raw = data[position : position + 16].decode("latin-1").rstrip()
        size_text = data[position + 48 : position + 58].decode("latin-1").strip()
        start = position + _HEADER
        if not size_text.isdigit() or data[start - 2 : start] != b"`\n":
            msg = f"{shown}: damaged archive: no member header at byte {position}"
            raise BinaryError(msg, hint="make the archive anew")
        size = int(size_text)
        special = raw in _INDEXES or raw == "//"
        content = b"" if thin and not special else data[start : start + size]
        if raw in _INDEXES:
            width = 8 if raw == "/SYM64/" else 4
            indexed = int.from_bytes(content[:width], "little" if raw.startswith("__") else "big")
        elif raw == "//":
            names = content
        elif not thin:
            members.append((_member_name(raw, names), content))
        position = start + (0 if thin and not special else size + size % 2)
    return ArchiveFacts(members=tuple(members), indexed=indexed, thin=thin)


def _member_name(raw: str, names: bytes) -> str:
    if re.fullmatch(r"/\d+", raw):
        rest = names[int(raw[1:]) :]
        return rest.partition(b"\n")[0].decode("utf-8", "replace").rstrip("/")
    return raw.rstrip("/")


def function_origins(library: Path, addresses: Mapping[str, int]) -> dict[str, str]:
    """Return for each function, by its address, the source and compiler that debug info names: `a.s (GNU AS 2.40)`.

    Empty without debug info, or with one that cannot be read: this only makes a message better.
    """
    try:
        with library.open("rb") as stream:
            elf: Any = ELFFile(stream)
            if not addresses or not elf.has_dwarf_info():
                return {}
            units = sorted(_units(elf.get_dwarf_info(), addresses.values()))
    except (*FOREIGN_ERRORS, OSError):
        return {}
    starts = [start for start, _, _ in units]
    found = {}
    for name, address in addresses.items():
        at = bisect_right(starts, address) - 1
        if at >= 0 and address < units[at][1]:
            found[name] = units[at][2]
    return found


def _units(dwarf: Any, addresses: Collection[int]) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and description of the pieces of code that hold one of `addresses`."""
    lists = dwarf.range_lists()
    for unit in dwarf.iter_CUs():
        attributes = unit.get_top_DIE().attributes
        texts = [
            value.value.decode("utf-8", "replace")
            for key in ("DW_AT_name", "DW_AT_producer")
            if (value := attributes.get(key)) is not None and isinstance(value.value, bytes)
        ]
        low, high = attributes.get("DW_AT_low_pc"), attributes.get("DW_AT_high_pc")
        ranges = []
        if low is not None and high is not None:
            end = high.value if high.form == "DW_FORM_addr" else low.value + high.value
            ranges = [(low.value, end)]
        elif "DW_AT_ranges" in attributes and lists is not None:
            base = 0 if low is None else low.value
            entries = lists.get_range_list_at_offset(attributes["DW_AT_ranges"].value, cu=unit)
            ranges = [
                (entry.begin_offset + base, entry.end_offset + base)
                for entry in entries
                if hasattr(entry, "begin_offset")
            ]
        shown = texts[0] if texts else "?"
        if len(texts) > 1:
            shown += f" ({' '.join(texts[1].split()[:3])})"
        yield from ((start, end, shown) for start, end in ranges if any(start <= each < end for each in addresses))
