"""Waivers: which symbols and findings they cover, which do nothing, and which have ended."""

from __future__ import annotations

import datetime
import fnmatch
from typing import TYPE_CHECKING

from enzyme_build.check.finding import make_finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from enzyme_build.check.finding import Finding
    from enzyme_build.manifest import Manifest, WaiverRecord

    Demangle = Callable[[Sequence[str]], Mapping[str, str]]

__all__ = ["covers", "waive"]

# findings about one symbol of a library, which a user may accept; the others are about files, rules and settings
_WAIVABLE = frozenset(
    f"EB{number:03}" for number in (1, 12, 13, 14, 22, 23, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 40, 43)
)


def covers(waiver: WaiverRecord, name: str, demangled: str | None) -> bool:
    """Tell whether the waiver is for the symbol: by its name, its C++ name, or a pattern such as `log_*`."""
    return waiver.symbol in (name, demangled) or fnmatch.fnmatchcase(name, waiver.symbol)


def waive(
    findings: Sequence[Finding],
    libraries: Sequence[tuple[str, Manifest]],
    waivers: Sequence[WaiverRecord],
    *,
    today: datetime.date | None,
    demangle: Demangle,
) -> list[Finding]:
    """Return the findings that no waiver covers, with those about waivers that do nothing or have ended.

    The waivers are those that libraries were built with, and `waivers`. Without `today` none ends.
    """
    by_symbol = {waiver.symbol: waiver for _, manifest in libraries for waiver in manifest.waivers}
    by_symbol |= {waiver.symbol: waiver for waiver in waivers}
    if not by_symbol:
        return list(findings)
    waived = sorted(
        {name for _, manifest in libraries for name, record in manifest.symbols.items() if record.status == "waived"}
    )
    readable = demangle(mangled) if (mangled := [name for name in waived if name.startswith("_Z")]) else {}
    ended = {symbol for symbol, waiver in by_symbol.items() if _ended(waiver, today)}
    used: dict[str, list[str]] = {
        symbol: [name for name in waived if covers(waiver, name, readable.get(name))]
        for symbol, waiver in by_symbol.items()
    }
    kept = []
    for finding in findings:
        covering = [symbol for symbol, waiver in by_symbol.items() if _is_waived(finding, waiver)]
        for symbol in covering:
            used[symbol].append(finding.symbol or "")
        if all(symbol in ended for symbol in covering):
            kept.append(finding)
    for symbol, waiver in sorted(by_symbol.items()):
        if symbol in ended:
            what = f", covers {', '.join(sorted(set(used[symbol])))}" if used[symbol] else ", covers nothing any more"
            message = f"the waiver of {symbol} ({waiver.reason!r}) ended on {waiver.expires}{what}"
            kept.append(make_finding("EB037", message, symbol=symbol))
        elif not used[symbol]:
            message = f"the waiver of {symbol} ({waiver.reason!r}) covers no opaque symbol"
            kept.append(make_finding("EB017", message, symbol=symbol))
    return kept


def _is_waived(finding: Finding, waiver: WaiverRecord) -> bool:
    if finding.id not in _WAIVABLE or finding.symbol is None or finding.place is not None:
        return False
    return covers(waiver, finding.symbol, finding.demangled)


def _ended(waiver: WaiverRecord, today: datetime.date | None) -> bool:
    if waiver.expires is None or today is None:
        return False
    try:
        return today > datetime.date.fromisoformat(waiver.expires)
    except ValueError:
        return True  # a date that cannot be read does not keep a waiver alive
