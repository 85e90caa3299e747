"""Find the libLLVM of a consumer's version, without a clang of that version."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build.toolchain.probe import ClangFacts, find_libllvm
from enzyme_build.toolchain.search import places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enzyme_build.model import Consumer

__all__ = ["find_reader"]


def find_reader(consumer: Consumer, environment: Mapping[str, str]) -> Path | None:
    """Return the libLLVM of the version that `consumer` reads with, if one is installed here."""
    clangs = [place.clang.resolve() for place in places(setting=None, environment=environment)]
    prefixes = (
        Path(f"/usr/lib/llvm-{consumer.llvm_major}"),
        Path(f"/usr/lib64/llvm{consumer.llvm_major}"),
        *(clang.parent.parent for clang in clangs),
    )
    stand_in = ClangFacts(
        path=prefixes[0] / "bin" / "clang",
        version=f"{consumer.llvm_major}.0.0",
        prefixes=(*prefixes, Path(sys.prefix)),
    )
    return find_libllvm(stand_in, environment)
