"""Import a finished module into a host that calls one of its rules, the way Enzyme.jl does with a library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from enzyme_build.errors import BinaryError
from enzyme_build.finalize.carrier import CARRIER_PREFIX
from enzyme_build.gradcheck.carriers import ROLES, find_carrier, find_local
from enzyme_build.gradcheck.shim import local_anchors
from enzyme_build.llvm.binding import load_binding
from enzyme_build.llvm.context import Context
from enzyme_build.llvm.values import Linkage, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enzyme_build.gradcheck.facts import ConsumerRequest

__all__ = ["import_for_consumer"]


def import_for_consumer(request: ConsumerRequest) -> bool:
    """Carry out `request` and return whether there is a body behind the rule; raises `BinaryError`."""
    binding = load_binding(Path(request.libllvm))
    context = Context(binding, request.pointers, version=request.llvm_version)
    host = context.parse_bitcode(Path(request.host).read_bytes(), name="the caller")
    module = context.parse_bitcode(Path(request.bitcode).read_bytes(), name=request.name)
    values = Values(module)
    with_body = [values.name(item) for item in values.functions() if values.is_defined(item)]
    for item in (*values.functions(), *values.variables()):  # the linker does not see what is local
        if values.is_defined(item):
            binding.SetLinkage(item, Linkage.EXTERNAL)
    host.link(module, what=f"{request.name}, imported")
    imported = Values(host)
    found = find_carrier(imported, request.rule)
    if found is None:
        msg = f"{request.name}: the rule for {request.rule.symbol} is not in the bitcode"
        raise BinaryError(msg)
    carrier, _ = found
    declared = imported.function(request.callee)
    if declared is not None and declared != carrier:
        binding.ReplaceAllUsesWith(declared, binding.ConstPointerCast(carrier, binding.TypeOf(declared)))
    _share_anchors(imported, request.rule.anchors)
    if request.without_rule:
        for kind in ROLES.values():
            binding.GlobalEraseMetadata(carrier, imported.metadata_kind(kind))
    for name in with_body:
        function = imported.function(name)
        if function is not None:
            binding.SetLinkage(function, Linkage.INTERNAL)
    host.verify(what=f"{request.name}, imported for {request.rule.symbol}")
    Path(request.output).write_bytes(host.write_bitcode())
    body = find_local(imported, request.rule.symbol)
    return body is not None and imported.is_defined(body) and not imported.name(carrier).startswith(CARRIER_PREFIX)


def _share_anchors(values: Values, names: Sequence[str]) -> None:
    """Let the caller's shim count from the library's variables."""
    for name, own in local_anchors(values, names).items():
        declared = values.variable(name)
        if declared is not None and declared != own:
            values.binding.ReplaceAllUsesWith(declared, own)
