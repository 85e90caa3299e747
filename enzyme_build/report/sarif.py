"""The report as SARIF 2.1.0 (OASIS), which code hosts show beside the lines it is about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from enzyme_build import __version__
from enzyme_build.check.finding import entry_of
from enzyme_build.report.place import Place, fingerprint, place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.check.finding import CatalogueEntry, Finding, Verdict

__all__ = ["render_sarif"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RELATED = 10


def render_sarif(verdict: Verdict) -> str:
    """Return the report as a SARIF log with one run; the same verdict gives the same text."""
    kinds = sorted({finding.id for finding in verdict.findings})
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "enzyme-build",
                        "version": __version__,
                        "rules": [_rule(entry_of(kind)) for kind in kinds],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, kinds) for finding in verdict.findings],
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _rule(entry: CatalogueEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "name": "".join(word.capitalize() for word in entry.title.replace("-", " ").replace(".", " ").split()),
        "shortDescription": {"text": _sentence(entry.title)},
        "fullDescription": {"text": _sentence(entry.cause)},
        "help": {
            "text": f"Why: {entry.cause}.\nWhat to do: {entry.fix}.",
            "markdown": f"**Why:** {entry.cause}.\n\n**What to do:** {entry.fix}.",
        },
        "defaultConfiguration": {"level": entry.level},
    }


def _result(finding: Finding, kinds: Sequence[str]) -> dict[str, Any]:
    place = place_of(finding)
    location: dict[str, Any] = {} if place is None else {"physicalLocation": _physical(place)}
    if finding.symbol is not None:
        spoken = finding.demangled or finding.symbol
        location["logicalLocations"] = [{"name": spoken, "fullyQualifiedName": finding.symbol}]
    result: dict[str, Any] = {
        "ruleId": finding.id,
        "ruleIndex": kinds.index(finding.id),
        "level": finding.level,
        "message": {"text": _words(finding)},
        "partialFingerprints": {"enzymeBuild/v1": fingerprint(finding)},
    }
    if location:
        result["locations"] = [location]
    related = [
        {
            "id": number,
            "message": {"text": f"used by {caller.caller}"},
            "physicalLocation": _physical(Place(file=caller.location.file, line=caller.location.line)),
        }
        for number, caller in enumerate(finding.callers[:_RELATED], start=1)
        if caller.location is not None
    ]
    if related:
        result["relatedLocations"] = related
    return result


def _words(finding: Finding) -> str:
    lines = [_sentence(finding.message)]
    if finding.library is not None:
        lines.append(f"In {finding.library}.")
    if finding.chain:
        lines.append(f"Reached by {' -> '.join(finding.chain)}.")
    lines.append(f"What to do: {finding.fix}.")
    if finding.stanza is not None:
        lines += ["", finding.stanza]
    return "\n".join(lines)


def _physical(place: Place) -> dict[str, Any]:
    absolute = place.file.startswith("/")
    artifact: dict[str, Any] = {"uri": f"file://{quote(place.file)}" if absolute else quote(place.file)}
    if not absolute:
        artifact["uriBaseId"] = "%SRCROOT%"
    found: dict[str, Any] = {"artifactLocation": artifact}
    if place.line is not None:
        found["region"] = {"startLine": place.line}
    return found


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text[0].islower() and " " in text else f"{text}."
