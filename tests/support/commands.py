"""Run a command as a user does, and look at what it printed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Done:
    """What a command printed, both streams together, and its exit code."""

    code: int
    output: str

    def ok(self) -> str:
        assert self.code == 0, self.output
        return self.output

    def failed(self) -> str:
        """Return the output of a command that had to fail, and did so without a traceback."""
        assert self.code != 0, self.output
        assert "Traceback" not in self.output, self.output
        return self.output


def run(*command: object, cwd: Path | None = None, environment: Mapping[str, str] | None = None) -> Done:
    done = subprocess.run(
        [str(item) for item in command],
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout)
