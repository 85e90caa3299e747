"""What every build backend says when something is wrong; no backend is imported here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.errors import EnzymeBuildError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["CheckFailedError", "describe", "require_sound_wheel"]


class CheckFailedError(EnzymeBuildError):
    """The check found something; its report was printed already."""

    exit_code = 1


def describe(error: EnzymeBuildError | OSError) -> str:
    """Return what the user reads after the backend's `error: `."""
    if isinstance(error, EnzymeBuildError):
        return f"enzyme-build: {error}"
    file = "" if error.filename is None else f"{error.filename}: "
    hint = "enzyme-build writes to the build folder and, in editable installs, to the folder of the package"
    return f"enzyme-build: {file}{error.strerror or error}\n  hint: {hint}"


def require_sound_wheel(wheel: Path, check: Callable[[Path], None]) -> None:
    """Run `check` on a finished wheel; one that fails is removed, and the process ends with the reason."""
    try:
        check(wheel)
    except EnzymeBuildError as error:
        wheel.unlink(missing_ok=True)
        message = f"error: {describe(error)}"
        raise SystemExit(message) from error
