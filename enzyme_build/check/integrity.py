"""Findings about a library as a whole: whether it is still what its manifest says, and who can read its bitcode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.check.finding import make_finding
from enzyme_build.elf import SECTION
from enzyme_build.errors import ConfigError
from enzyme_build.model import PointerMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from enzyme_build.check.finding import Finding
    from enzyme_build.elf import ElfFacts
    from enzyme_build.manifest import Manifest
    from enzyme_build.model import Consumer

__all__ = ["consumer_findings", "library_findings"]


def library_findings(shown: str, manifest: Manifest, elf: ElfFacts | None) -> list[Finding]:
    """Return what is wrong between a library and its manifest."""
    found = []
    if manifest.bitcode is None and not manifest.native:
        message = f"{shown}: none of its objects was compiled with bitcode: there is no section {SECTION}"
        found.append(make_finding("EB002", message, library=shown))
    if elf is None:
        return found
    record = manifest.library
    if record.build_id is not None and elf.build_id is not None and record.build_id != elf.build_id:
        message = f"{shown}: the manifest is of build {record.build_id[:12]}, the library of build {elf.build_id[:12]}"
        fix = "run `enzyme-build finalize` on this library, or put the manifest of the same build beside it"
        found.append(make_finding("EB007", message, fix=fix, library=shown))
    elif record.section_sha256 is not None and not elf.bitcode_section:
        message = f"{shown}: the manifest describes bitcode, but the library has no section {SECTION} any more"
        found.append(make_finding("EB007", message, library=shown))
    elif record.section_sha256 != elf.section_sha256:
        message = f"{shown}: the bitcode in the library is not the one that the manifest describes"
        fix = "run `enzyme-build finalize` on the library as it is now"
        found.append(make_finding("EB007", message, fix=fix, library=shown))
    return found


def consumer_findings(
    shown: str, manifest: Manifest, find_consumer: Callable[[str], Consumer]
) -> tuple[list[Finding], list[str]]:
    """Return which consumers cannot read the bitcode, and notes on those that this version does not know."""
    assert manifest.bitcode is not None  # noqa: S101 - there is nothing to read otherwise
    bitcode = manifest.bitcode
    found = []
    notes = []
    for name in manifest.consumers:
        try:
            consumer = find_consumer(name)
        except ConfigError:
            notes.append(f"consumer {name!r} is unknown to this version of enzyme-build and was not judged")
            continue
        if int(bitcode.llvm.partition(".")[0]) > consumer.llvm_major:
            message = f"{shown}: bitcode of LLVM {bitcode.llvm}; {name} reads LLVM {consumer.llvm_major} and older"
            found.append(make_finding("EB005", message, library=shown))
        # typed bitcode is read by everyone: a reader with opaque pointers converts it
        if bitcode.pointers is PointerMode.OPAQUE and PointerMode.OPAQUE not in consumer.pointers:
            message = f"{shown}: bitcode with opaque pointers; {name} reads typed pointers only"
            found.append(make_finding("EB006", message, library=shown))
    return found, notes
