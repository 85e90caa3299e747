"""The shape of a rule file: one struct a kind of table, with the descriptions that the JSON Schema shows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from enzyme_build._schema import struct_schema

__all__ = [
    "AllocationTable",
    "DerivativeTable",
    "ForwardTable",
    "InactiveGlobalTable",
    "InactiveTable",
    "LikeTable",
    "NofreeTable",
    "ReverseTable",
    "RuleDocument",
    "refused_keys",
    "rules_schema",
]

_FUNCTION = Meta(
    description="The function: its C name, C++ name (mangled, or demangled such as `ns::f(double)`) or Fortran name."
)
_PROTOTYPE = Meta(description="The function's C declaration, instead of `function`: it is checked.")

_Text = Annotated[str, Meta(min_length=1)]


class _Table(msgspec.Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """What all tables have in common: keys are written with dashes, unknown keys are errors."""


class _FunctionTable(_Table, frozen=True, kw_only=True):
    """A table for one function, named or declared."""

    function: Annotated[_Text | None, _FUNCTION] = None
    prototype: Annotated[_Text | None, _PROTOTYPE] = None

    def __post_init__(self) -> None:
        if (self.function is None) == (self.prototype is None):
            given = "neither is" if self.function is None else "both are"
            msg = f"needs either 'function' or 'prototype', {given} given"
            raise ValueError(msg)


class ReverseTable(_Table, frozen=True, kw_only=True):
    """The two functions of reverse mode."""

    augmented: Annotated[
        str, Meta(description="Does the function's work and returns the tape, if there is one.", min_length=1)
    ]
    gradient: Annotated[str, Meta(description="Adds to the shadows of the inputs and frees the tape.", min_length=1)]


class ForwardTable(_Table, frozen=True, kw_only=True):
    """The function of forward mode."""

    tangent: Annotated[
        str, Meta(description="Does the function's work and computes the tangents of the outputs.", min_length=1)
    ]


class DerivativeTable(_FunctionTable, frozen=True, kw_only=True):
    """The derivative of a function is given by functions that the project wrote in C."""

    reverse: Annotated[ReverseTable | None, Meta(description="Reverse mode: `{augmented, gradient}`.")] = None
    forward: Annotated[ForwardTable | None, Meta(description="Forward mode: `{tangent}`.")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reverse is None and self.forward is None:
            msg = "needs 'reverse' or 'forward', or both"
            raise ValueError(msg)


class InactiveTable(_FunctionTable, frozen=True, kw_only=True):
    """Calls of this function have no derivative, free nothing and keep no pointer to what they are given."""


class NofreeTable(_FunctionTable, frozen=True, kw_only=True):
    """The function frees nothing that it is given."""


class LikeTable(_FunctionTable, frozen=True, kw_only=True):
    """Enzyme shall treat the function as another one that it knows."""

    like: Annotated[str, Meta(description="A function that Enzyme knows, such as `sin` or `free`.", min_length=1)]


class AllocationTable(_FunctionTable, frozen=True, kw_only=True):
    """The function returns new memory, which another function frees."""

    size_argument: Annotated[int, Meta(description="Which argument is the size in bytes, counted from 0.", ge=0)] = 0
    deallocate: Annotated[str, Meta(description="The function that frees the memory.", min_length=1)]
    deallocate_arguments: Annotated[
        tuple[Literal["result"] | int, ...],
        Meta(
            description="What `deallocate` is called with: `result` is the memory (it comes first), a number the "
            "argument of the allocating call with that index.",
            min_length=1,
        ),
    ] = ("result",)


class InactiveGlobalTable(_Table, frozen=True, kw_only=True):
    """A global variable that holds nothing to be differentiated."""

    variable: Annotated[str, Meta(description="The variable's name in the object file.", min_length=1)]


class RuleDocument(_Table, frozen=True, kw_only=True):
    """Rules for Enzyme: what it cannot find out by itself about functions and variables."""

    derivative: Annotated[tuple[DerivativeTable, ...], Meta(description="Derivatives of functions.")] = ()
    inactive: Annotated[tuple[InactiveTable, ...], Meta(description="Functions without a derivative.")] = ()
    inactive_global: Annotated[
        tuple[InactiveGlobalTable, ...], Meta(description="Variables without a derivative.")
    ] = ()
    like: Annotated[tuple[LikeTable, ...], Meta(description="Functions that are like one Enzyme knows.")] = ()
    allocation: Annotated[tuple[AllocationTable, ...], Meta(description="Functions that allocate memory.")] = ()
    nofree: Annotated[tuple[NofreeTable, ...], Meta(description="Functions that free nothing.")] = ()


_SPLIT = (
    "split forward mode is refused: Enzyme hands such a rule the wrong tape and the derivative comes out wrong; "
    "use 'reverse', 'forward' or both"
)

_LATER = "not supported by this version; write the derivative in C and name it in 'reverse' or 'forward'"

_REFUSED = {
    "split": _SPLIT,
    "splitderivative": _SPLIT,
    "split-derivative": _SPLIT,
    "partials": _LATER,
    "vjp": _LATER,
    "jvp": _LATER,
    "shape": _LATER,
}


def refused_keys(table: dict[str, Any]) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
    """Return a `[[derivative]]` table without the keys that are known but refused, and (dotted key, reason) of each.

    They have reasons of their own, which "unknown key" would hide.
    """
    kept: dict[str, Any] = {}
    refused: list[tuple[str, str]] = []
    for key, value in table.items():
        if key in _REFUSED:
            refused.append((key, _REFUSED[key]))
        elif key in ("reverse", "forward") and isinstance(value, dict):
            refused += [(f"{key}.{inner}", _REFUSED[inner]) for inner in value if inner in _REFUSED]
            kept[key] = {inner: item for inner, item in value.items() if inner not in _REFUSED}
        else:
            kept[key] = value
    return kept, tuple(refused)


def rules_schema() -> dict[str, Any]:
    """Return the JSON Schema of a rule file, made from the structs above."""
    schema = struct_schema(
        RuleDocument, dialect="https://json-schema.org/draft/2020-12/schema", title="enzyme-build rules"
    )
    # What __post_init__ checks, in the schema's words.
    one_name = [{"required": ["function"]}, {"required": ["prototype"]}]
    definitions = schema["$defs"]
    for name in ("DerivativeTable", "InactiveTable", "NofreeTable", "LikeTable", "AllocationTable"):
        definitions[name] = {**definitions[name], "oneOf": one_name}
    modes = [{"required": ["reverse"]}, {"required": ["forward"]}]
    definitions["DerivativeTable"] = {**definitions["DerivativeTable"], "anyOf": modes}
    return schema
