"""`enzyme-build finalize`: make the bitcode of a linked library usable, write its manifest, check it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["configure", "execute"]

_EPILOG = """\
The library is changed in place, in one step; a second run with the same options changes nothing. Rule files are
globs, relative to the current folder (or --project). Exit code 1: the check found errors, 3: the library, a rule
file or a manifest is bad, 4: a tool is missing or failed.

examples:
  enzyme-build finalize libkernel.so --consumer julia-1.11 --rules 'rules/*.toml'
  enzyme-build finalize libkernel.so --link libutil.so --root kernel --root 'grad_*'
  enzyme-build finalize libmy_square.so --native-only
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = (
        "Merge the bitcode that the linker left in a shared library into one module, attach rules, optimise it, put it "
        "back, write the manifest beside the library and check it."
    )
    parser.epilog = _EPILOG
    parser.add_argument("library", type=Path, metavar="LIBRARY", help="a linked shared library")
    _repeatable(parser, "--consumer", "NAME", "who reads the bitcode (julia-1.11, llvm-18, ...)", dest="consumers")
    _repeatable(parser, "--rules", "GLOB", "rule files")
    parser.add_argument("--project", type=Path, default=Path(), metavar="DIR", help="the folder rule globs start from")
    _repeatable(parser, "--link", "LIB", "a finalized library to merge into this one", dest="linked", kind=Path)
    _repeatable(parser, "--search", "DIR", "where needed libraries lie that are not installed yet", kind=Path)
    _repeatable(parser, "--root", "NAME", "a function (or pattern) from which Enzyme starts", dest="roots")
    parser.add_argument("--optimize", choices=("O0", "O1", "O2", "O3"), default="O2", help="default: O2")
    parser.add_argument("--python-extension", action="store_true", help="the library is a Python extension module")
    parser.add_argument("--llvm", metavar="PATH", help="use this prefix, bin directory or clang")
    parser.add_argument("--native-only", action="store_true", help="only write a manifest: no bitcode is meant to be")
    parser.add_argument("--no-check", action="store_true", help="do not judge the result")


def _repeatable(
    parser: argparse.ArgumentParser,
    option: str,
    metavar: str,
    text: str,
    *,
    dest: str | None = None,
    kind: Callable[[str], object] = str,
) -> None:
    """Add an option that may be given several times."""
    name = dest or option.lstrip("-")
    parser.add_argument(option, action="append", default=[], dest=name, metavar=metavar, type=kind, help=text)


def execute(arguments: argparse.Namespace) -> int:
    """Finalize and, unless told otherwise, check; the report goes to standard error, as a compiler's would."""
    from enzyme_build import pipeline, toolchain  # noqa: PLC0415 - `--help` needs none of it
    from enzyme_build.rules.load import load_rules  # noqa: PLC0415 - as above
    from enzyme_build.rules.model import RuleSet  # noqa: PLC0415 - as above

    consumers = tuple(toolchain.consumer(name) for name in arguments.consumers)
    rules = load_rules(arguments.rules, root=arguments.project) if arguments.rules else RuleSet()
    options = pipeline.LibraryOptions(
        consumers=consumers,
        rules=rules,
        roots=tuple(arguments.roots),
        linked=tuple(arguments.linked),
        search=tuple(arguments.search),
        optimize=arguments.optimize,
        python_extension=arguments.python_extension,
    )
    if arguments.native_only:
        pipeline.describe_native(arguments.library, options)
    else:
        found = toolchain.find_toolchain(consumers, setting=arguments.llvm)
        pipeline.finalize_library(arguments.library, options, toolchain=found)
    return 0 if arguments.no_check else _check(arguments.library, arguments.linked)


def _check(library: Path, linked: list[Path]) -> int:
    """Check the library, together with those it links: a rule may be for one of theirs."""
    from enzyme_build.check.run import check_paths  # noqa: PLC0415 - as in `execute`
    from enzyme_build.report.text import render_text, wants_colour  # noqa: PLC0415 - as in `execute`

    verdict = check_paths([library, *linked])
    if verdict.findings:
        sys.stderr.write(render_text(verdict, colour=wants_colour(sys.stderr)))
    return verdict.exit_code
