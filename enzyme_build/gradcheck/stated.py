"""The call of a rule's function: what is passed, and for a stated rule the adapter around its generated functions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from enzyme_build.gradcheck.harness import (
    assigned,
    comment,
    declare,
    given_for,
    plan_slots,
    render_data,
    slot_index,
    written_function,
)
from enzyme_build.gradcheck.inputs import CannotRunError, plan_arguments
from enzyme_build.gradcheck.shim import PREFIX, read_shim
from enzyme_build.model import TypeKind
from enzyme_build.rules.model import DerivativeTest, TestedArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.gradcheck.facts import Argument, ExtractedRule, RuleUnderTest, Slot
    from enzyme_build.gradcheck.shim import Shim
    from enzyme_build.model import FunctionType, IRType
    from enzyme_build.rules.model import Argument as StatedArgument
    from enzyme_build.rules.model import DerivativeRule

__all__ = ["plan_call", "render_stated_adapter"]

_CONSTANT = 0.75  # in the domain of most functions
_PRODUCT = re.compile(r"\s*(?:[A-Za-z_]\w*|\d+)(?:\s*\*\s*(?:[A-Za-z_]\w*|\d+))*\s*")


def _stated_arguments(rule: DerivativeRule, primal: FunctionType, *, symbol: str) -> tuple[Argument, ...]:
    """Return what is passed as each parameter: what the statement says of shapes and activity counts as written."""
    assert rule.stated is not None  # noqa: S101 - see the caller
    test = rule.test or DerivativeTest()
    said = dict(test.arguments)
    for stated in rule.stated.arguments:
        own = said.get(stated.name, TestedArgument())
        if own.size is None and stated.pointer is not None and stated.place != "handle":
            said[stated.name] = msgspec.structs.replace(own, size=_size(stated))
    tested = msgspec.structs.replace(rule, test=DerivativeTest(range=test.range, arguments=said))
    planned = plan_arguments(tested, primal, symbol=symbol)
    return tuple(_as_stated(argument, stated) for argument, stated in zip(planned, rule.stated.arguments, strict=True))


def plan_call(rule: RuleUnderTest, found: ExtractedRule) -> tuple[tuple[Argument, ...], tuple[Slot, ...]]:
    """Return what the primal is called with, and the state that results; raises `CannotRunError`."""
    primal = found.primal.type
    if rule.rule is not None and rule.rule.stated is not None:
        arguments = _stated_arguments(rule.rule, primal, symbol=rule.symbol)
    else:
        arguments = plan_arguments(rule.rule, primal, symbol=rule.symbol)
    return arguments, plan_slots(arguments, primal.result)


def _as_stated(argument: Argument, stated: StatedArgument) -> Argument:
    """Return the argument as the statement wants it: numbers that carry no derivative stay as they are."""
    if argument.kind == "number" and not stated.active:
        return replace(argument, kind="integer", value=_CONSTANT)
    if argument.kind == "array" and stated.place == "handle":
        return replace(argument, kind="constant", value=_CONSTANT)
    return argument


def _size(stated: StatedArgument) -> int | str | None:
    """Return the number of elements that the shape tells, strides included, if it is a product."""
    if stated.count is None:
        return 1
    text = stated.count if stated.stride is None else f"{stated.count} * {stated.stride}"
    return text if _PRODUCT.fullmatch(text) else None


def render_stated_adapter(
    rule: ExtractedRule, written: DerivativeRule, arguments: Sequence[Argument], slots: Sequence[Slot], *, title: str
) -> str:
    """Return the adapter of a stated rule; raises `CannotRunError`.

    The shim packs the arguments, and calls `gradcheck_intercepted` where a caller in the library calls the packet
    function: there the shadows are put beside the arguments, and one of the rule's functions is called.
    """
    shim = read_shim(written)
    arguments = [replace(each, packed=each.name in shim.members) for each in arguments]
    result = rule.primal.type.result
    lines = [f"/* {comment(title)} */", "", *declare("primal", rule.primal), *render_data(arguments, slots)]
    passed = ", ".join(given_for(argument, slots) for argument in arguments)
    lines += written_function("call_primal", [assigned(f"primal({passed})", result, slots)])
    lines += shim.preamble(prefix=PREFIX)
    if shim.shadow_type is not None:
        lines.append(f"static {shim.shadow_type} gradcheck_shadows;")
    lines += ["static enum { AUGMENTED, GRADIENT, TANGENT } gradcheck_role;", *_INACTIVE]
    count = 2 * len(shim.parameters)
    calls = []
    if rule.augmented is not None and rule.gradient is not None:
        tape = rule.augmented.type.result.kind is not TypeKind.VOID
        _require(rule.augmented.type.parameters, count)
        lines += ["#define HAS_REVERSE 1", *declare("augmented", rule.augmented), *declare("gradient", rule.gradient)]
        lines += ["static void *gradcheck_tape;"] if tape else []
        twice = _twice(shim)
        calls.append(
            f"if (gradcheck_role == AUGMENTED) {'gradcheck_tape = ' if tape else ''}augmented({', '.join(twice)});"
        )
        calls.append(
            f"if (gradcheck_role == GRADIENT) gradient({', '.join([*twice, *(['gradcheck_tape'] if tape else [])])});"
        )
    if rule.tangent is not None:
        _require(rule.tangent.type.parameters, count)
        lines += ["#define HAS_FORWARD 1", *declare("tangent", rule.tangent)]
        calls.append(f"if (gradcheck_role == TANGENT) tangent({', '.join(_twice(shim))});")
    fill, take = _transfers(arguments, slots, result)
    lines += [
        f"static void gradcheck_intercepted({shim.signature}) {{",
        *(f"  {line}" for line in (*fill, *calls, *take)),
        "}",
    ]
    lines += ["static", *(line.replace(f"{shim.packet}(", "gradcheck_intercepted(") for line in shim.text)]
    call = f"{shim.name}({passed})"
    if rule.gradient is not None:
        lines += written_function("call_augmented", ["gradcheck_role = AUGMENTED;", assigned(call, result, slots)])
        lines += written_function("call_gradient", ["gradcheck_role = GRADIENT;", f"(void){call};"])
    if rule.tangent is not None:
        lines += written_function("call_tangent", ["gradcheck_role = TANGENT;", assigned(call, result, slots)])
    return "\n".join(lines) + "\n"


# an array's shadow is found by the array's address, since the shim passes arrays on as they are
_INACTIVE = (
    "static void *gradcheck_shadow_of(const void *array) {",
    "  for (size_t s = 0; s < sizeof slots / sizeof *slots; s++)",
    "    if (slots[s].value == array) return SHADOW(s);",
    "  return (void *)array;",
    "}",
)


def _twice(shim: Shim) -> list[str]:
    """Return the arguments of the rule's functions: the packet, arrays and the rest, each with what stands for it."""
    twice = []
    for index, parameter in enumerate(shim.parameters):
        name = re.findall(r"\w+", parameter)[-1]
        if index == 0 and shim.members:
            twice += [name, "&gradcheck_shadows"]
        elif "*" in parameter:
            twice += [f"(void *){name}", f"gradcheck_shadow_of({name})"]
        else:
            twice += [name, name]
    return twice


def _transfers(arguments: Sequence[Argument], slots: Sequence[Slot], result: IRType) -> tuple[list[str], list[str]]:
    """Return the statements that fill the packet's shadow from the state's, and those that take it back."""
    packed = [
        (argument.name, f"*({argument.element} *)slots[{slot_index(argument, slots)}].shadow")
        for argument in arguments
        if argument.packed and argument.kind in ("number", "array")
    ]
    if result.kind is TypeKind.FLOATING:
        packed.append(("result", f"*({slots[-1].element} *)slots[{len(slots) - 1}].shadow"))
    fill = [f"gradcheck_shadows.{name} = {shadow};" for name, shadow in packed]
    take = [f"{shadow} = gradcheck_shadows.{name};" for name, shadow in packed]
    return fill, take


def _require(parameters: Sequence[IRType], count: int) -> None:
    if len(parameters) != count:
        msg = f"the generated function has {len(parameters)} parameters, not {count}: finalize the library again"
        raise CannotRunError(msg)
