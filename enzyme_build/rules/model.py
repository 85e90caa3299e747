"""The rules as values: one struct a kind, each with the place it was written."""

from __future__ import annotations

import msgspec

from enzyme_build.model import Mode, Origin

__all__ = [
    "AllocationRule",
    "DerivativeRule",
    "InactiveGlobalRule",
    "InactiveRule",
    "LikeRule",
    "NofreeRule",
    "Prototype",
    "PrototypeParameter",
    "Rule",
    "RuleProblem",
    "RuleSet",
    "StatedDerivative",
]


class PrototypeParameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter as C spells it; `kind` is `floating`, `integer`, `pointer` or `other` (a by-value aggregate)."""

    name: str | None
    text: str
    kind: str


class Prototype(msgspec.Struct, frozen=True, kw_only=True):
    """A C function declaration, parsed; `result_kind` is a parameter kind or `void`."""

    name: str
    text: str
    result_text: str
    result_kind: str
    parameters: tuple[PrototypeParameter, ...]
    variadic: bool = False


class RuleProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a rule cannot be used: a finding id, and in words what is wrong and what is expected."""

    finding: str
    text: str
    fix: str


class StatedDerivative(msgspec.Struct, frozen=True, kw_only=True):
    """A derivative in formulas or C blocks, from which the rule's functions are generated."""

    partials: dict[str, str] = {}
    setup: str | None = None
    vjp: str | None = None
    jvp: str | None = None


class DerivativeRule(msgspec.Struct, frozen=True, kw_only=True, tag="derivative"):
    """The derivative of `function` is given by C functions that the user wrote.

    `augmented` and `gradient` come together (reverse mode), `tangent` alone (forward mode); at least one pair is set.
    """

    function: str
    origin: Origin
    prototype: Prototype | None = None
    augmented: str | None = None
    gradient: str | None = None
    tangent: str | None = None
    stated: StatedDerivative | None = None

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes of differentiation that this rule covers."""
        covered = ((Mode.REVERSE, self.gradient), (Mode.FORWARD, self.tangent))
        return tuple(mode for mode, function in covered if function is not None)


class InactiveRule(msgspec.Struct, frozen=True, kw_only=True, tag="inactive"):
    """A call of `function` has no derivative, frees nothing it is given and keeps no pointer to an allocation."""

    function: str
    origin: Origin
    prototype: Prototype | None = None


class NofreeRule(msgspec.Struct, frozen=True, kw_only=True, tag="nofree"):
    """`function` frees nothing it is given; says nothing of its derivative."""

    function: str
    origin: Origin
    prototype: Prototype | None = None


class LikeRule(msgspec.Struct, frozen=True, kw_only=True, tag="like"):
    """Enzyme shall treat `function` as the function `like` that it knows, such as `sin` or `free`."""

    function: str
    like: str
    origin: Origin
    prototype: Prototype | None = None


class AllocationRule(msgspec.Struct, frozen=True, kw_only=True, tag="allocation"):
    """`function` allocates memory of the size its argument `size_argument` tells; `deallocate` frees it.

    `deallocate_arguments` has one entry for each argument of `deallocate`: -1 is the allocated pointer, any other
    number the argument of the allocating call with that index (Enzyme's `enzyme_deallocator` attribute).
    """

    function: str
    deallocate: str
    origin: Origin
    size_argument: int = 0
    deallocate_arguments: tuple[int, ...] = (-1,)
    prototype: Prototype | None = None


class InactiveGlobalRule(msgspec.Struct, frozen=True, kw_only=True, tag="inactive-global"):
    """The global variable `variable` holds nothing that is differentiated."""

    variable: str
    origin: Origin


Rule = DerivativeRule | InactiveRule | NofreeRule | LikeRule | AllocationRule | InactiveGlobalRule


class RuleSet(msgspec.Struct, frozen=True, kw_only=True):
    """All rules of a library, in the order of files and of tables in them; `files` are relative, with `/`."""

    rules: tuple[Rule, ...] = ()
    files: tuple[str, ...] = ()
