"""Bring the generated functions of stated derivatives into a module, and let them take the primal's place.

The functions come from C that codegen wrote (one bitcode module for all rules). A call of the primal becomes a call of
its shim, which is inlined: it fills a packet, calls the packet function and reads the results. The packet function is
what the rule is on, so Enzyme meets only pointers to memory that is active whenever anything in it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build.finalize.carrier import BODY_SUFFIX
from enzyme_build.llvm.values import Linkage, Values
from enzyme_build.rules.generated import BRIDGE_ROLES, ROLES, generated_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from enzyme_build.llvm.context import Module

__all__ = ["Generated", "find_generated", "link_generated", "put_shim_in_place"]


@dataclass(frozen=True, kw_only=True)
class Generated:
    """The generated functions for one primal, by role; a mode that is not stated has none.

    `inner` and its forward rule `inner_tangent` are there where the packet function is a bridge to it.
    """

    shim: int
    packet: int
    augmented: int | None
    gradient: int | None
    tangent: int | None
    inner: int | None = None
    inner_tangent: int | None = None


def link_generated(module: Module, data: bytes, *, name: str, primals: Iterable[int]) -> None:
    """Link the generated module `data`; `primals` are the functions it calls, of which some may be static.

    The functions it brings become internal, but keep their names until they are put in place.
    """
    values = Values(module)
    linkages = {primal: values.binding.GetLinkage(primal) for primal in primals}
    for primal in linkages:  # a local function is invisible to the linker
        if values.is_local(primal):
            values.binding.SetLinkage(primal, Linkage.EXTERNAL)
    generated = module.context.parse_bitcode(data, name=f"{name}, generated rules")
    theirs = Values(generated)
    brought = [theirs.name(item) for item in theirs.functions() if theirs.is_defined(item)]
    module.link(generated, what=f"{name}: generated rules")
    for primal, linkage in linkages.items():
        values.binding.SetLinkage(primal, linkage)
    for function_name in brought:
        function = values.function(function_name)
        if function is not None:
            values.binding.SetLinkage(function, Linkage.INTERNAL)


def find_generated(values: Values, prototype_name: str, *, opaque: bool) -> Generated | None:
    """Return the generated functions for the primal that its prototype calls `prototype_name`.

    The bridge takes the packet function's place and name when the primal is `opaque`; that of a body is not needed, for
    Enzyme differentiates the body where it does not apply the rule.
    """
    found = {role: values.function(generated_name(role, prototype_name)) for role in ROLES}
    shim, packet = found.pop("shim"), found.pop("packet")
    if shim is None or packet is None:
        return None
    bridge, inner, inner_tangent = (values.function(generated_name(role, prototype_name)) for role in BRIDGE_ROLES)
    if bridge is None or inner is None or inner_tangent is None or not opaque:
        return Generated(shim=shim, packet=packet, **found)
    values.binding.ReplaceAllUsesWith(packet, bridge)
    name = values.name(packet)
    values.rename(packet, f"{name}__enzymebc_direct")
    values.rename(bridge, name)
    return Generated(shim=shim, packet=bridge, inner=inner, inner_tangent=inner_tangent, **found)


def put_shim_in_place(values: Values, primal: int, generated: Generated, *, prototype_name: str) -> None:
    """Let everything but the packet function call the shim where it called `primal`.

    A primal with a body hands its name and linkage to the shim and becomes `<name>__enzymebc_body`.
    """
    binding = values.binding
    name = values.name(primal)
    declared = values.function(prototype_name)
    if declared is not None and declared != primal and not values.is_defined(declared):
        binding.ReplaceAllUsesWith(declared, primal)
    calling = (generated.packet, generated.inner)
    calls = [call for call in values.direct_calls(primal) if values.enclosing_function(call) in calling]
    binding.ReplaceAllUsesWith(primal, generated.shim)
    for call in calls:
        binding.SetOperand(call, binding.GetNumOperands(call) - 1, primal)
    for unwanted in ("noinline", "optnone"):
        values.remove_attribute(generated.shim, unwanted)
    values.add_attribute(generated.shim, values.attribute("alwaysinline"))
    if values.is_defined(primal):
        linkage, visibility = binding.GetLinkage(primal), binding.GetVisibility(primal)
        values.rename(primal, name + BODY_SUFFIX)
        values.rename(generated.shim, name)
        binding.SetLinkage(generated.shim, linkage)
        binding.SetVisibility(generated.shim, visibility)
        values.make_internal(primal)
