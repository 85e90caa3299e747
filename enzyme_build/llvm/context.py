"""An LLVM context in one pointer mode, which reads modules and collects what LLVM says about them."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_size_t, c_void_p
from typing import TYPE_CHECKING

from enzyme_build.errors import BinaryError
from enzyme_build.llvm.binding import DIAGNOSTIC_HANDLER
from enzyme_build.model import PointerMode

if TYPE_CHECKING:
    from enzyme_build.llvm.binding import Binding

__all__ = ["Context", "Module"]

_VERIFY_RETURN_STATUS = 2
_SEVERITY_ERROR = 0


class Context:
    """Owns modules; `messages` gathers LLVM's error diagnostics instead of letting LLVM print or exit.

    `version` is what the toolchain says of its libLLVM, for versions before 16, which cannot tell.
    """

    def __init__(self, binding: Binding, pointers: PointerMode, *, version: str = "") -> None:
        self.binding = binding
        self.version = binding.version() or version
        self.pointers = pointers
        self.handle: int = binding.ContextCreate()
        self.messages: list[str] = []
        if binding.has("ContextSetOpaquePointers"):
            binding.ContextSetOpaquePointers(self.handle, int(pointers is PointerMode.OPAQUE))
        # kept as an attribute: LLVM holds only the C pointer
        self._handler = DIAGNOSTIC_HANDLER(self._diagnose)
        binding.ContextSetDiagnosticHandler(self.handle, self._handler, None)

    def _diagnose(self, information: int, _: int | None) -> None:
        if self.binding.GetDiagInfoSeverity(information) == _SEVERITY_ERROR:
            self.messages.append(self.binding.take_message(self.binding.GetDiagInfoDescription(information)))

    def take_messages(self) -> str:
        """Return and forget the collected diagnostics, as one text."""
        text = "; ".join(self.messages) or "LLVM gave no reason"
        self.messages.clear()
        return text

    def parse_bitcode(self, data: bytes, *, name: str) -> Module:
        """Return the module in `data`; raises `BinaryError` with LLVM's reason."""
        buffer = self.binding.CreateMemoryBufferWithMemoryRangeCopy(data, len(data), name.encode())
        module = c_void_p()
        failed = self.binding.ParseBitcodeInContext2(self.handle, buffer, byref(module))
        self.binding.DisposeMemoryBuffer(buffer)
        if failed or not module.value:
            msg = f"{name}: the bitcode cannot be read: {self.take_messages()}"
            raise BinaryError(msg)
        return Module(self, module.value)

    def parse_text(self, text: str, *, name: str) -> Module:
        """Return the module written as IR in `text`; raises `BinaryError`, which means a defect of this package."""
        data = text.encode()
        buffer = self.binding.CreateMemoryBufferWithMemoryRangeCopy(data, len(data), name.encode())
        module, message = c_void_p(), c_void_p()
        if self.binding.ParseIRInContext(self.handle, buffer, byref(module), byref(message)) or not module.value:
            msg = f"{name}: generated IR is not valid: {self.binding.take_message(message.value)}\n{text}"
            raise BinaryError(msg)
        return Module(self, module.value)

    def new_module(self, name: str) -> Module:
        """Return an empty module."""
        return Module(self, self.binding.ModuleCreateWithNameInContext(name.encode(), self.handle))


class Module:
    """One LLVM module: reading, linking, verifying, optimising and writing it as a whole."""

    def __init__(self, context: Context, handle: int) -> None:
        self.context = context
        self.binding = context.binding
        self.handle: int = handle

    @property
    def triple(self) -> str:
        """The target triple, empty if the module has none."""
        return str(self.binding.GetTarget(self.handle).decode())

    @property
    def datalayout(self) -> str:
        """The datalayout string, empty if the module has none."""
        return str(self.binding.GetDataLayoutStr(self.handle).decode())

    @property
    def source(self) -> str:
        """The name of the source file, as the compiler was given it."""
        size = c_size_t()
        return str(self.binding.GetSourceFileName(self.handle, byref(size)).decode("utf-8", "replace"))

    def adopt_target(self, other: Module) -> None:
        """Take over triple and datalayout of `other`, as linking with it requires."""
        self.binding.SetDataLayout(self.handle, other.datalayout.encode())
        self.binding.SetTarget(self.handle, other.triple.encode())

    def set_names(self, name: str) -> None:
        """Set module identifier and source file name."""
        data = name.encode()
        self.binding.SetModuleIdentifier(self.handle, data, len(data))
        self.binding.SetSourceFileName(self.handle, data, len(data))

    def text(self) -> str:
        """Return the module as LLVM prints it."""
        return self.binding.take_message(self.binding.PrintModuleToString(self.handle))

    def has_named_metadata(self, name: str) -> bool:
        """Return whether the module has named metadata `!name`."""
        return bool(self.binding.GetNamedMetadata(self.handle, name.encode(), len(name.encode())))

    def add_named_metadata(self, name: str, text: str) -> None:
        """Add `!{!"text"}` to the named metadata `!name`."""
        context, data = self.context.handle, text.encode()
        operands = (c_void_p * 1)(self.binding.MDStringInContext2(context, data, len(data)))
        node = self.binding.MDNodeInContext2(context, operands, 1)
        self.binding.AddNamedMetadataOperand(self.handle, name.encode(), self.binding.MetadataAsValue(context, node))

    def link(self, other: Module, *, what: str) -> None:
        """Move everything of `other` into this module; raises `BinaryError` with the linker's reason."""
        if self.binding.LinkModules2(self.handle, other.handle):
            msg = f"{what}: the modules cannot be linked: {self.context.take_messages()}"
            raise BinaryError(msg)

    def verify(self, *, what: str) -> None:
        """Raise `BinaryError` with the verifier's reason when the module is not well-formed."""
        message = c_void_p()
        failed = self.binding.VerifyModule(self.handle, _VERIFY_RETURN_STATUS, byref(message))
        text = self.binding.take_message(message.value)
        if failed:
            msg = f"{what}: LLVM's verifier rejects the module: {text.strip()}"
            raise BinaryError(msg)

    def run_passes(self, pipeline: str, *, vectorize: bool = False) -> None:
        """Run a new-pass-manager pipeline; without `vectorize` loops are neither vectorised, interleaved nor unrolled.

        Those are scheduling choices that are better made after differentiation (enzyme.mit.edu, "Using Enzyme").
        """
        if not vectorize:
            self.binding.stay_scalar()
        options = self.binding.CreatePassBuilderOptions()
        for name in ("LoopVectorization", "SLPVectorization", "LoopUnrolling", "LoopInterleaving"):
            getattr(self.binding, f"PassBuilderOptionsSet{name}")(options, int(vectorize))
        error = self.binding.RunPasses(self.handle, pipeline.encode(), None, options)
        self.binding.DisposePassBuilderOptions(options)
        if error:
            address = self.binding.GetErrorMessage(error)
            text = ctypes.string_at(address).decode("utf-8", "replace")
            self.binding.DisposeErrorMessage(address)
            msg = f"LLVM cannot run {pipeline!r}: {text}"
            raise BinaryError(msg)

    def write_bitcode(self) -> bytes:
        """Return the module as bitcode."""
        buffer = self.binding.WriteBitcodeToMemoryBuffer(self.handle)
        data = ctypes.string_at(self.binding.GetBufferStart(buffer), self.binding.GetBufferSize(buffer))
        self.binding.DisposeMemoryBuffer(buffer)
        return data
