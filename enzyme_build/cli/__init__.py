"""The command `enzyme-build`: one module a subcommand, imported only when it is the one that was asked for."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import TYPE_CHECKING

from enzyme_build import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

__all__ = ["main", "run_reporting_errors"]

# name -> what `enzyme-build --help` says of it; the module enzyme_build.cli.<name> has the rest
_COMMANDS = {
    "doctor": "show which tools were found, and what each consumer would use",
    "flags": "print the flags that make clang embed bitcode",
    "finalize": "make the bitcode of a linked library usable, and write its manifest",
    "wrap": "run another compiler, and put the bitcode of clang into the object it makes",
    "check": "tell what an AD tool will not see in libraries, folders or wheels",
    "gradcheck": "prove derivative rules against the functions of the library",
    "inspect": "show what is in a library: names, bitcode, manifest",
    "extract": "write the bitcode of a library to files",
    "find": "tell which library natively holds a symbol, and whether its bitcode is there",
    "rules": "check rule files, or print the registration code for them",
    "restore": "give an installed library back the bitcode that a strip step took",
    "schema": "print the JSON Schema of a document",
}

_EPILOG = """\
examples:
  enzyme-build doctor                                  what is here to work with
  enzyme-build finalize libkernel.so --rules 'rules/*.toml' --consumer julia-1.11
  enzyme-build check dist/*.whl                        what CI runs on a finished wheel
  enzyme-build check --format json build/ > report.json

exit codes:
  0 clean, 1 findings, 2 wrong usage, 3 bad configuration, rules, manifest or binary, 4 a tool is missing or failed
"""

_UNEXPECTED = 70  # sysexits.h: internal software error
_INTERRUPTED = 130  # 128 + SIGINT
_REPORT_HINT = (
    "this is a mistake in enzyme-build: please report it, with the output of the same command "
    "under ENZYME_BUILD_DEBUG=1"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (default: that of the process) and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return run_reporting_errors(lambda: _dispatch(arguments))


def run_reporting_errors(action: Callable[[], int]) -> int:
    """Run `action` and return its exit code; turn what it raises into text on standard error and a code.

    With ENZYME_BUILD_DEBUG set to anything but 0, a traceback goes before the text.
    """
    try:
        code = action()
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("\nenzyme-build: interrupted\n")
        return _INTERRUPTED
    except BrokenPipeError:
        # the reader (`head`) left: nothing to say, and nothing more may be written at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the border: whatever it is, the user gets text and a code
        return _report(error)
    return code


def _report(error: Exception) -> int:
    from enzyme_build.errors import EnzymeBuildError  # noqa: PLC0415 - not needed to print a version

    if os.environ.get("ENZYME_BUILD_DEBUG", "0") not in ("", "0"):
        import traceback  # noqa: PLC0415 - for this case only

        traceback.print_exception(error)
    if isinstance(error, EnzymeBuildError):
        sys.stderr.write(f"enzyme-build: {error}\n")
        return error.exit_code
    if isinstance(error, OSError) and error.filename is not None:
        sys.stderr.write(f"enzyme-build: {error.filename}: {error.strerror or error}\n")
        return EnzymeBuildError.exit_code
    sys.stderr.write(f"enzyme-build: unexpected {type(error).__name__}: {error}\n  hint: {_REPORT_HINT}\n")
    return _UNEXPECTED


def _dispatch(arguments: list[str]) -> int:
    """Parse and run; argparse's own exits (help, wrong usage) become return codes."""
    chosen = next((argument for argument in arguments if not argument.startswith("-")), None)
    parser, module = _parser(chosen)
    try:
        parsed = parser.parse_args(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    if parsed.cmake_dir:
        sys.stdout.write(f"{_cmake_directory()}\n")
        return 0
    if module is None:
        parser.print_help(sys.stderr)
        return 2
    code = module.execute(parsed)
    if not isinstance(code, int):  # a command that forgets its code must not look like success
        msg = f"the command {chosen!r} returned {code!r} instead of an exit code"
        raise TypeError(msg)
    return code


def _parser(chosen: str | None) -> tuple[argparse.ArgumentParser, ModuleType | None]:
    """Return the parser, complete for the chosen command only, and that command's module."""
    parser = argparse.ArgumentParser(
        prog="enzyme-build",
        description="Give C, C++ and Fortran libraries bitcode and rules that Enzyme can use, and check them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"enzyme-build {__version__}")
    parser.add_argument(
        "--cmake-dir", action="store_true", help="print the folder of the CMake package EnzymeBC, and exit"
    )
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    module = None
    for name, summary in _COMMANDS.items():
        command = commands.add_parser(name, help=summary, formatter_class=argparse.RawDescriptionHelpFormatter)
        if name == chosen:
            module = importlib.import_module(f"enzyme_build.cli.{name}")
            module.configure(command)
    return parser, module


def _cmake_directory() -> str:
    from importlib import resources  # noqa: PLC0415 - for this option only

    from enzyme_build.errors import EnzymeBuildError  # noqa: PLC0415 - as above

    try:
        return str(resources.files("enzyme_build.cmake"))
    except ModuleNotFoundError as error:
        msg = "the CMake package is not here: enzyme-build runs from its source folder"
        raise EnzymeBuildError(msg, hint="install it (`pip install .` or `pip install -e .`)") from error
