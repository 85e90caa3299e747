"""The one door for subprocesses: argument lists in, captured text out, one wording for a failure."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess  # noqa: TID251 - this module is the door
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from enzyme_build.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["Completed", "Runner", "capture", "describe_failure", "live"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Completed:
    """What a finished process said: the command, its exit code (negative: killed by that signal), both streams."""

    command: tuple[str, ...]
    code: int
    stdout: str
    stderr: str


class Runner(Protocol):
    """Runs one command to its end; `environment` holds only what differs from this process's own."""

    def __call__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        stdin: str | None = None,
        check: bool = True,
    ) -> Completed: ...


def capture(
    command: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: str | None = None,
    check: bool = True,
) -> Completed:
    """Run `command` and return what it printed.

    Raises `ToolError` when the program cannot be started, and, unless `check` is false, when it fails.
    Output is decoded as UTF-8 with replacement: compilers quote source lines in any encoding.
    """
    arguments = tuple(os.fspath(argument) for argument in command)
    try:
        done = subprocess.run(  # noqa: S603 - an argument list, never a shell string
            arguments,
            cwd=cwd,
            env=None if environment is None else {**os.environ, **environment},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        msg = f"cannot start {arguments[0]!r}: {error.strerror or error}"
        raise ToolError(msg, hint="`enzyme-build doctor` shows which tools were found") from error
    completed = Completed(command=arguments, code=done.returncode, stdout=done.stdout, stderr=done.stderr)
    if check and completed.code:
        raise ToolError(describe_failure(completed))
    return completed


def live(
    command: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Print `command`, run it like `capture`, and pass its output on to this process's standard error."""
    print("+", shlex.join(os.fspath(argument) for argument in command), file=sys.stderr, flush=True)  # noqa: T201
    completed = capture(command, cwd=cwd, environment=environment)
    sys.stderr.write(completed.stdout + completed.stderr)


def describe_failure(completed: Completed) -> str:
    """Return the one wording for a failed command: command, how it ended, what it printed."""
    if completed.code < 0:
        try:
            ended = f"was killed by {signal.Signals(-completed.code).name}"
        except ValueError:
            ended = f"was killed by signal {-completed.code}"
    else:
        ended = f"failed with exit code {completed.code}"
    said = (completed.stdout.rstrip(), completed.stderr.rstrip())
    output = "".join(f"\n{text}" for text in said if text)
    return f"command {ended}: {shlex.join(completed.command)}{output}"
