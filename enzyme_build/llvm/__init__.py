"""The LLVM-C API of a toolchain's own libLLVM, 15 and newer, behind a thin typed binding.

Only this package knows ctypes. Values and types of LLVM are plain integers (addresses) to the layers above.
"""
