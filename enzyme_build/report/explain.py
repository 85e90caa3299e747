"""The catalogue of findings in words: one for a terminal, all for the documentation page."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from enzyme_build._toml import did_you_mean
from enzyme_build.check.finding import catalogue
from enzyme_build.errors import UsageError

if TYPE_CHECKING:
    from enzyme_build.check.finding import CatalogueEntry

__all__ = ["explain", "findings_page"]

_WIDTH = 100
_HEAD = """\
# Findings

What `enzyme-build check` may report. Ids are stable: a kind that is dropped leaves a gap.
The level is the default one; `[tool.enzyme-build.check]` sets another (`levels = { EB029 = "off" }`), and
`--select`, `--ignore`, waivers and a baseline choose among them. `enzyme-build check --explain EB001` prints one of
these, `--explain all` prints all.

<!-- made by `python -m enzyme_build.report.explain`; edit enzyme_build/resources/findings.toml instead -->
"""


def explain(kind: str) -> str:
    """Return what there is to say of the finding `kind`, or with `all` of every one, a line each.

    Raises `UsageError` for an id that no finding has.
    """
    entries = catalogue()
    if kind == "all":
        return "".join(f"{entry.id}  {entry.level:<7}  {entry.title}\n" for entry in entries.values())
    entry = entries.get(kind.upper())
    if entry is None:
        msg = f"no finding is called {kind!r}{did_you_mean(kind.upper(), entries)}"
        raise UsageError(msg, hint="`enzyme-build check --explain all` lists them")
    parts = [f"{entry.id} {entry.title} ({entry.level})"]
    for label, text in (("why", entry.cause), ("fix", entry.fix)):
        parts.append(
            textwrap.fill(
                text,
                width=_WIDTH,
                initial_indent=f"  {label}: ",
                subsequent_indent="       ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    return "\n".join(parts) + "\n"


def findings_page() -> str:
    """Return `docs/findings.md`."""
    return _HEAD + "".join(_section(entry) for entry in catalogue().values())


def _section(entry: CatalogueEntry) -> str:
    lines = [f"## {entry.id}: {entry.title}", "", f"Level: {entry.level}.", ""]
    for label, text in (("Why", entry.cause), ("What to do", entry.fix)):
        lines += [textwrap.fill(f"{label}: {text}.", width=120, break_long_words=False, break_on_hyphens=False), ""]
    return "\n" + "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(findings_page())
