#!/usr/bin/env python3
"""Do to a library's embedded bitcode what Enzyme.jl 0.13 does when it meets a call into that library.

Usage: import_like_enzyme_jl.py HOST.bc LIBRARY FUNCTION OUTPUT.bc --llvm LIBLLVM [--typed]

Enzyme.jl has run PreserveNVVM on the host before, and does not run it again. It then takes the first section named
`.llvmbc`, parses it as one module, looks FUNCTION up in it, makes every variable external, links the module into the
host, and makes every function that had a body internal. Whatever goes wrong means "no bitcode" to it; here the step
that failed is printed and the exit code is 1. Nothing of enzyme_build is used: this is the judge.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

EXTERNAL, INTERNAL = 0, 8
HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class ImportStepError(Exception):
    """The import stopped at this step."""


class Llvm:
    """The few functions of LLVM-C that are needed, with every handle an address."""

    def __init__(self, path: str, *, typed: bool) -> None:
        self.library = ctypes.CDLL(path)
        self.messages: list[str] = []
        self.context = self.call("LLVMContextCreate")
        if typed:
            self.call("LLVMContextSetOpaquePointers", self.context, ctypes.c_int(0))
        self.handler = HANDLER(self.remember)
        self.call("LLVMContextSetDiagnosticHandler", self.context, self.handler, None)

    def call(self, name: str, *arguments, returns=ctypes.c_void_p):
        function = getattr(self.library, name)
        function.restype = returns
        return function(*(ctypes.c_void_p(item) if isinstance(item, int) else item for item in arguments))

    def remember(self, information: int, _: int) -> None:
        self.messages.append(ctypes.string_at(self.call("LLVMGetDiagInfoDescription", information)).decode())

    def fail(self, step: str) -> ImportStepError:
        return ImportStepError(f"{step}: {'; '.join(self.messages) or 'no message'}")

    def parse(self, data: bytes, what: str) -> int:
        size = ctypes.c_size_t(len(data))
        buffer = self.call("LLVMCreateMemoryBufferWithMemoryRangeCopy", data, size, what.encode())
        module = ctypes.c_void_p()
        if self.call("LLVMParseBitcodeInContext2", self.context, buffer, ctypes.byref(module), returns=ctypes.c_int):
            raise self.fail(f"parse {what}")
        return module.value or 0

    def name(self, value: int) -> bytes:
        size = ctypes.c_size_t()
        return ctypes.string_at(self.call("LLVMGetValueName2", value, ctypes.byref(size)))

    def every(self, kind: str, module: int):
        item = self.call(f"LLVMGetFirst{kind}", module)
        while item:
            yield item
            item = self.call(f"LLVMGetNext{kind}", item)


def import_library(host: Path, library: Path, function: str, output: Path, *, libllvm: str, typed: bool) -> None:
    """Write to `output` the host with the bitcode of `library` in it; raises `ImportStepError`."""
    llvm = Llvm(libllvm, typed=typed)
    module = llvm.parse(host.read_bytes(), "the host")
    with library.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".llvmbc")
        data = section.data() if section else b""
    if not data:
        raise ImportStepError("no .llvmbc section")
    found = llvm.parse(data, ".llvmbc")
    if not llvm.call("LLVMGetNamedFunction", found, function.encode()):
        raise ImportStepError(f"{function} is not in the module")
    with_body = [llvm.name(item) for item in llvm.every("Function", found) if llvm.call("LLVMGetFirstBasicBlock", item)]
    for variable in llvm.every("Global", found):
        llvm.call("LLVMSetLinkage", variable, ctypes.c_int(EXTERNAL), returns=None)
    if llvm.call("LLVMLinkModules2", module, found, returns=ctypes.c_int):
        raise llvm.fail("link")
    for name in with_body:
        item = llvm.call("LLVMGetNamedFunction", module, name)
        if item:
            llvm.call("LLVMSetLinkage", item, ctypes.c_int(INTERNAL), returns=None)
    reason = ctypes.c_char_p()
    if llvm.call("LLVMVerifyModule", module, ctypes.c_int(2), ctypes.byref(reason), returns=ctypes.c_int):
        raise ImportStepError(f"verify after the import: {(reason.value or b'').decode()}")
    llvm.call("LLVMWriteBitcodeToFile", module, str(output).encode(), returns=ctypes.c_int)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("host", "library"):
        parser.add_argument(name, type=Path)
    parser.add_argument("function")
    parser.add_argument("output", type=Path)
    parser.add_argument("--llvm", required=True, help="the libLLVM that Enzyme was built for")
    parser.add_argument("--typed", action="store_true", help="typed pointers, as in Julia 1.10 and 1.11")
    given = parser.parse_args()
    try:
        import_library(given.host, given.library, given.function, given.output, libllvm=given.llvm, typed=given.typed)
    except ImportStepError as failure:
        print(f"import failed: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
