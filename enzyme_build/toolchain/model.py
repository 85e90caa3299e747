"""What a toolchain is: one clang, the libLLVM of the same LLVM, and an objcopy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from enzyme_build.model import PointerMode

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NEWEST_TYPED", "OLDEST_MAJOR", "EnzymePlugin", "Language", "Toolchain", "supported_modes"]

Language = Literal["c", "c++"]

OLDEST_MAJOR = 15  # the first LLVM whose C API and bitcode this package was measured with
NEWEST_TYPED = 16  # LLVM 17 removed typed pointers


def supported_modes(major: int) -> tuple[PointerMode, ...]:
    """Return the pointer modes that clang and libLLVM of `major` can produce."""
    if major < OLDEST_MAJOR:
        return ()
    return (PointerMode.OPAQUE, PointerMode.TYPED) if major <= NEWEST_TYPED else (PointerMode.OPAQUE,)


@dataclass(frozen=True, kw_only=True, slots=True)
class Toolchain:
    """Tools of one LLVM, found and probed.

    `version` is what clang says of itself (`15.0.6`), `origin` where it was found (`PATH`, `Debian`, ...).
    `compiler_arguments`, `cxx_arguments` (for the C++ driver, compiling or linking) and `linker_arguments` are what
    this clang needs on every command line, normally nothing.
    `clangxx` is `clang` itself where no clang++ of the same build exists; `command` then asks for its C++ driver.
    """

    clang: Path
    clangxx: Path
    libllvm: Path
    version: str
    objcopy: Path
    origin: str
    compiler_arguments: tuple[str, ...] = ()
    cxx_arguments: tuple[str, ...] = ()
    linker_arguments: tuple[str, ...] = ()

    @property
    def major(self) -> int:
        """The LLVM major version."""
        return int(self.version.partition(".")[0])

    def supports(self, mode: PointerMode) -> bool:
        """Tell whether bitcode in this pointer mode can be made and finalized."""
        return mode in supported_modes(self.major)

    def command(self, language: Language) -> tuple[str, ...]:
        """Return the start of every compiler or linker command for `language`."""
        if language == "c":
            return (str(self.clang),)
        driver = ("--driver-mode=g++",) if self.clangxx == self.clang else ()
        return (str(self.clangxx), *driver, *self.cxx_arguments)

    def identity(self) -> str:
        """Return what a stamp keeps of the compiler: version, resolved path, size and time of the binary."""
        binary = self.clang.resolve()
        status = binary.stat()
        return f"{self.version} {binary} {status.st_size} {status.st_mtime_ns}"


@dataclass(frozen=True, kw_only=True, slots=True)
class EnzymePlugin:
    """An Enzyme pass plugin for `opt`; `llvm_major` as its file name says, `clang_plugin` the ClangEnzyme beside it."""

    path: Path
    origin: str
    llvm_major: int | None
    clang_plugin: Path | None = None
