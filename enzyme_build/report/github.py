"""The report as GitHub's workflow commands, which become annotations of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.report.place import place_of

if TYPE_CHECKING:
    from enzyme_build.check.finding import Finding, Verdict

__all__ = ["render_github"]


def render_github(verdict: Verdict) -> str:
    """Return one command a finding and a last line that counts them, which the log shows as it is."""
    errors = len(verdict.errors)
    warnings = len(verdict.findings) - errors
    lines = [_command(finding) for finding in verdict.findings]
    lines.append(f"enzyme-build: {errors} errors, {warnings} warnings")
    return "\n".join(lines) + "\n"


def _command(finding: Finding) -> str:
    properties = {}
    place = place_of(finding)
    if place is not None:
        properties["file"] = place.file
        if place.line is not None:
            properties["line"] = str(place.line)
    properties["title"] = f"{finding.id} {finding.title}"
    lines = [finding.message]
    lines += [f"in {finding.library}"] if finding.library else []
    lines += [f"reached by {' -> '.join(finding.chain)}"] if finding.chain else []
    lines.append(f"fix: {finding.fix}")
    lines += [finding.stanza] if finding.stanza else []
    written = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{finding.level} {written}::{_data(chr(10).join(lines))}"


def _data(text: str) -> str:
    """Return text as the runner decodes it (actions/toolkit, command.ts)."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
