"""Check libraries, folders and wheels: collect, then judge. No compiler is needed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from enzyme_build.check.collect import collect
from enzyme_build.check.judge import judge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from enzyme_build.check.finding import Verdict
    from enzyme_build.model import Mode

__all__ = ["check_paths"]


def check_paths(paths: Sequence[Path], *, modes: Sequence[Mode] = ()) -> Verdict:
    """Return the verdict on all libraries in `paths`; see `collect` for what a path may be, `judge` for `modes`."""
    collected = collect(paths)
    verdict = judge(collected.libraries, modes=modes, findings=collected.findings)
    summary = dataclasses.replace(verdict.summary, native=(*verdict.summary.native, *collected.native))
    return dataclasses.replace(verdict, summary=summary)
