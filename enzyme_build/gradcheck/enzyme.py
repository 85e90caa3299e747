"""The second level: Enzyme itself differentiates a caller of the function, and its derivative is put on trial."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from enzyme_build import _run
from enzyme_build.elf import SECTION, read_section
from enzyme_build.errors import EnzymeBuildError, ToolError
from enzyme_build.gradcheck.caller import CALLEE, render_caller, render_caller_adapter
from enzyme_build.gradcheck.extract import choose_toolchain, pointers_for, run_child, wanted_rule
from enzyme_build.gradcheck.facts import ConsumerAnswer, ConsumerRequest
from enzyme_build.gradcheck.inputs import CannotRunError
from enzyme_build.gradcheck.judge import judge
from enzyme_build.gradcheck.measure import build_program, run_program
from enzyme_build.gradcheck.stated import plan_call
from enzyme_build.gradcheck.verdict import Complaint, Outcome, RuleVerdict
from enzyme_build.model import PointerMode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from enzyme_build.gradcheck.extract import Extracted
    from enzyme_build.gradcheck.facts import Argument, ExtractedRule, RuleUnderTest, Slot, Subject
    from enzyme_build.gradcheck.run import GradcheckOptions
    from enzyme_build.manifest import Manifest
    from enzyme_build.model import Mode
    from enzyme_build.toolchain import EnzymePlugin, Toolchain

__all__ = ["second_level"]

_PASSES = "globaldce,globalopt,enzyme"
# Enzyme 0.0.289 gives NaN for the shuffles with undefined lanes that SLP vectorisation makes before it
_SCALAR = ("-vectorize-slp=false", "-vectorize-loops=false")
_COMPILE = ("-O2", "-fno-math-errno", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-w", "-emit-llvm")
_SHOWN_LINES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class _Trial:
    """What the trials of one library share."""

    manifest: Manifest
    toolchain: Toolchain
    plugin: EnzymePlugin
    opt: Path
    pointers: PointerMode
    bitcode: Path
    inputs: tuple[str, ...]
    folder: Path
    seeds: int | None
    seconds: int

    @property
    def typed(self) -> bool:
        """Whether pointers have types: LLVM 15 and 16 must be told."""
        return self.pointers is PointerMode.TYPED


def second_level(
    subject: Subject,
    manifest: Manifest,
    verdicts: Sequence[RuleVerdict],
    extracted: Extracted,
    *,
    options: GradcheckOptions,
    folder: Path,
) -> tuple[list[RuleVerdict], list[str]]:
    """Return the second verdict on every rule that passed the first level, and notes where there can be none."""
    assert options.plugin is not None  # noqa: S101 - see the caller
    try:
        toolchain = choose_toolchain(manifest, setting=options.llvm, major=options.plugin.llvm_major)
    except ToolError as error:
        return [], [f"Enzyme was not asked: {error.message}"]
    opt = toolchain.clang.resolve().with_name("opt")
    if not opt.exists():
        return [], [f"Enzyme was not asked: there is no opt beside {toolchain.clang} to load the plugin into"]
    bitcode = folder / "imported.bc"
    bitcode.write_bytes(read_section(subject.path, SECTION) or b"")
    trial = _Trial(
        manifest=manifest,
        toolchain=toolchain,
        plugin=options.plugin,
        opt=opt,
        pointers=pointers_for(manifest, toolchain),
        bitcode=bitcode,
        inputs=tuple(each for each in extracted.inputs if not each.endswith("rules.o")),
        folder=folder,
        seeds=options.seeds,
        seconds=options.seconds,
    )
    second = []
    for index, (rule, first) in enumerate(zip(subject.rules, verdicts, strict=True)):
        found = next((each for each in extracted.rules if each.index == index), None)
        if first.state == "passed" and found is not None:
            options.progress(f"{subject.shown}: Enzyme and {rule.symbol} ({index + 1} of {len(subject.rules)})")
            second.append(_try_rule(rule, found, first, trial))
    return second, []


def _try_rule(rule: RuleUnderTest, found: ExtractedRule, first: RuleVerdict, trial: _Trial) -> RuleVerdict:
    """Let Enzyme differentiate a caller, with the rule and, where there is one, with the body instead."""
    verdict = replace(first, level=2, guesses=(), notes=(), outcome=Outcome())
    try:
        arguments, slots = plan_call(rule, found)
    except CannotRunError as error:
        return replace(verdict, state="not run", reason=str(error))
    name = f"enzyme{found.index}"
    try:
        outcome, has_body = _differentiate(rule, found, arguments, slots, trial, name=name, without_rule=False)
    except EnzymeBuildError as error:
        complaint = Complaint(
            kind="enzyme",
            text=f"Enzyme cannot differentiate a call: {_said(error)}",
            fix="the message is Enzyme's own; a rule is not used where a pointer is inactive in forward mode",
        )
        return replace(verdict, state="failed", outcome=Outcome(complaints=(complaint,)))
    verdict = replace(verdict, state="failed" if outcome.complaints else "passed", outcome=outcome)
    if not has_body:
        return verdict
    try:
        body, _ = _differentiate(rule, found, arguments, slots, trial, name=f"{name}_body", without_rule=True)
    except EnzymeBuildError as error:
        return replace(verdict, notes=(f"without the rule, Enzyme cannot differentiate the body: {_said(error)}",))
    return replace(verdict, notes=(_comparison(outcome, body),))


def _differentiate(
    rule: RuleUnderTest,
    found: ExtractedRule,
    arguments: Sequence[Argument],
    slots: Sequence[Slot],
    trial: _Trial,
    *,
    name: str,
    without_rule: bool,
) -> tuple[Outcome, bool]:
    """Return what Enzyme's derivative is worth, and whether the function has a body; raises for what Enzyme refuses."""
    modes: Sequence[Mode] = rule.modes
    host, imported, derived = (trial.folder / f"{name}.{part}" for part in ("host.bc", "imported.bc", "derived.bc"))
    source, compiled = trial.folder / f"{name}.host.c", trial.folder / f"{name}.o"
    wanted = wanted_rule(found.index, rule)
    stated = rule.rule if wanted.packet is not None else None
    text = render_caller(found.primal.type, arguments, slots, modes=modes, stated=stated)
    source.write_text(text, encoding="utf-8")
    typed = ("-Xclang", "-no-opaque-pointers") if trial.typed else ()
    clang = trial.toolchain.command("c")
    _run.capture([*clang, *_COMPILE, *typed, "-c", str(source), "-o", str(host)])
    request = ConsumerRequest(
        libllvm=str(trial.toolchain.libllvm),
        llvm_version=trial.toolchain.version,
        name=trial.manifest.library.file,
        bitcode=str(trial.bitcode),
        host=str(host),
        output=str(imported),
        pointers=trial.pointers,
        rule=wanted,
        callee=wanted.packet or CALLEE,
        without_rule=without_rule,
    )
    answer = run_child("enzyme_build.gradcheck.worker", request, ConsumerAnswer, name=trial.manifest.library.file)
    typed_opt = ("-opaque-pointers=0",) if trial.typed else ()
    plugin = ("-load-pass-plugin", str(trial.plugin.path))
    opt = [str(trial.opt), *typed_opt, *plugin, *_SCALAR, f"-passes={_PASSES}", str(imported), "-o", str(derived)]
    _run.capture(opt)
    # -O1: at -O2, LLVM 15 can merge loads through Enzyme's `invariant.group` marks and give a wrong number
    _run.capture([*clang, *typed, "-x", "ir", "-O1", "-w", "-c", str(derived), "-o", str(compiled)])
    adapter = render_caller_adapter(arguments, slots, modes=modes)
    inputs = (str(compiled), *trial.inputs)
    program = build_program(adapter, inputs, toolchain=trial.toolchain, folder=trial.folder, name=name)
    test = None if rule.rule is None else rule.rule.test
    seeds = trial.seeds or (test.seeds if test else None) or 10
    measured = run_program(program, slots, seeds=seeds, seconds=trial.seconds)
    return judge(measured, tolerance=test.tolerance if test else None), answer.has_body


def _said(error: EnzymeBuildError) -> str:
    """Return the lines of a failure that say what is wrong: Enzyme prints whole modules."""
    lines = [line.strip() for line in error.message.splitlines()]
    told = [line for line in lines[1:] if line.startswith(("error:", "LLVM ERROR")) or "ssertion" in line]
    kept = told or [line for line in lines[1:] if line] or lines
    return "; ".join(line[:300] for line in kept[:_SHOWN_LINES])


def _comparison(rule: Outcome, body: Outcome) -> str:
    """Return how Enzyme's derivative of the body compares with the rule's."""
    agrees = "differs from finite differences" if body.complaints else f"agrees within {body.worst:.1e}"
    times = [
        f"{mode} {spent:.0f} ns ({rule.times[mode]:.0f} ns with the rule)"
        for mode, spent in body.times.items()
        if mode != "primal" and mode in rule.times
    ]
    kinds = ", ".join(dict.fromkeys(complaint.kind for complaint in body.complaints))
    why = f" ({kinds})" if kinds else ""
    return f"Enzyme's own derivative of the body {agrees}{why}; {', '.join(times)}"
