"""`enzyme-build restore`: give an installed copy of a library the bitcode back that a strip step took."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["configure", "execute"]

_EPILOG = """\
The copy must be of the same build (the GNU build-id tells); its native code is left as it is. A copy that has its
bitcode is not touched. The manifest beside the built library goes beside the copy.

example:
  enzyme-build restore /usr/local/lib/libkernel.so --from build/libkernel.so
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = "Put the bitcode of a finalized library into a copy of it that was stripped."
    parser.epilog = _EPILOG
    parser.add_argument("library", type=Path, metavar="LIBRARY", help="the copy that was installed")
    parser.add_argument("--from", type=Path, metavar="BUILT", dest="built", required=True, help="the finalized library")
    parser.add_argument("--llvm", metavar="PATH", help="use the objcopy of this prefix, bin directory or clang")
    parser.add_argument("--objcopy", type=Path, metavar="PROGRAM", help="use this objcopy (cross builds)")


def execute(arguments: argparse.Namespace) -> int:
    """Restore what is missing; raises `BinaryError` when the copy is of another build, or cannot hold the bitcode."""
    from enzyme_build import pipeline, toolchain  # noqa: PLC0415 - `--help` needs none of it

    def find_objcopy() -> Path:
        found = toolchain.find_toolchain(setting=arguments.llvm)
        if arguments.objcopy is not None:
            found = dataclasses.replace(found, objcopy=arguments.objcopy)
        return found.objcopy

    if pipeline.restore_library(arguments.library, built=arguments.built, find_objcopy=find_objcopy):
        sys.stdout.write(f"{arguments.library}: a strip step had removed the bitcode; it is there again\n")
    return 0
