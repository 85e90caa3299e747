"""Check libraries, folders and wheels: collect, then judge. No compiler is needed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from enzyme_build.check.collect import collect
from enzyme_build.check.judge import judge
from enzyme_build.check.policy import PLAIN, apply_policy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from enzyme_build.check.finding import Verdict
    from enzyme_build.check.policy import Policy
    from enzyme_build.model import Mode

__all__ = ["check_paths"]


def check_paths(
    paths: Sequence[Path], *, modes: Sequence[Mode] = (), policy: Policy = PLAIN, parse: bool = False
) -> Verdict:
    """Return the verdict on all libraries in `paths`; see `collect` for what a path may be, `judge` for `modes`.

    With `parse` the bitcode is also read with the libLLVM of each consumer that is installed here.
    """
    collected = collect(paths, with_bitcode=parse)
    found = [*collected.findings]
    notes: dict[str, list[str]] = {}
    if parse:
        from enzyme_build.check.readers import reader_findings  # noqa: PLC0415 - looks for toolchains

        read = reader_findings(collected.libraries, collected.bitcode)
        found += read.findings
        notes = read.notes
    verdict = judge(collected.libraries, modes=modes, findings=found, waivers=policy.waivers, today=policy.today)
    libraries = tuple(
        dataclasses.replace(library, notes=(*library.notes, *notes.get(library.name, ())))
        for library in verdict.summary.libraries
    )
    native = (*verdict.summary.native, *collected.native)
    summary = dataclasses.replace(verdict.summary, libraries=libraries, native=native)
    return apply_policy(dataclasses.replace(verdict, summary=summary), policy)
