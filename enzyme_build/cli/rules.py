"""`enzyme-build rules`: check rule files without building, and render them for Enzyme's compiler plugin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from enzyme_build.rules.model import RuleSet

__all__ = ["configure", "execute"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the sub-commands of this command."""
    parser.description = "Check rule files, or render them as C for Enzyme's plugin of clang."
    actions = parser.add_subparsers(dest="rules_action", required=True, metavar="ACTION")
    check = actions.add_parser("check", help="read rule files and report every problem")
    check.description = "Read rule files and report every problem that shows without bitcode."
    check.add_argument("files", nargs="+", metavar="FILE", type=Path)
    generate = actions.add_parser("generate", help="render the registration C file")
    generate.description = (
        "Render rules as the C file that Enzyme's plugin of clang reads. Never link that file into native code."
    )
    generate.add_argument("files", nargs="+", metavar="FILE", type=Path)
    generate.add_argument("-o", "--output", metavar="OUT.c", type=Path, help="write to this file (default: print)")
    generate.add_argument("--suffix", default="", help="end the names of the globals with this (letters, digits, _)")


def execute(arguments: argparse.Namespace) -> int:
    """Run the chosen action; exit code 1 when `check` finds a rule that cannot work."""
    from enzyme_build.rules.load import load_rule_files  # loads msgspec  # noqa: PLC0415

    rules = load_rule_files(arguments.files, root=Path.cwd())
    if arguments.rules_action == "check":
        return _check(rules)
    return _generate(rules, arguments.output, arguments.suffix)


def _check(rules: RuleSet) -> int:
    from enzyme_build.rules.abi import declared_problems  # noqa: PLC0415
    from enzyme_build.rules.model import DerivativeRule  # noqa: PLC0415

    found = [
        (rule.origin, problem)
        for rule in rules.rules
        if isinstance(rule, DerivativeRule)
        for problem in declared_problems(rule)
    ]
    for origin, problem in found:
        sys.stdout.write(f"{origin}: {problem.finding}: {problem.text}\n  fix: {problem.fix}\n")
    if found:
        return 1
    sys.stdout.write(f"{_count(len(rules.rules), 'rule')} in {_count(len(rules.files), 'file')}: no problem found\n")
    return 0


def _generate(rules: RuleSet, output: Path | None, suffix: str) -> int:
    import re  # noqa: PLC0415

    from enzyme_build.codegen.registration import render_registration  # noqa: PLC0415
    from enzyme_build.errors import EnzymeBuildError, UsageError  # noqa: PLC0415

    if not re.fullmatch(r"\w*", suffix, re.ASCII):
        msg = f"--suffix: {suffix!r} cannot be part of a C name"
        raise UsageError(msg, hint="use letters, digits and '_'")
    text = render_registration(rules, suffix=suffix)
    if output is None:
        sys.stdout.write(text)
        return 0
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"{output}: cannot be written: {error.strerror or error}"
        raise EnzymeBuildError(msg) from error
    return 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
