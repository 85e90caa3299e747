"""Findings about object files and archives, before they are linked: what will have no bitcode, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.check.finding import make_finding
from enzyme_build.elf import SECTION
from enzyme_build.elf_objects import read_archive, read_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.check.finding import Finding
    from enzyme_build.elf_objects import ObjectFacts

__all__ = ["object_findings"]

_SHOWN = 6
_LTO_FIX = "compile without `-flto`: with it the object is LLVM's own format, and the link leaves no section behind"


def object_findings(shown: str, data: bytes) -> list[Finding]:
    """Return what is wrong with an object file or with the members and the index of an archive.

    Raises `BinaryError` for a file that is neither, or damaged.
    """
    if not data.startswith((b"!<arch>\n", b"!<thin>\n")):
        return _of_object(shown, read_object(data, shown=shown))
    archive = read_archive(data, shown=shown)
    found = []
    defined = 0
    for name, content in archive.members:
        facts = read_object(content, shown=f"{shown}({name})")
        defined += len(facts.functions)
        found += _of_object(f"{shown}({name})", facts)
    if defined and not archive.indexed:
        what = "has no index" if archive.indexed is None else "has an empty index"
        message = f"{shown} {what}, and its members define {defined} functions"
        found.insert(0, make_finding("EB042", message, library=shown))
    return found


def _of_object(shown: str, facts: ObjectFacts) -> list[Finding]:
    if facts.lto:
        message = f"{shown} is bare LLVM bitcode, made for link-time optimisation"
        return [make_finding("EB041", message, fix=_LTO_FIX, library=shown)]
    if facts.bitcode_size == 0:
        return [make_finding("EB004", f"{shown}: {SECTION} holds no module", library=shown)]
    if facts.bitcode_size is None and facts.functions:
        made = f", made by {facts.compilers[0]}," if facts.compilers else ", which an assembler made,"
        message = f"{shown}{made} defines {_listed(facts.functions)} as machine code only"
        return [make_finding("EB041", message, library=shown)]
    return []


def _listed(functions: Sequence[str]) -> str:
    shown = ", ".join(functions[:_SHOWN])
    return shown if len(functions) <= _SHOWN else f"{shown} and {len(functions) - _SHOWN} more"
