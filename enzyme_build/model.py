"""Values that more than one layer speaks of: pointer modes, consumers, IR types, locations."""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = [
    "CallSite",
    "Consumer",
    "FunctionType",
    "IRType",
    "Mode",
    "Origin",
    "PointerMode",
    "SourceLocation",
    "TypeKind",
]


class PointerMode(enum.Enum):
    """How pointers are spelt in IR: `double*` (LLVM 16 and older) or `ptr` (LLVM 15 and newer)."""

    TYPED = "typed"
    OPAQUE = "opaque"


class Mode(enum.Enum):
    """The two modes of differentiation."""

    REVERSE = "reverse"
    FORWARD = "forward"


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumer:
    """Who reads the bitcode: the newest bitcode it understands and the pointer modes it accepts, best first."""

    name: str
    llvm_major: int
    pointers: tuple[PointerMode, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceLocation:
    """A line of source, as debug info names it (the file as recorded, often relative)."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, kw_only=True, slots=True)
class CallSite:
    """A use of a function: who uses it, and where when debug info says so."""

    caller: str
    location: SourceLocation | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Where a rule was written: file (relative, `/`), dotted key such as `derivative[0]`, line of its header."""

    file: str
    key: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.key}"


class TypeKind(enum.Enum):
    """The kinds of LLVM type that Enzyme's rule ABI tells apart (LLVM Language Reference, type system)."""

    VOID = "void"
    FLOATING = "floating"
    INTEGER = "integer"
    POINTER = "pointer"
    STRUCT = "struct"
    ARRAY = "array"
    VECTOR = "vector"
    OTHER = "other"


@dataclass(frozen=True, kw_only=True, slots=True)
class IRType:
    """An LLVM type: its text as LLVM prints it, and the types inside a struct, array or vector."""

    kind: TypeKind
    text: str
    elements: tuple[IRType, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionType:
    """An LLVM function type, and which parameters are `sret` or `byval` (indices from 0)."""

    result: IRType
    parameters: tuple[IRType, ...]
    variadic: bool = False
    sret: tuple[int, ...] = ()
    byval: tuple[int, ...] = ()

    def __str__(self) -> str:
        inside = [parameter.text for parameter in self.parameters] + (["..."] if self.variadic else [])
        return f"{self.result.text} ({', '.join(inside)})"
