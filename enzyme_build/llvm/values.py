"""Questions to, and changes of, the functions and variables of a module. Handles are addresses (`int`)."""

from __future__ import annotations

import ctypes
import enum
from ctypes import byref, c_size_t, c_uint, c_void_p
from typing import TYPE_CHECKING

from enzyme_build.llvm.binding import FUNCTION_INDEX
from enzyme_build.model import FunctionType, IRType, SourceLocation, TypeKind

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from enzyme_build.llvm.context import Module

__all__ = ["Linkage", "Opcode", "Values"]


class Linkage(enum.IntEnum):
    """The members of LLVMLinkage (llvm-c/Core.h) that are spoken of here."""

    EXTERNAL = 0
    WEAK_ANY = 5
    INTERNAL = 8
    PRIVATE = 9


class Opcode(enum.IntEnum):
    """The members of LLVMOpcode (llvm-c/Core.h) that are spoken of here."""

    INVOKE = 5
    FADD = 9
    FSUB = 11
    FMUL = 13
    FDIV = 16
    LOAD = 27
    STORE = 28
    GET_ELEMENT = 29
    BIT_CAST = 41
    INTEGER_COMPARE = 42
    PHI = 44
    CALL = 45
    SELECT = 46
    COMPARE_EXCHANGE = 56
    READ_MODIFY_WRITE = 57
    ADDRESS_SPACE_CAST = 60
    CALL_BRANCH = 67


# LLVMTypeKind (llvm-c/Core.h); kinds not named are OTHER
_TYPE_KINDS = {
    0: TypeKind.VOID,
    **dict.fromkeys((1, 2, 3, 4, 5, 6, 18), TypeKind.FLOATING),
    8: TypeKind.INTEGER,
    10: TypeKind.STRUCT,
    11: TypeKind.ARRAY,
    12: TypeKind.POINTER,
    **dict.fromkeys((13, 17), TypeKind.VECTOR),
}


class Values:
    """Access to what is inside one module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.binding = module.binding
        self._context = module.context.handle

    # walking

    def functions(self) -> Iterator[int]:
        """Yield every function, intrinsics included."""
        return self._walk("GetFirstFunction", "GetNextFunction", self.module.handle)

    def variables(self) -> Iterator[int]:
        """Yield every global variable."""
        return self._walk("GetFirstGlobal", "GetNextGlobal", self.module.handle)

    def aliases(self) -> Iterator[int]:
        """Yield every alias."""
        return self._walk("GetFirstGlobalAlias", "GetNextGlobalAlias", self.module.handle)

    def ifuncs(self) -> Iterator[int]:
        """Yield every ifunc: a function whose body the dynamic linker chooses when the library is loaded."""
        return self._walk("GetFirstGlobalIFunc", "GetNextGlobalIFunc", self.module.handle)

    def instructions(self, function: int) -> Iterator[int]:
        """Yield every instruction of `function`."""
        for block in self._walk("GetFirstBasicBlock", "GetNextBasicBlock", function):
            yield from self._walk("GetFirstInstruction", "GetNextInstruction", block)

    def _walk(self, first: str, following: str, parent: int) -> Iterator[int]:
        advance = getattr(self.binding, following)
        item = getattr(self.binding, first)(parent)
        while item:
            after = advance(item)  # before the caller may delete the item
            yield item
            item = after

    def users(self, value: int) -> Iterator[int]:
        """Yield the user of every use of `value`, one use after the other."""
        use = self.binding.GetFirstUse(value)
        while use:
            after = self.binding.GetNextUse(use)
            yield self.binding.GetUser(use)
            use = after

    def uses_behind(self, value: int) -> Iterator[tuple[int, int | None]]:
        """Yield the function or variable behind each use of `value`, with the instruction if there is one.

        A use by a function itself is the prefix data of a carrier, which calls nothing. Constants are looked through;
        an alias passes its users on.
        """
        binding = self.binding
        seen = set()
        waiting = [value]
        while waiting:
            for user in self.users(waiting.pop()):
                if binding.IsAInstruction(user):
                    yield self.enclosing_function(user), user
                elif binding.IsAGlobalVariable(user):
                    yield user, None
                elif not binding.IsAFunction(user) and user not in seen:
                    seen.add(user)
                    waiting.append(user)

    def holders(self, value: int) -> set[int]:
        """Return the functions and variables that mention `value`."""
        return {holder for holder, _ in self.uses_behind(value)}

    def function(self, name: str) -> int | None:
        """Return the function called `name`."""
        return self.binding.GetNamedFunction(self.module.handle, name.encode()) or None

    def variable(self, name: str) -> int | None:
        """Return the global variable called `name`."""
        return self.binding.GetNamedGlobal(self.module.handle, name.encode()) or None

    # names and linkage

    def name(self, value: int) -> str:
        """Return the name of `value`; empty if it has none."""
        size = c_size_t()
        address = self.binding.GetValueName2(value, byref(size))
        return ctypes.string_at(address, size.value).decode("utf-8", "surrogateescape") if size.value else ""

    def rename(self, value: int, name: str) -> None:
        """Give `value` a name; LLVM appends a number when the name is taken."""
        data = name.encode("utf-8", "surrogateescape")
        self.binding.SetValueName2(value, data, len(data))

    def make_internal(self, value: int) -> None:
        """Make a function local to its module: default visibility, and in no comdat, which is for what linkers see."""
        self.binding.SetLinkage(value, Linkage.INTERNAL)
        self.binding.SetVisibility(value, 0)
        self.binding.SetComdat(value, None)

    def is_local(self, value: int) -> bool:
        """Return whether `value` is internal or private to its module."""
        return self.binding.GetLinkage(value) in (Linkage.INTERNAL, Linkage.PRIVATE)

    def is_defined(self, value: int) -> bool:
        """Return whether a function has a body, or a variable an initializer."""
        return not self.binding.IsDeclaration(value)

    def is_intrinsic(self, function: int) -> bool:
        """Return whether `function` is one of LLVM's own."""
        return bool(self.binding.GetIntrinsicID(function))

    # types

    def type_text(self, handle: int) -> str:
        """Return a type as LLVM prints it."""
        return self.binding.take_message(self.binding.PrintTypeToString(handle))

    def ir_type(self, handle: int) -> IRType:
        """Return a type with the types inside it; pointees are not followed."""
        kind = _TYPE_KINDS.get(self.binding.GetTypeKind(handle), TypeKind.OTHER)
        elements: tuple[IRType, ...] = ()
        if kind is TypeKind.STRUCT:
            count = self.binding.CountStructElementTypes(handle)
            elements = tuple(self.ir_type(self.binding.StructGetTypeAtIndex(handle, at)) for at in range(count))
        elif kind in (TypeKind.ARRAY, TypeKind.VECTOR):
            elements = (self.ir_type(self.binding.GetElementType(handle)),)
        return IRType(kind=kind, text=self.type_text(handle), elements=elements)

    def value_type(self, value: int) -> int:
        """Return the type of the function or of the variable's content, not of the pointer to it."""
        return int(self.binding.GlobalGetValueType(value))

    def parameter_types(self, function: int) -> tuple[int, ...]:
        """Return the types of the parameters."""
        handle = self.value_type(function)
        count = self.binding.CountParamTypes(handle)
        types = (c_void_p * count)()
        self.binding.GetParamTypes(handle, types)
        return tuple(item for item in types if item is not None)

    def result_type(self, function: int) -> int:
        """Return the type of the result."""
        return int(self.binding.GetReturnType(self.value_type(function)))

    def function_type(self, function: int) -> FunctionType:
        """Return the type of `function`, and which parameters are `sret` or `byval`; an ifunc has no such marks."""
        parameters = self.parameter_types(function)
        places = range(len(parameters)) if self.binding.IsAFunction(function) else ()
        marked = {
            name: tuple(at for at in places if self.has_attribute(function, at + 1, name)) for name in ("sret", "byval")
        }
        return FunctionType(
            result=self.ir_type(self.result_type(function)),
            parameters=tuple(self.ir_type(parameter) for parameter in parameters),
            variadic=bool(self.binding.IsFunctionVarArg(self.value_type(function))),
            sret=marked["sret"],
            byval=marked["byval"],
        )

    # attributes and metadata

    def enum_kind(self, name: str) -> int:
        """Return the number of an LLVM attribute; 0 if this LLVM does not know it."""
        return int(self.binding.GetEnumAttributeKindForName(name.encode(), len(name)))

    def has_attribute(self, function: int, index: int, name: str) -> bool:
        """Return whether LLVM's attribute `name` is set at `index` (0 result, 1.. parameters)."""
        kind = self.enum_kind(name)
        return bool(kind) and bool(self.binding.GetEnumAttributeAtIndex(function, index, kind))

    def attribute(self, name: str, value: str | None = None) -> int:
        """Return an attribute: LLVM's own `name` if it knows it and no value is given, else a string attribute."""
        kind = self.enum_kind(name) if value is None else 0
        if kind:
            return int(self.binding.CreateEnumAttribute(self._context, kind, 0))
        text = value or ""
        return int(
            self.binding.CreateStringAttribute(
                self._context, name.encode(), len(name.encode()), text.encode(), len(text.encode())
            )
        )

    def add_attribute(self, function: int, attribute: int, *, index: int = FUNCTION_INDEX) -> None:
        """Set an attribute of a function."""
        self.binding.AddAttributeAtIndex(function, index, attribute)

    def remove_attribute(self, function: int, name: str) -> None:
        """Remove one of LLVM's own attributes from a function, if it is there."""
        kind = self.enum_kind(name)
        if kind:
            self.binding.RemoveEnumAttributeAtIndex(function, FUNCTION_INDEX, kind)

    def attributes(self, function: int, index: int) -> tuple[int, ...]:
        """Return the attributes at `index`."""
        count = self.binding.GetAttributeCountAtIndex(function, index)
        found = (c_void_p * count)()
        self.binding.GetAttributesAtIndex(function, index, found)
        return tuple(item for item in found if item is not None)

    def set_empty_metadata(self, value: int, kind: str) -> None:
        """Attach metadata `!kind !{}` to a function or variable."""
        node = self.binding.MDNodeInContext2(self._context, None, 0)
        self.binding.GlobalSetMetadata(value, self.metadata_kind(kind), node)

    def metadata_operands(self, value: int, kinds: Container[int]) -> dict[int, tuple[int | None, ...]]:
        """Return for each of the metadata `kinds` that `value` has the operands of its node; `None` is a null one."""
        size = c_size_t()
        entries = self.binding.GlobalCopyAllMetadata(value, byref(size))
        found: dict[int, tuple[int | None, ...]] = {}
        for at in range(size.value):
            kind = self.binding.ValueMetadataEntriesGetKind(entries, at)
            if kind not in kinds:
                continue
            node = self.binding.MetadataAsValue(
                self._context, self.binding.ValueMetadataEntriesGetMetadata(entries, at)
            )
            operands = (c_void_p * self.binding.GetMDNodeNumOperands(node))()
            self.binding.GetMDNodeOperands(node, operands)
            found[kind] = tuple(operands)
        self.binding.DisposeValueMetadataEntries(entries)
        return found

    def metadata_kind(self, kind: str) -> int:
        """Return the number of a metadata kind in this context."""
        return int(self.binding.GetMDKindIDInContext(self._context, kind.encode(), len(kind)))

    # instructions

    def opcode(self, instruction: int) -> int:
        """Return the kind of `instruction`, comparable to an `Opcode`."""
        return int(self.binding.GetInstructionOpcode(instruction))

    def is_vector(self, value: int) -> bool:
        """Return whether the type of `value` is a vector."""
        kind = self.binding.GetTypeKind(self.binding.TypeOf(value))
        return _TYPE_KINDS.get(kind) is TypeKind.VECTOR

    def is_integer_or_void(self, value: int) -> bool:
        """Return whether `value` is an integer, or nothing at all."""
        kind = _TYPE_KINDS.get(self.binding.GetTypeKind(self.binding.TypeOf(value)))
        return kind in (TypeKind.INTEGER, TypeKind.VOID)

    def is_initialised(self, variable: int) -> bool:
        """Return whether `variable` starts as anything but zero."""
        value = self.binding.GetInitializer(variable)
        return bool(value) and not self.binding.IsNull(value)

    def direct_calls(self, function: int) -> Iterator[int]:
        """Yield the call and invoke instructions whose callee is `function` itself."""
        for user in self.users(function):
            if self.is_call(user) and self.binding.GetCalledValue(user) == function:
                yield user

    def is_call(self, value: int) -> bool:
        """Return whether `value` is a call or an invoke."""
        return bool(self.binding.IsACallInst(value) or self.binding.IsAInvokeInst(value))

    def returns_constant(self, function: int) -> bool:
        """Return whether all that `function` ever returns is a number written in its code."""
        returned = [
            self.binding.GetOperand(instruction, 0)
            for instruction in self.instructions(function)
            if self.binding.IsAReturnInst(instruction) and self.binding.GetNumOperands(instruction)
        ]
        return bool(returned) and all(self.binding.IsAConstant(value) for value in returned)

    def never_returns(self, instruction: int) -> bool:
        """Return whether the block of `instruction` ends in `unreachable`: what it calls never comes back."""
        last = self.binding.GetBasicBlockTerminator(self.binding.GetInstructionParent(instruction))
        return bool(last and self.binding.IsAUnreachableInst(last))

    def enclosing_function(self, instruction: int) -> int:
        """Return the function that holds `instruction`."""
        return int(self.binding.GetBasicBlockParent(self.binding.GetInstructionParent(instruction)))

    def location(self, instruction: int) -> SourceLocation | None:
        """Return the source line that debug info names for `instruction`."""
        line = self.binding.GetDebugLocLine(instruction)
        if not line:
            return None
        size = c_uint()
        address = self.binding.GetDebugLocFilename(instruction, byref(size))
        if not address or not size.value:
            return None
        return SourceLocation(file=ctypes.string_at(address, size.value).decode("utf-8", "replace"), line=line)
