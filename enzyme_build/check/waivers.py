"""Which symbols a waiver covers."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from enzyme_build.manifest import WaiverRecord

__all__ = ["covers"]


def covers(waiver: WaiverRecord, name: str, demangled: str | None) -> bool:
    """Tell whether the waiver is for the symbol: by its name, its C++ name, or a pattern such as `log_*`."""
    return waiver.symbol in (name, demangled) or fnmatch.fnmatchcase(name, waiver.symbol)
