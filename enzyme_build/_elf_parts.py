"""Two small parts of reading ELF that need no parser: the GNU hash table, and what a file is when it is no ELF."""

from __future__ import annotations

import struct
from dataclasses import dataclass

__all__ = ["GnuHash", "what_is"]

_MAGICS = (
    (b"\xfe\xed\xfa\xce", "a Mach-O file (macOS)"),
    (b"\xfe\xed\xfa\xcf", "a Mach-O file (macOS)"),
    (b"\xce\xfa\xed\xfe", "a Mach-O file (macOS)"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O file (macOS)"),
    (b"\xca\xfe\xba\xbe", "a universal Mach-O file (macOS)"),
    (b"MZ", "a PE file (Windows)"),
    (b"!<arch>\n", "an ar archive (a static library)"),
    (b"!<thin>\n", "a thin ar archive (a static library)"),
    (b"BC\xc0\xde", "an LLVM bitcode file"),
    (b"PK\x03\x04", "a zip archive"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class GnuHash:
    """The GNU hash table of a library: it lists exactly the symbols that the library defines for others.

    Layout: four words (buckets, first symbol, size and shift of the Bloom filter), the filter in words of the file's
    class, the buckets, then one word of hash a symbol whose lowest bit ends a chain (binutils, bfd/elflink.c).
    `symbols` and `strings` are the raw dynamic symbol table and its strings; `order` is `<` or `>`, `bits` 32 or 64.
    """

    table: bytes
    symbols: bytes
    strings: bytes
    symbol_size: int
    order: str
    bits: int

    def holds(self, name: bytes) -> bool:
        """Tell whether the library defines `name`; raises `struct.error` where the table is damaged."""
        word = struct.Struct(self.order + "I")
        bloom = struct.Struct(self.order + ("Q" if self.bits == 64 else "I"))
        buckets, first, bloom_size, shift = struct.unpack_from(self.order + "4I", self.table)
        code = 5381
        for byte in name:
            code = (code * 33 + byte) & 0xFFFFFFFF
        (mask,) = bloom.unpack_from(self.table, 16 + bloom.size * (code // self.bits % bloom_size))
        if not (mask >> (code % self.bits)) & (mask >> ((code >> shift) % self.bits)) & 1:
            return False
        start = 16 + bloom.size * bloom_size
        (number,) = word.unpack_from(self.table, start + 4 * (code % buckets))
        chain = start + 4 * buckets
        while number >= first:
            (stored,) = word.unpack_from(self.table, chain + 4 * (number - first))
            if (stored ^ code) < 2 and self._is(number, name):
                return True
            if stored & 1:
                return False
            number += 1
        return False

    def _is(self, number: int, name: bytes) -> bool:
        """Tell whether the symbol of this number has this name."""
        (name_at,) = struct.unpack_from(self.order + "I", self.symbols, number * self.symbol_size)
        return self.strings[name_at : name_at + len(name) + 1] == name + b"\0"


def what_is(start: bytes) -> str:
    """Return in words what a file is that starts with `start`."""
    if not start:
        return "an empty file"
    for magic, name in _MAGICS:
        if start.startswith(magic):
            return name
    if b"\0" not in start and all(byte >= 32 or byte in b"\t\n\r\f" for byte in start):
        script = start.lstrip().startswith((b"INPUT", b"GROUP", b"/* GNU ld script", b"OUTPUT_FORMAT"))
        return "a linker script (text)" if script else "text"
    return f"something unknown (it starts with {start[:4].hex(' ')})"
