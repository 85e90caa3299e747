"""Split the content of `.llvmbc` into the modules that a linker laid end to end in it.

The container format is LLVM's bitstream (LLVM Bitcode File Format): magic, then top-level blocks. A block starts with
ENTER_SUBBLOCK in the two low bits of its first word; its second word is the length of its body in 32-bit words.
"""

from __future__ import annotations

import struct

from enzyme_build.errors import BinaryError

__all__ = ["MAGIC", "split_modules"]

MAGIC = b"BC\xc0\xde"
_ENTER_SUBBLOCK = 1
_BLOCK_HEADER = struct.Struct("<II")


def split_modules(data: bytes, *, shown: str) -> tuple[bytes, ...]:
    """Return the bytes of each module in `data`, in order; `shown` names the library in messages.

    Zero bytes between modules are linker padding; so is a section that holds nothing else (the marker of
    `-fembed-bitcode-marker`), which gives no module. Raises `BinaryError` with the offset where `data` stops being
    bitcode.
    """
    modules = []
    position = 0
    while position < len(data):
        if data[position] == 0:
            position += 1
            continue
        if data[position : position + 4] != MAGIC:
            msg = f"{shown}: .llvmbc holds something that is not LLVM bitcode at byte {position}"
            raise BinaryError(msg, hint="rebuild the library; its objects were not made with embedded LLVM bitcode")
        end = _end_of_module(data, position, shown=shown)
        modules.append(data[position:end])
        position = end
    return tuple(modules)


def _end_of_module(data: bytes, start: int, *, shown: str) -> int:
    """Return where the module that starts at `start` ends: the first place that is no top-level block."""
    position = start + len(MAGIC)
    while position + _BLOCK_HEADER.size <= len(data) and data[position : position + 4] != MAGIC:
        word, length = _BLOCK_HEADER.unpack_from(data, position)
        if word & 0b11 != _ENTER_SUBBLOCK:
            break
        following = position + _BLOCK_HEADER.size + 4 * length
        if following > len(data):
            msg = f"{shown}: the bitcode in .llvmbc is cut short: a block at byte {position} ends past the section"
            raise BinaryError(msg, hint="rebuild the library; the file was truncated or rewritten by another tool")
        position = following
    return position
