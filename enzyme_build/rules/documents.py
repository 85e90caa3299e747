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
    "TestArgumentTable",
    "TestTable",
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
    names: Annotated[
        tuple[_Text, ...], Meta(description="Further functions of the same type that the table holds for.")
    ] = ()
    for_each: Annotated[
        dict[str, Annotated[tuple[str, ...], Meta(min_length=1)]],
        Meta(description="One rule for each entry of these lists, of equal length: `${T}` becomes the entry of `T`."),
    ] = {}

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


class TestArgumentTable(_Table, frozen=True, kw_only=True):
    """What `enzyme-build gradcheck` passes as one argument."""

    value: Annotated[float | int | str | None, Meta(description="Always this value; for a `char *` a string.")] = None
    range: Annotated[tuple[float, float] | None, Meta(description="The smallest and the largest number to try.")] = None
    size: Annotated[
        Annotated[int, Meta(ge=1, le=1000000)] | str | None,
        Meta(description="How many elements an array has: a number, or a product of arguments such as `n * n`."),
    ] = None
    type: Annotated[
        Literal["float", "double", "long double", "int", "long", "char"] | None,
        Meta(description="The type of an element, for a pointer whose prototype does not tell (`void *`, a struct)."),
    ] = None
    kept: Annotated[bool, Meta(description="No caller overwrites this array before the derivative is computed.")] = (
        False
    )


class TestTable(_Table, frozen=True, kw_only=True):
    """With what `enzyme-build gradcheck` tries the rule; without it, arguments are guessed from the prototype."""

    seeds: Annotated[
        Annotated[int, Meta(ge=1, le=100000)] | None, Meta(description="How many random points are tried.")
    ] = None
    tolerance: Annotated[
        Annotated[float, Meta(gt=0, lt=1)] | None, Meta(description="The relative difference that is still right.")
    ] = None
    range: Annotated[tuple[float, float] | None, Meta(description="The smallest and the largest number to try.")] = None
    arguments: Annotated[
        dict[str, int | float | str | tuple[float, float] | TestArgumentTable],
        Meta(description="By name: a value, a range `[low, high]`, or a table."),
    ] = {}


_Activity = Literal["const", "active", "dup"]
_Texts = dict[str, _Text]


class DerivativeTable(_FunctionTable, frozen=True, kw_only=True):
    """The derivative of a function: stated in formulas or C blocks, or given by C functions of the project."""

    reverse: Annotated[ReverseTable | None, Meta(description="Reverse mode: `{augmented, gradient}`.")] = None
    forward: Annotated[ForwardTable | None, Meta(description="Forward mode: `{tangent}`.")] = None
    partials: Annotated[
        _Texts,
        Meta(
            description="A C expression for each output and input: `x` is the derivative of the result by `x`, "
            "`out/x` that of what `out` points to."
        ),
    ] = {}
    vjp: Annotated[_Text | None, Meta(description="Reverse mode as C statements: read `d_out`, add to `d_x`.")] = None
    jvp: Annotated[_Text | None, Meta(description="Forward mode as C statements: read `d_x`, assign `d_out`.")] = None
    setup: Annotated[_Text | None, Meta(description="C statements in front of each formula or block.")] = None
    shape: Annotated[
        _Texts, Meta(description="How many elements a pointer points to: `n`, or with a stride `n, incx`.")
    ] = {}
    activity: Annotated[
        dict[str, _Activity],
        Meta(
            description="By parameter, or `return`: `const` has no derivative, `active` is a number, `dup` a pointer."
        ),
    ] = {}
    intent: Annotated[
        dict[str, Literal["in", "out", "inout"]],
        Meta(description="By parameter: whether what a pointer points to is read, written or both."),
    ] = {}
    include: Annotated[tuple[_Text, ...], Meta(description="Headers that define the types in the prototype.")] = ()
    declare: Annotated[tuple[_Text, ...], Meta(description="Prototypes of C functions that formulas call.")] = ()
    test: Annotated[TestTable | None, Meta(description="What `enzyme-build gradcheck` tries the rule with.")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        stated = [key for key in ("partials", "vjp", "jvp") if getattr(self, key)]
        written = [key for key in ("reverse", "forward") if getattr(self, key) is not None]
        if not stated and not written:
            msg = "needs 'partials', 'vjp' and 'jvp', or 'reverse' and 'forward'"
            raise ValueError(msg)
        if stated and written:
            msg = f"has both {stated[0]!r} and {written[0]!r}: state the derivative or name C functions"
            raise ValueError(msg)
        if written:
            only = ("setup", "shape", "activity", "intent", "include", "declare")
            extra = [key for key in only if getattr(self, key)]
            if extra:
                msg = f"{extra[0]!r} goes with 'partials', 'vjp' and 'jvp' only"
                raise ValueError(msg)

    @property
    def is_stated(self) -> bool:
        """Whether formulas or blocks say the derivative."""
        return bool(self.partials) or self.vjp is not None or self.jvp is not None


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

_REFUSED = {
    "split": _SPLIT,
    "splitderivative": _SPLIT,
    "split-derivative": _SPLIT,
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
    one_name: list[dict[str, Any]] = [{"required": ["function"]}, {"required": ["prototype"]}]
    one_name.append({"required": ["names"], "not": {"anyOf": list(one_name)}})
    definitions = schema["$defs"]
    for name in ("DerivativeTable", "InactiveTable", "NofreeTable", "LikeTable", "AllocationTable"):
        definitions[name] = {**definitions[name], "oneOf": one_name}
    modes = [{"required": [key]} for key in ("reverse", "forward", "partials", "vjp", "jvp")]
    definitions["DerivativeTable"] = {**definitions["DerivativeTable"], "anyOf": modes}
    return schema
