"""Try out on a copy what Enzyme.jl's import does to the finished module, and see that the rules are still there.

The import makes every variable external and every function that has a body internal; then dead code is removed, before
Enzyme looks for rules. A module that would fail there fails here, with the library's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from enzyme_build.errors import BinaryError
from enzyme_build.llvm.context import Context
from enzyme_build.llvm.values import Linkage, Values

if TYPE_CHECKING:
    from collections.abc import Collection

    from enzyme_build.llvm.binding import Binding
    from enzyme_build.model import PointerMode

__all__ = ["RULE_METADATA", "require_importable"]

RULE_METADATA = ("enzyme_augment", "enzyme_gradient", "enzyme_derivative", "enzyme_deallocator_fn")
_DEFECT = "this is a defect of enzyme-build; please report it with the rule"


def require_importable(
    data: bytes, *, binding: Binding, pointers: PointerMode, name: str, surface: Collection[str]
) -> None:
    """Raise `BinaryError` when `data` does not survive the import; `surface` are the functions a consumer may call."""
    context = Context(binding, pointers)
    module = context.parse_bitcode(data, name=f"{name}, as embedded")
    host = context.new_module("consumer")
    host.adopt_target(module)
    values = Values(module)
    with_body = [values.name(item) for item in values.functions() if values.is_defined(item)]
    for variable in values.variables():
        binding.SetLinkage(variable, Linkage.EXTERNAL)
    host.link(module, what=f"{name}, as imported")
    imported = Values(host)
    for function_name in with_body:
        function = imported.function(function_name)
        if function is None:
            continue  # a linkonce or available_externally copy that nothing here uses
        # what the consumer calls has a caller there, which keeps it; left external, it is kept here too
        if function_name not in surface:
            binding.SetLinkage(function, Linkage.INTERNAL)
    host.verify(what=f"{name}, as imported")
    before = _rules_of(imported)
    host.run_passes("globaldce,globalopt,deadargelim,globaldce")
    host.verify(what=f"{name}, as imported and cleaned")
    after = _rules_of(imported)
    for function_name, kinds in after.items():
        if (
            any(operand is None for operands in kinds.values() for operand in operands)
            or kinds.keys() != before[function_name].keys()
        ):
            msg = f"{name}: the rule of {function_name} does not survive the import"
            raise BinaryError(msg, hint=_DEFECT)
    binding.DisposeModule(host.handle)


def _rules_of(values: Values) -> dict[str, dict[str, tuple[int | None, ...]]]:
    """Return for each function with rule metadata the operands, by kind."""
    kinds = {values.metadata_kind(kind): kind for kind in RULE_METADATA}
    found = {}
    for function in values.functions():
        operands = values.metadata_operands(function, kinds)
        if operands:
            found[values.name(function)] = {kinds[number]: items for number, items in operands.items()}
    return found
