"""Find the libraries behind the paths that a user names: a library, a folder, or a wheel, which is read in memory."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

from enzyme_build.check.finding import make_finding
from enzyme_build.check.objects import object_findings
from enzyme_build.elf import COMMAND_SECTION, SECTION, read_elf_bytes, read_section_bytes
from enzyme_build.errors import BinaryError, EnzymeBuildError, ManifestError, UsageError
from enzyme_build.finalize.split import split_modules
from enzyme_build.manifest import SUFFIX, decode_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from enzyme_build.check.finding import Finding
    from enzyme_build.elf import ElfFacts
    from enzyme_build.manifest import Manifest

__all__ = ["Collected", "collect"]

_LIBRARY = re.compile(r"\.so(?:\.[\w.]+)?$")
_ELF_MAGIC = b"\x7fELF"


@dataclass(frozen=True, kw_only=True, slots=True)
class Collected:
    """Libraries that have a manifest, with what was found wrong on the way; `native` are those with nothing in them.

    `bitcode` holds the content of `.llvmbc` by the library's shown name, where it was asked for.
    """

    libraries: tuple[tuple[str, Manifest, ElfFacts | None], ...] = ()
    findings: tuple[Finding, ...] = ()
    native: tuple[str, ...] = ()
    bitcode: Mapping[str, bytes] = field(default_factory=dict)


class _Place(Protocol):
    """A folder or a wheel: the files in it by their relative names."""

    shown: str

    def names(self) -> Iterable[str]: ...
    def read(self, name: str) -> bytes: ...
    def start(self, name: str) -> bytes: ...
    def show(self, name: str) -> str: ...


def collect(paths: Sequence[Path], *, with_bitcode: bool = False) -> Collected:
    """Return the libraries in `paths`, with the names that reports show: as given, or `wheel: name inside`.

    In a folder or a wheel, libraries without bitcode and without manifest are passed by; named alone, such a one is a
    finding. Raises `UsageError` for a path that does not exist, `BinaryError` for a file that is neither a library nor
    a wheel. Archives and object files are judged by themselves, where the user names them.
    """
    found = []
    for path in paths:
        if path.is_dir():
            found.append(_from_place(_Folder(path), with_bitcode=with_bitcode))
        elif not path.exists():
            msg = f"{path}: no such file or folder"
            raise UsageError(msg, hint="name a library, a folder or a wheel")
        elif path.suffix == ".whl":
            found.append(_from_wheel(path, with_bitcode=with_bitcode))
        elif path.suffix in (".o", ".obj", ".a"):
            found.append(Collected(findings=tuple(object_findings(str(path), _read(path)))))
        else:
            found.append(_from_library(path, with_bitcode=with_bitcode))
    return Collected(
        libraries=tuple(library for each in found for library in each.libraries),
        findings=tuple(finding for each in found for finding in each.findings),
        native=tuple(name for each in found for name in each.native),
        bitcode={name: data for each in found for name, data in each.bitcode.items()},
    )


class _Folder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.shown = str(path)

    def names(self) -> Iterable[str]:
        """Return the files below, links left out: `libx.so` and `libx.so.1` are one library."""
        files = (file for file in self.path.rglob("*") if file.is_file() and not file.is_symlink())
        return [file.relative_to(self.path).as_posix() for file in files]

    def read(self, name: str) -> bytes:
        return _read(self.path / name)

    def start(self, name: str) -> bytes:
        with (self.path / name).open("rb") as stream:
            return stream.read(4)

    def show(self, name: str) -> str:
        return str(self.path / name)


class _Wheel:
    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.shown = str(path)

    def names(self) -> Iterable[str]:
        return [name for name in self.archive.namelist() if not name.endswith("/")]

    def read(self, name: str) -> bytes:
        return self.archive.read(name)

    def start(self, name: str) -> bytes:
        with self.archive.open(name) as stream:
            return stream.read(4)

    def show(self, name: str) -> str:
        return f"{self.shown}: {name}"


def _from_wheel(path: Path, *, with_bitcode: bool) -> Collected:
    try:
        with zipfile.ZipFile(io.BytesIO(_read(path))) as archive:
            return _from_place(_Wheel(path, archive), with_bitcode=with_bitcode)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
        msg = f"{path}: not a sound wheel: {error}"
        raise BinaryError(msg, hint="build the wheel anew") from error


def _from_library(path: Path, *, with_bitcode: bool) -> Collected:
    """Return one library that the user named; here a missing manifest or bitcode is always a finding."""
    beside = path.with_name(path.name + SUFFIX)
    manifest = _read(beside) if beside.exists() else None
    shown = str(path)
    data = _read(path)
    elf = read_elf_bytes(data, shown=shown)
    if manifest is not None:
        return _with_manifest(shown, manifest, elf, data if with_bitcode else None)
    if not elf.bitcode_section and not elf.has_command_section:
        message = f"{shown}: there is no section {SECTION} in it, and no manifest beside it"
        return Collected(findings=(make_finding("EB002", message, library=shown),))
    return Collected(findings=(_unfinished(shown, data),))


def _from_place(place: _Place, *, with_bitcode: bool) -> Collected:
    """Return all libraries of a folder or wheel."""
    names = set(place.names())
    collected = Collected()
    for name in sorted(names):
        if name.endswith(SUFFIX):
            if name.removesuffix(SUFFIX) not in names:
                collected = _joined(collected, _orphan(place, name))
        elif name + SUFFIX in names or (_LIBRARY.search(PurePosixPath(name).name) and place.start(name) == _ELF_MAGIC):
            member = _from_member(place, name, has_manifest=name + SUFFIX in names, with_bitcode=with_bitcode)
            collected = _joined(collected, member)
    if not collected.libraries and not collected.findings:
        libraries = "library" if len(collected.native) == 1 else "libraries"
        message = f"{place.shown}: {len(collected.native)} shared {libraries} in it, none with bitcode or a manifest"
        return Collected(findings=(make_finding("EB024", message, library=place.shown),), native=collected.native)
    return collected


def _from_member(place: _Place, name: str, *, has_manifest: bool, with_bitcode: bool) -> Collected:
    """Return one library of a folder or wheel; a damaged one is a finding, and the others are still looked at."""
    shown = place.show(name)
    try:
        data = place.read(name)
        elf = read_elf_bytes(data, shown=shown)
        if has_manifest:
            return _with_manifest(shown, place.read(name + SUFFIX), elf, data if with_bitcode else None)
        if elf.bitcode_section or elf.has_command_section:
            return Collected(findings=(_unfinished(shown, data),))
        return Collected(native=(shown,))
    except EnzymeBuildError as error:
        return Collected(findings=(make_finding("EB026", error.message, fix=error.hint, library=shown),))


def _with_manifest(shown: str, manifest: bytes, elf: ElfFacts, data: bytes | None) -> Collected:
    try:
        decoded = decode_manifest(manifest, shown=f"{shown}{SUFFIX}")
    except ManifestError as error:
        return Collected(findings=(make_finding("EB026", error.message, fix=error.hint, library=shown),))
    section = None if data is None or decoded.bitcode is None else read_section_bytes(data, SECTION, shown=shown)
    return Collected(libraries=((shown, decoded, elf),), bitcode={shown: section} if section else {})


def _orphan(place: _Place, name: str) -> Collected:
    shown = place.show(name)
    message = f"{shown}: there is no {PurePosixPath(name).name.removesuffix(SUFFIX)} beside this manifest"
    return Collected(findings=(make_finding("EB025", message, library=shown),))


def _unfinished(shown: str, data: bytes) -> Finding:
    """Return what is wrong with a library whose bitcode nobody finalized."""
    section = read_section_bytes(data, SECTION, shown=shown)
    if section is None:  # the linker dropped the empty sections that the marker option makes, not their companion
        message = f"{shown}: {COMMAND_SECTION} shows that {SECTION} was meant to be, but no object had bitcode in it"
        return make_finding("EB004", message, library=shown)
    try:
        modules = len(split_modules(section, shown=shown))
    except BinaryError as error:
        return make_finding("EB026", error.message, fix=error.hint, library=shown)
    if modules == 0:
        return make_finding("EB004", f"{shown}: {SECTION} holds no module ({len(section)} bytes)", library=shown)
    if modules > 1:
        return make_finding("EB003", f"{shown}: {SECTION} holds {modules} modules", library=shown)
    return make_finding("EB015", f"{shown}: {SECTION} holds a module, but there is no manifest", library=shown)


def _joined(left: Collected, right: Collected) -> Collected:
    return Collected(
        libraries=left.libraries + right.libraries,
        findings=left.findings + right.findings,
        native=left.native + right.native,
        bitcode={**left.bitcode, **right.bitcode},
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
        raise BinaryError(msg) from error
