"""Where a finding is, for reports that point at lines: the rule, else the first call, else the library."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build.check.baseline import stable_name

if TYPE_CHECKING:
    from enzyme_build.check.finding import Finding

__all__ = ["Place", "fingerprint", "place_of"]

_RULE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+))?: \S+$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A file, relative to the current folder where it lies below, and a line of it if one is known."""

    file: str
    line: int | None = None


def place_of(finding: Finding) -> Place | None:
    """Return the place that helps most with the finding, `None` for one that is about no file."""
    if finding.place is not None and (found := _RULE.match(finding.place)):
        return Place(file=_relative(found["file"]), line=int(found["line"]) if found["line"] else None)
    for caller in finding.callers:
        if caller.location is not None:
            return Place(file=_relative(caller.location.file), line=caller.location.line)
    if finding.library is not None:
        return Place(file=_relative(finding.library.partition(": ")[0]))
    return None


def fingerprint(finding: Finding) -> str:
    """Return a digest that stays the same from run to run for the same finding, whatever its line and wording."""
    library = "" if finding.library is None else stable_name(finding.library)
    place = re.sub(r":\d+(?=:)", "", finding.place or "")
    text = "\0".join((finding.id, library, finding.symbol or place))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _relative(name: str) -> str:
    path = Path(name)
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_absolute() and path.is_relative_to(here) else path.as_posix()
