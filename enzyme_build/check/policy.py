"""What a project says of findings: which count, how much, and which were accepted before."""

from __future__ import annotations

import dataclasses
import datetime
import fnmatch
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from enzyme_build._toml import did_you_mean
from enzyme_build.check.baseline import lost_modes, read_baseline
from enzyme_build.check.finding import catalogue
from enzyme_build.errors import ConfigError
from enzyme_build.manifest import WaiverRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from enzyme_build.check.baseline import Baseline
    from enzyme_build.check.finding import Finding, Verdict
    from enzyme_build.config import CheckTable

__all__ = ["PLAIN", "Policy", "PolicyLevel", "apply_policy", "policy_of", "require_known_ids"]

PolicyLevel = Literal["error", "warning", "off"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Levels by finding id, ids to keep (`select`; empty: all) and to drop (`ignore`), waivers, and a baseline.

    Ids may be patterns such as `EB03?`. `today` is the day by which waivers end; without one they do not.
    """

    levels: Mapping[str, PolicyLevel] = field(default_factory=dict)
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    waivers: tuple[WaiverRecord, ...] = ()
    today: datetime.date | None = None
    baseline: Baseline | None = None


PLAIN = Policy()


def policy_of(table: CheckTable, *, root: Path) -> Policy:
    """Return the policy that `[tool.enzyme-build.check]` states, as of today; `root` is the project's folder.

    Raises `ConfigError` for ids that no finding has, `ManifestError` for a baseline that cannot be read.
    """
    where = "pyproject.toml: tool.enzyme-build.check"
    require_known_ids([*table.levels, *table.select, *table.ignore], where=where)
    return Policy(
        levels=table.levels,
        select=table.select,
        ignore=table.ignore,
        waivers=tuple(
            WaiverRecord(symbol=waiver.symbol, reason=waiver.reason, expires=waiver.expires) for waiver in table.waivers
        ),
        today=datetime.datetime.now().astimezone().date(),
        baseline=None if table.baseline is None else read_baseline(root / table.baseline),
    )


def require_known_ids(written: Sequence[str], *, where: str) -> None:
    """Raise `ConfigError` for ids or patterns that fit no finding there is."""
    known = catalogue()
    problems = [
        f"{where}: no finding is called {text!r}{did_you_mean(text, known)}"
        for text in written
        if not fnmatch.filter(known, text)
    ]
    if problems:
        raise ConfigError(problems, hint="`enzyme-build check --explain all` lists the findings")


def apply_policy(verdict: Verdict, policy: Policy) -> Verdict:
    """Return the verdict as the project wants it: levels set, findings left out, accepted ones only counted.

    What lost its differentiability since the baseline is added as a finding before levels are set.
    """
    findings = [*verdict.findings]
    if policy.baseline is not None:
        findings = [*lost_modes(verdict, policy.baseline), *findings]
    levelled = (_levelled(finding, policy.levels) for finding in findings)
    chosen = [finding for finding in levelled if finding is not None and _is_chosen(finding.id, policy)]
    accepted = [] if policy.baseline is None else [each for each in chosen if policy.baseline.knows(each)]
    fresh = tuple(finding for finding in chosen if finding not in accepted)
    summary = dataclasses.replace(verdict.summary, accepted=len(accepted))
    return dataclasses.replace(verdict, findings=fresh, summary=summary)


def _levelled(finding: Finding, levels: Mapping[str, PolicyLevel]) -> Finding | None:
    """Return the finding at the level that the project gave it, `None` for one that is switched off."""
    fitting = [pattern for pattern in levels if fnmatch.fnmatchcase(finding.id, pattern)]
    if not fitting:
        return finding
    level = levels[finding.id] if finding.id in levels else levels[fitting[-1]]
    return None if level == "off" else dataclasses.replace(finding, level=level)


def _is_chosen(kind: str, policy: Policy) -> bool:
    selected = not policy.select or any(fnmatch.fnmatchcase(kind, pattern) for pattern in policy.select)
    return selected and not any(fnmatch.fnmatchcase(kind, pattern) for pattern in policy.ignore)
