"""Findings about rules, which belong to a project: judged over all of its libraries together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.check.finding import make_finding
from enzyme_build.model import Origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.check.finding import Finding
    from enzyme_build.manifest import Manifest, RuleProblemRecord, RuleRecord

__all__ = ["lost_registrations", "rule_problems"]

_UNKNOWN = "EB008"


def rule_problems(libraries: Sequence[tuple[str, Manifest]]) -> list[Finding]:
    """Return what is wrong with the rules, each problem once.

    A rule for a function that a library does not know is none of them as long as another library knows it: rule files
    are shared between the libraries of a project.
    """
    seen: dict[tuple[str, str], list[RuleRecord]] = {}
    for _, manifest in libraries:
        for rule in manifest.rules:
            seen.setdefault((rule.file, rule.key), []).append(rule)
    found: dict[tuple[str, RuleProblemRecord], Finding] = {}
    for rules in seen.values():
        unknown_everywhere = all(any(each.finding == _UNKNOWN for each in rule.problems) for rule in rules)
        for rule in rules:
            place = str(Origin(file=rule.file, key=rule.key, line=rule.line))
            for problem in rule.problems:
                if problem.finding == _UNKNOWN and not unknown_everywhere:
                    continue
                found.setdefault(
                    (place if problem.finding != _UNKNOWN else f"{place} {rule.symbol}", _without_text(problem)),
                    make_finding(problem.finding, problem.text, fix=problem.fix, place=place, symbol=rule.symbol),
                )
    return list(found.values())


def _without_text(problem: RuleProblemRecord) -> RuleProblemRecord:
    """Return what makes an unknown name one problem: each library words its own suggestions."""
    if problem.finding != _UNKNOWN:
        return problem
    return type(problem)(finding=problem.finding, text="", fix="")


def lost_registrations(libraries: Sequence[tuple[str, Manifest]]) -> list[Finding]:
    """Return the registration globals that finalize took out of the bitcode."""
    return [
        make_finding("EB020", f"{shown}: {name} does nothing in embedded bitcode", library=shown, symbol=name)
        for shown, manifest in libraries
        for name in manifest.registrations
    ]
