"""Write the C program that runs one rule: an adapter that knows the rule's functions, inside the common engine."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from enzyme_build.gradcheck.facts import Argument, Slot
from enzyme_build.gradcheck.inputs import CannotRunError
from enzyme_build.model import FunctionType, IRType, TypeKind
from enzyme_build.rules.abi_types import read_augmented

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.gradcheck.facts import ExtractedRule, RuleFunction

__all__ = [
    "Adapter",
    "assigned",
    "c_type",
    "comment",
    "declare",
    "given_for",
    "plan_slots",
    "render_data",
    "render_harness",
    "render_rule_adapter",
    "result_value",
    "slot_index",
    "written_function",
]

_MARK = "/* ADAPTER */\n"
_TYPES = {"float": "FLOAT", "double": "DOUBLE", "long double": "LONG_DOUBLE"}
_C_TYPES = {
    "void": "void",
    "float": "float",
    "double": "double",
    "x86_fp80": "long double",
    **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
    "i1": "_Bool",
}

Adapter = str


def plan_slots(arguments: Sequence[Argument], result: IRType) -> tuple[Slot, ...]:
    """Return the parts of the state vector: every number and array, and a floating-point result."""
    slots = []
    start = 0
    for argument in arguments:
        if argument.kind in ("number", "array"):
            slots.append(
                Slot(name=argument.name, kind=argument.kind, element=argument.element, start=start, count=argument.size)
            )
            start += argument.size
    if result.kind is TypeKind.FLOATING:
        taken = {slot.name for slot in slots}
        name = "result" if "result" not in taken else "result of the call"
        slots.append(Slot(name=name, kind="result", element=c_type(result), start=start, count=1))
    if not slots:
        msg = "nothing that goes in or comes out is a number"
        raise CannotRunError(msg)
    return tuple(slots)


def render_harness(adapter: Adapter) -> str:
    """Return the whole program."""
    text = resources.files("enzyme_build.resources").joinpath("gradcheck_harness.c").read_text(encoding="utf-8")
    before, _, after = text.partition(_MARK)
    return f"{before}{adapter}{after}"


def render_rule_adapter(
    rule: ExtractedRule, arguments: Sequence[Argument], slots: Sequence[Slot], *, title: str
) -> Adapter:
    """Return the adapter for a rule whose functions follow Enzyme's own convention; raises `CannotRunError`."""
    primal = rule.primal.type
    lines = [f"/* {comment(title)} */", ""]
    lines += declare("primal", rule.primal)
    lines += render_data(arguments, slots)
    given = [given_for(argument, slots) for argument in arguments]
    lines += written_function("call_primal", [assigned(f"primal({', '.join(given)})", primal.result, slots)])
    twice = [
        item for argument, one in zip(arguments, given, strict=True) for item in _with_shadow(argument, one, slots)
    ]
    if rule.augmented is not None and rule.gradient is not None:
        lines += ["#define HAS_REVERSE 1", *declare("augmented", rule.augmented), *declare("gradient", rule.gradient)]
        lines += _reverse(rule.augmented.type, rule.gradient.type, primal, arguments, slots, twice)
    if rule.tangent is not None:
        lines += ["#define HAS_FORWARD 1", *declare("tangent", rule.tangent)]
        lines += _forward(rule.tangent.type, primal, arguments, slots, given)
    return "\n".join(lines) + "\n"


def c_type(kind: IRType) -> str:
    """Return C's name of a simple LLVM type; raises `CannotRunError` for others."""
    if kind.kind is TypeKind.POINTER:
        return "void *"
    if kind.text not in _C_TYPES:
        msg = f"C has no function with the type {kind}"
        raise CannotRunError(msg)
    return _C_TYPES[kind.text]


def declare(name: str, function: RuleFunction) -> list[str]:
    """Return the declaration of `function` under a name of our own, with the structs it returns."""
    kind = function.type
    lines = []
    if kind.result.kind is TypeKind.STRUCT:
        _require_in_registers(kind.result)
        members = " ".join(f"{c_type(each)} m{index};" for index, each in enumerate(kind.result.elements))
        lines.append(f"struct {name}_result {{ {members} }};")
        result = f"struct {name}_result"
    else:
        result = c_type(kind.result)
    parameters = ", ".join(c_type(each) for each in kind.parameters) or "void"
    return [*lines, f'extern {result} {name}({parameters}) __asm__("{function.symbol}");']


def _require_in_registers(struct: IRType) -> None:
    """Refuse a struct that C would return in another way than LLVM does (x86-64 System V ABI 3.2.3)."""
    texts = [element.text for element in struct.elements]
    if len(texts) > 2 or "x86_fp80" in texts or texts.count("float") == 2:
        msg = f"a function returns {struct} in registers, which only hand-written IR does"
        raise CannotRunError(msg)


def render_data(arguments: Sequence[Argument], slots: Sequence[Slot]) -> list[str]:
    """Return the state vector, and a variable for every integer and every constant behind a pointer."""
    ranges = {argument.name: argument for argument in arguments}
    lines = ["static struct slot slots[] = {"]
    for slot in slots:
        argument = ranges.get(slot.name)
        low, high = (1.0, 0.0) if argument is None or argument.range is None else argument.range
        kept = int(argument is not None and argument.kept)
        packed = int(argument is not None and argument.packed)
        lines.append(
            f'  {{"{slot.name}", {_TYPES[slot.element]}, {slot.kind.upper()}, {slot.count}, '
            f"{low!r}, {high!r}, {kept}, {packed}, NULL, NULL, 0}},"
        )
    lines.append("};")
    for argument in arguments:
        if argument.kind == "integer":
            lines.append(f"static {argument.element} {_variable(argument)} = {argument.value};")
        elif argument.kind == "constant" and argument.element == "char":
            lines.append(f"static char {_variable(argument)}[64] = {_c_string(str(argument.value))};")
        elif argument.kind == "constant" and argument.element == "void":
            lines.append(f"static char {_variable(argument)}[{argument.size}];")
        elif argument.kind == "constant":
            values = ", ".join([str(argument.value)] * argument.size)
            lines.append(f"static {argument.element} {_variable(argument)}[{argument.size}] = {{{values}}};")
    return [*lines, ""]


def _c_string(text: str) -> str:
    return (
        '"'
        + "".join(
            f"\\{byte:03o}" if byte in b'"\\?' or byte < 32 or byte > 126 else chr(byte) for byte in text.encode()
        )
        + '"'
    )


def _variable(argument: Argument) -> str:
    return f"gradcheck_given_{argument.name}"


def slot_index(argument: Argument, slots: Sequence[Slot]) -> int:
    """Return which slot holds the argument."""
    return next(index for index, slot in enumerate(slots) if slot.name == argument.name)


def given_for(argument: Argument, slots: Sequence[Slot]) -> str:
    """Return the expression that is passed for the argument itself."""
    if argument.kind == "number":
        return f"VALUE({argument.element}, {slot_index(argument, slots)})"
    if argument.kind == "array":
        return f"slots[{slot_index(argument, slots)}].value"
    return _variable(argument)


def _with_shadow(argument: Argument, given: str, slots: Sequence[Slot]) -> list[str]:
    """Return what reverse mode passes: a number alone, anything else with its shadow; that of a constant is itself."""
    if argument.kind == "number":
        return [given]
    return [given, f"SHADOW({slot_index(argument, slots)})" if argument.kind == "array" else given]


def written_function(name: str, statements: Sequence[str]) -> list[str]:
    """Return a function without parameters, made of `statements`; empty ones are left out."""
    return [f"static void {name}(void) {{", *(f"  {statement}" for statement in statements if statement), "}", ""]


def assigned(call: str, result: IRType, slots: Sequence[Slot]) -> str:
    """Return the statement that makes a call and keeps a floating-point result in its slot."""
    if result.kind is not TypeKind.FLOATING:
        return f"{'' if result.kind is TypeKind.VOID else '(void)'}{call};"
    return f"{result_value(slots)} = {call};"


def result_value(slots: Sequence[Slot]) -> str:
    """Return the expression for the value of the result's slot, which is the last."""
    return f"VALUE({slots[-1].element}, {len(slots) - 1})"


def _reverse(  # noqa: PLR0917 - the parts of one call
    augmented: FunctionType,
    gradient: FunctionType,
    primal: FunctionType,
    arguments: Sequence[Argument],
    slots: Sequence[Slot],
    twice: Sequence[str],
) -> list[str]:
    """Return `call_augmented` and `call_gradient`; the tape goes from one to the other in a static variable."""
    reading = read_augmented(primal.result, augmented.result)
    lines = [] if reading.tape is None else [f"static {c_type(reading.tape)} gradcheck_tape;"]
    call = f"augmented({', '.join(twice)})"
    if augmented.result.kind is TypeKind.STRUCT:
        statements = [f"struct augmented_result both = {call};"]
        members = [f"both.m{index}" for index in range(len(augmented.result.elements))]
        if reading.tape is not None:
            statements.append(f"gradcheck_tape = {members.pop(0)};")
        if primal.result.kind is TypeKind.FLOATING:
            statements.append(f"{result_value(slots)} = {members[0]};")
        statements.append("(void)both;")
    elif reading.tape is not None:
        statements = [f"gradcheck_tape = {call};"]
    else:
        statements = [assigned(call, primal.result, slots)]
    lines += written_function("call_augmented", statements)
    numbers = [argument for argument in arguments if argument.kind == "number"]
    seed = (
        [f"*({slots[-1].element} *)slots[{len(slots) - 1}].shadow"] if primal.result.kind is TypeKind.FLOATING else []
    )
    call = f"gradient({', '.join([*twice, *seed, *(['gradcheck_tape'] if reading.tape is not None else [])])})"
    if gradient.result.kind is TypeKind.STRUCT:
        statements = [f"struct gradient_result adjoints = {call};"]
        statements += [_adjoint(number, f"adjoints.m{index}", slots) for index, number in enumerate(numbers)]
    elif numbers:
        statements = [_adjoint(numbers[0], call, slots)]
    else:
        statements = [f"{call};"]
    if seed:
        statements.append(f"{seed[0]} = 0;")
    return lines + written_function("call_gradient", statements)


def _adjoint(argument: Argument, value: str, slots: Sequence[Slot]) -> str:
    return f"*({argument.element} *)slots[{slot_index(argument, slots)}].shadow = {value};"


def _forward(
    tangent: FunctionType,
    primal: FunctionType,
    arguments: Sequence[Argument],
    slots: Sequence[Slot],
    given: Sequence[str],
) -> list[str]:
    """Return `call_tangent`: every argument is followed by its tangent or shadow, an integer by itself."""
    passed = []
    for argument, one in zip(arguments, given, strict=True):
        if argument.kind == "number":
            passed += [one, f"*({argument.element} *)slots[{slot_index(argument, slots)}].shadow"]
        else:
            passed += _with_shadow(argument, one, slots)
    call = f"tangent({', '.join(passed)})"
    if tangent.result.kind is TypeKind.STRUCT and primal.result.kind is TypeKind.FLOATING:
        statements = [
            f"struct tangent_result both = {call};",
            f"{result_value(slots)} = both.m0;",
            f"*({slots[-1].element} *)slots[{len(slots) - 1}].shadow = both.m1;",
        ]
    else:
        statements = [f"{'' if tangent.result.kind is TypeKind.VOID else '(void)'}{call};"]
    return written_function("call_tangent", statements)


def comment(text: str) -> str:
    """Return `text` as it can stand in a comment."""
    return text.replace("*/", "* /")
