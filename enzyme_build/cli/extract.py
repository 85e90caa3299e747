"""`enzyme-build extract`: write the bitcode of a library to files that `llvm-dis` and `opt` read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build.elf import SECTION, read_section
from enzyme_build.errors import BinaryError, UsageError
from enzyme_build.finalize.split import split_modules

if TYPE_CHECKING:
    import argparse

__all__ = ["configure", "execute"]

_EPILOG = """\
One module goes to LIBRARY.bc (or --output); several, as a linker leaves them, to LIBRARY.1.bc, LIBRARY.2.bc ...

examples:
  enzyme-build extract libkernel.so && llvm-dis libkernel.so.bc
  enzyme-build extract libkernel.so --output kernel.bc
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = "Write the bitcode of a shared library to files, and print their names."
    parser.epilog = _EPILOG
    parser.add_argument("library", type=Path, metavar="LIBRARY", help="a shared library")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the file to write; default: LIBRARY.bc, here")


def execute(arguments: argparse.Namespace) -> int:
    """Write the module or modules."""
    library: Path = arguments.library
    data = read_section(library, SECTION)
    modules = () if data is None else split_modules(data, shown=str(library))
    if not modules:
        what = f"has no section {SECTION}" if data is None else f"has an empty section {SECTION}"
        msg = f"{library}: the library {what}"
        raise BinaryError(msg, hint="compile its sources with the flags that `enzyme-build flags` prints")
    output: Path = arguments.output or Path(f"{library.name}.bc")
    if len(modules) > 1 and arguments.output is not None:
        msg = f"{library}: {len(modules)} modules do not fit in one file {output}"
        raise UsageError(msg, hint="leave --output away, or merge them with `enzyme-build finalize` first")
    for number, module in enumerate(modules, start=1):
        file = output if len(modules) == 1 else output.with_suffix(f".{number}.bc")
        file.write_bytes(module)
        sys.stdout.write(f"{file}\n")
    return 0
