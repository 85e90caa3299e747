"""The values that pass between the stages of gradcheck: what is run, with what, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from enzyme_build.model import FunctionType, Mode, PointerMode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from enzyme_build.rules.model import DerivativeRule

__all__ = [
    "Argument",
    "Calls",
    "ConsumerAnswer",
    "ConsumerRequest",
    "Course",
    "Crash",
    "ExtractAnswer",
    "ExtractRequest",
    "ExtractedRule",
    "Forward",
    "Inactive",
    "Measured",
    "Reverse",
    "RuleFunction",
    "RuleToExtract",
    "RuleUnderTest",
    "Seed",
    "Slope",
    "Slot",
    "Subject",
]


class RuleToExtract(msgspec.Struct, frozen=True, kw_only=True):
    """A rule whose functions are wanted: the primal's symbol, and the generated packet function of a stated rule.

    `anchors` are variables from whose addresses the generated functions count.
    """

    index: int
    symbol: str
    packet: str | None = None
    anchors: tuple[str, ...] = ()


class ExtractRequest(msgspec.Struct, frozen=True, kw_only=True, tag="extract"):
    """Make a finished module (the file `bitcode`) one that can be linked beside its own native library.

    `native` are the functions and variables that machine code has; `output` is the file to write.
    """

    libllvm: str
    llvm_version: str
    name: str
    bitcode: str
    output: str
    pointers: PointerMode
    native: tuple[str, ...]
    rules: tuple[RuleToExtract, ...]


class RuleFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function to call: the symbol to link with, its type, and whether it is the library's own machine code."""

    symbol: str
    type: FunctionType
    native: bool


class ExtractedRule(msgspec.Struct, frozen=True, kw_only=True):
    """The functions of one rule; `packet` is the type of the packet function of a stated one."""

    index: int
    primal: RuleFunction
    augmented: RuleFunction | None = None
    gradient: RuleFunction | None = None
    tangent: RuleFunction | None = None


class ConsumerRequest(msgspec.Struct, frozen=True, kw_only=True, tag="consumer"):
    """Import a finished module (the file `bitcode`) into the module `host`, as a consumer would, and write `output`.

    The function that the host declares as `callee` becomes that of `rule`; with `without_rule` the rule is taken away,
    so that Enzyme differentiates the body behind it.
    """

    libllvm: str
    llvm_version: str
    name: str
    bitcode: str
    host: str
    output: str
    pointers: PointerMode
    rule: RuleToExtract
    callee: str
    without_rule: bool = False


class ConsumerAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the function behind the rule has a body, or the class, message and hint of an expected error."""

    has_body: bool = False
    error: str | None = None
    message: str = ""
    hint: str | None = None


class ExtractAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The rules that are in the module, or the class, message and hint of an expected error."""

    rules: tuple[ExtractedRule, ...] = ()
    error: str | None = None
    message: str = ""
    hint: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleUnderTest:
    """A rule as the manifest or a rule file has it; `place` is file, line and key, `digest` that of its bitcode."""

    symbol: str
    place: str
    rule: DerivativeRule | None
    modes: tuple[Mode, ...]
    problems: tuple[str, ...] = ()
    digest: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """A library whose rules are checked; `shown` is its name in reports."""

    shown: str
    path: Path
    rules: tuple[RuleUnderTest, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Argument:
    """What is passed as one parameter of the primal, in order.

    `kind`: `number` (by value), `array` (pointer to numbers), `integer` (by value, without a derivative), `constant` (a
    pointer that Enzyme takes as inactive: integers, text, a handle, numbers that are said to be constant). `element` is
    the C type of a number or of what a pointer points to. `packed` travels in the packet of a stated rule.
    `value` is that of integers and constants; `range` is `None` when the harness may choose. `guess` says in words what
    was assumed, `None` when the rule file or the prototype says it.
    """

    name: str
    kind: str
    element: str
    size: int = 1
    value: int | float | str = 0
    range: tuple[float, float] | None = None
    kept: bool = False
    guess: str | None = None
    packed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """A part of the state vector of the harness: a number, an array or the result, at `start`, `count` elements."""

    name: str
    kind: str
    element: str
    start: int
    count: int

    def label(self, index: int) -> str:
        """Return the name of one element: `x[3]`, or only `x` for a number."""
        return self.name if self.kind != "array" else f"{self.name}[{index}]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Slope:
    """Central differences of the weighted outputs for the input at `at`, by step, with the rounding error of each."""

    at: int
    steps: Sequence[float]
    values: Sequence[float]
    noise: Sequence[float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """Along the directions: central differences of every output by step, and the rise of the weighted outputs."""

    steps: Sequence[float]
    values: Sequence[Sequence[float]]
    noise: Sequence[Sequence[float]]
    rises: Sequence[float]
    errors: Sequence[float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Inactive:
    """Reverse mode with the array `slot` inactive; `expected` is what the rule said with zero weights there."""

    slot: str
    expected: Sequence[float]
    adjoints: Sequence[float]
    outputs: Sequence[float]
    memory: Sequence[float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reverse:
    """One augmented and gradient call; `overwritten` are the adjoints when the arrays were overwritten in between."""

    weights: Sequence[float]
    adjoints: Sequence[float]
    again: Sequence[float]
    outputs: Sequence[float]
    memory: Sequence[float]
    overwritten: Sequence[float] | None = None
    inactive: tuple[Inactive, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Forward:
    """One tangent call, and a second one with the same inputs."""

    tangents: Sequence[float]
    again: Sequence[float]
    outputs: Sequence[float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Seed:
    """Everything measured at one random point."""

    seed: int
    inputs: Sequence[float]
    outputs: Sequence[float]
    again: Sequence[float]
    weights: Sequence[float] = ()
    directions: Sequence[float] = ()
    slopes: tuple[Slope, ...] = ()
    course: Course | None = None
    reverse: Reverse | None = None
    forward: Forward | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Calls:
    """`count` calls of one kind left `alive` blocks of memory; the fastest took `nanoseconds`."""

    count: int
    alive: int
    nanoseconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Crash:
    """The harness did not come to its end: where it was, and the signal (0: the program ended, -1: not known)."""

    stage: str
    signal: int
    said: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """All that the harness of one rule printed; `range` is what it chose where nothing was said."""

    slots: tuple[Slot, ...]
    seeds: tuple[Seed, ...] = ()
    range: tuple[float, float] | None = None
    calls: Mapping[str, Calls] = field(default_factory=dict)
    overruns: tuple[str, ...] = ()
    crash: Crash | None = None
