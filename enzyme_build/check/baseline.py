"""The baseline: findings that a project knows of already, and what it promised to be differentiable.

The file is JSON, sorted, without times or versions of libraries in it, so that it changes only when something did.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

import msgspec

from enzyme_build.check.finding import make_finding
from enzyme_build.errors import ManifestError
from enzyme_build.model import Mode

if TYPE_CHECKING:
    from pathlib import Path

    from enzyme_build.check.finding import Finding, Verdict

__all__ = ["Baseline", "lost_modes", "make_baseline", "read_baseline", "write_baseline"]

SCHEMA: Literal["enzymebc-baseline/1"] = "enzymebc-baseline/1"

# auditwheel renames grafted libraries: libfoo-0123abcd.so.1
_GRAFTED = re.compile(r"-[0-9a-f]{8}(?=\.so)")
_VERSION = re.compile(r"(?<=\.so)(?:\.\d+)+$")


class _Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True):
    """What all parts of the baseline have in common."""


class AcceptedRecord(_Record, frozen=True, kw_only=True, order=True):
    """A finding that is known: its kind, the library's name without folder and version, and what it is about."""

    id: str
    library: str = ""
    about: str = ""


class Baseline(_Record, frozen=True, kw_only=True):
    """The whole document; `differentiable` holds for each library's roots the modes that worked."""

    schema: Literal["enzymebc-baseline/1"]
    findings: tuple[AcceptedRecord, ...] = ()
    differentiable: dict[str, dict[str, tuple[Mode, ...]]] = {}

    def knows(self, finding: Finding) -> bool:
        """Tell whether the finding was there when the baseline was written."""
        return _key(finding) in self.findings


def make_baseline(verdict: Verdict) -> Baseline:
    """Return the baseline under which everything in `verdict` is known."""
    return Baseline(
        schema=SCHEMA,
        findings=tuple(sorted({_key(finding) for finding in verdict.findings if finding.id != "EB038"})),
        differentiable={
            stable_name(library.name): {root: modes for root, modes in library.differentiable.items() if modes}
            for library in verdict.summary.libraries
        },
    )


def write_baseline(baseline: Baseline, path: Path) -> None:
    """Write the document with sorted keys and a final newline."""
    plain = msgspec.json.encode(baseline, order="sorted")
    path.write_bytes(msgspec.json.format(plain, indent=2) + b"\n")


def read_baseline(path: Path) -> Baseline:
    """Return the baseline in `path`; raises `ManifestError` when it cannot be read."""
    hint = "write it with `enzyme-build check --write-baseline FILE`"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Baseline)
    except OSError as error:
        msg = f"{path}: cannot read the baseline: {error.strerror or error}"
        raise ManifestError(msg, hint=hint) from error
    except msgspec.DecodeError as error:
        msg = f"{path}: not a baseline: {error}"
        raise ManifestError(msg, hint=hint) from error


def lost_modes(verdict: Verdict, baseline: Baseline) -> list[Finding]:
    """Return a finding for each root that could be differentiated in a mode, and cannot now, or is gone."""
    found = []
    for library in verdict.summary.libraries:
        for root, promised in baseline.differentiable.get(stable_name(library.name), {}).items():
            now = library.differentiable.get(root)
            lost = [mode.value for mode in promised if mode not in (now or ())]
            if not lost:
                continue
            modes = " and ".join(lost)
            how = "is no root any more" if now is None else f"can no longer be differentiated in {modes} mode"
            found.append(make_finding("EB038", f"{root} {how}", library=library.name, symbol=root))
    return found


def stable_name(library: str) -> str:
    """Return a library's name as it stays from release to release: no folder, no wheel, no graft hash, no version."""
    name = PurePosixPath(library.rpartition(": ")[2]).name
    return _VERSION.sub("", _GRAFTED.sub("", name))


def _key(finding: Finding) -> AcceptedRecord:
    library = "" if finding.library is None else stable_name(finding.library)
    place = finding.place or ""
    return AcceptedRecord(id=finding.id, library=library, about=finding.symbol or re.sub(r":\d+(?=:)", "", place))
