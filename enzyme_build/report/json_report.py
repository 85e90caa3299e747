"""The report for programs: JSON of a fixed shape, whose schema ships as `resources/report.schema.json`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from enzyme_build import __version__

if TYPE_CHECKING:
    from enzyme_build.check.finding import Finding, Verdict

__all__ = ["VERSION", "json_schema", "render_json"]

VERSION: Literal[1] = 1


class _Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all parts of the report have in common."""


class CallerRecord(_Record, frozen=True, kw_only=True):
    """A use of a symbol; file and line are null without debug information."""

    caller: str
    file: str | None
    line: int | None


class FindingRecord(_Record, frozen=True, kw_only=True):
    """A finding; what does not apply is null or empty."""

    id: str
    level: Literal["error", "warning"]
    title: str
    message: str
    cause: str
    fix: str
    library: str | None
    place: str | None
    symbol: str | None
    demangled: str | None
    chain: tuple[str, ...]
    callers: tuple[CallerRecord, ...]
    held_by: str | None
    stanza: str | None


class LibraryRecord(_Record, frozen=True, kw_only=True):
    """A library that was judged; `statuses` counts the symbols that its roots reach.

    `classified` counts what among them a call graph cannot say everything about, `differentiable` holds for each root
    the modes in which nothing stops Enzyme.
    """

    name: str
    bitcode: str | None
    roots: int
    statuses: dict[str, int]
    notes: tuple[str, ...]
    classified: dict[str, int]
    differentiable: dict[str, tuple[Literal["reverse", "forward"], ...]]
    consumers: tuple[str, ...]


class Report(_Record, frozen=True, kw_only=True):
    """The whole document; `native` are libraries without bitcode that were passed by.

    `accepted` counts the findings that the baseline knows, which are left out.
    """

    version: Literal[1]
    generator: str
    ok: bool
    errors: int
    warnings: int
    findings: tuple[FindingRecord, ...]
    libraries: tuple[LibraryRecord, ...]
    native: tuple[str, ...]
    accepted: int


def render_json(verdict: Verdict) -> str:
    """Return the report as JSON with a final newline; the same verdict gives the same text."""
    errors = len(verdict.errors)
    report = Report(
        version=VERSION,
        generator=f"enzyme-build {__version__}",
        ok=errors == 0,
        errors=errors,
        warnings=len(verdict.findings) - errors,
        findings=tuple(_finding(finding) for finding in verdict.findings),
        libraries=tuple(
            LibraryRecord(
                name=library.name,
                bitcode=library.bitcode,
                roots=library.roots,
                statuses=dict(library.statuses),
                notes=library.notes,
                classified=dict(library.classified),
                differentiable={
                    root: tuple(mode.value for mode in modes) for root, modes in library.differentiable.items()
                },
                consumers=library.consumers,
            )
            for library in verdict.summary.libraries
        ),
        native=verdict.summary.native,
        accepted=verdict.summary.accepted,
    )
    return msgspec.json.format(msgspec.json.encode(report, order="sorted"), indent=2).decode() + "\n"


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the report, made from the structs above."""
    schema = msgspec.json.schema(Report)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "enzyme-build check report", **schema}


def _finding(finding: Finding) -> FindingRecord:
    callers = tuple(
        CallerRecord(
            caller=site.caller,
            file=None if site.location is None else site.location.file,
            line=None if site.location is None else site.location.line,
        )
        for site in finding.callers
    )
    plain = {field.name: getattr(finding, field.name) for field in dataclasses.fields(finding)}
    return FindingRecord(**(plain | {"callers": callers}))
