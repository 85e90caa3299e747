"""The build backend `enzyme_build.scikit_build`: that of scikit-build-core, and a check of the finished wheel.

CMake builds and checks libraries under either backend; what happens to them between there and the wheel (an
installation rule that leaves the manifest out, a strip step) is seen only in the wheel.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scikit_build_core import build
from scikit_build_core.build import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

from enzyme_build.backends.words import require_sound_wheel
from enzyme_build.errors import BinaryError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "optional_hook",
]


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, list[str] | str] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel as scikit-build-core does and check it; a wheel that fails is removed (PEP 517 hook)."""
    name = build.build_wheel(wheel_directory, config_settings, metadata_directory)
    require_sound_wheel(Path(wheel_directory, name), _check_wheel)
    return name


def optional_hook(name: str) -> Callable[..., Any]:
    """Return a hook that scikit-build-core has for some projects only; raises `AttributeError` where it has not."""
    if not name.startswith("prepare_metadata_for_build_"):
        raise AttributeError(name)
    hook: Callable[..., Any] = getattr(build, name)
    return hook


def _check_wheel(wheel: Path) -> None:
    from enzyme_build.backends.build import check_files  # noqa: PLC0415 - metadata hooks need none of this
    from enzyme_build.config import Config, load_config  # noqa: PLC0415 - as above
    from enzyme_build.manifest import SUFFIX  # noqa: PLC0415 - as above

    with zipfile.ZipFile(wheel) as archive:
        if not any(name.endswith(SUFFIX) for name in archive.namelist()):
            msg = f"{wheel.name} holds no library with a manifest"
            hint = 'install libraries with enzymebc_install(), or use `build-backend = "scikit_build_core.build"`'
            raise BinaryError(msg, hint=hint)
    config = load_config(Path.cwd()) or Config()
    check_files([wheel], config, what=wheel.name, below=wheel.parent, warn=False)
