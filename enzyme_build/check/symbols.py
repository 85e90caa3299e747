"""Findings about single symbols: what a root reaches and an AD tool cannot get past."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build._toml import did_you_mean
from enzyme_build.check.finding import make_finding
from enzyme_build.check.reach import unusable_modes
from enzyme_build.check.roots import is_pattern
from enzyme_build.check.stanza import brief_name, derivative_stanza, inactive_global_stanza, inactive_stanza
from enzyme_build.check.state import takes_active
from enzyme_build.check.status import CONSTANT, is_intrinsic
from enzyme_build.model import CallSite, Mode, SourceLocation

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from enzyme_build.check.finding import Finding, Level
    from enzyme_build.check.reach import Reach
    from enzyme_build.manifest import Manifest, SymbolRecord

_LONG = 60  # characters that a name may have in a chain before it is cut

_CONSTANT_FIX = (
    "declare it inactive if that is right; if its result depends on what is differentiated, compile its source with "
    "bitcode as well, or hand that value to the function that needs it"
)

__all__ = ["Names", "inline_assembly_findings", "root_findings", "symbol_findings"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """Symbols as people read them."""

    demangled: Mapping[str, str]

    @classmethod
    def of(cls, manifest: Manifest, reached: Reach, demangle: Callable[[Sequence[str]], Mapping[str, str]]) -> Names:
        """Return the names of all that can appear in a finding; the demangler is not asked when none is mangled."""
        mangled = [name for name in {*manifest.symbols, *reached.names()} if name.startswith("_Z")]
        return cls(demangled=demangle(sorted(mangled)) if mangled else {})

    def show(self, symbol: str) -> str:
        """Return the C++ name, or the symbol itself."""
        return self.demangled.get(symbol, symbol)

    def brief(self, symbol: str) -> str:
        """Return the C++ name without parameters and template arguments where it is long, for chains and lists."""
        shown = self.show(symbol)
        return shown if len(shown) <= _LONG else brief_name(shown)

    def demangled_or_none(self, symbol: str) -> str | None:
        """Return the C++ name if it is another than the symbol."""
        return None if self.show(symbol) == symbol else self.show(symbol)


def root_findings(shown: str, manifest: Manifest, names: Names) -> list[Finding]:
    """Return what is wrong with the roots: none, or one that the library does not define."""
    if not manifest.roots:
        exports = "exports only its start function" if manifest.python_extension else "exports no function"
        return [make_finding("EB016", f"{shown} {exports}, and `roots` names none", library=shown)]
    found = []
    for root in manifest.roots:
        record = manifest.symbols.get(root)
        if record is not None and (record.exported or record.status not in ("opaque", "known", "waived")):
            continue
        if record is not None:
            message = f"{shown}: the root {root!r} is called by the library, but not defined in it"
        elif is_pattern(root):
            message = f"{shown}: no function fits the pattern {root!r}"
        else:
            own = [name for name, each in manifest.symbols.items() if each.exported or each.status == "bitcode"]
            message = f"{shown}: no function is named {root!r}{did_you_mean(root, own)}"
        demangled = names.demangled_or_none(root)
        found.append(
            dataclasses.replace(make_finding("EB009", message, library=shown, symbol=root), demangled=demangled)
        )
    return found


def symbol_findings(
    shown: str,
    manifest: Manifest,
    reached: Reach,
    names: Names,
    *,
    declared: Sequence[Mode],
    elsewhere: Mapping[str, str],
) -> list[Finding]:
    """Return a finding for each symbol that stops Enzyme where a root reaches it.

    `declared` are the modes that the project needs, `elsewhere` the other libraries judged that hold a function's
    bitcode.
    """
    found = []
    within = frozenset(reached.names())
    for name in sorted(within):
        record = manifest.symbols[name]
        fails = [mode for mode in unusable_modes(record) if mode in reached.modes(name)]
        counted = [mode for mode in fails if not declared or mode in declared]
        if not counted or (record.status == "opaque" and not record.exported and name in manifest.roots):
            continue  # the latter is an unknown root
        one_mode = not declared and len(fails) < len(Mode)
        level: Level | None = "error" if declared and record.kind == "function" else None
        finding = _finding(shown, name, record, names, one_mode=one_mode, fails=fails, other=elsewhere.get(name))
        if level is not None and finding.id == "EB013":
            finding = dataclasses.replace(finding, level=level)
        chain = reached.chain(name)
        found.append(
            dataclasses.replace(
                finding,
                demangled=names.demangled_or_none(name),
                chain=tuple(names.brief(step) for step in chain) if len(chain) > 1 else (),
                callers=_callers(record, within, names),
                held_by=record.library,
            )
        )
    return found


def inline_assembly_findings(shown: str, manifest: Manifest, reached: Reach, names: Names) -> list[Finding]:
    """Return a finding for each function with inline assembly that Enzyme would differentiate."""
    return [
        dataclasses.replace(
            make_finding("EB023", f"{names.show(name)} contains inline assembly", library=shown, symbol=name),
            demangled=names.demangled_or_none(name),
            chain=tuple(names.brief(step) for step in reached.chain(name)),
        )
        for name in reached.names()
        if manifest.symbols[name].inline_assembly
        and manifest.symbols[name].status == "bitcode"
        and takes_active(manifest.symbols[name].type)
    ]


def _finding(
    shown: str,
    name: str,
    record: SymbolRecord,
    names: Names,
    *,
    one_mode: bool,
    fails: Sequence[Mode],
    other: str | None,
) -> Finding:
    """Return the finding without the facts that all kinds share."""
    spoken = names.show(name)
    in_modes = " and ".join(mode.value for mode in fails)
    if record.kind == "variable":
        message = f"{spoken} is a pointer that another library owns"
        finding = make_finding("EB014", message, library=shown, symbol=name)
        return dataclasses.replace(finding, stanza=inactive_global_stanza(name))
    if record.status != "opaque":
        message = f"{spoken} cannot be differentiated in {in_modes} mode{_because(record)}"
        return make_finding("EB013", message, library=shown, symbol=name)
    if is_intrinsic(name):
        return make_finding("EB027", f"{name} is {record.detail or 'an intrinsic'}", library=shown, symbol=name)
    if other is not None and not record.exported:
        message = f"{spoken} has bitcode in {other}, which is not merged into this library"
        return make_finding("EB022", message, library=shown, symbol=name)
    only = in_modes if one_mode else None
    finding = _opaque(shown, name, record, spoken, only=only)
    stanza = inactive_stanza(name) if _is_constant(record) else derivative_stanza(name, record.type, spoken=spoken)
    return dataclasses.replace(finding, stanza=stanza)


def _opaque(shown: str, name: str, record: SymbolRecord, spoken: str, *, only: str | None) -> Finding:
    """Return the finding for a function that a rule would help; `only` is the one mode that reaches it."""
    if only is not None:
        message = f"{spoken} has neither bitcode nor a rule, and {only} mode reaches it"
        return make_finding("EB013", message, library=shown, symbol=name)
    if record.exported:
        origin = (record.detail or "").partition(", from ")[2]
        message = f"{spoken} is exported, but its code is machine code only{': it is from ' + origin if origin else ''}"
        return make_finding("EB012", message, library=shown, symbol=name)
    if _is_constant(record):
        message = f"{spoken} has neither bitcode nor a rule; {CONSTANT}"
        return make_finding("EB001", message, fix=_CONSTANT_FIX, library=shown, symbol=name)
    message = f"{spoken} has neither bitcode nor a rule{_because(record)}"
    return make_finding("EB001", message, library=shown, symbol=name)


def _because(record: SymbolRecord) -> str:
    return "" if record.detail is None else f" ({record.detail})"


def _is_constant(record: SymbolRecord) -> bool:
    """Tell whether Enzyme takes a call of the function as constant: no pointer and no number can go in."""
    return record.detail is not None and record.detail.startswith(CONSTANT)


def _callers(record: SymbolRecord, within: Collection[str], names: Names) -> tuple[CallSite, ...]:
    """Return the uses that a root reaches; all of them when it is reached in another way, as through a table."""
    sites = [site for site in record.sites if site.caller in within] or list(record.sites)
    return tuple(
        CallSite(
            caller=names.brief(site.caller),
            location=None if site.file is None or site.line is None else SourceLocation(file=site.file, line=site.line),
        )
        for site in sites
    )
