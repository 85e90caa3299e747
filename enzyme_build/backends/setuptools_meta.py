"""The build backend `enzyme_build.setuptools`: that of setuptools, and a check of the finished wheel.

The plugin hook builds and checks libraries under either backend; what happens to them between there and the wheel
(strip steps, `exclude-package-data`, other plugins) is seen only in the wheel.
"""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

from enzyme_build.backends.words import require_sound_wheel
from enzyme_build.errors import BinaryError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enzyme_build.config import Config

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def build_wheel(
    wheel_directory: str,
    config_settings: Mapping[str, str | list[str] | None] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel as setuptools does and check it; a wheel that fails is removed (PEP 517 hook)."""
    name: str = build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)
    require_sound_wheel(Path(wheel_directory, name), _check_wheel)
    return name


def _check_wheel(wheel: Path) -> None:
    from enzyme_build.config import load_config  # noqa: PLC0415 - metadata hooks need none of this

    config = load_config(Path.cwd())
    if config is None or not (config.library or config.extension):
        return
    missing = _missing_members(config, zipfile.ZipFile(wheel).namelist())
    if missing:
        lines = "".join(f"\n- {member}" for member in missing)
        msg = f"{wheel.name} lacks what was built for it:{lines}"
        hint = "something between the build and the wheel removed it: a custom command, or exclude-package-data"
        raise BinaryError(msg, hint=hint)
    from enzyme_build.backends.build import check_files  # noqa: PLC0415 - as above

    check_files([wheel], config, what=wheel.name, below=wheel.parent, warn=False)


def _missing_members(config: Config, members: list[str]) -> list[str]:
    """Return the libraries and manifests of `config` that are not in the wheel."""
    from enzyme_build.backends.plan import plan_libraries  # noqa: PLC0415 - as above
    from enzyme_build.manifest import SUFFIX  # noqa: PLC0415 - as above

    wanted = [plan.path.as_posix() for plan in plan_libraries(config)]
    missing = []
    for table in config.extension:
        stem = PurePosixPath(*table.module.split(".")).as_posix() + "."
        modules = [member for member in members if member.startswith(stem) and member.endswith((".so", ".pyd"))]
        wanted += modules or [f"{stem}*.so"]
    for member in wanted:
        missing += [name for name in (member, member + SUFFIX) if name not in members]
    return missing
