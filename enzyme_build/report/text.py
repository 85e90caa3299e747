"""The report for people: findings by library, each with what, where and the next step."""

from __future__ import annotations

import os
import textwrap
from itertools import groupby
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from enzyme_build.check.finding import Finding, LibrarySummary, Verdict

__all__ = ["render_text", "wants_colour"]

_WIDTH = 110
_CALLERS = 5
_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "name": "\x1b[1m", "faint": "\x1b[2m"}
_PLAIN = "\x1b[0m"
_PROJECT = "rules"  # the heading of findings that belong to no single library


def wants_colour(stream: IO[str], environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether to write colours: on a terminal, unless NO_COLOR (no-color.org) is set or TERM is `dumb`."""
    return stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


def render_text(verdict: Verdict, *, colour: bool = False) -> str:
    """Return the report, with a final newline: one quiet line when nothing was found."""
    paint = _Paint(colour)
    if not verdict.findings:
        notes = [line for library in verdict.summary.libraries for line in _notes(library, paint)]
        none = "no findings" if not verdict.summary.accepted else "no new findings"
        return "\n".join([*notes, f"checked {_what_was_checked(verdict)}: {none}{_accepted(verdict)}"]) + "\n"
    notes_of = {library.name: library for library in verdict.summary.libraries}
    blocks = []
    for library, of_library in groupby(verdict.findings, key=lambda finding: finding.library):
        lines = [paint("name", library or _PROJECT)]
        for _, of_kind in groupby(of_library, key=lambda finding: (finding.level, finding.id)):
            lines += _kind(list(of_kind), paint)
        if library in notes_of:
            lines += _notes(notes_of[library], paint, named=False)
        blocks.append("\n".join(lines).rstrip())
    return "\n\n".join([*blocks, _count(verdict, paint)]) + "\n"


class _Paint:
    """Puts a colour around text, or nothing."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, kind: str, text: str) -> str:
        return f"{_COLOURS[kind]}{text}{_PLAIN}" if self.colour else text


def _kind(findings: Sequence[Finding], paint: _Paint) -> Iterator[str]:
    """Yield the lines of findings of one kind: the cause once, and the fix once where it is the same for all."""
    first = findings[0]
    number = f" ({len(findings)})" if len(findings) > 1 else ""
    yield f"  {paint(first.level, f'{first.level} {first.id}')} {first.title}{number}"
    same_fix = all(finding.fix == first.fix for finding in findings)
    for finding in findings:
        yield from _finding(finding, paint, with_fix=not same_fix)
    yield from _field("why", first.cause)
    if same_fix:
        yield from _field("fix", first.fix)
    yield ""


def _finding(finding: Finding, paint: _Paint, *, with_fix: bool) -> Iterator[str]:
    """Yield the lines of one finding."""
    if finding.place is not None:
        yield from _field("in", finding.place)
    yield from _field(None, finding.message)
    if finding.demangled is not None and finding.symbol is not None:
        yield from _field("symbol", finding.symbol)
    if finding.chain:
        yield from _field("reached", " -> ".join(finding.chain))
    if finding.callers:
        shown = [
            caller.caller if caller.location is None else f"{caller.caller} ({caller.location})"
            for caller in finding.callers[:_CALLERS]
        ]
        more = len(finding.callers) - _CALLERS
        yield from _field("used by", ", ".join(shown) + (f" and {more} more" if more > 0 else ""))
    if finding.held_by is not None:
        yield from _field("held by", f"{finding.held_by} (machine code)")
    if with_fix:
        yield from _field("fix", finding.fix)
    if finding.stanza is not None:
        yield ""
        yield from (paint("faint", f"        {line}") if line else "" for line in finding.stanza.splitlines())
        yield ""


def _field(label: str | None, text: str) -> list[str]:
    """Return labelled text, wrapped under itself; names and paths are never broken."""
    indent = "    " if label is None else f"    {label}: "
    return textwrap.wrap(
        text,
        width=_WIDTH,
        initial_indent=indent,
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    ) or [indent.rstrip()]


def _notes(library: LibrarySummary, paint: _Paint, *, named: bool = True) -> list[str]:
    start = f"{library.name}: " if named else "  note: "
    return [paint("faint", f"{start}{note}") for note in library.notes]


def _what_was_checked(verdict: Verdict) -> str:
    summary = verdict.summary
    symbols = sum(sum(library.statuses.values()) for library in summary.libraries)
    unjudged = {finding.library for finding in verdict.findings if finding.library} - {*summary.native}
    libraries = {library.name for library in summary.libraries} | unjudged
    parts = [_plural(len(libraries), "library", "libraries")]
    if summary.native:
        parts.append(f"{len(summary.native)} native only")
    return f"{' and '.join(parts)}, {_plural(symbols, 'symbol', 'symbols')} reached"


def _count(verdict: Verdict, paint: _Paint) -> str:
    """Return the last line: how many findings of each level, in what."""
    errors = len(verdict.errors)
    warnings = len(verdict.findings) - errors
    parts = []
    if errors:
        parts.append(paint("error", _plural(errors, "error", "errors")))
    if warnings:
        parts.append(paint("warning", _plural(warnings, "warning", "warnings")))
    return f"{', '.join(parts)}{_accepted(verdict)}; checked {_what_was_checked(verdict)}"


def _accepted(verdict: Verdict) -> str:
    """Return how many findings the baseline knows, if any."""
    number = verdict.summary.accepted
    return f" ({number} in the baseline)" if number else ""


def _plural(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
