"""Judge manifests: what an AD tool will stumble over, why, and what to do. Pure: no file is read here."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from enzyme_build.check import integrity, rule_findings
from enzyme_build.check.certificates import certificate_findings
from enzyme_build.check.finding import Finding, LibrarySummary, Summary, Verdict
from enzyme_build.check.reach import differentiable_roots, reach
from enzyme_build.check.shapes import classified, shape_findings, shared_name_findings, unheld
from enzyme_build.check.state import kept_state, variable_findings
from enzyme_build.check.symbols import Names, inline_assembly_findings, root_findings, symbol_findings
from enzyme_build.check.waivers import waive
from enzyme_build.llvm.demangle import demangle as demangle_names
from enzyme_build.toolchain.consumers import consumer

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Mapping, Sequence

    from enzyme_build.check.reach import Reach
    from enzyme_build.elf import ElfFacts
    from enzyme_build.manifest import Manifest, WaiverRecord
    from enzyme_build.model import Consumer, Mode

__all__ = ["judge"]

_PYTHON_API = ("Py", "_Py")
_SHOWN = 6


def judge(
    libraries: Sequence[tuple[str, Manifest, ElfFacts | None]],
    *,
    modes: Sequence[Mode] = (),
    findings: Sequence[Finding] = (),
    waivers: Sequence[WaiverRecord] = (),
    today: datetime.date | None = None,
    find_consumer: Callable[[str], Consumer] = consumer,
    demangle: Callable[[Sequence[str]], Mapping[str, str]] = demangle_names,
) -> Verdict:
    """Return the verdict on libraries, each with the name shown for it and, where the file is at hand, its ELF facts.

    With `modes`, what fails in one of these modes is an error and other modes do not count; without, what fails in one
    mode only is a warning. `findings` are those that were made while the libraries were collected. `waivers` are those
    of the project that is checked, besides those that the libraries were built with; they end by `today`.
    """
    found = list(findings)
    seen: list[tuple[str, Manifest, Reach, Names, list[str]]] = []
    native = []
    bitcode_holders = _bitcode_holders(libraries)
    for shown, manifest, elf in libraries:
        found += integrity.library_findings(shown, manifest, elf)
        if manifest.bitcode is None:
            native.append(shown)
            continue
        own, notes = integrity.consumer_findings(shown, manifest, find_consumer)
        found += own
        reached = reach(manifest, manifest.roots)
        names = Names.of(manifest, reached, demangle)
        found += root_findings(shown, manifest, names)
        found += symbol_findings(
            shown,
            manifest,
            reached,
            names,
            declared=modes,
            elsewhere={name: other for name, other in bitcode_holders.items() if other != shown},
        )
        found += inline_assembly_findings(shown, manifest, reached, names)
        found += variable_findings(shown, manifest, reached, names, declared=modes)
        found += shape_findings(shown, manifest, reached, names, declared=modes)
        seen.append((shown, manifest, reached, names, notes))
    manifests = [(shown, manifest) for shown, manifest, _ in libraries]
    found += shared_name_findings(manifests)
    found += rule_findings.rule_problems(manifests)
    found += rule_findings.lost_registrations(manifests)
    found += certificate_findings(manifests)
    found = waive(found, manifests, waivers, today=today, demangle=demangle)
    summaries = tuple(
        _summary(
            shown, manifest, reached, names, notes=notes, findings=[each for each in found if each.library == shown]
        )
        for shown, manifest, reached, names, notes in seen
    )
    return Verdict(findings=_in_order(found), summary=Summary(libraries=summaries, native=tuple(native)))


def _bitcode_holders(libraries: Sequence[tuple[str, Manifest, ElfFacts | None]]) -> dict[str, str]:
    """Return the library that exports each function with bitcode, by the function's name."""
    return {
        name: shown
        for shown, manifest, _ in reversed(libraries)
        for name, record in manifest.symbols.items()
        if record.exported and record.status == "bitcode" and record.kind == "function"
    }


def _summary(
    shown: str, manifest: Manifest, reached: Reach, names: Names, *, notes: Sequence[str], findings: Sequence[Finding]
) -> LibrarySummary:
    """Count what was reached, and say what was not judged."""
    assert manifest.bitcode is not None  # noqa: S101 - libraries without are not summarised
    symbols = manifest.symbols
    within = reached.names()
    opaque = {name for name, record in symbols.items() if record.status == "opaque"}
    outside = sorted(opaque.difference(within))
    python = [name for name in outside if manifest.python_extension and name.startswith(_PYTHON_API)]
    others = sorted({name for name in outside if not symbols[name].exported}.difference(python))
    pointed = {finding.symbol for finding in findings if finding.id == "EB034"}
    indirect = [name for name in within if symbols[name].indirect_calls and name not in pointed]
    kept = kept_state(manifest, reached, findings)
    said = list(notes)
    if python:
        said.append(f"{_count(len(python), 'function')} of CPython's C API used, by code that no root reaches")
    if others:
        said.append(f"{_count(len(others), 'opaque symbol')} reached from no root: {_listed(others, names)}")
    lost = [] if manifest.python_extension else unheld(manifest, reached)
    if lost:
        said.append(f"exported by no library that was found: {_listed(lost, names)}")
    if indirect:
        said.append(f"calls through pointers were not judged, in {_listed(indirect, names)}")
    if kept:
        said.append(f"kept between calls, which derivatives do not see: {_listed(kept, names)}")
    return LibrarySummary(
        name=shown,
        bitcode=f"LLVM {manifest.bitcode.llvm}, {manifest.bitcode.pointers.value} pointers",
        roots=len(manifest.roots),
        statuses=dict(sorted(Counter(symbols[name].status for name in within).items())),
        notes=tuple(said),
        classified=classified(manifest, reached),
        differentiable=differentiable_roots(manifest, reached, findings),
        consumers=manifest.consumers,
        rules=manifest.rules,
        certificates=manifest.certificates,
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _listed(symbols: Sequence[str], names: Names) -> str:
    shown = ", ".join(names.brief(symbol) for symbol in symbols[:_SHOWN])
    return shown if len(symbols) <= _SHOWN else f"{shown} and {len(symbols) - _SHOWN} more"


def _in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return each finding once: those of rule files first, then by library, errors before warnings."""

    def key(finding: Finding) -> tuple[str, bool, str, str, str]:
        where = finding.symbol or finding.place or ""
        return (finding.library or "", finding.level != "error", finding.id, where, finding.message)

    return tuple(sorted(dict.fromkeys(findings), key=key))
