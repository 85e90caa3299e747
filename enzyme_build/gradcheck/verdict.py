"""What gradcheck says: complaints about a rule, the verdict on it, and that on all rules of a library."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from enzyme_build.model import Mode

__all__ = ["Complaint", "LibraryVerdict", "Outcome", "RuleVerdict", "State"]

State = Literal["passed", "failed", "not run"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Complaint:
    """One thing that is wrong with a rule, by its worst example.

    `kind` is a fixed word for programs, such as `wrong-gradient`. `where` is the element (`x[3]`), `seed` the random
    point, `found` what the rule says there and `expected` what it should be, give or take `error`. `points` of the
    `seeds` that were tried show it.
    """

    kind: str
    text: str
    fix: str
    mode: Mode | None = None
    where: str | None = None
    seed: int | None = None
    found: float | None = None
    expected: float | None = None
    error: float | None = None
    points: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What the measurements of a rule amount to: complaints, and how well it was tested.

    `comparisons` were made against differences of which the largest relative deviation is `worst`; `orders` are
    Taylor's orders by mode, as the median over the seeds; `times` are nanoseconds of the fastest call by kind.
    """

    complaints: tuple[Complaint, ...] = ()
    seeds: int = 0
    comparisons: int = 0
    worst: float = 0.0
    orders: Mapping[str, float] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleVerdict:
    """The verdict on one rule; `level` 1 is the rule alone, 2 is Enzyme using it. `reason` says why it was not run.

    `guesses` are assumptions about arguments that no one wrote down, `notes` what else a reader should know.
    """

    symbol: str
    place: str
    modes: tuple[Mode, ...]
    state: State
    level: int = 1
    outcome: Outcome = Outcome()
    guesses: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str | None = None
    digest: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LibraryVerdict:
    """All rules of one library; `section_sha256` is that of the bitcode that was checked."""

    shown: str
    rules: tuple[RuleVerdict, ...]
    section_sha256: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether a rule is wrong, or could not be run."""
        return any(rule.state != "passed" for rule in self.rules)
