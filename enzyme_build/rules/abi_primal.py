"""Whether a function can have a rule at all, and whether its prototype in a rule file is the one in the bitcode."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from enzyme_build.model import FunctionType, IRType, TypeKind
from enzyme_build.rules.abi_types import fits, parameters_misfit
from enzyme_build.rules.model import RuleProblem
from enzyme_build.rules.spelling import c_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from enzyme_build.rules.model import AllocationRule, DerivativeRule, Prototype

__all__ = [
    "MISFIT",
    "NO_RULE",
    "PACK",
    "allocation_problems",
    "declared_problems",
    "primal_problems",
    "prototype_problems",
    "signature_misfits",
]

FoundT = TypeVar("FoundT")

MISFIT = "EB010"
NO_RULE = "EB011"

PACK = "let a function that takes and returns these through pointers have the rule, and call it from an inline function"

_BY_VALUE = (TypeKind.STRUCT, TypeKind.ARRAY, TypeKind.VECTOR, TypeKind.OTHER)
_IR_KINDS = {
    "floating": TypeKind.FLOATING,
    "integer": TypeKind.INTEGER,
    "pointer": TypeKind.POINTER,
    "void": TypeKind.VOID,
}


def primal_problems(
    primal: FunctionType, *, primal_name: str = "the function", reverse: bool, shapes: Sequence[IRType] = ()
) -> tuple[RuleProblem, ...]:
    """Return why no rule can work for `primal` in reverse, or else forward, mode.

    A struct that is returned in registers is split by C where a rule has to take it whole; hand-written IR can do it:
    when a type in `shapes` (of the rule) is that struct, it does.
    """
    problems = []
    if primal.variadic:
        problems.append(_variadic(primal_name, str(primal)))
    for index, parameter in enumerate(primal.parameters):
        if parameter.kind in _BY_VALUE:
            text = f"{primal_name} ({primal}) takes parameter {index} by value, as '{parameter}': no rule can"
            problems.append(RuleProblem(finding=NO_RULE, text=text, fix=PACK))
    result = primal.result
    if result.kind is TypeKind.INTEGER and reverse:
        problems.append(_integer_result(primal_name, str(primal)))
    if result.kind in _BY_VALUE and not (result.elements and any(fits(result, shape) for shape in shapes)):
        text = (
            f"{primal_name} ({primal}) returns '{result}' in registers, which a rule would have to take whole: C cannot"
        )
        problems.append(RuleProblem(finding=NO_RULE, text=text, fix=PACK))
    return tuple(problems)


def declared_problems(rule: DerivativeRule) -> tuple[RuleProblem, ...]:
    """Return what a rule's C prototype alone tells of `primal_problems`, before there is bitcode."""
    prototype = rule.prototype
    problems = []
    if prototype is not None and prototype.variadic:
        problems.append(_variadic(prototype.name, prototype.text))
    if prototype is not None and prototype.result_kind == "integer" and rule.gradient is not None:
        problems.append(_integer_result(prototype.name, prototype.text))
    return tuple(problems)


def prototype_problems(prototype: Prototype | None, found: FunctionType) -> tuple[RuleProblem, ...]:
    """Return how the prototype in a rule file differs from the function's LLVM type.

    Structs passed by value become one, several or no LLVM parameters, a returned one may become a pointer parameter:
    with those, and with typedefs of unknown content, only what is sure is compared.
    """
    if prototype is None:
        return ()
    text = f"the prototype of {prototype.name} is not the one in the bitcode: "
    fix = f"correct the prototype {prototype.text!r}, or write 'function = \"{prototype.name}\"' instead"
    misfits = _prototype_misfits(prototype, found)
    return tuple(RuleProblem(finding=MISFIT, text=f"{text}{misfit}; found {found}", fix=fix) for misfit in misfits)


def allocation_problems(
    primal: FunctionType, rule: AllocationRule, *, deallocate: FunctionType | None = None
) -> tuple[RuleProblem, ...]:
    """Return how an `[[allocation]]` does not fit the allocating function, and the freeing one if its type is given."""
    misfits = []
    count = len(primal.parameters)
    if primal.result.kind is not TypeKind.POINTER:
        misfits.append(f"an allocation returns a pointer, this returns '{primal.result}'")
    if rule.size_argument >= count:
        misfits.append(f"'size-argument' is {rule.size_argument}, but there are {count} arguments, counted from 0")
    elif primal.parameters[rule.size_argument].kind is not TypeKind.INTEGER:
        misfits.append(f"argument {rule.size_argument} is '{primal.parameters[rule.size_argument]}', not an integer")
    outside = [argument for argument in rule.deallocate_arguments if argument >= count]
    misfits += [f"'deallocate-arguments' has {one}, but there are {count} arguments, counted from 0" for one in outside]
    if deallocate is not None and not outside:
        given = [primal.result if one < 0 else primal.parameters[one] for one in rule.deallocate_arguments]
        wrong = parameters_misfit(deallocate.parameters, given)
        if wrong:
            shown = ", ".join(str(kind) for kind in given)
            misfits.append(f"{rule.deallocate} ({deallocate}) cannot be called with ({shown}), which the rule gives it")
    return tuple(
        RuleProblem(
            finding=MISFIT,
            text=f"{rule.function} ({primal}): {misfit}",
            fix="correct the numbers in the rule: they count the arguments of the allocating function, from 0",
        )
        for misfit in misfits
    )


def _prototype_misfits(prototype: Prototype, found: FunctionType) -> Iterator[str]:
    if prototype.variadic != found.variadic:
        yield f"it is {'' if prototype.variadic else 'not '}variadic"
    by_value = prototype.result_kind == "other" or any(item.kind == "other" for item in prototype.parameters)
    if by_value or found.sret or found.byval:
        return
    yield from signature_misfits(prototype, found.parameters, found.result, agrees=_agrees, spell=str)


def signature_misfits(
    prototype: Prototype,
    parameters: Sequence[FoundT],
    result: FoundT,
    *,
    agrees: Callable[[str, str, FoundT], bool],
    spell: Callable[[FoundT], str],
) -> Iterator[str]:
    """Yield where a prototype differs from the types found for its function.

    `agrees` tells whether a C type, given by kind and text, can be a found type; `spell` shows a found type.
    """
    if len(prototype.parameters) != len(parameters):
        yield f"it has {len(prototype.parameters)} parameters, the function {len(parameters)}"
        return
    for index, (item, kind) in enumerate(zip(prototype.parameters, parameters, strict=True)):
        if not agrees(item.kind, item.text, kind):
            yield f"parameter {index} is {item.text!r}, the function's is '{spell(kind)}'"
    if not agrees(prototype.result_kind, prototype.result_text, result):
        yield f"it returns {prototype.result_text!r}, the function '{spell(result)}'"


def _agrees(kind: str, text: str, found: IRType) -> bool:
    """Return whether a C type can be that LLVM type; of integers only that they are some is compared."""
    if _IR_KINDS[kind] is not found.kind:
        return False
    words = " ".join(word for word in text.split() if word not in ("const", "volatile", "register"))
    return kind != "floating" or words not in ("float", "double", "long double") or _same_floating(words, found)


def _same_floating(words: str, found: IRType) -> bool:
    # `long double` is x86_fp80, fp128, ppc_fp128 or double, by target
    return words == c_type(found) or (words == "long double" and found.text not in ("float", "half", "bfloat"))


def _variadic(name: str, shown: str) -> RuleProblem:
    text = f"{name} ({shown}) is variadic, and Enzyme cannot call a rule for it"
    return RuleProblem(
        finding=NO_RULE, text=text, fix="let a function with fixed parameters that calls it have the rule"
    )


def _integer_result(name: str, shown: str) -> RuleProblem:
    text = f"{name} ({shown}) returns an integer, and no reverse rule works for such a function"
    fix = (
        "let a noinline function that stores the integer through a pointer have the rule, and call it from an inline "
        "function that returns the integer"
    )
    return RuleProblem(finding=NO_RULE, text=text, fix=fix)
