"""Load a libLLVM and declare the functions of its C API (llvm-c/Core.h and neighbours) that are used here."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

from enzyme_build.errors import ToolError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["DIAGNOSTIC_HANDLER", "FUNCTION_INDEX", "Binding", "load_binding"]

DIAGNOSTIC_HANDLER = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
FUNCTION_INDEX = 0xFFFFFFFF  # LLVMAttributeFunctionIndex, as unsigned

_p, _s, _n, _i, _u = c_void_p, c_char_p, c_size_t, c_int, c_uint
_size_out = POINTER(c_size_t)
_pointer_out = POINTER(c_void_p)

# name: (result, *parameters). Strings that LLVM hands over for us to free are declared as pointers.
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    # contexts, diagnostics, messages
    "LLVMContextCreate": (_p,),
    "LLVMContextDispose": (None, _p),
    "LLVMContextSetDiagnosticHandler": (None, _p, DIAGNOSTIC_HANDLER, _p),
    "LLVMGetDiagInfoDescription": (_p, _p),
    "LLVMGetDiagInfoSeverity": (_i, _p),
    "LLVMDisposeMessage": (None, _p),
    "LLVMGetErrorMessage": (_p, _p),
    "LLVMDisposeErrorMessage": (None, _p),
    # buffers, readers, writers
    "LLVMCreateMemoryBufferWithMemoryRangeCopy": (_p, _s, _n, _s),
    "LLVMDisposeMemoryBuffer": (None, _p),
    "LLVMGetBufferStart": (_p, _p),
    "LLVMGetBufferSize": (_n, _p),
    "LLVMParseBitcodeInContext2": (_i, _p, _p, _pointer_out),
    "LLVMParseIRInContext": (_i, _p, _p, _pointer_out, _pointer_out),
    "LLVMWriteBitcodeToMemoryBuffer": (_p, _p),
    # modules
    "LLVMModuleCreateWithNameInContext": (_p, _s, _p),
    "LLVMDisposeModule": (None, _p),
    "LLVMSetModuleIdentifier": (None, _p, _s, _n),
    "LLVMGetSourceFileName": (_s, _p, _size_out),
    "LLVMSetSourceFileName": (None, _p, _s, _n),
    "LLVMGetDataLayoutStr": (_s, _p),
    "LLVMSetDataLayout": (None, _p, _s),
    "LLVMGetTarget": (_s, _p),
    "LLVMSetTarget": (None, _p, _s),
    "LLVMLinkModules2": (_i, _p, _p),
    "LLVMVerifyModule": (_i, _p, _i, _pointer_out),
    "LLVMGetModuleInlineAsm": (_s, _p, _size_out),
    "LLVMGetNamedMetadata": (_p, _p, _s, _n),
    "LLVMAddNamedMetadataOperand": (None, _p, _s, _p),
    "LLVMStripModuleDebugInfo": (_i, _p),
    # optimisation
    "LLVMParseCommandLineOptions": (None, _i, POINTER(c_char_p), _s),
    "LLVMCreatePassBuilderOptions": (_p,),
    "LLVMDisposePassBuilderOptions": (None, _p),
    "LLVMPassBuilderOptionsSetLoopVectorization": (None, _p, _i),
    "LLVMPassBuilderOptionsSetSLPVectorization": (None, _p, _i),
    "LLVMPassBuilderOptionsSetLoopUnrolling": (None, _p, _i),
    "LLVMPassBuilderOptionsSetLoopInterleaving": (None, _p, _i),
    "LLVMRunPasses": (_p, _p, _s, _p, _p),
    # walking a module
    "LLVMGetFirstFunction": (_p, _p),
    "LLVMGetNextFunction": (_p, _p),
    "LLVMGetNamedFunction": (_p, _p, _s),
    "LLVMGetFirstGlobal": (_p, _p),
    "LLVMGetNextGlobal": (_p, _p),
    "LLVMGetNamedGlobal": (_p, _p, _s),
    "LLVMGetFirstGlobalAlias": (_p, _p),
    "LLVMGetNextGlobalAlias": (_p, _p),
    "LLVMGetFirstGlobalIFunc": (_p, _p),
    "LLVMGetNextGlobalIFunc": (_p, _p),
    "LLVMAliasGetAliasee": (_p, _p),
    "LLVMGetFirstBasicBlock": (_p, _p),
    "LLVMGetNextBasicBlock": (_p, _p),
    "LLVMGetFirstInstruction": (_p, _p),
    "LLVMGetNextInstruction": (_p, _p),
    # values
    "LLVMGetValueName2": (_p, _p, _size_out),
    "LLVMSetValueName2": (None, _p, _s, _n),
    "LLVMTypeOf": (_p, _p),
    "LLVMGlobalGetValueType": (_p, _p),
    "LLVMGetLinkage": (_i, _p),
    "LLVMSetLinkage": (None, _p, _i),
    "LLVMGetVisibility": (_i, _p),
    "LLVMSetVisibility": (None, _p, _i),
    "LLVMSetComdat": (None, _p, _p),
    "LLVMIsGlobalConstant": (_i, _p),
    "LLVMIsThreadLocal": (_i, _p),
    "LLVMSetThreadLocalMode": (None, _p, _i),
    "LLVMGetThreadLocalMode": (_i, _p),
    "LLVMGetInitializer": (_p, _p),
    "LLVMIsNull": (_i, _p),
    "LLVMAddGlobal": (_p, _p, _p, _s),
    "LLVMGetAlignment": (_u, _p),
    "LLVMSetAlignment": (None, _p, _u),
    "LLVMDeleteGlobal": (None, _p),
    "LLVMReplaceAllUsesWith": (None, _p, _p),
    "LLVMIsDeclaration": (_i, _p),
    "LLVMGetFunctionCallConv": (_u, _p),
    "LLVMSetFunctionCallConv": (None, _p, _u),
    "LLVMSetInstructionCallConv": (None, _p, _u),
    "LLVMCountParams": (_u, _p),
    "LLVMGetParam": (_p, _p, _u),
    "LLVMGetIntrinsicID": (_u, _p),
    "LLVMGetFirstUse": (_p, _p),
    "LLVMGetNextUse": (_p, _p),
    "LLVMGetUser": (_p, _p),
    "LLVMIsAInstruction": (_p, _p),
    "LLVMIsALoadInst": (_p, _p),
    "LLVMGetInstructionOpcode": (_i, _p),
    "LLVMIsAUnreachableInst": (_p, _p),
    "LLVMIsAReturnInst": (_p, _p),
    "LLVMGetBasicBlockTerminator": (_p, _p),
    "LLVMIsACallInst": (_p, _p),
    "LLVMIsAInvokeInst": (_p, _p),
    "LLVMIsAInlineAsm": (_p, _p),
    "LLVMIsAFunction": (_p, _p),
    "LLVMIsAGlobalVariable": (_p, _p),
    "LLVMIsAGlobalAlias": (_p, _p),
    "LLVMIsAGlobalIFunc": (_p, _p),
    "LLVMIsAConstantExpr": (_p, _p),
    "LLVMConstPointerCast": (_p, _p, _p),
    "LLVMIsAConstant": (_p, _p),
    "LLVMGetCalledValue": (_p, _p),
    "LLVMGetOperand": (_p, _p, _u),
    "LLVMSetOperand": (None, _p, _u, _p),
    "LLVMGetNumOperands": (_i, _p),
    "LLVMGetInstructionParent": (_p, _p),
    "LLVMGetBasicBlockParent": (_p, _p),
    "LLVMGetDebugLocLine": (_u, _p),
    "LLVMGetDebugLocFilename": (_p, _p, POINTER(c_uint)),
    # types
    "LLVMGetTypeKind": (_i, _p),
    "LLVMPrintTypeToString": (_p, _p),
    "LLVMPrintValueToString": (_p, _p),
    "LLVMPrintModuleToString": (_p, _p),
    "LLVMGetReturnType": (_p, _p),
    "LLVMCountParamTypes": (_u, _p),
    "LLVMGetParamTypes": (None, _p, _pointer_out),
    "LLVMIsFunctionVarArg": (_i, _p),
    "LLVMCountStructElementTypes": (_u, _p),
    "LLVMStructGetTypeAtIndex": (_p, _p, _u),
    "LLVMGetElementType": (_p, _p),
    "LLVMGetTypeByName2": (_p, _p, _s),
    # attributes and metadata
    "LLVMGetEnumAttributeKindForName": (_u, _s, _n),
    "LLVMCreateEnumAttribute": (_p, _p, _u, c_uint64),
    "LLVMCreateStringAttribute": (_p, _p, _s, _u, _s, _u),
    "LLVMAddAttributeAtIndex": (None, _p, _u, _p),
    "LLVMGetAttributeCountAtIndex": (_u, _p, _u),
    "LLVMGetAttributesAtIndex": (None, _p, _u, _pointer_out),
    "LLVMGetEnumAttributeAtIndex": (_p, _p, _u, _u),
    "LLVMGetStringAttributeAtIndex": (_p, _p, _u, _s, _u),
    "LLVMRemoveEnumAttributeAtIndex": (None, _p, _u, _u),
    "LLVMRemoveStringAttributeAtIndex": (None, _p, _u, _s, _u),
    "LLVMAddCallSiteAttribute": (None, _p, _u, _p),
    "LLVMGetMDKindIDInContext": (_u, _p, _s, _u),
    "LLVMMDStringInContext2": (_p, _p, _s, _n),
    "LLVMMDNodeInContext2": (_p, _p, _p, _n),
    "LLVMMetadataAsValue": (_p, _p, _p),
    "LLVMGlobalSetMetadata": (None, _p, _u, _p),
    "LLVMGlobalEraseMetadata": (None, _p, _u),
    "LLVMGlobalCopyAllMetadata": (_p, _p, _size_out),
    "LLVMDisposeValueMetadataEntries": (None, _p),
    "LLVMValueMetadataEntriesGetKind": (_u, _p, _u),
    "LLVMValueMetadataEntriesGetMetadata": (_p, _p, _u),
    "LLVMGetMDNodeNumOperands": (_u, _p),
    "LLVMGetMDNodeOperands": (None, _p, _pointer_out),
}

# LLVM 15 and 16 only: later versions have one pointer mode.
_OPTIONAL_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "LLVMContextSetOpaquePointers": (None, _p, _i),
    "LLVMGetVersion": (None, POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)),
}


class Binding:
    """The functions of one loaded libLLVM, as attributes named like in the C API without the prefix `LLVM`."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._scalar = False
        for name, (result, *parameters) in (_SIGNATURES | _OPTIONAL_SIGNATURES).items():
            try:
                function = getattr(library, name)
            except AttributeError:
                if name in _OPTIONAL_SIGNATURES:
                    continue
                raise
            function.restype, function.argtypes = result, parameters
            setattr(self, name.removeprefix("LLVM"), function)

    def __getattr__(self, name: str) -> Any:  # reached only for functions that this libLLVM lacks
        msg = f"this libLLVM has no LLVM{name}"
        raise AttributeError(msg)

    def has(self, name: str) -> bool:
        """Return whether this version has the optional function `LLVM<name>`."""
        return name in self.__dict__

    def stay_scalar(self) -> None:
        """Switch vectorisation off for the whole process.

        The options of a pass builder do not do it: `default<O2>` sets those for vectorisation anew when it is parsed
        (PassBuilder.cpp), and without a target machine LLVM 15 takes vectors to be cheap.
        """
        if not self._scalar:
            self._scalar = True  # LLVM refuses to be told twice
            arguments = [b"enzyme-build", b"-vectorize-slp=false", b"-vectorize-loops=false"]
            self.ParseCommandLineOptions(len(arguments), (c_char_p * len(arguments))(*arguments), None)

    def take_message(self, address: int | None) -> str:
        """Return the text of a string that LLVM made for us, and free it."""
        if not address:
            return ""
        text = ctypes.string_at(address).decode("utf-8", "replace")
        self.DisposeMessage(address)
        return text

    def version(self) -> str | None:
        """Return the version this libLLVM states, such as `18.1.8`; `None` before LLVM 16, which cannot tell."""
        if not self.has("GetVersion"):
            return None
        parts = [c_uint(), c_uint(), c_uint()]
        self.GetVersion(*(ctypes.byref(part) for part in parts))
        return ".".join(str(part.value) for part in parts)


def load_binding(path: Path) -> Binding:
    """Load the libLLVM at `path`; raises `ToolError` when it cannot be loaded or lacks a function of the C API."""
    try:
        return Binding(ctypes.CDLL(str(path)))
    except OSError as error:
        msg = f"cannot load libLLVM: {error}"
        raise ToolError(msg, hint="`enzyme-build doctor` shows which toolchains work here") from error
    except AttributeError as error:
        msg = f"{path}: too old or no libLLVM: {error}"
        raise ToolError(msg, hint="LLVM 15 or newer is needed; `enzyme-build doctor` shows what was found") from error
