"""`enzyme-build inspect`: what is in a library, as facts; `check` judges."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enzyme_build.elf import SECTION, read_elf, read_section
from enzyme_build.errors import BinaryError
from enzyme_build.finalize.split import split_modules
from enzyme_build.manifest import manifest_path, read_manifest

if TYPE_CHECKING:
    import argparse

    from enzyme_build.elf import ElfFacts
    from enzyme_build.manifest import Manifest

__all__ = ["configure", "execute"]

_EPILOG = """\
examples:
  enzyme-build inspect libkernel.so
  enzyme-build inspect --json libkernel.so | jq .bitcode
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = "Show the names of a library, the bitcode in it and what its manifest says."
    parser.epilog = _EPILOG
    parser.add_argument("library", type=Path, metavar="LIBRARY", help="a shared library")
    parser.add_argument("--json", action="store_true", help="print JSON, with all exported and undefined symbols")


def execute(arguments: argparse.Namespace) -> int:
    """Print what is there; a library without bitcode or manifest is no error here."""
    library: Path = arguments.library
    elf = read_elf(library)
    beside = manifest_path(library)
    manifest = read_manifest(beside) if beside.exists() else None
    modules, problem = _modules(library, elf)
    if arguments.json:
        import json  # noqa: PLC0415 - only for this form

        document = _document(library, elf, manifest, modules, problem)
        sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("\n".join(_text(library, elf, manifest, modules, problem)) + "\n")
    return 0


def _modules(library: Path, elf: ElfFacts) -> tuple[int, str | None]:
    """Return the number of modules in the section, or what is wrong with it."""
    if not elf.bitcode_section:
        return 0, None
    try:
        return len(split_modules(read_section(library, SECTION) or b"", shown=str(library))), None
    except BinaryError as error:
        return 0, error.message


def _document(
    library: Path, elf: ElfFacts, manifest: Manifest | None, modules: int, problem: str | None
) -> dict[str, Any]:
    return {
        "version": 1,
        "file": str(library),
        "machine": elf.machine,
        "bits": elf.bits,
        "soname": elf.soname,
        "needed": list(elf.needed),
        "runpath": list(elf.runpath),
        "build-id": elf.build_id,
        "exported": [symbol.name for symbol in elf.exported],
        "undefined": [symbol.name for symbol in elf.undefined],
        "bitcode": None
        if not elf.bitcode_section
        else {"bytes": elf.bitcode_size, "sha256": elf.section_sha256, "modules": modules, "problem": problem},
        "command-line-section": elf.has_command_section,
        "manifest": None if manifest is None else _manifest_document(manifest, elf),
    }


def _manifest_document(manifest: Manifest, elf: ElfFacts) -> dict[str, Any]:
    record = manifest.bitcode
    return {
        "generator": manifest.generator,
        "matches": manifest.library.section_sha256 == elf.section_sha256,
        "native": manifest.native,
        "llvm": None if record is None else record.llvm,
        "pointers": None if record is None else record.pointers.value,
        "triple": None if record is None else record.triple,
        "consumers": list(manifest.consumers),
        "roots": list(manifest.roots),
        "rules": len(manifest.rules),
        "statuses": _statuses(manifest),
    }


def _statuses(manifest: Manifest) -> dict[str, int]:
    return dict(sorted(Counter(record.status for record in manifest.symbols.values()).items()))


def _text(library: Path, elf: ElfFacts, manifest: Manifest | None, modules: int, problem: str | None) -> list[str]:
    functions = sum(symbol.kind == "function" for symbol in elf.exported)
    lines = [
        f"{library}",
        f"  machine    {elf.machine}, {elf.bits} bit",
        f"  soname     {elf.soname or 'none'}",
        f"  build-id   {elf.build_id or 'none'}",
        f"  needs      {', '.join(elf.needed) or 'nothing'}",
        f"  run path   {':'.join(elf.runpath) or 'none'}",
        f"  exports    {functions} functions, {len(elf.exported) - functions} variables and others",
        f"  undefined  {len(elf.undefined)} symbols",
        f"  bitcode    {_bitcode_text(elf, modules, problem)}",
    ]
    if elf.has_command_section:
        lines.append("  .llvmcmd   present: it holds the compiler's command line (finalize removes it)")
    if manifest is None:
        return [*lines, "  manifest   none"]
    lines.append(f"  manifest   by {manifest.generator}{_match_text(manifest, elf)}")
    if manifest.bitcode is not None:
        record = manifest.bitcode
        lines.append(f"    module     LLVM {record.llvm}, {record.pointers.value} pointers, {record.triple}")
        lines.append(f"    made from  {record.modules} modules, optimised with {record.optimization}")
    elif manifest.native:
        lines.append("    module     none, as intended (bitcode = false)")
    lines.append(f"    consumers  {', '.join(manifest.consumers) or 'none named'}")
    lines.append(f"    roots      {', '.join(manifest.roots[:8]) or 'none'}{' ...' if len(manifest.roots) > 8 else ''}")
    counts = ", ".join(f"{number} {status}" for status, number in _statuses(manifest).items())
    lines.append(f"    symbols    {counts or 'none'}")
    lines.append(f"    rules      {len(manifest.rules)}")
    return lines


def _bitcode_text(elf: ElfFacts, modules: int, problem: str | None) -> str:
    if not elf.bitcode_section:
        return f"none (no section {SECTION})"
    if problem is not None:
        return f"{elf.bitcode_size} bytes, damaged: {problem}"
    many = "; every reader refuses more than one" if modules > 1 else ""
    return f"{modules} module{'' if modules == 1 else 's'}, {elf.bitcode_size} bytes{many}"


def _match_text(manifest: Manifest, elf: ElfFacts) -> str:
    same = manifest.library.section_sha256 == elf.section_sha256
    return "" if same else ", but the bitcode in the library is another"
