"""Write the C function that calls a rule's function and asks Enzyme for derivatives: the second level's adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.gradcheck.harness import c_type, render_data
from enzyme_build.gradcheck.shim import read_shim
from enzyme_build.model import Mode, TypeKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.gradcheck.facts import Argument, Slot
    from enzyme_build.model import FunctionType
    from enzyme_build.rules.model import DerivativeRule

__all__ = ["CALLEE", "render_caller", "render_caller_adapter"]

CALLEE = "gradcheck_callee"
_HELD = ("char", "void", "float", "double", "long double")  # behind a pointer that is passed as it is
_ENTRIES = {
    "call_primal": "gradcheck_enzyme_primal",
    "call_gradient": "gradcheck_enzyme_reverse",
    "call_tangent": "gradcheck_enzyme_forward",
}


def render_caller(
    primal: FunctionType,
    arguments: Sequence[Argument],
    slots: Sequence[Slot],
    *,
    modes: Sequence[Mode],
    stated: DerivativeRule | None = None,
) -> str:
    """Return the C file that Enzyme works on: `caller` takes numbers and the result by pointer, each with a shadow.

    For a rule that is `stated`, it goes through a shim of its own, as every caller in the library does.
    """
    places = {slot.name: index for index, slot in enumerate(slots)}
    parameters, passed, locals_, given = [], [], [], []
    for argument in arguments:
        name, element = f"p_{argument.name}", argument.element
        if argument.kind in ("number", "array"):
            parameters.append(f"{element} *{name}")
            passed.append(f"DUP({element}, {places[argument.name]})")
            given.append(f"*{name}" if argument.kind == "number" else name)
        elif argument.kind == "integer" or element not in _HELD:
            parameters.append(f"{element} {name}")
            passed.append(f"enzyme_const, ({element}){argument.value}")
            if argument.kind == "constant":  # as a Fortran compiler does: the address of a local copy
                locals_.append(f"{element} local_{argument.name}[1] = {{{name}}};")
            given.append(name if argument.kind == "integer" else f"local_{argument.name}")
        else:
            parameters.append(f"void *{name}")
            passed.append(f"enzyme_const, (void *)gradcheck_given_{argument.name}")
            given.append(name)
    result, call = c_type(primal.result), f"{CALLEE}({', '.join(given)})"
    if primal.result.kind is TypeKind.FLOATING:
        parameters.append(f"{result} *p_result")
        passed.append(f"DUP({result}, {len(slots) - 1})")
        call = f"*p_result = {call}"
    types = [_parameter(argument) for argument in arguments]
    plain = [part.replace("DUP(", "VALUE(").replace("enzyme_const, ", "") for part in passed]
    lines = [
        "#include <stdint.h>",
        "int enzyme_dup, enzyme_const;",
        "void __enzyme_autodiff(void *, ...);",
        "void __enzyme_fwddiff(void *, ...);",
        "#define VALUE(type, index) (type *)values[index]",
        "#define DUP(type, index) enzyme_dup, (type *)values[index], (type *)shadows[index]",
        *(line for line in render_data(arguments, slots) if "gradcheck_given_" in line),
        *(_shim(stated) if stated else [f"extern {result} {CALLEE}({', '.join(types) or 'void'});"]),
        f"static void caller({', '.join(parameters)}) {{ {' '.join(locals_)} {call}; }}",
        f"void gradcheck_enzyme_primal(void **values, void **shadows) {{ (void)shadows; caller({', '.join(plain)}); }}",
    ]
    for mode, name, intrinsic in (
        (Mode.REVERSE, "gradcheck_enzyme_reverse", "__enzyme_autodiff"),
        (Mode.FORWARD, "gradcheck_enzyme_forward", "__enzyme_fwddiff"),
    ):
        if mode in modes:
            inside = ", ".join(["(void *)caller", *passed])
            lines.append(f"void {name}(void **values, void **shadows) {{ {intrinsic}({inside}); }}")
    return "\n".join(lines) + "\n"


def render_caller_adapter(arguments: Sequence[Argument], slots: Sequence[Slot], *, modes: Sequence[Mode]) -> str:
    """Return the adapter that lets the engine run what Enzyme made of the caller."""
    lines = ["#define COMBINED 1", *(line for line in render_data(arguments, slots) if "gradcheck_given_" not in line)]
    if Mode.REVERSE in modes:
        lines.append("#define HAS_REVERSE 1")
    if Mode.FORWARD in modes:
        lines.append("#define HAS_FORWARD 1")
    entries = dict(_ENTRIES)
    if Mode.REVERSE not in modes:
        del entries["call_gradient"]
    if Mode.FORWARD not in modes:
        del entries["call_tangent"]
    for own, theirs in entries.items():
        values = ", ".join(f"slots[{index}].value" for index in range(len(slots)))
        shadows = values.replace(".value", ".shadow")
        lines += [
            f"void {theirs}(void **values, void **shadows);",
            f"static void {own}(void) {{",
            f"  void *values[] = {{{values}}}, *shadows[] = {{{shadows}}};",
            f"  {theirs}(values, shadows);",
            "}",
        ]
    if Mode.REVERSE in modes:
        lines.append("static void call_augmented(void) {}")
    return "\n".join(lines) + "\n"


def _shim(rule: DerivativeRule) -> list[str]:
    """Return the shim of a stated rule, and what it needs: the packet function that it calls is the library's."""
    shim = read_shim(rule)
    return [
        *shim.preamble(),
        f"extern void {shim.packet}({shim.signature});",
        "static __attribute__((always_inline))",
        *shim.text,
        f"#define {CALLEE} {shim.name}",
    ]


def _parameter(argument: Argument) -> str:
    if argument.kind in ("number", "integer"):
        return argument.element
    return f"{argument.element} *"
