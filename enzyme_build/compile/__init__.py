"""Sources to objects that carry their bitcode, and objects to a shared library.

One clang run a source gives optimised native code and, in `.llvmbc`, the module as it was before optimisation.
Nothing is run again whose inputs, command and compiler are unchanged.
"""

from enzyme_build.compile.link import LinkRequest, link_library
from enzyme_build.compile.objects import (
    CompileRequest,
    CompileResult,
    bitcode_compile_flags,
    compile_sources,
    language_of,
    linking_language,
)

__all__ = [
    "CompileRequest",
    "CompileResult",
    "LinkRequest",
    "bitcode_compile_flags",
    "compile_sources",
    "language_of",
    "link_library",
    "linking_language",
]
