"""Carriers: forwarding definitions that hold a rule through the import, dead-code removal and optimisation.

Enzyme reads a rule from metadata of the function that is called. The import keeps such metadata only on definitions,
and keeps the rule's functions only if something besides metadata mentions them. So the carrier is a definition with
the primal's type that calls the primal; it has the metadata, and its prefix data names itself and the rule's functions,
which keeps them and their calling convention. It is `noinline`, so that it is still there when Enzyme looks, and
`optnone`, so that nothing is concluded from the body behind it: where `f` returns its argument, LLVM would let callers
use the argument instead, and the rule would be bypassed without a word. LLVM-C has no setter for prefix data before
LLVM 20, so the carrier is written as text, parsed and linked in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from enzyme_build.errors import BinaryError
from enzyme_build.llvm.binding import FUNCTION_INDEX
from enzyme_build.llvm.values import Linkage, Values
from enzyme_build.model import PointerMode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from enzyme_build.llvm.context import Module

__all__ = ["BODY_SUFFIX", "CARRIER_PREFIX", "Carrier", "add_carrier", "return_bodies"]

CARRIER_PREFIX = "__enzymebc_rule_"
BODY_SUFFIX = "__enzymebc_body"

_NAMED_TYPE = re.compile(r'%("(?:[^"\\]|\\.)*"|[-a-zA-Z$._0-9]+)')
_PLAIN_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789$._-")


@dataclass(frozen=True, kw_only=True)
class Carrier:
    """What to attach to a primal: functions under metadata kinds, and attributes (with a value: string attributes)."""

    metadata: Mapping[str, int] = field(default_factory=dict)
    attributes: Mapping[str, str | None] = field(default_factory=dict)


def add_carrier(module: Module, primal: int, carrier: Carrier) -> int:
    """Put a carrier in front of `primal` in the whole module and return it.

    A primal without body keeps its name and its carrier is called `__enzymebc_rule_<name>`; a primal with a body gives
    its name to the carrier and becomes `<name>__enzymebc_body`.
    """
    values = Values(module)
    binding = module.binding
    name = values.name(primal)
    has_body = values.is_defined(primal)
    linkage, visibility = binding.GetLinkage(primal), binding.GetVisibility(primal)
    if has_body:
        values.rename(primal, name + BODY_SUFFIX)
        carrier_name = name
    else:
        carrier_name = CARRIER_PREFIX + name
    # a local function is invisible to the linker: give it a linkage for as long as the link takes
    involved = {primal: linkage, **{function: binding.GetLinkage(function) for function in carrier.metadata.values()}}
    for function in involved:
        binding.SetLinkage(function, Linkage.EXTERNAL)
    text = _carrier_text(values, primal, carrier_name, carrier)
    written = module.context.parse_text(text, name=f"carrier of {name}")
    written.adopt_target(module)
    module.link(written, what=f"carrier of {name}")
    made = values.function(carrier_name)
    assert made is not None  # noqa: S101 - it was linked in just now
    for function, before in involved.items():
        binding.SetLinkage(function, before)
    if binding.TypeOf(made) != binding.TypeOf(primal):
        msg = f"the carrier of {name} has type {values.function_type(made)}, not that of {name}"
        raise BinaryError(msg, hint="this is a defect of enzyme-build; please report it with the prototype")
    _copy_interface(values, primal, made)
    for attribute, value in carrier.attributes.items():
        values.add_attribute(made, values.attribute(attribute, value))
    binding.ReplaceAllUsesWith(primal, made)
    _call_primal(values, made, primal)
    if has_body:
        binding.SetLinkage(made, linkage)
        binding.SetVisibility(made, visibility)
        values.make_internal(primal)
    else:
        binding.SetLinkage(made, Linkage.INTERNAL)
    return made


def return_bodies(module: Module, names: Iterable[str]) -> None:
    """Move the bodies called `names`, which were set aside and are optimised by now, back into their carriers.

    A carrier that only forwards misleads Enzyme 0.0.289 in a mode that the rule does not cover: it takes the call of a
    function that writes to nothing but its result (`sret`, fresh memory) for one that reads only, and its derivative
    for zero. What LLVM cannot inline, such as a function that calls setjmp, stays a body of its own.
    """
    values = Values(module)
    bodies = [body for body in map(values.function, names) if body is not None]
    for body in bodies:
        for unwanted in ("noinline", "optnone"):
            values.remove_attribute(body, unwanted)
        values.add_attribute(body, values.attribute("alwaysinline"))
    if bodies:
        module.run_passes("always-inline")
    for body in bodies:
        if values.binding.GetFirstUse(body):
            values.remove_attribute(body, "alwaysinline")


def _call_primal(values: Values, carrier: int, primal: int) -> None:
    """Let the carrier's own call, which was replaced with all others, go to the primal again; copy its attributes."""
    binding = values.binding
    for instruction in values.instructions(carrier):
        if values.is_call(instruction) and binding.GetCalledValue(instruction) == carrier:
            binding.SetOperand(instruction, binding.GetNumOperands(instruction) - 1, primal)
            binding.SetInstructionCallConv(instruction, binding.GetFunctionCallConv(primal))
            for index in range(binding.CountParams(primal) + 1):
                for attribute in values.attributes(primal, index):
                    binding.AddCallSiteAttribute(instruction, index, attribute)


def _copy_interface(values: Values, primal: int, carrier: int) -> None:
    """Give the carrier the primal's calling convention and attributes, except those that would inline it."""
    binding = values.binding
    binding.SetFunctionCallConv(carrier, binding.GetFunctionCallConv(primal))
    for index in (FUNCTION_INDEX, *range(binding.CountParams(primal) + 1)):
        for attribute in values.attributes(primal, index):
            values.add_attribute(carrier, attribute, index=index)
    for unwanted in ("alwaysinline", "inlinehint", "minsize", "optsize"):
        values.remove_attribute(carrier, unwanted)
    for wanted in ("noinline", "optnone"):
        values.add_attribute(carrier, values.attribute(wanted))


def _carrier_text(values: Values, primal: int, carrier_name: str, carrier: Carrier) -> str:
    """Return the IR of the carrier with declarations of everything it mentions."""
    typed = values.module.context.pointers is PointerMode.TYPED
    result = _spelt(values, values.result_type(primal))
    parameters = [_spelt(values, parameter) for parameter in values.parameter_types(primal)]
    arguments = ", ".join(f"{parameter} %enzymebc.{number}" for number, parameter in enumerate(parameters))
    own = f"{result} ({', '.join(parameters)})*"
    functions = list(carrier.metadata.items())
    mentioned = [(_quoted(carrier_name), own)]
    mentioned += [
        (_quoted(values.name(item)), values.type_text(values.value_type(item)) + "*") for _, item in functions
    ]
    if typed:
        cells = [f"i8* bitcast ({pointer} {name} to i8*)" for name, pointer in mentioned]
        references = [f"{pointer} {name}" for name, pointer in mentioned[1:]]
    else:
        cells = [f"ptr {name}" for name, _ in mentioned]
        references = [f"ptr {name}" for name, _ in mentioned[1:]]
    attached = "".join(f" !{kind} !{number}" for number, (kind, _) in enumerate(functions))
    call = f"call {result} {_quoted(values.name(primal))}({arguments})"
    body = f"  {call}\n  ret void" if result == "void" else f"  %enzymebc.r = {call}\n  ret {result} %enzymebc.r"
    if values.is_defined(primal) and "enzyme_augment" in carrier.metadata:
        body = _touches(parameters) + body
    prefix = f"prefix [{len(cells)} x {'i8*' if typed else 'ptr'}] [{', '.join(cells)}]"
    declared = dict.fromkeys([primal, *carrier.metadata.values()])
    lines = [_declaration(values, item) for item in declared]
    if "@llvm.memset" in body:
        clear = "p0i8.i64(i8*" if typed else "p0.i64(ptr"
        lines.append(f"declare void @llvm.memset.{clear}, i8, i64, i1)")
    lines += [
        f"define {result} {_quoted(carrier_name)}({arguments}) noinline {prefix}{attached} {{",
        body,
        "}",
        *(f"!{number} = !{{{reference}}}" for number, reference in enumerate(references)),
    ]
    text = "\n".join(lines) + "\n"
    return _struct_definitions(values, text) + text


def _touches(parameters: Sequence[str]) -> str:
    """Return IR that writes through each pointer parameter under a condition that is never true.

    Where Enzyme sees that a primal with a rule does not write to an array, it may read the array anew in the reverse
    pass of a loop, when a later turn has overwritten it (measured on v0.0.289: a wrong derivative). No pointer is as
    large as the one compared with. Clearing an unknown number of bytes says nothing of the type of what is there, which
    matters to a mode that the rule does not cover.
    """
    lines = []
    for number, parameter in enumerate(parameters):
        if not parameter.endswith(("*", "ptr")) or parameter.endswith(")*"):
            continue
        argument, byte, size = (f"%enzymebc.{role}{number}" for role in ("", "byte.", "size."))
        typed = parameter.endswith("*")
        lines += [
            f"  %enzymebc.never.{number} = icmp ugt {parameter} {argument}, inttoptr (i64 -17 to {parameter})",
            f"  br i1 %enzymebc.never.{number}, label %enzymebc.write.{number}, label %enzymebc.next.{number}",
            f"enzymebc.write.{number}:",
            f"  {size} = ptrtoint {parameter} {argument} to i64",
            *([f"  {byte} = bitcast {parameter} {argument} to i8*"] if typed else []),
            f"  call void @llvm.memset.p0i8.i64(i8* {byte}, i8 0, i64 {size}, i1 false)"
            if typed
            else f"  call void @llvm.memset.p0.i64(ptr {argument}, i8 0, i64 {size}, i1 false)",
            f"  br label %enzymebc.next.{number}",
            f"enzymebc.next.{number}:",
        ]
    return "".join(f"{line}\n" for line in lines)


def _spelt(values: Values, handle: int) -> str:
    """Return a type as it is spelt where it is used: of a named struct LLVM prints the whole definition."""
    text = values.type_text(handle)
    return text.partition(" = type ")[0] if text.startswith("%") else text


def _declaration(values: Values, function: int) -> str:
    """Return a declaration of `function`."""
    parameters = [_spelt(values, parameter) for parameter in values.parameter_types(function)]
    if values.binding.IsFunctionVarArg(values.value_type(function)):
        parameters.append("...")
    result = _spelt(values, values.result_type(function))
    return f"declare {result} {_quoted(values.name(function))}({', '.join(parameters)})"


def _struct_definitions(values: Values, text: str) -> str:
    """Return definitions of all named struct types that `text` mentions, and of those they mention in turn."""
    context = values.module.context.handle
    found: dict[str, str] = {}
    waiting = [text]
    while waiting:
        for match in _NAMED_TYPE.finditer(waiting.pop()):
            spelt = match.group(0)
            if spelt in found or spelt.startswith("%enzymebc."):
                continue
            handle = values.binding.GetTypeByName2(context, _unquoted(match.group(1)))
            if not handle:
                continue
            definition = values.type_text(handle)
            if " = type " in definition:
                found[spelt] = definition
                waiting.append(definition.partition(" = type ")[2])
    return "".join(f"{definition}\n" for definition in found.values())


def _unquoted(spelt: str) -> bytes:
    """Return the name behind a type name as LLVM spells it."""
    if not spelt.startswith('"'):
        return spelt.encode()
    return re.sub(rb"\\([0-9A-Fa-f]{2})", lambda match: bytes([int(match.group(1), 16)]), spelt[1:-1].encode())


def _quoted(name: str) -> str:
    """Return a function's name as IR text."""
    data = name.encode("utf-8", "surrogateescape")
    inside = "".join(chr(byte) if chr(byte) in _PLAIN_CHARACTERS else f"\\{byte:02X}" for byte in data)
    return f'@"{inside}"'
