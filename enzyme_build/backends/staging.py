"""Finished libraries in the build folder: which are still fresh, and how they reach the place they are for.

The linker's output is never touched: finalize works on a copy below `stage/`, laid out as the wheel is. A library
leaves the stage only after the check, together with its manifest, so nothing half-done is ever installed.
"""

from __future__ import annotations

import contextlib
import filecmp
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from enzyme_build.manifest import manifest_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Stage", "digest", "file_digest", "place", "remove_stale"]


class _Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """What a staged library was made from, and the digests of what was made."""

    made_from: str
    library: str
    manifest: str


class Stage:
    """The staged copy of one library: `library` and `manifest` are where they lie."""

    def __init__(self, work: Path, relative: str) -> None:
        self.library = work / "stage" / relative
        self.manifest = manifest_path(self.library)
        self._stamp = work / "stamps" / f"{relative}.json"

    def is_fresh(self, made_from: str) -> bool:
        """Return whether the stage holds, unchanged, what was made from the input with this digest."""
        try:
            stamp = msgspec.json.decode(self._stamp.read_bytes(), type=_Stamp)
            return stamp == self._now(made_from)
        except (OSError, msgspec.DecodeError):
            return False

    @contextlib.contextmanager
    def renewed_from(self, linked: Path, made_from: str) -> Iterator[Path]:
        """Give a fresh copy of `linked` to work on; it and its manifest stay only if that goes well."""
        self.discard()
        self.library.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(linked, self.library)
        try:
            yield self.library
            self._stamp.parent.mkdir(parents=True, exist_ok=True)
            self._stamp.write_bytes(msgspec.json.encode(self._now(made_from)))
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Remove the staged library, its manifest and its stamp."""
        for path in (self._stamp, self.library, self.manifest):
            path.unlink(missing_ok=True)

    def _now(self, made_from: str) -> _Stamp:
        return _Stamp(made_from=made_from, library=file_digest(self.library), manifest=file_digest(self.manifest))


def digest(value: object) -> str:
    """Return a digest of `value`, anything that msgspec can write."""
    return hashlib.sha256(msgspec.json.encode(value, order="sorted", enc_hook=str)).hexdigest()


def file_digest(path: Path) -> str:
    """Return the digest of the file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def place(source: Path, target: Path) -> bool:
    """Copy `source` to `target` in one step; return whether `target` changed. An equal file is left untouched."""
    if target.is_file() and filecmp.cmp(source, target, shallow=False):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    try:
        shutil.copy(source, temporary)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return True


def remove_stale(record: Path, placed: Iterable[Path]) -> None:
    """Remove what an earlier build placed and this one did not, and write down in `record` what is placed now.

    Without this a library that was renamed stays in `build/lib*`, and setuptools puts that whole folder in the wheel.
    """
    now = {str(path.resolve()) for path in placed}
    try:
        before = set(msgspec.json.decode(record.read_bytes(), type=list[str]))
    except (OSError, msgspec.DecodeError):
        before = set()
    for path in before - now:
        Path(path).unlink(missing_ok=True)
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_bytes(msgspec.json.encode(sorted(now)))
