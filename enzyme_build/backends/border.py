"""Turn the errors of this package into those that setuptools prints as one message, without a traceback."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import setuptools.errors

from enzyme_build.backends.words import describe
from enzyme_build.errors import EnzymeBuildError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["as_build_errors", "as_setup_errors", "without_traceback"]


@contextlib.contextmanager
def as_setup_errors() -> Iterator[None]:
    """Raise `DistutilsSetupError` for errors of the configuration, found while the distribution is set up."""
    try:
        yield
    except EnzymeBuildError as error:
        raise setuptools.errors.SetupError(describe(error)) from error


@contextlib.contextmanager
def as_build_errors() -> Iterator[None]:
    """Raise `CompileError` for errors of a build, files that cannot be written included."""
    try:
        yield
    except (EnzymeBuildError, OSError) as error:
        raise setuptools.errors.CompileError(describe(error)) from error


@contextlib.contextmanager
def without_traceback(*, editable: bool) -> Iterator[None]:
    """End the process with the message of our own errors while an editable wheel is built.

    Some versions of setuptools (77 to 79) print the traceback of every exception there, with advice on debugging.
    """
    try:
        yield
    except setuptools.errors.CompileError as error:
        if not editable or not isinstance(error.__cause__, (EnzymeBuildError, OSError)):
            raise
        message = f"error: {error}"
        raise SystemExit(message) from error
