"""`enzyme-build find`: which library natively holds a symbol, and whether its bitcode is there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build.elf import read_elf
from enzyme_build.errors import BinaryError, EnzymeBuildError, UsageError
from enzyme_build.llvm.demangle import demangle
from enzyme_build.manifest import manifest_path, read_manifest
from enzyme_build.rules.names import resolve_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from enzyme_build.elf import ElfFacts

__all__ = ["configure", "execute"]

_LIBRARY = re.compile(r"\.so(?:\.[\w.]+)?$")

_EPILOG = """\
SYMBOL is a name as C, C++ (mangled or not) or Fortran writes it. Exit code 0 when a library defines it, else 1.

examples:
  enzyme-build find my_square build/lib /usr/lib/x86_64-linux-gnu/libm.so.6
  enzyme-build find 'geometry::norm(double const*, int)' libgeometry.so
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = "Tell which of the libraries defines a symbol, which use it, and whether its bitcode is there."
    parser.epilog = _EPILOG
    parser.add_argument("symbol", metavar="SYMBOL", help="the function or variable to look for")
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a library, or a folder with libraries")


def execute(arguments: argparse.Namespace) -> int:
    """Print one line for each library that defines or uses the symbol."""
    found = False
    mentioned = False
    for library, elf in _libraries(arguments.paths):
        defined = _match(arguments.symbol, [symbol.name for symbol in elf.exported])
        used = _match(arguments.symbol, [symbol.name for symbol in elf.undefined])
        static = None if defined else _static(arguments.symbol, library)
        if defined is not None:
            found = True
            sys.stdout.write(f"{library}: defines {_spoken(defined)}; {_bitcode(library, elf, defined)}\n")
        elif static is not None:
            found = True
            sys.stdout.write(
                f"{library}: defines {_spoken(static)} for itself only; {_bitcode(library, elf, static)}\n"
            )
        if used is not None:
            mentioned = True
            sys.stdout.write(f"{library}: uses {_spoken(used)}\n")
    if not found:
        also = "; it is only used" if mentioned else ""
        sys.stdout.write(f"no library here defines {arguments.symbol!r}{also}\n")
    return int(not found)


def _libraries(paths: Sequence[Path]) -> Iterator[tuple[Path, ElfFacts]]:
    """Yield the libraries; in a folder, files that only look like one are passed by."""
    for path in paths:
        if not path.exists():
            msg = f"{path}: no such file or folder"
            raise UsageError(msg)
        if not path.is_dir():
            yield path, read_elf(path)
            continue
        for file in sorted(path.rglob("*")):
            if _LIBRARY.search(file.name) and file.is_file() and not file.is_symlink():
                try:
                    yield file, read_elf(file)
                except BinaryError:
                    continue  # linker scripts are called `.so` too


def _match(wanted: str, names: Sequence[str]) -> str | None:
    return resolve_name(wanted, set(names), demangle).symbol


def _static(wanted: str, library: Path) -> str | None:
    """Return the symbol if the bitcode of the library defines it without exporting it."""
    try:
        manifest = read_manifest(manifest_path(library))
    except EnzymeBuildError:
        return None
    own = [name for name, record in manifest.symbols.items() if record.status == "bitcode" and not record.library]
    return _match(wanted, own)


def _spoken(symbol: str) -> str:
    readable = demangle([symbol])[symbol]
    return symbol if readable == symbol else f"{readable} ({symbol})"


def _bitcode(library: Path, elf: ElfFacts, symbol: str) -> str:
    """Say whether the symbol's bitcode is in the library, as far as the manifest tells."""
    if not elf.bitcode_section:
        return "no bitcode in the library"
    if not manifest_path(library).exists():
        return "the library holds bitcode that was not finalized"
    record = read_manifest(manifest_path(library)).symbols.get(symbol)
    if record is None:
        return "the manifest does not know it"
    words = {"bitcode": "with bitcode", "rule": "with a rule", "inactive": "inactive by a rule"}
    return words.get(record.status, f"{record.status}: {record.detail}" if record.detail else record.status)
