"""Spell the C prototypes of rule functions that would fit a primal, for messages that say how to mend one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from enzyme_build.model import IRType, TypeKind

if TYPE_CHECKING:
    from enzyme_build.model import FunctionType
    from enzyme_build.rules.model import Prototype

__all__ = ["c_parameters", "c_result", "c_type", "spell_augmented", "spell_gradient", "spell_tangent"]

_C_NAMES = {
    "float": "float",
    "double": "double",
    "x86_fp80": "long double",
    "half": "_Float16",
    "fp128": "__float128",
    "i1": "_Bool",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int",
    "i64": "int64_t",
    "float*": "float *",
    "double*": "double *",
    "i32*": "int *",
}


def c_type(kind: IRType) -> str:
    """Return C's name of an LLVM type as well as it can be told; a pointer to what is unknown is `void *`."""
    if kind.kind is TypeKind.VOID:
        return "void"
    return _C_NAMES.get(kind.text, "void *" if kind.kind is TypeKind.POINTER else kind.text)


def c_parameters(primal: FunctionType, prototype: Prototype | None) -> tuple[tuple[str, str], ...]:
    """Return (type, name) of each parameter of the primal; from its prototype if that has as many."""
    known = prototype.parameters if prototype and len(prototype.parameters) == len(primal.parameters) else None
    spelt = []
    for index, parameter in enumerate(primal.parameters):
        given = known[index] if known else None
        text = c_type(parameter) if given is None or re.search(r"[\[(]", given.text) else given.text
        spelt.append((text, (given.name if given else None) or f"a{index}"))
    return tuple(spelt)


def c_result(primal: FunctionType, prototype: Prototype | None) -> str:
    """Return C's name of the primal's result."""
    known = prototype if prototype and len(prototype.parameters) == len(primal.parameters) else None
    return known.result_text if known and "(" not in known.result_text else c_type(primal.result)


def spell_augmented(primal: FunctionType, prototype: Prototype | None, name: str, *, tape: bool) -> str | None:
    """Return the C prototype of an augmented function, with a `void *` tape or without one.

    `None` when C returns the struct through memory, as it does above 16 bytes (x86-64 System V ABI 3.2.3).
    """
    result = c_result(primal, prototype)
    inside = _base(primal, prototype)
    if tape and (primal.result.kind is TypeKind.POINTER or primal.result.text in ("x86_fp80", "fp128")):
        return None
    if primal.result.kind is TypeKind.POINTER:
        return _with_struct(f"{_declare(result, 'primal')}; {_declare(result, 'shadow')};", name, inside)
    if not tape:
        return f"{_declare(result, name)}({inside})"
    if primal.result.kind is TypeKind.VOID:
        return f"void *{name}({inside})"
    return _with_struct(f"void *tape; {_declare(result, 'primal')};", name, inside)


def spell_gradient(primal: FunctionType, prototype: Prototype | None, name: str, *, tape: str | None) -> str | None:
    """Return the C prototype of a gradient whose tape is of C type `tape`; `None` when C has no such function.

    A C function returns two doubles in a struct that LLVM sees as one, but two floats as a vector and three doubles
    through memory (x86-64 System V ABI 3.2.3).
    """
    scalars = [(index, kind) for index, kind in enumerate(primal.parameters) if kind.kind is TypeKind.FLOATING]
    extra = []
    if primal.result.kind is TypeKind.FLOATING:
        extra.append(_declare(c_result(primal, prototype), "d_result"))
    if tape is not None:
        extra.append(_declare(tape, "tape"))
    inside = _base(primal, prototype, *extra)
    spelt = c_parameters(primal, prototype)
    if not scalars:
        return f"void {name}({inside})"
    if len(scalars) == 1:
        return f"{_declare(_plain(spelt[scalars[0][0]][0]), name)}({inside})"
    if len(scalars) > 2 or any(kind.text != "double" for _index, kind in scalars):
        return None
    fields = " ".join(f"double {spelt[index][1]};" for index, _kind in scalars)
    return _with_struct(fields, name, inside)


def spell_tangent(primal: FunctionType, prototype: Prototype | None, name: str) -> str | None:
    """Return the C prototype of a forward-mode function; `None` when C has no such function."""
    pairs = [
        f"{_declare(text, parameter)}, {_declare(_shadow(text), f'd_{parameter}')}"
        for text, parameter in c_parameters(primal, prototype)
    ]
    inside = ", ".join(pairs) or "void"
    result = c_result(primal, prototype)
    if primal.result.kind in (TypeKind.VOID, TypeKind.INTEGER):
        return f"void {name}({inside})"
    if primal.result.kind is TypeKind.POINTER or primal.result.text == "double":
        fields = f"{_declare(result, 'primal')}; {_declare(_shadow(result), 'tangent')};"
        return _with_struct(fields, name, inside)
    return None


def _base(primal: FunctionType, prototype: Prototype | None, *extra: str) -> str:
    """Return the parameters that all reverse-mode functions begin with: each non-scalar is followed by its shadow."""
    inside = []
    for (text, name), kind in zip(c_parameters(primal, prototype), primal.parameters, strict=True):
        inside.append(_declare(text, name))
        if kind.kind is not TypeKind.FLOATING:
            inside.append(_declare(_shadow(text), f"d_{name}"))
    return ", ".join([*inside, *extra]) or "void"


def _with_struct(fields: str, name: str, inside: str) -> str:
    return f"struct {name}_result {{ {fields} }}; struct {name}_result {name}({inside})"


def _declare(text: str, name: str) -> str:
    return f"{text}{name}" if text.endswith("*") else f"{text} {name}"


def _plain(text: str) -> str:
    return re.sub(r"\bconst\b\s*", "", text).strip()


def _shadow(text: str) -> str:
    """Return the type of a shadow: what is read through a pointer to const is written through its shadow."""
    return _plain(text) if "*" in text else text
