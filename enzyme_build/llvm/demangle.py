"""Demangle C++ names with the Itanium demangler of the C++ runtime.

LLVM-C offers none (llvm-c/ has no such header up to LLVM 22) and libLLVM's own, `llvm::itaniumDemangle`, changed its
signature in LLVM 17; `__cxa_demangle` is fixed by the Itanium C++ ABI, and libLLVM itself loads a library that has it.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["demangle"]

_LIBRARIES = ("libstdc++.so.6", "libc++abi.so.1", "libc++abi.dylib")


def demangle(names: Sequence[str]) -> Mapping[str, str]:
    """Return each name with its demangled form; with itself when it is no C++ name or no demangler is there."""
    one = _demangler()
    return {name: name if one is None else one(name) for name in names}


@cache
def _demangler() -> Callable[[str], str] | None:
    for library in _LIBRARIES:
        try:
            runtime = ctypes.CDLL(library)
            function = runtime.__cxa_demangle
            free = runtime.free  # found through the runtime's own libc: what malloc gave, this takes back
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        function.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
        free.restype = None
        free.argtypes = (ctypes.c_void_p,)

        def one(name: str) -> str:
            status = ctypes.c_int()
            # Mach-O symbols have one underscore more than the ABI's mangled names.
            mangled = name[1:] if name.startswith("__Z") else name
            address = function(mangled.encode(), None, None, ctypes.byref(status))  # noqa: B023 - returned at once
            if not address:
                return name
            text = ctypes.string_at(address).decode(errors="replace")
            free(address)  # noqa: B023 - returned at once
            return text

        return one
    return None
