"""A C kernel, callable from Python; its library carries bitcode that Enzyme can differentiate."""

from __future__ import annotations

import ctypes
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["kernel", "library_path"]


def library_path() -> Path:
    """Return the path of the library. Give Enzyme this path, not only the name: it reads the bitcode from the file."""
    path = Path(str(files(__name__) / "libkernel.so"))
    if not path.exists():
        message = f"{path} is not built: `pip install .` and leave this folder, or `pip install --editable .`"
        raise ImportError(message)
    return path


def kernel(x: Sequence[float]) -> float:
    """Return the sum of exp(-v) * sin(v * v) over all v in `x`."""
    values = (ctypes.c_double * len(x))(*x)
    out = ctypes.c_double()
    _library.kernel(values, len(x), ctypes.byref(out))
    return out.value


_library = ctypes.CDLL(str(library_path()))
_library.kernel.argtypes = [ctypes.POINTER(ctypes.c_double), ctypes.c_int, ctypes.POINTER(ctypes.c_double)]
_library.kernel.restype = None
