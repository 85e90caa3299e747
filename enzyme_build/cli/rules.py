"""`enzyme-build rules`: check rule files without building, draft them, render them for Enzyme's compiler plugin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from enzyme_build.manifest import Manifest
    from enzyme_build.rules.model import RuleSet

__all__ = ["configure", "execute"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the sub-commands of this command."""
    parser.description = "Check rule files, draft one for a library, or render them as C for Enzyme's plugin of clang."
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
    init = actions.add_parser("init", help="draft a rule file for what is opaque in a finalized library")
    init.description = (
        "Write a rule file, all of it comments, with a stanza for each function that Enzyme cannot see in a library. "
        "Prototypes are those of the debug information, or else guessed from the types in the bitcode."
    )
    init.add_argument("library", metavar="LIB.so", type=Path, help="a library with its manifest beside it")
    init.add_argument("-o", "--output", metavar="OUT.toml", type=Path, help="write to this new file (default: print)")
    init.add_argument(
        "--search", action="append", default=[], metavar="DIR", type=Path, help="look here for the libraries it needs"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run the chosen action; exit code 1 when `check` finds a rule that cannot work."""
    if arguments.rules_action == "init":
        return _init(arguments.library, arguments.output, arguments.search)
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


def _init(library: Path, output: Path | None, search: list[Path]) -> int:
    from enzyme_build.check.draft import draft_rules  # noqa: PLC0415
    from enzyme_build.elf import read_elf  # noqa: PLC0415
    from enzyme_build.errors import EnzymeBuildError, ManifestError  # noqa: PLC0415
    from enzyme_build.llvm.demangle import demangle  # noqa: PLC0415
    from enzyme_build.manifest import manifest_path, read_manifest  # noqa: PLC0415
    from enzyme_build.needed import find_needed  # noqa: PLC0415

    elf = read_elf(library)
    beside = manifest_path(library)
    if not beside.exists():
        msg = f"{library}: there is no manifest {beside.name} beside it, which says what is opaque"
        raise ManifestError(msg, hint="run `enzyme-build finalize` on the library first")
    manifest = read_manifest(beside)
    needed = {soname: path for soname, path in find_needed(library, elf, search=search).items() if path is not None}
    text = draft_rules(manifest, prototypes=_prototypes(library, manifest, needed), demangle=demangle)
    if text is None:
        sys.stderr.write(f"{library}: nothing in it is opaque, so it needs no rules\n")
        return 0
    if output is None:
        sys.stdout.write(text)
        return 0
    try:
        with output.open("x", encoding="utf-8") as stream:  # what someone wrote is not overwritten
            stream.write(text)
    except OSError as error:
        msg = f"{output}: cannot be written: {error.strerror or error}"
        raise EnzymeBuildError(msg, hint="choose another file, or remove this one") from error
    return 0


def _prototypes(library: Path, manifest: Manifest, needed: dict[str, Path]) -> dict[str, tuple[str, str]]:
    """Return the prototypes of opaque functions and where each comes from: at best the library that holds it."""
    from enzyme_build.elf_debug import read_prototypes  # noqa: PLC0415

    wanted: dict[Path, set[str]] = {}
    for name, record in manifest.symbols.items():
        if record.status == "opaque" and record.kind == "function":
            wanted.setdefault(library, set()).add(name)
            holder = needed.get(record.library or "")
            if holder is not None:
                wanted.setdefault(holder, set()).add(name)
    found: dict[str, tuple[str, str]] = {}
    for path, names in wanted.items():
        source = f"that of the debug information in {path.name}"
        found |= {name: (text, source) for name, text in read_prototypes(path, names).items()}
    return found


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
