"""What a differentiation starting at the roots reaches, in each mode, and by which way."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build.model import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from enzyme_build.check.finding import Finding
    from enzyme_build.manifest import Manifest, SymbolRecord

__all__ = ["Reach", "differentiable_roots", "reach", "unusable_modes"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """The symbols that each mode reaches, with the symbol before each on a shortest way (`None` for a root)."""

    before: Mapping[Mode, Mapping[str, str | None]]

    def modes(self, name: str) -> tuple[Mode, ...]:
        """Return the modes that reach the symbol."""
        return tuple(mode for mode in Mode if name in self.before[mode])

    def chain(self, name: str) -> tuple[str, ...]:
        """Return a shortest way from a root to the symbol, both included."""
        before = self.before[self.modes(name)[0]]
        way = [name]
        while (earlier := before[way[-1]]) is not None:
            way.append(earlier)
        return tuple(reversed(way))

    def names(self) -> tuple[str, ...]:
        """Return all that is reached in any mode, sorted."""
        return tuple(sorted({name for before in self.before.values() for name in before}))


def reach(manifest: Manifest, roots: Sequence[str]) -> Reach:
    """Follow the calls from `roots`: through bitcode, not through what a rule or Enzyme's knowledge answers for.

    A rule that covers one mode stops that mode only; the other differentiates the function's body.
    """
    return Reach(before={mode: _walk(manifest, roots, mode) for mode in Mode})


def unusable_modes(record: SymbolRecord) -> tuple[Mode, ...]:
    """Return the modes in which the symbol stops Enzyme."""
    if record.status == "opaque":
        return tuple(Mode)
    if record.modes is None:
        return ()
    return tuple(mode for mode in Mode if mode not in record.modes)


def differentiable_roots(
    manifest: Manifest, reached: Reach, findings: Iterable[Finding]
) -> dict[str, tuple[Mode, ...]]:
    """Return for each root the modes in which nothing that it reaches stops Enzyme.

    What stops Enzyme are symbols that are unusable in a mode, and those with a finding that is an error in itself.
    """
    wrong = {finding.symbol for finding in findings if finding.level == "error" and finding.id != "EB013"}
    modes: dict[str, list[Mode]] = {root: [] for root in manifest.roots if root in manifest.symbols}
    for mode, before in reached.before.items():
        callers: dict[str, list[str]] = {}
        for name in before:
            if _goes_on(manifest, manifest.symbols[name], mode):
                for called in manifest.symbols[name].calls:
                    callers.setdefault(called, []).append(name)
        stopped = {name for name in before if name in wrong or _stops(manifest.symbols[name], mode)}
        waiting = list(stopped)
        while waiting:
            fresh = [caller for caller in callers.get(waiting.pop(), ()) if caller not in stopped]
            stopped.update(fresh)
            waiting += fresh
        for root, working in modes.items():
            if root in before and root not in stopped:
                working.append(mode)
    return {root: tuple(working) for root, working in sorted(modes.items())}


def _stops(record: SymbolRecord, mode: Mode) -> bool:
    return record.kind == "function" and mode in unusable_modes(record)


def _walk(manifest: Manifest, roots: Sequence[str], mode: Mode) -> dict[str, str | None]:
    before: dict[str, str | None] = {root: None for root in sorted(roots) if root in manifest.symbols}
    waiting = deque(before)
    while waiting:
        name = waiting.popleft()
        record = manifest.symbols[name]
        if not _goes_on(manifest, record, mode):
            continue
        for called in record.calls:
            if called not in before and called in manifest.symbols:
                before[called] = name
                waiting.append(called)
    return before


def _goes_on(manifest: Manifest, record: SymbolRecord, mode: Mode) -> bool:
    """Tell whether Enzyme, in this mode, looks into the symbol itself."""
    if record.status == "bitcode":
        return True
    if record.status != "rule" or record.rule is None:
        return False
    rule = manifest.rules[record.rule]
    return rule.kind == "derivative" and mode not in rule.modes
