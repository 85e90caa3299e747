"""Merge the modules of a library, and those of the libraries it links, into one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from enzyme_build.errors import BinaryError
from enzyme_build.llvm.values import Linkage, Values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from enzyme_build.llvm.context import Context, Module

__all__ = ["Merged", "merge_linked", "merge_modules"]

_HIDDEN = 1  # LLVMHiddenVisibility


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The merged module, the sources it came from, and how often each local function name was defined."""

    module: Module
    sources: tuple[str, ...]
    local_definitions: Mapping[str, int]


def merge_modules(parts: Sequence[bytes], *, context: Context, name: str) -> Merged:
    """Return the modules of one library as one module called `name`.

    Raises `BinaryError` when a part cannot be read or is for another target than the first.
    """
    if not parts:
        msg = f"{name}: .llvmbc is empty: no object of the library holds bitcode"
        hint = "compile the sources with the flags of `enzyme-build flags`; `-fembed-bitcode-marker` embeds nothing"
        raise BinaryError(msg, hint=hint)
    merged: Module | None = None
    sources = []
    locals_defined: Counter[str] = Counter()
    for number, data in enumerate(parts, start=1):
        module = _parse(context, data, name=f"{name}, module {number} of {len(parts)}")
        source = module.source
        sources.append(source)
        values = Values(module)
        locals_defined.update(values.name(item) for item in values.functions() if values.is_local(item))
        if merged is None:
            merged = module
            continue
        _require_same_target(merged, module, name=name, first=sources[0], other=source)
        merged.link(module, what=f"{name}: {source}")
    assert merged is not None  # noqa: S101 - parts is not empty
    merged.set_names(name)
    return Merged(module=merged, sources=tuple(sources), local_definitions=locals_defined)


def merge_linked(merged: Module, data: bytes, *, name: str, library: str) -> dict[str, None]:
    """Merge the finished module of `library` into `merged`; return the names of the functions that came with it.

    What `merged` defines itself wins, as it does for the dynamic linker. The functions become internal: they are here
    for calls from this library, which then keeps its own surface. A variable that `library` exports and may change
    stays a declaration, so that there is one such variable in the process, not two.
    """
    module = _parse(merged.context, data, name=f"{library}, linked by {name}")
    _require_same_target(merged, module, name=name, first=name, other=library)
    own, theirs = Values(merged), Values(module)
    came: dict[str, None] = {}
    for function in theirs.functions():
        if not theirs.is_defined(function) or theirs.is_local(function):
            continue
        if theirs.binding.GetVisibility(function) == _HIDDEN:
            # natively it is `library`'s own as well; LLVM renames it where the name is taken
            theirs.make_internal(function)
            continue
        function_name = theirs.name(function)
        twin = own.function(function_name)
        if twin is not None and own.is_defined(twin) and not own.is_local(twin):
            theirs.binding.SetLinkage(function, Linkage.WEAK_ANY)
        else:
            came[function_name] = None
    for variable in theirs.variables():
        if theirs.is_defined(variable) and not theirs.is_local(variable):
            if theirs.binding.IsGlobalConstant(variable):
                theirs.binding.SetLinkage(variable, Linkage.INTERNAL)
            else:
                _turn_into_declaration(theirs, variable)
    merged.link(module, what=f"{name}: {library}")
    for function_name in came:
        linked = own.function(function_name)
        if linked is not None:
            own.make_internal(linked)
    return came


def _parse(context: Context, data: bytes, *, name: str) -> Module:
    """Return the module in `data`, or add to LLVM's reason what to do about it."""
    try:
        return context.parse_bitcode(data, name=name)
    except BinaryError as error:
        if "paque pointers" in error.message:
            hint = (
                "the consumers need typed pointers: compile with the flags of `enzyme-build flags`, "
                "which include -Xclang -no-opaque-pointers"
            )
        else:
            hint = (
                f"it was made by a newer compiler, or is damaged; this is LLVM {context.version}: compile with the "
                "clang that `enzyme-build doctor` names for these consumers"
            )
        raise BinaryError(error.message, hint=hint) from error


def _turn_into_declaration(values: Values, variable: int) -> None:
    """Replace an external variable by a declaration of the same name and type."""
    binding, name = values.binding, values.name(variable)
    values.rename(variable, f"{name}.definition")
    declared = binding.AddGlobal(values.module.handle, values.value_type(variable), name.encode())
    binding.SetThreadLocalMode(declared, binding.GetThreadLocalMode(variable))
    binding.SetAlignment(declared, binding.GetAlignment(variable))
    binding.ReplaceAllUsesWith(variable, declared)
    binding.DeleteGlobal(variable)


def _require_same_target(left: Module, right: Module, *, name: str, first: str, other: str) -> None:
    """Raise `BinaryError` when two modules are for different targets: LLVM would only warn, and mix them."""
    here, there = left.triple.split("-"), right.triple.split("-")
    same_system = here[:1] == there[:1] and here[2:3] == there[2:3]
    if same_system and left.datalayout == right.datalayout:
        return
    msg = f"{name}: bitcode for different targets is mixed: {first} is for {left.triple}, {other} for {right.triple}"
    raise BinaryError(msg, hint="compile all sources of the library for one target")
