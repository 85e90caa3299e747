"""Splitting .llvmbc: pure, on bytes shaped like LLVM's bitstream container."""

from __future__ import annotations

import struct

import pytest

from enzyme_build.errors import BinaryError
from enzyme_build.finalize.split import MAGIC, split_modules


def module(*block_words: int) -> bytes:
    """Return a module of blocks with bodies of so many words."""
    blocks = b"".join(struct.pack("<II", 0b01 | 13 << 2, words) + bytes(4 * words) for words in block_words)
    return MAGIC + blocks


def test_modules_end_to_end_with_linker_padding() -> None:
    first, second = module(3, 5), module(1)
    assert split_modules(first + second, shown="x") == (first, second)
    assert split_modules(first + b"\0" * 12 + second + b"\0" * 4, shown="x") == (first, second)


@pytest.mark.parametrize("data", [b"", b"\0", b"\0" * 16])
def test_nothing_but_padding_holds_no_module(data: bytes) -> None:
    assert split_modules(data, shown="x") == ()


def test_magic_inside_a_block_is_not_a_module() -> None:
    word, length = struct.pack("<II", 0b01, 2)[:4], struct.pack("<I", 2)
    data = MAGIC + word + length + MAGIC + MAGIC
    assert split_modules(data, shown="x") == (data,)


@pytest.mark.parametrize("garbage", [b"\x7fELF", b"not bitcode", b"BC"])
def test_garbage_is_named_with_its_place(garbage: bytes) -> None:
    with pytest.raises(BinaryError, match=r"libx\.so: \.llvmbc holds something that is not LLVM bitcode at byte 16"):
        split_modules(module(1) + b"\0" * (16 - len(module(1))) + garbage, shown="libx.so")


def test_cut_short() -> None:
    data = module(3, 5)
    with pytest.raises(BinaryError, match=r"libx\.so: the bitcode in \.llvmbc is cut short"):
        split_modules(data[:-4], shown="libx.so")
