"""The types of Enzyme's rule convention, as pure functions on LLVM types (see `enzyme_build.rules.abi`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build.model import FunctionType, IRType, TypeKind

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "VOID",
    "AugmentedReading",
    "adjoints",
    "doubled",
    "fits",
    "floating_scalars",
    "parameters_misfit",
    "possible_augmented_results",
    "read_augmented",
    "struct_of",
]

VOID = IRType(kind=TypeKind.VOID, text="void")


@dataclass(frozen=True, kw_only=True, slots=True)
class AugmentedReading:
    """How Enzyme reads what an augmented function returns: the tape, and whether primal and shadow are with it."""

    tape: IRType | None = None
    primal: bool = False
    shadow: bool = False


def fits(expected: IRType, found: IRType) -> bool:
    """Return whether Enzyme takes `found` where it wants `expected`: the same type, or any pointer for a pointer."""
    if expected.kind is not found.kind:
        return False
    if expected.kind is TypeKind.POINTER:
        return True
    if expected.kind is TypeKind.STRUCT:
        pairs = zip(expected.elements, found.elements, strict=False)
        return len(expected.elements) == len(found.elements) and all(fits(one, other) for one, other in pairs)
    return expected.text == found.text


def read_augmented(primal: IRType, returned: IRType) -> AugmentedReading:
    """Return how Enzyme reads the type an augmented function returns, where the primal returns `primal`.

    The same type is the primal; {tape, primal, shadow}; {primal, shadow} when both are of one type; {tape, primal};
    anything else is the tape as a whole. Which of the last two holds depends on the exact types, pointers included.
    """
    if fits(primal, returned):
        return AugmentedReading(primal=True)
    elements = returned.elements if returned.kind is TypeKind.STRUCT else ()
    if len(elements) == 3:
        return AugmentedReading(tape=elements[0], primal=fits(primal, elements[1]), shadow=fits(primal, elements[2]))
    if len(elements) == 2 and elements[0].text == elements[1].text:
        same = fits(primal, elements[0])
        return AugmentedReading(primal=same, shadow=same)
    if len(elements) == 2:
        return AugmentedReading(tape=elements[0], primal=fits(primal, elements[1]))
    return AugmentedReading(tape=None if returned.kind is TypeKind.VOID else returned)


def possible_augmented_results(primal: FunctionType, *, typed_pointers: bool) -> tuple[IRType, IRType]:
    """Return what an augmented function of `primal` may return: with a pointer as tape, and without a tape."""
    tape = IRType(kind=TypeKind.POINTER, text="i8*" if typed_pointers else "ptr")
    result = primal.result
    if result.kind is TypeKind.VOID:
        return tape, result
    if result.kind is TypeKind.POINTER:
        return struct_of(tape, result, result), struct_of(result, result)
    return struct_of(tape, result), result


def doubled(primal: FunctionType, *, scalars: bool) -> tuple[IRType, ...]:
    """Return the parameters with their shadows; floating-point scalars are followed by a tangent only if `scalars`."""
    parameters: list[IRType] = []
    for parameter in primal.parameters:
        twice = scalars or parameter.kind is not TypeKind.FLOATING
        parameters += (parameter, parameter) if twice else (parameter,)
    return tuple(parameters)


def floating_scalars(primal: FunctionType) -> tuple[IRType, ...]:
    """Return the types of the floating-point scalar parameters, whose adjoints a gradient returns."""
    return tuple(parameter for parameter in primal.parameters if parameter.kind is TypeKind.FLOATING)


def adjoints(scalars: Sequence[IRType]) -> IRType:
    """Return the type that holds the adjoints of `scalars`: nothing, the one, or a struct in their order."""
    if not scalars:
        return VOID
    return scalars[0] if len(scalars) == 1 else struct_of(*scalars)


def struct_of(*elements: IRType) -> IRType:
    """Return the literal struct of `elements`, spelt as LLVM prints it."""
    inside = ", ".join(element.text for element in elements)
    return IRType(kind=TypeKind.STRUCT, text=f"{{ {inside} }}", elements=elements)


def parameters_misfit(expected: Sequence[IRType], found: Sequence[IRType]) -> str | None:
    """Return in words how `found` differs from `expected`, or `None` when it fits."""
    if len(expected) != len(found):
        return f"it takes {len(found)} parameters, {len(expected)} are needed"
    for index, (one, other) in enumerate(zip(expected, found, strict=True)):
        if not fits(one, other):
            return f"parameter {index} is '{other}', '{one}' is needed"
    return None
