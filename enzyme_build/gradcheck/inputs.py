"""Decide what gradcheck passes to a function: what the rule file says, else what the prototype lets one guess."""

from __future__ import annotations

import math
import platform
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from enzyme_build.gradcheck.facts import Argument
from enzyme_build.model import TypeKind
from enzyme_build.rules.model import DerivativeTest, PrototypeParameter, TestedArgument
from enzyme_build.rules.testing import product

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from enzyme_build.model import FunctionType, IRType
    from enzyme_build.rules.model import DerivativeRule

__all__ = ["CannotRunError", "plan_arguments"]

_SIZE = re.compile(
    r"(?i)(n|m|k|nn|len|length|size|count|num|dim|order|rows?|cols?|n[a-z]{1,4}|n_\w+|num_\w+|\w+_(n|len|length|size|count|dim))"
)
_STRIDE = re.compile(r"(?i)(inc\w*|stride\w*|step|\w+_(inc|stride))")
_LEADING = re.compile(r"(?i)ld\w?|ld_\w+")
_RESULT = PrototypeParameter(name="result", text="void *", kind="pointer")
_RESULT_IS_A_POINTER = ("x86_64", "AMD64")  # a struct returned in memory is a first argument (System V ABI 3.2.3)
_SIZES = (3, 4, 2)  # distinct, so that rows are not taken for columns unseen
_ONE_SIZE = 4
_UNKNOWN_SIZE = 16  # elements that the function does not touch do no harm; a 4x4 matrix fits

_NUMBERS = {"float": "float", "double": "double", "x86_fp80": "long double"}
_WORDS = {"const", "volatile", "restrict", "__restrict", "register"}


class CannotRunError(Exception):
    """Why the harness cannot call a function; the text goes on `... cannot be run: `."""


def plan_arguments(rule: DerivativeRule | None, primal: FunctionType, *, symbol: str) -> tuple[Argument, ...]:
    """Return what is passed as each parameter of `primal`; raises `CannotRunError`."""
    test = (None if rule is None else rule.test) or DerivativeTest()
    prototype = None if rule is None else rule.prototype
    declared: Sequence[PrototypeParameter | None] = [None] * len(primal.parameters)
    through_memory = [_RESULT] if primal.sret == (0,) else []
    if prototype is not None and len(through_memory) + len(prototype.parameters) == len(primal.parameters):
        declared = [*through_memory, *prototype.parameters]
    if primal.variadic:
        msg = f"{symbol} is variadic"
        raise CannotRunError(msg)
    if primal.byval or (primal.sret and (primal.sret != (0,) or platform.machine() not in _RESULT_IS_A_POINTER)):
        msg = f"{symbol} hands over a struct in memory, which C cannot say here"
        raise CannotRunError(msg)
    if primal.sret:
        numbers = TestedArgument(type="double")
        test = msgspec.structs.replace(test, arguments={"result": numbers, **test.arguments})
    drafts = [
        _draft(kind, one, _name(one, index), test)
        for index, (kind, one) in enumerate(zip(primal.parameters, declared, strict=True))
    ]
    return _with_sizes(_with_values(drafts), test)


def _name(declared: PrototypeParameter | None, index: int) -> str:
    return (declared.name if declared is not None else None) or f"a{index}"


def _draft(kind: IRType, declared: PrototypeParameter | None, name: str, test: DerivativeTest) -> Argument:
    """Return the argument with its kind and element type; sizes and guessed values come when all are known."""
    said = test.arguments.get(name, TestedArgument())
    limits = said.range or test.range
    if isinstance(said.value, int | float) and kind.kind is TypeKind.FLOATING:
        limits = (float(said.value), float(said.value))
    if kind.kind is TypeKind.FLOATING:
        if kind.text not in _NUMBERS:
            msg = f"{name} is of type {kind.text}, which the harness has no numbers of"
            raise CannotRunError(msg)
        return Argument(name=name, kind="number", element=_NUMBERS[kind.text], range=limits)
    if kind.kind is TypeKind.INTEGER:
        bits = int(kind.text[1:])
        element = f"int{max(8, bits)}_t"
        if bits not in (1, 8, 16, 32, 64):
            msg = f"{name} is of type {kind.text}"
            raise CannotRunError(msg)
        return _valued(Argument(name=name, kind="integer", element=element), said)
    if kind.kind is not TypeKind.POINTER:
        msg = f"{name} is passed by value as {kind}"
        raise CannotRunError(msg)
    return _pointer(kind, declared, name, said, limits)


def _pointer(
    kind: IRType,
    declared: PrototypeParameter | None,
    name: str,
    said: TestedArgument,
    limits: tuple[float, float] | None,
) -> Argument:
    element, guess = _pointee(kind, declared, said)
    factor = 2 if "_Complex" in element else 1
    plain = " ".join(word for word in element.split() if word not in ("_Complex", "complex"))
    if plain in ("float", "double", "long double"):
        argument = Argument(name=name, kind="array", element=plain, size=0, range=limits, kept=said.kept, guess=guess)
        count = _written_size(said, declared)
        return argument if count is None else replace(argument, size=count * factor)
    if plain in ("char", "signed char", "unsigned char"):
        text = said.value if isinstance(said.value, str) else "N"
        return Argument(
            name=name,
            kind="constant",
            element="char",
            value=text,
            guess=None if said.value is not None else f'{name} = "N"',
        )
    if re.fullmatch(r"(unsigned |signed )?(int|long|short|long long|size_t|ptrdiff_t|u?int\d+_t)( int)?", plain):
        return _valued(Argument(name=name, kind="constant", element=plain, size=_UNKNOWN_SIZE), said)
    guess = f"{name} points to 4096 zero bytes, inactive; give `type` and `size` if there are numbers behind it"
    return Argument(name=name, kind="constant", element="void", size=4096, guess=guess)


def _pointee(kind: IRType, declared: PrototypeParameter | None, said: TestedArgument) -> tuple[str, str | None]:
    """Return the C type that a pointer points to, and what was guessed."""
    if said.type is not None:
        return said.type, None
    if declared is not None:
        words = re.sub(r"\[[^]]*\]|\*", " ", declared.text).split()
        stars = declared.text.count("*") + declared.text.count("[")
        return ("void", None) if stars != 1 else (" ".join(word for word in words if word not in _WORDS), None)
    typed = {"float*": "float", "double*": "double", "x86_fp80*": "long double", "i32*": "int", "i64*": "long"}
    if kind.text in typed:
        return typed[kind.text], None
    return "double", "every pointer of unknown type is taken for one to double; write a `prototype`"


def _written_size(said: TestedArgument, declared: PrototypeParameter | None) -> int | None:
    """Return the number of elements if it is written down as a number."""
    if isinstance(said.size, int):
        return said.size
    if said.size is None and declared is not None:
        dimensions = re.findall(r"\[\s*(?:static\s+)?(\d+)\s*\]", declared.text)
        if dimensions:
            return math.prod(int(each) for each in dimensions)
    return None


def _valued(argument: Argument, said: TestedArgument) -> Argument:
    """Return an integer, or a pointer to integers, with its value if the rule file has one, else as a guess."""
    if isinstance(said.value, int):
        return replace(argument, value=said.value)
    return replace(argument, guess="")


def _with_values(drafts: Sequence[Argument]) -> list[Argument]:
    """Return the arguments with every integer that the rule file leaves open guessed by its name."""
    open_ = [draft for draft in drafts if draft.guess == ""]
    sizes = [draft.name for draft in open_ if _SIZE.fullmatch(draft.name) and not _STRIDE.fullmatch(draft.name)]
    values = {name: _SIZES[at % len(_SIZES)] if len(sizes) > 1 else _ONE_SIZE for at, name in enumerate(sizes)}
    integers = [draft for draft in drafts if draft.kind == "integer" or draft.element not in ("char", "void")]
    known = [draft.value for draft in integers if isinstance(draft.value, int) and draft.guess is None]
    largest = max([*values.values(), *known, 1])
    filled = []
    for draft in drafts:
        if draft.guess != "":
            filled.append(draft)
            continue
        value = values.get(draft.name, largest if _LEADING.fullmatch(draft.name) else 1)
        filled.append(replace(draft, value=value, guess=f"{draft.name} = {value}"))
    return filled


def _with_sizes(drafts: Sequence[Argument], test: DerivativeTest) -> tuple[Argument, ...]:
    """Return the arguments with the size of every array: what is said, else all sizes multiplied, else sixteen."""
    integers = {draft.name: draft.value for draft in drafts if isinstance(draft.value, int) and _is_integer(draft)}
    counts = [value for name, value in integers.items() if _SIZE.fullmatch(name) and not _STRIDE.fullmatch(name)]
    strides = [abs(value) for name, value in integers.items() if _STRIDE.fullmatch(name)]
    # enough for a matrix; elements that the function does not touch do no harm
    largest = math.prod(counts if len(counts) > 1 else counts * 2) * max([*strides, 1])
    done = []
    for draft in drafts:
        said = test.arguments.get(draft.name, TestedArgument())
        if draft.kind != "array" or draft.size:
            done.append(draft)
        elif isinstance(said.size, str):
            done.append(replace(draft, size=_evaluated(said.size, integers, draft.name)))
        else:
            size = largest if counts else _UNKNOWN_SIZE
            guess = f"{draft.name} has {size} elements"
            done.append(replace(draft, size=max(1, size), guess="; ".join(filter(None, (guess, draft.guess)))))
    return tuple(done)


def _is_integer(argument: Argument) -> bool:
    return argument.kind == "integer" or (argument.kind == "constant" and argument.element not in ("char", "void"))


def _evaluated(text: str, integers: Mapping[str, int | str], name: str) -> int:
    factors = product(text) or ()
    numbers = [factor if isinstance(factor, int) else integers.get(factor) for factor in factors]
    if not numbers or not all(isinstance(number, int) for number in numbers):
        msg = f"the size of {name}, {text!r}, is no product of integer arguments"
        raise CannotRunError(msg)
    return max(1, math.prod(number for number in numbers if isinstance(number, int)))
