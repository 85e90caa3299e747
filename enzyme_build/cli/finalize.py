"""`enzyme-build finalize`: make the bitcode of a linked library usable, write its manifest, check it."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from enzyme_build.manifest import WaiverRecord

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
    _repeatable(parser, "--rule-file", "FILE", "one more rule file, wherever it lies", dest="rule_files", kind=Path)
    parser.add_argument("--project", type=Path, default=Path(), metavar="DIR", help="the folder rule globs start from")
    _repeatable(parser, "--link", "LIB", "a finalized library to merge into this one", dest="linked", kind=Path)
    _repeatable(parser, "--may-link", "FILE", "the same, if a manifest lies beside it", dest="may_link", kind=Path)
    _repeatable(parser, "--search", "DIR", "where needed libraries lie that are not installed yet", kind=Path)
    _repeatable(parser, "--include-dir", "DIR", "where headers lie that rules name", dest="include_dirs", kind=Path)
    _repeatable(parser, "--define", "NAME[=VALUE]", "a macro for the code that is generated from rules", dest="defines")
    _repeatable(parser, "--root", "NAME", "a function (or pattern) from which Enzyme starts", dest="roots")
    parser.add_argument("--optimize", choices=("O0", "O1", "O2", "O3"), default="O2", help="default: O2")
    parser.add_argument("--python-extension", action="store_true", help="the library is a Python extension module")
    parser.add_argument("--llvm", metavar="PATH", help="use this prefix, bin directory or clang")
    parser.add_argument("--objcopy", type=Path, metavar="PROGRAM", help="use this objcopy (cross builds)")
    _repeatable(
        parser,
        "--source-root",
        "DIR",
        "name sources below it relative to it in the manifest",
        dest="source_roots",
        kind=Path,
    )
    parser.add_argument(
        "--keep-linked",
        type=Path,
        metavar="DIR",
        help="keep the linker's bitcode there, to finalize again with other options",
    )
    parser.add_argument("--native-only", action="store_true", help="only write a manifest: no bitcode is meant to be")
    parser.add_argument("--no-check", action="store_true", help="do not judge the result")
    _repeatable(parser, "--waive", "SYMBOL=REASON", "accept this opaque symbol", dest="waived")
    parser.add_argument(
        "--mode",
        action="append",
        default=[],
        choices=("reverse", "forward"),
        dest="modes",
        help="a mode that must work (repeatable); without, what works in one mode only is a warning",
    )
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "never"),
        default="error",
        help="the mildest kind of finding that makes the exit code 1 (default: error)",
    )


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
    rules = RuleSet()
    if arguments.rules or arguments.rule_files:
        rules = load_rules(arguments.rules, root=arguments.project, named=arguments.rule_files)
    linked = _linked(arguments)
    options = pipeline.LibraryOptions(
        consumers=consumers,
        rules=rules,
        roots=tuple(arguments.roots),
        linked=linked,
        search=tuple(arguments.search),
        waivers=_waivers(arguments.waived),
        optimize=arguments.optimize,
        python_extension=arguments.python_extension,
        source_roots=tuple(arguments.source_roots),
        include_directories=tuple(arguments.include_dirs),
        defines=tuple(arguments.defines),
        keep_linked=arguments.keep_linked,
    )
    if arguments.native_only:
        pipeline.describe_native(arguments.library, options)
    else:
        found = toolchain.find_toolchain(consumers, setting=arguments.llvm)
        if arguments.objcopy is not None:
            found = dataclasses.replace(found, objcopy=arguments.objcopy)
        pipeline.finalize_library(arguments.library, options, toolchain=found)
    return 0 if arguments.no_check else _check(arguments, linked)


def _linked(arguments: argparse.Namespace) -> tuple[Path, ...]:
    """Return the linked libraries: those named, and those of `--may-link` that were finalized, each once."""
    from enzyme_build.manifest import manifest_path  # noqa: PLC0415 - as in `execute`

    finalized = [path for path in arguments.may_link if manifest_path(path).exists()]
    return tuple(dict.fromkeys((*arguments.linked, *finalized)))


def _waivers(written: list[str]) -> tuple[WaiverRecord, ...]:
    from enzyme_build.errors import UsageError  # noqa: PLC0415 - as in `execute`
    from enzyme_build.manifest import WaiverRecord  # noqa: PLC0415 - as in `execute`

    records = []
    for waiver in written:
        symbol, _, reason = (part.strip() for part in waiver.partition("="))
        if not symbol or not reason:
            msg = f"--waive: {waiver!r} names no symbol or no reason"
            raise UsageError(msg, hint="write SYMBOL=REASON, such as `--waive 'log_step=writes a log file only'`")
        records.append(WaiverRecord(symbol=symbol, reason=reason))
    return tuple(records)


def _check(arguments: argparse.Namespace, linked: Sequence[Path]) -> int:
    """Check the library, together with those it links: a rule may be for one of theirs."""
    from enzyme_build.check.run import check_paths  # noqa: PLC0415 - as in `execute`
    from enzyme_build.model import Mode  # noqa: PLC0415 - as in `execute`
    from enzyme_build.report.text import render_text, wants_colour  # noqa: PLC0415 - as in `execute`

    verdict = check_paths([arguments.library, *linked], modes=[Mode(mode) for mode in arguments.modes])
    if verdict.findings:
        sys.stderr.write(render_text(verdict, colour=wants_colour(sys.stderr)))
    return int(verdict.fails(arguments.fail_on))
