"""Whether the functions of a rule fit the function they are for, judged by their LLVM types.

Enzyme itself checks only how many parameters the gradient has; any other mismatch aborts it or gives wrong numbers.
Measured on Enzyme v0.0.289 with LLVM 15, the convention is:

    base      = each parameter; one that is no floating-point scalar is followed by its shadow (integers: by themselves)
    augmented = base                       -> see `abi_types.read_augmented`
    gradient  = base [, d_result] [, tape] -> void, or the adjoints of the floating-point scalars: T or {T1, T2, ...}
    tangent   = each parameter, each followed by its shadow or tangent -> void or {R, R'}

Pointers always fit pointers: typed pointers differ in what they point to (`double*`, `i8*`), and Enzyme casts them.
sret and byval parameters are ordinary pointers here. What cannot be told from types, such as {tangent, primal} for
{primal, tangent}, is not judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build.model import FunctionType, IRType, TypeKind
from enzyme_build.rules.abi_primal import (
    MISFIT,
    PACK,
    allocation_problems,
    declared_problems,
    primal_problems,
    prototype_problems,
)
from enzyme_build.rules.abi_types import (
    VOID,
    AugmentedReading,
    adjoints,
    doubled,
    fits,
    floating_scalars,
    parameters_misfit,
    possible_augmented_results,
    read_augmented,
    struct_of,
)
from enzyme_build.rules.model import RuleProblem
from enzyme_build.rules.spelling import c_type, spell_augmented, spell_gradient, spell_tangent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from enzyme_build.rules.model import Prototype

__all__ = [
    "allocation_problems",
    "declared_problems",
    "forward_problems",
    "primal_problems",
    "prototype_problems",
    "reverse_problems",
]


def reverse_problems(
    primal: FunctionType,
    augmented: FunctionType,
    gradient: FunctionType,
    *,
    primal_name: str = "the function",
    augmented_name: str = "augmented",
    gradient_name: str = "gradient",
    prototype: Prototype | None = None,
) -> tuple[RuleProblem, ...]:
    """Return why `augmented` and `gradient` cannot be the reverse rule of `primal`; nothing when they can.

    The names, and the primal's `prototype` in C if the rule has one, serve the messages.
    """
    hopeless = primal_problems(primal, primal_name=primal_name, reverse=True, shapes=gradient.parameters)
    if hopeless:
        return hopeless
    names = _Names(primal=primal_name, augmented=augmented_name, gradient=gradient_name)
    reading = read_augmented(primal.result, augmented.result)
    misfit = next(_augmented_misfits(primal, augmented, reading), None)
    problems = []
    if misfit is not None:
        base = doubled(primal, scalars=False)
        results = possible_augmented_results(primal, typed_pointers=_has_typed_pointers(primal, augmented))
        wanted = " or ".join(str(FunctionType(result=result, parameters=base)) for result in results)
        spelt = [spell_augmented(primal, prototype, augmented_name, tape=tape) for tape in (True, False)]
        problems.append(_problem(f"{augmented_name} does not fit {primal_name}: {misfit}", wanted, augmented, spelt))
    gradient_problem = _gradient_problem(primal, augmented, gradient, names, prototype, sure=misfit is None)
    return (*problems, *gradient_problem)


def forward_problems(
    primal: FunctionType,
    tangent: FunctionType,
    *,
    primal_name: str = "the function",
    tangent_name: str = "tangent",
    prototype: Prototype | None = None,
) -> tuple[RuleProblem, ...]:
    """Return why `tangent` cannot be the forward rule of `primal`; nothing when it can."""
    hopeless = primal_problems(primal, primal_name=primal_name, reverse=False, shapes=tangent.result.elements)
    if hopeless:
        return hopeless
    result = primal.result
    pair = VOID if result.kind in (TypeKind.VOID, TypeKind.INTEGER) else struct_of(result, result)
    misfit = next(_tangent_misfits(primal, tangent, pair), None)
    if misfit is None:
        return ()
    wanted = str(FunctionType(result=pair, parameters=doubled(primal, scalars=True)))
    spelt = [spell_tangent(primal, prototype, tangent_name)]
    return (_problem(f"{tangent_name} does not fit {primal_name}: {misfit}", wanted, tangent, spelt),)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Names:
    primal: str
    augmented: str
    gradient: str


def _augmented_misfits(primal: FunctionType, augmented: FunctionType, reading: AugmentedReading) -> Iterator[str]:
    """Yield in words why the augmented function does not fit, the most telling reason first."""
    base = doubled(primal, scalars=False)
    result, returned = primal.result, augmented.result
    if augmented.sret and len(augmented.parameters) == len(base) + 1:
        yield "its struct is returned through memory (sret), which adds a parameter; keep it within 16 bytes"
    wrong = parameters_misfit(base, augmented.parameters)
    if wrong and parameters_misfit(doubled(primal, scalars=True), augmented.parameters) is None:
        yield "a floating-point scalar has no shadow parameter"
    if wrong:
        yield wrong
    if augmented.variadic:
        yield "it is variadic"
    if result.kind is TypeKind.VOID:
        if returned.kind is TypeKind.STRUCT and len(returned.elements) in (2, 3):
            yield f"Enzyme looks for a result in '{returned}', and {_nothing(result)}; return the tape as a pointer"
    elif result.kind is TypeKind.POINTER:
        if not (reading.primal and reading.shadow):
            yield "it must return the pointer and the shadow of that pointer"
    elif not reading.primal:
        yield from _why_no_primal(result, returned)


def _why_no_primal(result: IRType, returned: IRType) -> Iterator[str]:
    """Yield why Enzyme does not find the primal's result in what the augmented function returns."""
    if returned.kind is TypeKind.VOID:
        yield f"it must return the result '{result}': Enzyme calls it in the function's place"
    if returned.kind in (TypeKind.ARRAY, TypeKind.VECTOR):
        yield f"this target returns the struct as '{returned}', all of which Enzyme takes for the tape"
    if returned.kind is TypeKind.STRUCT and len(returned.elements) == 2:
        first, second = returned.elements
        if fits(result, first) and not fits(result, second):
            yield "the tape comes first, then the result"
        yield f"Enzyme looks for the result '{result}' in the second member of '{returned}'"
    if returned.kind is TypeKind.STRUCT and len(returned.elements) == 3:
        yield f"Enzyme reads '{returned}' as tape, result and shadow of the result, which is '{result}'"
    yield f"Enzyme takes all of '{returned}' for the tape, and the result '{result}' is missing"


def _gradient_problem(
    primal: FunctionType,
    augmented: FunctionType,
    gradient: FunctionType,
    names: _Names,
    prototype: Prototype | None,
    *,
    sure: bool,
) -> tuple[RuleProblem, ...]:
    """Return what is wrong with the gradient; the presence of a tape is judged only if the augmented is `sure`."""
    seed = () if primal.result.kind in (TypeKind.VOID, TypeKind.POINTER) else (primal.result,)
    tape: tuple[IRType, ...] = tuple(filter(None, [read_augmented(primal.result, augmented.result).tape]))
    untaped = (*doubled(primal, scalars=False), *seed)
    if not sure:  # then the gradient's own last parameter says whether there is to be a tape
        tape = gradient.parameters[len(untaped) :][:1]
    misfit = next(_gradient_misfits(primal, gradient, untaped, tape, names, augmented), None)
    if misfit is None:
        return ()
    wanted = str(FunctionType(result=adjoints(floating_scalars(primal)), parameters=(*untaped, *tape)))
    simple = (TypeKind.POINTER, TypeKind.INTEGER, TypeKind.FLOATING)
    tape_text = (c_type(tape[0]) if tape[0].kind in simple else "void *") if tape else None
    spelt = [spell_gradient(primal, prototype, names.gradient, tape=tape_text)]
    return (_problem(f"{names.gradient} does not fit {names.primal}: {misfit}", wanted, gradient, spelt),)


def _gradient_misfits(  # noqa: PLR0917 - what the two functions of a rule have in common
    primal: FunctionType,
    gradient: FunctionType,
    untaped: Sequence[IRType],
    tape: Sequence[IRType],
    names: _Names,
    augmented: FunctionType,
) -> Iterator[str]:
    """Yield in words why the gradient does not fit, the most telling reason first."""
    base, found, wanted = doubled(primal, scalars=False), gradient.parameters, (*untaped, *tape)
    seed = untaped[len(base) :]
    if gradient.variadic:
        yield "it is variadic"
    if gradient.sret and len(found) == len(wanted) + 1:
        yield "its struct is returned through memory (sret), which adds a parameter"
    if tape and parameters_misfit(untaped, found) is None:
        yield f"it takes no tape, and {names.augmented} returns one, '{tape[0]}'"
    if not tape and found and parameters_misfit(untaped, found[:-1]) is None:
        pair = augmented.result.kind is TypeKind.STRUCT and len(augmented.result.elements) == 2
        why = " (two members of one type are the result and its shadow)" if pair else ""
        yield f"it takes a tape, '{found[-1]}', and {names.augmented} returns none{why}"
    if tape and parameters_misfit(untaped, found[:-1]) is None and not fits(tape[0], found[-1]):
        yield f"its tape is '{found[-1]}', and {names.augmented} returns '{tape[0]}'"
    wrong = parameters_misfit(wanted, found)
    if wrong and seed and parameters_misfit((*seed, *base, *tape), found) is None:
        yield f"the adjoint of the result, '{seed[0]}', comes after all parameters, not first"
    if wrong and seed and parameters_misfit((*base, *tape), found) is None:
        yield f"it does not take the adjoint of the result, '{seed[0]}', after the parameters"
    if wrong and parameters_misfit((*doubled(primal, scalars=True), *seed, *tape), found) is None:
        yield "a floating-point scalar has no shadow parameter; its adjoint is returned"
    if wrong:
        yield wrong
    yield from _adjoint_misfits(floating_scalars(primal), gradient.result)


def _adjoint_misfits(scalars: Sequence[IRType], found: IRType) -> Iterator[str]:
    """Yield why a gradient's result does not hold the adjoints of the floating-point scalars."""
    expected = adjoints(scalars)
    alone = found.elements[0] if found.kind is TypeKind.STRUCT and len(found.elements) == 1 else found
    if fits(expected, found) or (len(scalars) == 1 and fits(expected, alone)):
        return
    if not scalars:
        yield "it must return nothing: there is no floating-point scalar among the parameters"
    if found.kind in (TypeKind.VECTOR, TypeKind.ARRAY):
        yield f"this target returns the struct as '{found}', in which Enzyme finds no adjoints '{expected}'"
    yield f"it must return the adjoints of the floating-point scalars, '{expected}', not '{found}'"


def _tangent_misfits(primal: FunctionType, tangent: FunctionType, pair: IRType) -> Iterator[str]:
    """Yield in words why a forward-mode function does not fit, the most telling reason first."""
    wanted = doubled(primal, scalars=True)
    result, found = primal.result, tangent.result
    if tangent.variadic:
        yield "it is variadic"
    if tangent.sret and len(tangent.parameters) == len(wanted) + 1:
        yield "its struct is returned through memory (sret), which adds a parameter"
    wrong = parameters_misfit(wanted, tangent.parameters)
    if wrong:
        yield wrong
    if fits(pair, found):
        return
    if result.kind is TypeKind.INTEGER:
        yield "where the function returns an integer, this must return nothing"
    if result.kind is TypeKind.VOID:
        yield f"it must return nothing: {_nothing(result)}"
    if found.kind in (TypeKind.VECTOR, TypeKind.ARRAY):
        yield f"this target returns the struct as '{found}', in which Enzyme does not find '{pair}'"
    if fits(result, found):
        yield f"it must return the result and its tangent, '{pair}', not one of them"
    yield f"it must return the result and its tangent, '{pair}', not '{found}'"


def _nothing(result: IRType) -> str:
    return f"the function returns '{result}'"


def _has_typed_pointers(*functions: FunctionType) -> bool:
    kinds = [kind for function in functions for kind in (function.result, *function.parameters)]
    return any(kind.kind is TypeKind.POINTER and kind.text.endswith("*") for kind in kinds)


def _problem(what: str, wanted: str, found: FunctionType, spelt: Sequence[str | None]) -> RuleProblem:
    in_c = [text for text in spelt if text is not None]
    fix = f"declare it as: {' or: '.join(in_c)}" if in_c else f"C has no such function on common targets; {PACK}"
    return RuleProblem(finding=MISFIT, text=f"{what}; expected {wanted}, found {found}", fix=fix)
