"""The build backend for `build-backend = "enzyme_build.scikit_build"`: scikit-build-core's hooks, and a wheel check."""

from typing import Any

from enzyme_build.backends.scikit_build_meta import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    optional_hook,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]


def __getattr__(name: str) -> Any:
    return optional_hook(name)
