"""`enzyme-build check`: what an AD tool will not see in libraries, folders and wheels."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from enzyme_build.check.finding import Verdict
    from enzyme_build.check.policy import Policy
    from enzyme_build.config import Config

__all__ = ["configure", "execute"]

_FORMATS = ("text", "json", "sarif", "junit", "github", "html")

_EPILOG = """\
A library is judged by the manifest beside it (LIBRARY.enzymebc.json), which the build wrote; no compiler is needed.
A wheel is read in memory. Object files and archives that are named are judged by themselves. What the project says in
[tool.enzyme-build] of ./pyproject.toml (modes, and the table `check`) counts, unless --no-config is given.
Exit code 0: nothing that fails, 1: findings, 2: wrong usage, 3: a file, configuration or baseline that cannot be read.

examples:
  enzyme-build check dist/*.whl
  enzyme-build check build/lib --mode reverse --ignore EB029
  enzyme-build check libkernel.so --format sarif --output report.sarif
  enzyme-build check dist/*.whl --html report.html      a page to look at, besides the text
  enzyme-build check dist/*.whl --write-baseline enzyme-baseline.json
  enzyme-build check --explain EB001
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.description = "Report every function that stops Enzyme, why, by which way it is reached, and what to do."
    parser.epilog = _EPILOG
    add = parser.add_argument
    add("paths", nargs="*", type=Path, metavar="PATH", help="a library, a folder, a wheel, an object or an archive")
    add("--format", choices=_FORMATS, default="text", help="for people (default) or programs")
    add("--output", type=Path, metavar="FILE", help="write the report there instead of printing it")
    add("--html", type=Path, metavar="FILE", help="write a page with call graphs, rules and certificates too")
    add("--explain", metavar="ID", help="print what a finding means, or with `all` list every one, and exit")
    add(
        "--mode",
        action="append",
        default=[],
        choices=("reverse", "forward"),
        dest="modes",
        help="a mode that must work (repeatable); without, what works in one mode only is a warning",
    )
    add(
        "--fail-on",
        choices=("error", "warning", "never"),
        help="the mildest kind of finding that makes the exit code 1 (default: error)",
    )
    add("--parse", action="store_true", help="also read the bitcode with each consumer's libLLVM that is installed")
    for option, what in (("--select", "report only"), ("--ignore", "do not report")):
        text = f"{what} these findings: ids or patterns, separated by commas (repeatable)"
        add(option, action="append", default=[], metavar="IDS", help=text)
    add("--baseline", type=Path, metavar="FILE", help="known findings: only others count")
    add("--write-baseline", type=Path, metavar="FILE", help="take all that is found as known, and exit with 0")
    add("--project", type=Path, default=Path(), metavar="DIR", help="folder of pyproject.toml (default: the current)")
    add("--no-config", action="store_true", help="do not read pyproject.toml")


def execute(arguments: argparse.Namespace) -> int:
    """Write the report; the exit code is 1 when it holds what `--fail-on` names."""
    if arguments.explain is not None:
        from enzyme_build.report.explain import explain  # noqa: PLC0415 - for this option only

        sys.stdout.write(explain(arguments.explain))
        return 0
    if not arguments.paths:
        from enzyme_build.errors import UsageError  # noqa: PLC0415 - as above

        msg = "nothing to check is named"
        raise UsageError(msg, hint="name a library, a folder or a wheel: `enzyme-build check dist/*.whl`")
    from enzyme_build.check.run import check_paths  # noqa: PLC0415 - `--help` needs none of it
    from enzyme_build.model import Mode  # noqa: PLC0415 - as above

    config, policy = _settings(arguments)
    modes = [Mode(mode) for mode in arguments.modes] or ([] if config is None else [*config.modes])
    fail_on = arguments.fail_on or ("error" if config is None else config.check.fail_on)
    if arguments.write_baseline is not None:
        policy = dataclasses.replace(policy, baseline=None)
    verdict = check_paths(arguments.paths, modes=modes, policy=policy, parse=arguments.parse)
    if arguments.write_baseline is not None:
        from enzyme_build.check.baseline import make_baseline, write_baseline  # noqa: PLC0415 - as above

        write_baseline(make_baseline(verdict), arguments.write_baseline)
    _write(verdict, arguments)
    return 0 if arguments.write_baseline is not None else int(verdict.fails(fail_on))


def _settings(arguments: argparse.Namespace) -> tuple[Config | None, Policy]:
    """Return the project's settings, if there are any, and the policy: theirs with the options added to it."""
    from enzyme_build.check.baseline import read_baseline  # noqa: PLC0415 - as in `execute`
    from enzyme_build.check.policy import policy_of, require_known_ids  # noqa: PLC0415 - as in `execute`
    from enzyme_build.config import CheckTable, load_config  # noqa: PLC0415 - as in `execute`

    select, ignore = _ids(arguments.select), _ids(arguments.ignore)
    require_known_ids([*select, *ignore], where="--select, --ignore")
    config = None if arguments.no_config else load_config(arguments.project)
    policy = policy_of(CheckTable() if config is None else config.check, root=arguments.project)
    policy = dataclasses.replace(policy, select=select or policy.select, ignore=(*policy.ignore, *ignore))
    if arguments.baseline is not None:
        policy = dataclasses.replace(policy, baseline=read_baseline(arguments.baseline))
    return config, policy


def _ids(written: Sequence[str]) -> tuple[str, ...]:
    return tuple(part for text in written for part in text.replace(" ", ",").split(",") if part)


def _write(verdict: Verdict, arguments: argparse.Namespace) -> None:
    """Write the report in the chosen format, and the page if one is wanted."""
    report = _renderer(arguments)(verdict)
    if arguments.output is None:
        sys.stdout.write(report)
    else:
        arguments.output.write_text(report, encoding="utf-8")
    if arguments.html is not None:
        from enzyme_build.report.html import render_html  # noqa: PLC0415 - for this option only

        arguments.html.write_text(render_html(verdict), encoding="utf-8")


def _renderer(arguments: argparse.Namespace) -> Callable[[Verdict], str]:
    """Return the function that renders the chosen format; the others are not loaded."""
    if arguments.format == "text":
        from enzyme_build.report.text import render_text, wants_colour  # noqa: PLC0415 - one of them

        colour = arguments.output is None and wants_colour(sys.stdout)
        return lambda verdict: render_text(verdict, colour=colour)
    import importlib  # noqa: PLC0415 - as above

    name = {"json": "json_report"}.get(arguments.format, arguments.format)
    module = importlib.import_module(f"enzyme_build.report.{name}")
    renderer: Callable[[Verdict], str] = getattr(module, f"render_{arguments.format}")
    return renderer
