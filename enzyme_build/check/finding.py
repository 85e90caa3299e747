"""What the check says: findings, and the verdict that holds them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Literal

from enzyme_build._toml import tomllib

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enzyme_build.manifest import CertificateRecord, RuleRecord
    from enzyme_build.model import CallSite, Mode

__all__ = [
    "CatalogueEntry",
    "Finding",
    "Level",
    "LibrarySummary",
    "Summary",
    "Verdict",
    "catalogue",
    "entry_of",
    "make_finding",
]

Level = Literal["error", "warning"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogueEntry:
    """A kind of finding: what it is called, why it matters (`cause`) and what helps in general (`fix`)."""

    id: str
    level: Level
    title: str
    cause: str
    fix: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong with a library or a rule.

    `message` says what is wrong, here; `cause` why it matters; `fix` the next step. `library` is the name shown to the
    user, or `place` tells where in a rule file. `chain` leads from a root to `symbol`; `demangled` is set when it
    differs from `symbol`; `held_by` is the soname of the library that natively holds it; `stanza` is TOML to paste.
    """

    id: str
    level: Level
    title: str
    message: str
    cause: str
    fix: str
    library: str | None = None
    place: str | None = None
    symbol: str | None = None
    demangled: str | None = None
    chain: tuple[str, ...] = ()
    callers: tuple[CallSite, ...] = ()
    held_by: str | None = None
    stanza: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LibrarySummary:
    """One library that was looked at: how its symbols stand, and what could not be judged (`notes`).

    `bitcode` describes the module (`LLVM 15.0.6, typed pointers`), `None` for a library without; `statuses` counts the
    symbols that a root reaches, `classified` what among them a call graph cannot say everything about.
    `differentiable` holds the modes in which each root can be differentiated, as far as the check can tell; `rules`
    and `certificates` are those that the library was built with.
    """

    name: str
    bitcode: str | None
    roots: int
    statuses: Mapping[str, int]
    notes: tuple[str, ...] = ()
    classified: Mapping[str, int] = field(default_factory=dict)
    differentiable: Mapping[str, tuple[Mode, ...]] = field(default_factory=dict)
    consumers: tuple[str, ...] = ()
    rules: tuple[RuleRecord, ...] = ()
    certificates: tuple[CertificateRecord, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """What was looked at: the libraries judged, and `native` ones that were only passed by.

    `accepted` counts the findings that the baseline knows, which are left out.
    """

    libraries: tuple[LibrarySummary, ...] = ()
    native: tuple[str, ...] = ()
    accepted: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """All findings, errors first within each library, and what was looked at."""

    findings: tuple[Finding, ...]
    summary: Summary

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.level == "error")

    @property
    def exit_code(self) -> int:
        """1 when there is an error, else 0."""
        return int(bool(self.errors))

    def fails(self, fail_on: Literal["error", "warning", "never"] = "error") -> bool:
        """Tell whether a build shall fail; `fail_on` is the mildest level that does it."""
        return fail_on != "never" and bool(self.findings if fail_on == "warning" else self.errors)


@functools.cache
def catalogue() -> Mapping[str, CatalogueEntry]:
    """Return every kind of finding by its id, in the order of the file (`resources/findings.toml`)."""
    text = resources.files("enzyme_build.resources").joinpath("findings.toml").read_text(encoding="utf-8")
    return {table["id"]: CatalogueEntry(**table) for table in tomllib.loads(text)["finding"]}


def entry_of(kind: str) -> CatalogueEntry:
    """Return the catalogue's entry; a kind it does not have comes from a manifest that a newer version wrote."""
    return catalogue().get(kind) or CatalogueEntry(
        id=kind,
        level="error",
        title="a finding of a newer version",
        cause="the manifest was written by a newer version of enzyme-build, which found this",
        fix="check with the version that built the library",
    )


def make_finding(
    kind: str,
    message: str,
    *,
    level: Level | None = None,
    fix: str | None = None,
    library: str | None = None,
    place: str | None = None,
    symbol: str | None = None,
) -> Finding:
    """Return a finding of `kind`; level and fix are those of the catalogue unless given."""
    entry = entry_of(kind)
    return Finding(
        id=entry.id,
        level=level or entry.level,
        title=entry.title,
        message=message,
        cause=entry.cause,
        fix=fix or entry.fix,
        library=library,
        place=place,
        symbol=symbol,
    )
