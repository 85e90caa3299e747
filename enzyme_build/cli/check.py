"""`enzyme-build check`: what an AD tool will not see in libraries, folders and wheels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["configure", "execute"]

_EPILOG = """\
A library is judged by the manifest beside it (LIBRARY.enzymebc.json), which the build wrote; no compiler is needed.
A wheel is read in memory. Exit code 0: no error, 1: errors, 3: a file that is no library.

examples:
  enzyme-build check dist/*.whl
  enzyme-build check build/lib --mode reverse
  enzyme-build check libkernel.so --format json --output report.json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = "Report every function that stops Enzyme, why, by which way it is reached, and what to do."
    parser.epilog = _EPILOG
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a library, a folder or a wheel")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="for people (default) or programs")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there instead of printing it")
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


def execute(arguments: argparse.Namespace) -> int:
    """Write the report; the exit code is 1 when it holds what `--fail-on` names."""
    from enzyme_build.check.run import check_paths  # noqa: PLC0415 - `--help` needs none of it
    from enzyme_build.model import Mode  # noqa: PLC0415 - as above

    verdict = check_paths(arguments.paths, modes=[Mode(mode) for mode in arguments.modes])
    if arguments.format == "json":
        from enzyme_build.report.json_report import render_json  # noqa: PLC0415 - one of the two

        report = render_json(verdict)
    else:
        from enzyme_build.report.text import render_text, wants_colour  # noqa: PLC0415 - one of the two

        report = render_text(verdict, colour=arguments.output is None and wants_colour(sys.stdout))
    if arguments.output is None:
        sys.stdout.write(report)
    else:
        arguments.output.write_text(report, encoding="utf-8")
    return int(verdict.fails(arguments.fail_on))
