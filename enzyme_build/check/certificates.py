"""Findings about what gradcheck certified: certificates that are out of date, and rules that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.check.finding import make_finding
from enzyme_build.model import Origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.check.finding import Finding
    from enzyme_build.manifest import Manifest

__all__ = ["certificate_findings"]


def certificate_findings(libraries: Sequence[tuple[str, Manifest]]) -> list[Finding]:
    """Return a finding for each certificate of a rule that failed, or that is another one by now."""
    found = []
    for shown, manifest in libraries:
        rules = {rule.symbol: rule for rule in manifest.rules if rule.kind == "derivative"}
        for certificate in manifest.certificates:
            rule = rules.get(certificate.symbol)
            if rule is None:
                continue
            place = str(Origin(file=rule.file, key=rule.key, line=rule.line))
            symbol = certificate.symbol
            if certificate.digest != rule.digest:
                message = f"{shown}: {symbol} or its rule changed since it was checked at {certificate.seeds} points"
                found.append(make_finding("EB044", message, library=shown, place=place, symbol=symbol))
            elif not certificate.passed:
                why = ", ".join(certificate.complaints) or "it could not be run"
                message = f"{shown}: the rule for {symbol} did not pass: {why}"
                found.append(make_finding("EB045", message, library=shown, place=place, symbol=symbol))
    return found
