"""The entry point that setuptools calls in every project of an environment that has enzyme-build installed.

Only the standard library is imported here: a project without `[tool.enzyme-build]` pays one small file read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setuptools import Distribution

__all__ = ["finalize_distribution_options"]


def finalize_distribution_options(dist: Distribution) -> None:
    """Add the build of `[tool.enzyme-build]` to `dist`; without that table nothing happens.

    Raises `DistutilsSetupError`, which setuptools prints without a traceback, with every problem of the table.
    """
    project = Path(getattr(dist, "src_root", None) or os.curdir)
    if not _mentions_enzyme_build(project / "pyproject.toml"):
        return
    from enzyme_build.backends.distribution import extend_distribution  # noqa: PLC0415 - see the module's docstring

    extend_distribution(dist, project.resolve())


def _mentions_enzyme_build(pyproject: Path) -> bool:
    """Return whether the text can hold our table at all; what cannot be read is for others to complain about."""
    try:
        return b"enzyme-build" in pyproject.read_bytes()
    except OSError:
        return False
