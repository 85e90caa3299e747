"""The report of gradcheck, for people and for programs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from enzyme_build import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from enzyme_build.gradcheck.verdict import Complaint, LibraryVerdict, RuleVerdict

__all__ = ["VERSION", "json_schema", "render_json", "render_text"]

VERSION: Literal[1] = 1
_WIDTH = 110


def render_text(verdicts: Sequence[LibraryVerdict]) -> str:
    """Return the report for people, with a final newline."""
    blocks = []
    for verdict in verdicts:
        lines = [verdict.shown]
        for rule in verdict.rules:
            lines += _rule(rule)
        lines += [line for note in verdict.notes for line in _field("note", note)]
        blocks.append("\n".join(lines))
    rules = [rule for verdict in verdicts for rule in verdict.rules]
    states = {state: sum(rule.state == state for rule in rules) for state in ("passed", "failed", "not run")}
    summary = ", ".join(f"{count} {state}" for state, count in states.items() if count)
    return "\n\n".join([*blocks, f"{len(rules)} checked: {summary}"]) + "\n"


def _rule(rule: RuleVerdict) -> Iterator[str]:
    modes = " and ".join(mode.value for mode in rule.modes)
    level = "" if rule.level == 1 else ", by Enzyme"
    yield f"  {rule.state}: {rule.symbol} ({modes}{level}), {rule.place}"
    if rule.reason is not None:
        yield from _field("why", rule.reason)
        return
    for complaint in rule.outcome.complaints:
        yield from _complaint(complaint)
    outcome = rule.outcome
    tested = f"{_plural(outcome.seeds, 'point')}, {_plural(outcome.comparisons, 'comparison')}"
    if rule.state == "passed":
        orders = "".join(f", Taylor order {order:.1f} ({mode})" for mode, order in outcome.orders.items())
        yield from _field("tested", f"{tested}, largest relative difference {outcome.worst:.1e}{orders}")
    else:
        yield from _field("tested", tested)
    if outcome.times:
        primal = outcome.times.get("primal")
        told = [f"{mode} {_time(spent)}" for mode, spent in outcome.times.items()]
        ratio = (
            ""
            if not primal
            else "; "
            + ", ".join(
                f"{mode} is {spent / primal:.1f} calls" for mode, spent in outcome.times.items() if mode != "primal"
            )
        )
        yield from _field("time", ", ".join(told) + ratio)
    if rule.guesses:
        yield from _field("guessed", "; ".join(rule.guesses))
    for note in rule.notes:
        yield from _field("note", note)


def _complaint(complaint: Complaint) -> Iterator[str]:
    mode = "" if complaint.mode is None else f"{complaint.mode.value}: "
    yield from _field(None, f"{complaint.kind}: {mode}{complaint.text}")
    if complaint.found is not None and complaint.expected is not None:
        error = "" if complaint.error is None else f" +- {complaint.error:.1e}"
        numbers = f"found {complaint.found:.12g}, expected {complaint.expected:.12g}{error}"
        where = "" if complaint.where is None else f"{complaint.where}: "
        point = (
            "" if complaint.seed is None else f" (seed {complaint.seed}; {_plural(complaint.points, 'point')} in all)"
        )
        yield f"      {where}{numbers}{point}"
    yield from _field("  fix", complaint.fix)


def _time(nanoseconds: float) -> str:
    if nanoseconds < 1e4:
        return f"{nanoseconds:.0f} ns"
    return f"{nanoseconds / 1e3:.0f} us" if nanoseconds < 1e7 else f"{nanoseconds / 1e6:.0f} ms"


def _field(label: str | None, text: str) -> list[str]:
    indent = "    " if label is None else f"    {label}: "
    return textwrap.wrap(
        text,
        width=_WIDTH,
        initial_indent=indent,
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


class _Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all parts of the report have in common; numbers that are not finite are null."""


class ComplaintRecord(_Record, frozen=True, kw_only=True):
    """One thing that is wrong, by its worst example."""

    kind: str
    text: str
    fix: str
    mode: str | None
    where: str | None
    seed: int | None
    found: float | None
    expected: float | None
    error: float | None
    points: int


class RuleVerdictRecord(_Record, frozen=True, kw_only=True):
    """The verdict on one rule, at one level."""

    symbol: str
    place: str
    modes: tuple[str, ...]
    level: int
    state: Literal["passed", "failed", "not run"]
    reason: str | None
    seeds: int
    comparisons: int
    worst: float
    taylor_orders: dict[str, float]
    nanoseconds: dict[str, float]
    complaints: tuple[ComplaintRecord, ...]
    guesses: tuple[str, ...]
    notes: tuple[str, ...]


class LibraryVerdictRecord(_Record, frozen=True, kw_only=True):
    """One library."""

    library: str
    section_sha256: str | None
    rules: tuple[RuleVerdictRecord, ...]
    notes: tuple[str, ...]


class GradcheckReport(_Record, frozen=True, kw_only=True):
    """The whole document."""

    version: Literal[1]
    generator: str
    ok: bool
    libraries: tuple[LibraryVerdictRecord, ...]


def render_json(verdicts: Sequence[LibraryVerdict]) -> str:
    """Return the report as JSON with a final newline."""
    report = GradcheckReport(
        version=VERSION,
        generator=f"enzyme-build {__version__}",
        ok=not any(verdict.failed for verdict in verdicts),
        libraries=tuple(
            LibraryVerdictRecord(
                library=verdict.shown,
                section_sha256=verdict.section_sha256,
                rules=tuple(_rule_record(rule) for rule in verdict.rules),
                notes=verdict.notes,
            )
            for verdict in verdicts
        ),
    )
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"


def _rule_record(rule: RuleVerdict) -> RuleVerdictRecord:
    return RuleVerdictRecord(
        symbol=rule.symbol,
        place=rule.place,
        modes=tuple(mode.value for mode in rule.modes),
        level=rule.level,
        state=rule.state,
        reason=rule.reason,
        seeds=rule.outcome.seeds,
        comparisons=rule.outcome.comparisons,
        worst=rule.outcome.worst,
        taylor_orders=dict(rule.outcome.orders),
        nanoseconds=dict(rule.outcome.times),
        complaints=tuple(
            ComplaintRecord(
                kind=each.kind,
                text=each.text,
                fix=each.fix,
                mode=None if each.mode is None else each.mode.value,
                where=each.where,
                seed=each.seed,
                found=each.found,
                expected=each.expected,
                error=each.error,
                points=each.points,
            )
            for each in rule.outcome.complaints
        ),
        guesses=rule.guesses,
        notes=rule.notes,
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the report, made from the structs above."""
    schema = msgspec.json.schema(GradcheckReport)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "enzyme-build gradcheck report",
        **schema,
    }
