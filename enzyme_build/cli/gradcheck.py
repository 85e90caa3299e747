"""`enzyme-build gradcheck`: prove the derivatives that rules give against the library's own functions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from enzyme_build.toolchain import EnzymePlugin

__all__ = ["configure", "execute"]

_EPILOG = """\
Every derivative rule of the library is run against finite differences of the native function, at random points; forward
and reverse mode are compared with each other; and what rules must do besides is tried out: add to shadows, clear those
of outputs, free the tape, bear inactive arguments and overwritten ones. No Enzyme is needed. With a plugin (--plugin,
or ENZYME_PLUGIN), Enzyme's own derivative of a call is checked in the same way.
Exit code 0: every rule passed, 1: one did not, 3: the library or a rule file is bad, 4: a tool is missing or failed.

examples:
  enzyme-build gradcheck libkernel.so
  enzyme-build gradcheck dist/*.whl --seeds 200
  enzyme-build gradcheck libkernel.so --symbol my_square --rules 'rules/*.toml' --format json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = "Prove the derivative rules of a finalized library against the functions in it."
    parser.epilog = _EPILOG
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a library, its manifest, or a wheel")
    parser.add_argument(
        "--rules",
        action="append",
        default=[],
        metavar="GLOB",
        help="rule files whose [derivative.test] counts instead of what the manifest remembers (repeatable)",
    )
    parser.add_argument("--project", type=Path, default=Path(), metavar="DIR", help="the folder rule globs start from")
    parser.add_argument(
        "--symbol",
        action="append",
        default=[],
        metavar="NAME",
        dest="symbols",
        help="check only the rule for this function, or pattern (repeatable)",
    )
    parser.add_argument("--seeds", type=_positive, metavar="N", help="random points for each rule (default: 10)")
    parser.add_argument("--timeout", type=_positive, default=60, metavar="SECONDS", help="for one batch of calls")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people (default) or programs")
    parser.add_argument("--plugin", type=Path, metavar="PATH", help="the Enzyme plugin LLVMEnzyme-N.so, for level two")
    parser.add_argument("--no-plugin", action="store_true", help="level one only, also where a plugin is found")
    parser.add_argument(
        "--search",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        help="where needed libraries lie (repeatable)",
    )
    parser.add_argument("--llvm", metavar="PATH", help="use this prefix, bin directory or clang")
    parser.add_argument("--update-manifest", action="store_true", help="write the verdict beside the library")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def execute(arguments: argparse.Namespace) -> int:
    """Check every rule and print the report; exit code 1 when one did not pass."""
    from enzyme_build.gradcheck import words  # noqa: PLC0415 - `--help` needs none of it
    from enzyme_build.gradcheck.run import GradcheckOptions, gradcheck  # noqa: PLC0415 - as above
    from enzyme_build.rules.load import load_rules  # noqa: PLC0415 - as above

    show, clear = _progress()
    options = GradcheckOptions(
        rules=load_rules(arguments.rules, root=arguments.project) if arguments.rules else None,
        symbols=tuple(arguments.symbols),
        seeds=arguments.seeds,
        seconds=arguments.timeout,
        llvm=arguments.llvm,
        plugin=None if arguments.no_plugin else _plugin(arguments.plugin),
        search=tuple(arguments.search),
        update_manifest=arguments.update_manifest,
        progress=show,
    )
    try:
        verdicts = [verdict for path in arguments.paths for verdict in gradcheck(path, options)]
    finally:
        clear()
    sys.stdout.write(words.render_json(verdicts) if arguments.format == "json" else words.render_text(verdicts))
    return int(any(verdict.failed for verdict in verdicts))


def _plugin(path: Path | None) -> EnzymePlugin | None:
    from enzyme_build.toolchain import find_enzyme_plugin  # noqa: PLC0415 - as in `execute`
    from enzyme_build.toolchain.plugin import PLUGIN_VARIABLE  # noqa: PLC0415 - as in `execute`

    return find_enzyme_plugin(None if path is None else {PLUGIN_VARIABLE: str(path)})


def _progress() -> tuple[Callable[[str], None], Callable[[], None]]:
    """Return how to show one line of progress, and how to take it away; nothing where no one looks."""
    if not sys.stderr.isatty():
        return (lambda _: None), (lambda: None)

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text[:100]}")
        sys.stderr.flush()

    def clear() -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    return show, clear
