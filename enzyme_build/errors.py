"""The errors of this package, each a kind that has an exit code of its own.

An error states what is wrong, where (file and dotted key, symbol, or source line) and the next step.
Text and exit code are made from it in one place only: `enzyme_build.cli.run_reporting_errors` for commands
and `enzyme_build.backends` for build backends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BinaryError", "ConfigError", "EnzymeBuildError", "ManifestError", "RuleError", "ToolError", "UsageError"]


class EnzymeBuildError(Exception):
    """Base of all expected errors: `message` says what and where, `hint` the next step."""

    exit_code = 3

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n  hint: {self.hint}"


class UsageError(EnzymeBuildError):
    """The command line asks for something that cannot be done."""

    exit_code = 2


class DocumentError(EnzymeBuildError):
    """A TOML or JSON document is wrong; `problems` holds every problem found, one line each."""

    kind = "document"

    def __init__(self, problems: Sequence[str], *, hint: str | None = None) -> None:
        self.problems = tuple(problems)
        head = f"{len(self.problems)} problems in the {self.kind}:" if len(self.problems) > 1 else None
        lines = self.problems if head is None else (head, *(f"- {problem}" for problem in self.problems))
        super().__init__("\n".join(lines), hint=hint)


class ConfigError(DocumentError):
    """`[tool.enzyme-build]` is wrong."""

    kind = "configuration"


class RuleError(DocumentError):
    """A rule file is wrong."""

    kind = "rules"


class ManifestError(EnzymeBuildError):
    """A sidecar manifest cannot be read or does not belong to its library."""


class BinaryError(EnzymeBuildError):
    """A library, or the bitcode in it, cannot be read or used."""


class ToolError(EnzymeBuildError):
    """A tool (compiler, libLLVM, objcopy) is missing or failed."""

    exit_code = 4
