"""`enzyme-build wrap`: a compiler launcher that adds the bitcode of clang to what another compiler makes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

__all__ = ["configure", "execute"]

_EPILOG = """\
Where an object is compiled, clang compiles the same source with the same arguments, and its bitcode goes into the
object; any other command just runs. Flags that only the other compiler knows are left out, and ccache or distcc in
front of the compiler are put in front of clang too.

examples:
  CC='enzyme-build wrap --consumer julia-1.11 -- gcc' make
  enzyme-build wrap --clang /usr/bin/clang-15 -- ccache gcc -O2 -fPIC -c kernel.c -o kernel.o
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = "Run a compile command of any compiler, and put the bitcode of the source into the object."
    parser.epilog = _EPILOG
    parser.add_argument(
        "--consumer", action="append", default=[], metavar="NAME", dest="consumers", help="who reads it"
    )
    parser.add_argument("--clang", metavar="PATH", help="use this prefix, bin directory or clang")
    parser.add_argument(
        "--argument", action="append", default=[], metavar="FLAG", dest="arguments", help="for clang only (repeatable)"
    )
    parser.add_argument("--objcopy", type=Path, metavar="PROGRAM", help="use this objcopy (cross builds)")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the compile command")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit code; a failure of clang or objcopy is raised as `ToolError`."""
    import dataclasses  # noqa: PLC0415 - `--help` needs none of it

    from enzyme_build import toolchain  # noqa: PLC0415 - as above
    from enzyme_build.compile.companion import compile_with_companion  # noqa: PLC0415 - as above
    from enzyme_build.errors import UsageError  # noqa: PLC0415 - as above

    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        msg = "there is no command to run"
        raise UsageError(msg, hint="write it after `--`: enzyme-build wrap -- gcc -c kernel.c -o kernel.o")
    named = [toolchain.consumer(name) for name in arguments.consumers]
    found = toolchain.find_toolchain(named, setting=arguments.clang)
    if arguments.objcopy is not None:
        found = dataclasses.replace(found, objcopy=arguments.objcopy)
    done = compile_with_companion(
        command,
        toolchain=found,
        pointers=toolchain.choose_pointer_mode(named or toolchain.default_consumers(found), found),
        extra=arguments.arguments,
    )
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.code if done.code >= 0 else 128 - done.code
