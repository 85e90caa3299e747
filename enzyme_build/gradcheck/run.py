"""The sequence of gradcheck: find rules, extract their functions, run a harness for each, judge, certify."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from enzyme_build.errors import ToolError, UsageError
from enzyme_build.gradcheck.extract import choose_toolchain, extract_rules
from enzyme_build.gradcheck.harness import render_rule_adapter
from enzyme_build.gradcheck.inputs import CannotRunError
from enzyme_build.gradcheck.judge import judge
from enzyme_build.gradcheck.measure import build_program, run_program
from enzyme_build.gradcheck.stated import plan_call, render_stated_adapter
from enzyme_build.gradcheck.subjects import find_subjects, rules_under_test
from enzyme_build.gradcheck.verdict import LibraryVerdict, RuleVerdict
from enzyme_build.manifest import CertificateRecord, manifest_path, write_manifest

if TYPE_CHECKING:
    from collections.abc import Callable

    from enzyme_build.gradcheck.extract import Extracted
    from enzyme_build.gradcheck.facts import ExtractedRule, RuleUnderTest, Subject
    from enzyme_build.manifest import Manifest
    from enzyme_build.rules.model import RuleSet
    from enzyme_build.toolchain import EnzymePlugin, Toolchain

__all__ = ["GradcheckOptions", "gradcheck"]

DEFAULT_SEEDS = 10


def _silent(_: str) -> None:
    """Show no progress."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GradcheckOptions:
    """What the user asked for.

    `seeds` overrides what rule files say; `seconds` limits one batch of calls; `plugin` adds the second level; `search`
    are folders with libraries that are not where run paths point.
    """

    rules: RuleSet | None = None
    symbols: tuple[str, ...] = ()
    seeds: int | None = None
    seconds: int = 60
    llvm: str | None = None
    plugin: EnzymePlugin | None = None
    search: tuple[Path, ...] = ()
    update_manifest: bool = False
    progress: Callable[[str], None] = _silent


def gradcheck(path: Path, options: GradcheckOptions) -> tuple[LibraryVerdict, ...]:
    """Return the verdict on every derivative rule behind `path`: a library, a manifest or a wheel.

    Raises `UsageError`, `BinaryError` or `ToolError`; a rule that is wrong, or cannot be run, is part of the verdict.
    """
    if options.update_manifest and path.suffix == ".whl":
        msg = f"{path}: a wheel is not changed; its record of hashes would no longer fit"
        raise UsageError(msg, hint="run gradcheck with --update-manifest on the library before the wheel is made")
    with tempfile.TemporaryDirectory(prefix="enzyme-build-") as name:
        folder = Path(name)
        found = find_subjects(path, folder=folder / "wheel")
        verdicts = []
        for number, (shown, library, manifest) in enumerate(found):
            subject = rules_under_test(shown, library, manifest, rules=options.rules, symbols=options.symbols)
            if not subject.rules:
                continue
            work = folder / str(number)
            work.mkdir()
            verdict = _check_library(subject, manifest, options, work)
            verdicts.append(verdict)
            if options.update_manifest:
                certify(library, manifest, verdict)
    if not verdicts:
        chosen = f" for {', '.join(options.symbols)}" if options.symbols else ""
        msg = f"{path}: there is no derivative rule{chosen} to check"
        raise UsageError(msg, hint="`enzyme-build inspect` shows the rules of a library")
    return tuple(verdicts)


def certify(library: Path, manifest: Manifest, verdict: LibraryVerdict) -> None:
    """Write the verdict into the manifest beside `library`, in place of older certificates for the same rules."""
    made = [
        CertificateRecord(
            symbol=rule.symbol,
            modes=rule.modes,
            seeds=rule.outcome.seeds,
            level=rule.level,
            passed=rule.state == "passed",
            digest=rule.digest,
            section_sha256=verdict.section_sha256,
            complaints=tuple(dict.fromkeys(complaint.kind for complaint in rule.outcome.complaints)),
        )
        for rule in verdict.rules
    ]
    renewed = {(each.symbol, each.level) for each in made}
    kept = [each for each in manifest.certificates if (each.symbol, each.level) not in renewed]
    ordered = sorted((*kept, *made), key=lambda each: (each.symbol, each.level))
    write_manifest(msgspec.structs.replace(manifest, certificates=tuple(ordered)), manifest_path(library))


def _check_library(subject: Subject, manifest: Manifest, options: GradcheckOptions, folder: Path) -> LibraryVerdict:
    notes: list[str] = []
    if manifest.bitcode is None:
        reason = "the library has no bitcode, and Enzyme finds rules only there"
        verdicts = [_not_run(rule, reason) for rule in subject.rules]
        return LibraryVerdict(shown=subject.shown, rules=tuple(verdicts))
    toolchain = choose_toolchain(manifest, setting=options.llvm)
    extracted = extract_rules(
        subject.path, manifest, subject.rules, toolchain=toolchain, folder=folder, search=options.search
    )
    verdicts = []
    for index, rule in enumerate(subject.rules):
        options.progress(f"{subject.shown}: {rule.symbol} ({index + 1} of {len(subject.rules)})")
        verdicts.append(_check_rule(rule, index, extracted, toolchain, options, folder))
    if options.plugin is not None:
        from enzyme_build.gradcheck import enzyme  # noqa: PLC0415 - only where there is a plugin

        second, said = enzyme.second_level(subject, manifest, verdicts, extracted, options=options, folder=folder)
        verdicts += second
        notes += said
    return LibraryVerdict(
        shown=subject.shown,
        rules=tuple(verdicts),
        section_sha256=manifest.library.section_sha256,
        notes=tuple(notes),
    )


def _check_rule(  # noqa: PLR0917 - what all rules of a library share
    rule: RuleUnderTest,
    index: int,
    extracted: Extracted,
    toolchain: Toolchain,
    options: GradcheckOptions,
    folder: Path,
) -> RuleVerdict:
    """Run the first level for one rule."""
    if rule.problems:
        return replace(_not_run(rule, "; ".join(rule.problems)), state="failed")
    found = next((each for each in extracted.rules if each.index == index), None)
    if found is None:
        return _not_run(rule, "its functions are not in the bitcode; finalize the library with this rule")
    try:
        return _run_rule(rule, found, extracted, toolchain, options, folder)
    except CannotRunError as error:
        return _not_run(rule, f"cannot be run: {error}")


def _run_rule(  # noqa: PLR0917 - as above
    rule: RuleUnderTest,
    found: ExtractedRule,
    extracted: Extracted,
    toolchain: Toolchain,
    options: GradcheckOptions,
    folder: Path,
) -> RuleVerdict:
    arguments, slots = plan_call(rule, found)
    title = f"gradcheck of {rule.symbol}, {rule.place}"
    if rule.rule is not None and rule.rule.stated is not None:
        adapter = render_stated_adapter(found, rule.rule, arguments, slots, title=title)
    else:
        adapter = render_rule_adapter(found, arguments, slots, title=title)
    name = f"rule{found.index}"
    try:
        program = build_program(adapter, extracted.inputs, toolchain=toolchain, folder=folder, name=name)
    except ToolError as error:
        said = [line for line in error.message.splitlines()[1:] if "error:" in line or "undefined" in line]
        return _not_run(rule, f"the harness cannot be compiled: {'; '.join(said[:3]) or error.message}")
    test = None if rule.rule is None else rule.rule.test
    seeds = options.seeds or (test.seeds if test else None) or DEFAULT_SEEDS
    measured = run_program(
        program,
        slots,
        seeds=seeds,
        seconds=options.seconds,
        progress=lambda done: options.progress(f"{rule.symbol}: {done} of {seeds} points"),
    )
    outcome = judge(measured, tolerance=test.tolerance if test else None)
    guesses = [argument.guess for argument in arguments if argument.guess]
    open_ = [argument.name for argument in arguments if argument.kind in ("number", "array") and argument.range is None]
    if open_ and measured.range is not None:
        guesses.append(f"{', '.join(open_)} in [{measured.range[0]:g}, {measured.range[1]:g}]")
    notes = []
    if not found.primal.native:
        notes.append("the function is no symbol of the library: its bitcode was compiled for the check")
    covered = {mode for mode in rule.modes if mode.value in measured.calls or measured.crash is not None}
    return RuleVerdict(
        symbol=rule.symbol,
        place=rule.place,
        modes=tuple(mode for mode in rule.modes if mode in covered) or rule.modes,
        state="failed" if outcome.complaints else "passed",
        outcome=outcome,
        guesses=tuple(dict.fromkeys(guesses)),
        notes=tuple(notes),
        digest=rule.digest,
    )


def _not_run(rule: RuleUnderTest, reason: str) -> RuleVerdict:
    return RuleVerdict(
        symbol=rule.symbol, place=rule.place, modes=rule.modes, state="not run", reason=reason, digest=rule.digest
    )
